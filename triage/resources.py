"""Finds the data folders (rules, templates, kernels, demo), in a wheel as in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
# In a checkout the demo capture lives with the other examples.
_CHECKOUT_NAMES = {"demo": Path("examples") / "demo"}


def folder(name: str) -> Path:
    """The folder ``name`` (``rules``, ``templates``, ``kernels`` or ``demo``).

    Looks in ``<package>/_data`` (an installed wheel) first, then beside the package (a checkout). Raises
    ``FileNotFoundError`` when the installation is incomplete.
    """
    for candidate in (_PACKAGE / "_data" / name, _PACKAGE.parent / _CHECKOUT_NAMES.get(name, Path(name))):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"triage's data folder {name!r} is missing from this installation")
