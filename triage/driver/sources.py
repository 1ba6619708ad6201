"""Which programs ``kernels/`` holds and which kernels each of them launches."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from triage import resources
from triage.driver.variants import VARIANTS
from triage.errors import UsageError

_ENTRY = re.compile(r'extern\s+"C"\s+__global__\s+void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\(')
_TRANSPOSES = "transpose"


@dataclass(frozen=True, slots=True)
class Program:
    """One stand-alone CUDA program. ``name`` is its path below ``kernels/`` without ``.cu`` (``limiters/tail_wave``),
    ``what`` the first sentence of its leading comment, ``kernels`` the names a profile of it shows."""

    name: str
    path: Path
    what: str
    kernels: tuple[str, ...]


def programs(folder: Path | None = None) -> tuple[Program, ...]:
    """Every ``.cu`` file below ``folder`` (default: the ``kernels`` folder of this installation), sorted by name.

    Raises FileNotFoundError when the installation has no kernels.
    """
    root = folder or resources.folder("kernels")
    return tuple(_program(path, root) for path in sorted(root.rglob("*.cu")))


def select(names: Sequence[str], available: Sequence[Program]) -> tuple[Program, ...]:
    """The programs with these names (``limiters/tail_wave`` or ``tail_wave``; a folder takes all in it), or all.

    Raises UsageError for a name that fits nothing.
    """
    for name in names:
        if not any(_fits(name, program) for program in available):
            known = [word for p in available for word in (p.name, p.name.rpartition("/")[2])]
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]}?" if close else "`triage kernels list` shows them"
            raise UsageError(f"no kernel program is called {name!r}", hint)
    return tuple(p for p in available if not names or any(_fits(name, p) for name in names))


def transposes() -> Path:
    """The folder to put on the include path for ``transpose.cuh``."""
    return resources.folder("kernels")


def _fits(name: str, program: Program) -> bool:
    wanted = name.removesuffix(".cu").strip("/")
    return program.name == wanted or program.name.endswith("/" + wanted) or program.name.startswith(wanted + "/")


def _program(path: Path, root: Path) -> Program:
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(root).with_suffix("").as_posix()
    if name == _TRANSPOSES:
        # its kernels come out of macros; the program launches the variants of floats
        kernels = tuple(variant.symbol("float") for variant in VARIANTS)
    else:
        kernels = tuple(_ENTRY.findall(_without_comments(text)))
    return Program(name, path, _first_sentence(text), kernels)


def _without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def _first_sentence(text: str) -> str:
    words: list[str] = []
    for line in text.splitlines():
        comment = line.strip()
        if not comment.startswith("//") or not comment.strip("/ "):
            break
        words.append(comment.lstrip("/ "))
    return re.split(r"[.]\s", " ".join(words) + " ", maxsplit=1)[0].strip()
