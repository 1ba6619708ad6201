"""``triage rules lint``, ``docs`` and ``schema``: the functions that :mod:`triage.cli` mounts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triage.paths import is_dir, is_file
from triage.renderers.escape import clean

if TYPE_CHECKING:
    from triage.rules.layers import Layer
    from triage.rules.yamlfile import Document, Fault

_HINT = "mend the lines above; docs/writing-rules.md explains each kind"
Packs = Annotated[
    list[Path] | None,
    typer.Argument(help="Packs, files of them, triage.yaml files [default: the nearest one, else the shipped rules]."),
]
Lock = Annotated[bool, typer.Option("--lock", help="Write rules.lock: what the rules say now is meant.")]
Folder = Annotated[Path | None, typer.Option("-o", "--output", help="Write to this folder.")]


def lint(packs: Packs = None, lock: Lock = False) -> None:
    """Report what is wrong with rule files, as file:line:column: code message.

    All faults at once: what keeps rules from loading, and of all that could be read units, logic, counters, tests.

    Ends with 3 when there is a fault.
    """
    layers, others = targets(packs or [])
    if not packs and not others:
        typer.echo("no triage.yaml here or above, so the shipped rules are checked", err=True)
    if lock:
        lock_all(layers)
    conclude(found(layers, others), layers)


def docs(output: Folder = None) -> None:
    """Write the catalogue of the rules in force, one Markdown page a limiter (docs/rules by default)."""
    from triage.rules.catalogue import write_all
    from triage.team import rulebook_for

    folder = output or Path("docs/rules")
    written = write_all(rulebook_for(), folder)
    typer.echo(f"wrote {written} pages to {clean(str(folder))}")


def schema(
    name: Annotated[str | None, typer.Argument(help="Which file: triage, limiter, facts, path, ...")] = None,
    output: Folder = None,
) -> None:
    """Print the JSON Schema of a rule file, or write all of them, so that an editor completes and checks."""
    from triage.rules import schema as schemas

    if output is not None:
        typer.echo(f"wrote {schemas.write_all(output)} schemas to {clean(str(output))}")
    else:
        typer.echo(schemas.text(name or "triage"), nl=False)


def targets(packs: Sequence[Path]) -> tuple[list[Layer], list[Document]]:
    """The layers to check. A folder that holds a whole rulebook is checked by itself, other folders over the shipped
    rules; a ``triage.yaml`` (or a folder that holds one) with its packs."""
    from triage.errors import FaultyRules
    from triage.rules.layers import folder_layer
    from triage.rules.loader import shipped_layer
    from triage.team import NAME, examine, layers_of

    if not packs:
        team = examine()
        others = [team.document] if team.document is not None else []
        return layers_of(team), others
    layers, others = [], []
    for path in map(_pack_of, packs):
        file = path / NAME if is_file(path / NAME) else path
        if is_file(file):
            team = examine(file)
            layers += list(team.layers)
            others += [team.document] if team.document is not None else []
        elif is_dir(path):
            if not any(layer.folder == path for layer in layers):
                layers.append(folder_layer(path, "pack", _shown(path)))
        else:
            raise FaultyRules(f"{path} does not exist, or is no file", "give a folder of rule files or a triage.yaml")
    whole = len(layers) == 1 and layers[0].folder is not None and is_whole(layers[0].folder)
    return (layers if whole else [shipped_layer(), *layers]), others


def _pack_of(path: Path) -> Path:
    """The pack that a single rule file belongs to; anything else as it is."""
    from triage.rules.layers import FILES, FOLDERS

    if is_file(path) and path.parent.name in FOLDERS:
        return path.parent.parent
    return path.parent if is_file(path) and path.name in FILES else path


def is_whole(folder: Path) -> bool:
    """Whether a folder holds a rulebook of its own: thresholds, facts, limiters and a whole path."""
    from triage.rules.yamlfile import Map, read

    names = ("thresholds.yaml", "facts.yaml", "path.yaml")
    if not all((folder / name).is_file() for name in names) or not (folder / "limiters").is_dir():
        return False
    root = read(folder / "path.yaml").root
    return isinstance(root, Map) and "path" in root


def found(layers: Sequence[Layer], others: Sequence[Document]) -> list[Fault]:
    """Every fault, those of the gates and of expectations too."""
    from triage.gates.config import parse
    from triage.rules.lint import lint as check
    from triage.rules.yamlfile import Map
    from triage.team.kernels import check_expected

    names = [part.root.get("id") for layer in layers for part in layer.parts if part.kind == "limiter"]
    for document in others:
        check_expected(document, [name for name in names if isinstance(name, str)])
        if isinstance(document.root, Map) and "gates" in document.root:
            parse(document, document.root["gates"], document.root)
    return check(layers, _profile(others), others)


def _profile(others: Sequence[Document]) -> str:
    """The profile that the team's file asks for: what an override changes depends on it."""
    from triage.rules.loader import DEFAULT_PROFILE
    from triage.rules.yamlfile import Map

    asked = [document.root.get("profile") for document in others if isinstance(document.root, Map)]
    return next((name for name in asked if isinstance(name, str)), DEFAULT_PROFILE)


def lock_all(layers: Sequence[Layer]) -> None:
    """Write the locks of the packs (of the shipped rules, where nothing else is given)."""
    from triage.rules.lint.lock import write_lock

    own = [layer for layer in layers if layer.kind != "shipped"] or list(layers)
    for layer in own:
        if layer.folder is not None:
            typer.echo(f"wrote {clean(str(write_lock(layer, layer.folder)))}")


def conclude(faults: Sequence[Fault], layers: Sequence[Layer]) -> None:
    """Print the faults, one a line. Raises :class:`FaultyRules` when there is one."""
    from triage.errors import FaultyRules

    for fault in faults:
        typer.echo(clean(str(fault)))
    if faults:
        raise FaultyRules(
            f"{len(faults)} fault{'s' if len(faults) > 1 else ''}",
            _HINT,
        )
    own = [layer.name for layer in layers if layer.kind != "shipped"] or [layer.name for layer in layers]
    typer.echo(clean(f"no fault in {', '.join(own)}"))


def _shown(path: Path) -> str:
    return path.as_posix().rstrip("/").removeprefix("./") if str(path) not in (".", "") else path.resolve().name
