"""Rule files to a :class:`Rulebook`; every fault of every file is reported at once.

A rules folder holds ``thresholds.yaml``, ``facts.yaml``, ``path.yaml`` and ``limiters/*.yaml``. Later folders add to
earlier ones: their facts, thresholds and limiters replace those of the same id; a ``path.yaml`` replaces the path.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from triage import resources
from triage.errors import FaultyRules
from triage.model import RulebookId
from triage.rules import checks
from triage.rules.checks import ConditionReader
from triage.rules.conditions import Threshold
from triage.rules.factfile import read_facts
from triage.rules.limiterfile import read_limiter
from triage.rules.pathfile import check_path, read_path
from triage.rules.rulebook import FactDef, LimiterDef, Question, Rulebook
from triage.rules.sharing import shared
from triage.rules.yamlfile import Document, Map, read

DEFAULT_PROFILE = "guide"


def load_rulebook(paths: Iterable[str | Path] = (), *, profile: str = DEFAULT_PROFILE) -> Rulebook:
    """The shipped rules with the folders ``paths`` laid over them, in order.

    ``profile`` selects a column of ``thresholds.yaml`` (``guide`` or ``playbook``). Raises :class:`FaultyRules` with
    all faults as ``file:line:column: code message``.
    """
    return _load(tuple(str(path) for path in paths), profile)


def default_rulebook() -> Rulebook:
    """The rules that ship with triage, with the thresholds of NVIDIA's guide."""
    return _load((), DEFAULT_PROFILE)


@lru_cache(maxsize=16)
def _load(paths: tuple[str, ...], profile: str) -> Rulebook:
    folders = [resources.folder("rules"), *(Path(path) for path in paths)]
    for folder in folders:
        if not folder.is_dir():
            raise FaultyRules(f"the rules folder {folder} does not exist", "give a folder that holds rule files")
    documents = [[read(file, _shown(folder, file)) for file in _files(folder)] for folder in folders]
    everything = [document for group in documents for document in group]
    thresholds: dict[str, Threshold] = {}
    facts: dict[str, FactDef] = {}
    limiters: dict[str, LimiterDef] = {}
    path: tuple[Question, ...] = ()
    path_document: Document | None = None
    profiles = {DEFAULT_PROFILE}
    for group in documents:
        for document in _named(group, "thresholds.yaml"):
            profiles |= _read_thresholds(document, thresholds, profile)
        for document in _named(group, "facts.yaml"):
            read_facts(document, facts, thresholds)
    conditions = ConditionReader(facts, thresholds)
    for group in documents:
        for document in group:
            if document.path.parent.name == "limiters":
                limiter = read_limiter(document, facts, conditions)
                if limiter is not None:
                    limiters[limiter.id] = limiter
        for document in _named(group, "path.yaml"):
            path, path_document = read_path(document, facts, conditions), document
    if path_document is not None:
        check_path(path_document, path, limiters)
    faults = sorted(fault for document in everything for fault in document.faults)
    if faults:
        raise FaultyRules(
            f"{len(faults)} fault{'s' if len(faults) > 1 else ''} in the rules",
            "mend the lines above",
            details=tuple(str(fault) for fault in faults),
        )
    if profile not in profiles:
        raise FaultyRules(f"no threshold profile is called {profile!r}", f"choose one of {', '.join(sorted(profiles))}")
    identity = RulebookId(_digest(everything, profile), profile, tuple(str(folder) for folder in folders[1:]))
    return shared(Rulebook(facts, limiters, path, thresholds, identity))


def _files(folder: Path) -> list[Path]:
    names = ("thresholds.yaml", "facts.yaml", "path.yaml")
    return [folder / name for name in names if (folder / name).is_file()] + sorted((folder / "limiters").glob("*.yaml"))


def _shown(folder: Path, file: Path) -> str:
    return str(Path(folder.name) / file.relative_to(folder))


def _named(group: Sequence[Document], name: str) -> list[Document]:
    return [document for document in group if document.path.name == name and document.path.parent.name != "limiters"]


def _read_thresholds(document: Document, thresholds: dict[str, Threshold], profile: str) -> set[str]:
    """Add the thresholds of a file, in the column of ``profile``; the profiles it names."""
    root = document.root if isinstance(document.root, Map) else Map()
    checks.keys(document, root, ["thresholds"], ["profiles"], "thresholds.yaml")
    declared = root.get("profiles", Map())
    profiles = set(declared) if isinstance(declared, Map) else set()
    entries = root.get("thresholds")
    if not isinstance(entries, Map):
        document.fault(root, "thresholds", "type", "'thresholds' must be a map of names")
        return profiles
    for name, entry in entries.items():
        if not isinstance(entry, Map):
            document.fault(entries, name, "type", "a threshold is a map: {value: ..., source: ...}")
            continue
        checks.keys(document, entry, ["value", "source"], ["unit", *profiles], f"the threshold {name!r}")
        value, source = checks.number(document, entry, "value"), checks.text(document, entry, "source")
        other = entry.get(profile)
        if isinstance(other, Map):
            checks.keys(document, other, ["value", "source"], [], f"the profile {profile!r}")
            value, source = checks.number(document, other, "value"), checks.text(document, other, "source")
        if value is not None:
            thresholds[name] = Threshold(value, source, name)
    return profiles


def _digest(documents: Sequence[Document], profile: str) -> str:
    """A short digest of every rule file in force and the profile: reports carry it."""
    state = hashlib.sha256(profile.encode())
    for document in documents:
        state.update(document.shown.encode() + b"\0" + document.text.encode() + b"\0")
    return state.hexdigest()[:12]
