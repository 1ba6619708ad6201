"""Rule files to a :class:`Rulebook`; every fault that keeps them from loading is reported at once.

A rules folder holds ``thresholds.yaml``, ``facts.yaml``, ``path.yaml`` and ``limiters/*.yaml``. Later layers add to
earlier ones: their facts, thresholds and limiters replace those of the same id; a ``path`` replaces the path, while
``questions`` are worked into it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from triage import arguments, resources
from triage.errors import FaultyRules, UsageError
from triage.model import RulebookId
from triage.paths import is_dir, is_file
from triage.rules import checks
from triage.rules.casefile import read_cases
from triage.rules.conditions import Threshold
from triage.rules.factfile import read_facts
from triage.rules.layers import SHIPPED, Layer, Part, folder_layer
from triage.rules.limiterfile import read_limiter
from triage.rules.overrides import Override, apply, check_effect, read_overrides
from triage.rules.pathfile import Groups, read_path
from triage.rules.references import check_references, check_retired
from triage.rules.rulebook import FactDef, LimiterDef, Question, Rulebook, Spot, WalkCase
from triage.rules.sharing import shared
from triage.rules.thresholdfile import declared, read_profiles, read_thresholds
from triage.rules.yamlfile import Document, Fault

DEFAULT_PROFILE = "guide"


def load_rulebook(paths: str | Path | Iterable[str | Path] = (), *, profile: str = DEFAULT_PROFILE) -> Rulebook:
    """The shipped rules with ``paths`` laid over them, in order: folders of rule files, and ``triage.yaml`` files,
    which bring their packs.

    ``profile`` selects a column of ``thresholds.yaml`` (``guide`` or ``playbook``). One path counts as a list of one.
    Raises :class:`FaultyRules` with all faults as ``file:line:column: code message``, ``TypeError`` and ``ValueError``
    that name an argument of a wrong type or value.
    """
    names = arguments.paths(paths, "paths")
    arguments.text(profile, "profile", "the name of a threshold profile")
    # Files of a team may change between two calls, and a relative path means another file in another folder.
    return _layered(names, profile) if names else _load(profile)


def default_rulebook() -> Rulebook:
    """The rules that ship with triage, with the thresholds of NVIDIA's guide."""
    return _load(DEFAULT_PROFILE)


@lru_cache(maxsize=4)
def _load(profile: str) -> Rulebook:
    return _layered((), profile)


def _layered(paths: tuple[str, ...], profile: str) -> Rulebook:
    from triage.team.loading import examine

    layers, others = [shipped_layer()], []
    for path in map(Path, paths):
        if is_file(path):
            team = examine(path)
            layers += team.layers
            others += [team.document] if team.document is not None else []
        else:
            layers.append(command_layer(path))
    return rulebook_of(layers, profile, others, paths)


def shipped_layer() -> Layer:
    """The rules that come with triage."""
    return folder_layer(resources.folder("rules"), "shipped", SHIPPED)


def command_layer(folder: Path) -> Layer:
    """The rules of a folder that the command line names."""
    if not is_dir(folder):
        raise FaultyRules(f"the rules folder {folder} does not exist", "give a folder that holds rule files")
    return folder_layer(folder, "command")


@dataclass(slots=True)
class Assembled:
    """What came out of the layers: the rulebook (``None`` where faults leave none), the profiles there are, and with
    faults what could be ``loaded`` all the same, for the linter alone."""

    rulebook: Rulebook | None
    profiles: list[str]
    documents: list[Document]
    limiters: list[str]
    loaded: Rulebook | None = None

    @property
    def faults(self) -> list[Fault]:
        return sorted({fault for document in self.documents for fault in document.faults})


def rulebook_of(
    layers: Sequence[Layer], profile: str, others: Sequence[Document] = (), paths: tuple[str, ...] = ()
) -> Rulebook:
    """The rules of the layers, which came from ``paths``. Raises :class:`FaultyRules` with every fault of the layers
    and of ``others``, the teams' own files."""
    from triage.team.kernels import check_expected

    made = assemble(layers, profile, paths)
    for document in others:
        check_expected(document, made.limiters)
    faults = sorted({*made.faults, *(fault for document in others for fault in document.faults)})
    if faults or made.rulebook is None:
        raise FaultyRules(
            f"{len(faults)} fault{'s' if len(faults) != 1 else ''} in the rules",
            "mend the lines above",
            details=tuple(str(fault) for fault in faults),
        )
    if profile not in made.profiles:
        hint = checks.suggestion(profile, made.profiles)
        raise UsageError(
            f"no threshold profile is called {profile!r}{hint}", f"choose one of {', '.join(sorted(made.profiles))}"
        )
    return made.rulebook


@dataclass(slots=True)
class _Work:
    profile: str
    thresholds: dict[str, Threshold] = field(default_factory=dict)
    facts: dict[str, FactDef] = field(default_factory=dict)
    limiters: dict[str, LimiterDef] = field(default_factory=dict)
    path: tuple[Question, ...] = ()
    groups: Groups = field(default_factory=dict)
    cases: list[WalkCase] = field(default_factory=list)
    overrides: list[Override] = field(default_factory=list)
    retired: dict[str, Spot] = field(default_factory=dict)
    # Which layer a definition of a pack came from: two packs that define the same id contradict each other.
    owners: dict[tuple[str, str], Layer] = field(default_factory=dict)


def assemble(layers: Sequence[Layer], profile: str, paths: tuple[str, ...] = ()) -> Assembled:
    """Read every layer; never raises for what the files hold."""
    documents = [document for layer in layers for document in layer.documents]
    work = _Work(profile)
    profiles = [DEFAULT_PROFILE]
    for layer, part in _parts(layers, "thresholds"):
        profiles += declared(part.root)
        if "thresholds" in part.root or "profiles" not in part.root:
            names = read_thresholds(part.document, part.root, work.thresholds, profile)
            _own(work, layer, part, "threshold", names, "thresholds")
        read_profiles(part.document, part.root, work.thresholds, profile)
    for layer, part in _parts(layers, "facts"):
        names = read_facts(part.document, part.root, work.facts, work.thresholds)
        _own(work, layer, part, "fact", names, "facts")
    conditions = checks.ConditionReader({name: fact.unit for name, fact in work.facts.items()}, work.thresholds)
    for layer, part in _parts(layers, "limiter"):
        limiter = read_limiter(part.document, part.root, work.facts, conditions, stem=part.stem)
        if limiter is not None:
            work.limiters[limiter.id] = limiter
            _own(work, layer, part, "limiter", [limiter.id], "")
    for _, part in _parts(layers, "path"):
        work.path = read_path(part.document, part.root, work.path, work.groups, work.facts, conditions)
    for _, part in _parts(layers, "retire"):
        work.retired |= check_retired(part.document, part.root, work.limiters)
    for _, part in _parts(layers, "overrides"):
        work.overrides += read_overrides(
            part.document, part.root, work.facts, work.limiters, work.path, work.thresholds
        )
    for layer, part in _parts(layers, "cases"):
        inside = layer.folder or part.document.path.parent
        work.cases += read_cases(part.document, part.root, work.facts, work.limiters, inside)
    by_name = {document.shown: document for document in documents}
    check_effect(work.overrides, by_name, (work.limiters, work.path))
    check_references(by_name, work.path, work.limiters, work.retired)
    if any(document.faults for document in documents):
        loaded = _rulebook(_usable(work), layers, documents, paths)
        return Assembled(None, profiles, documents, list(work.limiters), loaded)
    return Assembled(_rulebook(work, layers, documents, paths), profiles, documents, list(work.limiters))


def _usable(work: _Work) -> _Work:
    """What is left when the entries that name something unreadable are dropped: enough for the linter to go on."""
    path = tuple(
        replace(
            question,
            answers=tuple(
                replace(answer, blocked_by=tuple(r for r in answer.blocked_by if r.limiter in work.limiters))
                for answer in question.answers
                if answer.limiter in work.limiters
            ),
        )
        for question in work.path
    )
    return replace(work, path=path, retired={}, overrides=[], cases=[])


def _parts(layers: Sequence[Layer], kind: str) -> list[tuple[Layer, Part]]:
    return [(layer, part) for layer in layers for part in layer.parts if part.kind == kind]


def _own(work: _Work, layer: Layer, part: Part, kind: str, names: Sequence[str], key: str) -> None:
    """Note who defines an id; the same id in two packs is a clash, in a pack and a team's file it is meant."""
    entries = part.root.get(key) if key else part.root
    for name in names:
        other = work.owners.get((kind, name))
        if other is not None and other is not layer and layer.kind == other.kind == "pack":
            place = name if key else "id"
            part.document.fault(
                entries, place, "clash", f"the {kind} {name!r} is also defined by the pack {other.name}"
            )
        work.owners[kind, name] = layer


def _rulebook(work: _Work, layers: Sequence[Layer], documents: Sequence[Document], paths: tuple[str, ...]) -> Rulebook:
    identity = RulebookId(_digest(documents, work.profile), work.profile, paths)
    limiters = {
        name: limiter.retired(work.retired[name]) if name in work.retired else limiter
        for name, limiter in work.limiters.items()
    }
    made = Rulebook(
        work.facts,
        limiters,
        work.path,
        work.thresholds,
        identity,
        overrides=tuple(override for override in work.overrides if override.chips is not None),
        layers=tuple(layer.name for layer in layers),
        cases=tuple(work.cases),
    )
    everywhere = tuple(override for override in work.overrides if override.chips is None)
    return apply(made, everywhere) if everywhere else shared(made)


def _digest(documents: Sequence[Document], profile: str) -> str:
    """A short digest of every rule file in force and the profile, wherever they lie: reports carry it."""
    state = hashlib.sha256(profile.encode())
    for document in documents:
        state.update(document.path.name.encode() + b"\0" + document.text.encode() + b"\0")
    return state.hexdigest()[:12]
