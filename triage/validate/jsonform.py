"""A validation as JSON (``triage/validate/1``), and back: the file that `triage validate -f json` writes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, TypeVar, get_args, get_type_hints

from triage.errors import UnreadableReport
from triage.validate.manifest import Calibration
from triage.validate.model import About, Advice, Judged, Round, Skipped, Validation, faults, moved, pairs
from triage.validate.scores import matrix, outcomes, score_advice

SCHEMA = "triage/validate/1"
T = TypeVar("T")


def render(validation: Validation) -> str:
    """The whole validation, with everything that is derived from it, as JSON."""
    score = score_advice(validation.judged)
    found = {
        "schema": SCHEMA,
        "holds": not faults(validation),
        "faults": list(faults(validation)),
        "about": [asdict(one) for one in validation.about],
        "outcomes": dict(outcomes(validation)),
        "matrix": [asdict(row) | {"named": dict(row.named)} for row in matrix(validation.judged)],
        "kernels": [_judged(one) for one in validation.judged],
        "pairs": [
            {
                "kernel": pair.kernel.entry.kernel,
                "limiter": pair.kernel.limiter,
                "twin": pair.twin,
                "twin_limiter": pair.twin_limiter,
                "limiter_gone": pair.gone,
                "speedup": None if pair.speedup is None else round(pair.speedup, 3),
                "bound": None if pair.kernel.bound is None else round(pair.kernel.bound, 3),
                "bound_beaten": pair.beaten,
                "same_result": pair.same_result,
                "first_fix_is_the_twins": pair.first,
            }
            for pair in pairs(validation)
        ],
        "checks": [{"kernel": a, "twin": b, "ok": ok} for (a, b), ok in validation.checks.items()],
        "rounds": [
            {"scale": one.scale, "source": one.source, "answers": dict(one.answers)} for one in validation.rounds
        ],
        "moved": [asdict(one) for one in moved(validation)],
        "skipped": [asdict(one) for one in validation.skipped],
        "ncu_advice": asdict(score) if score.kernels else None,
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def _judged(one: Judged) -> dict[str, Any]:
    entry = one.entry
    known = {
        "kernel": entry.kernel,
        "file": entry.file,
        "accept": list(entry.accept),
        "forbid": list(entry.forbid),
        "twin": entry.twin,
        "why": entry.why,
        "fix": entry.fix,
        "at": {f"{scale:g}": list(ids) for scale, ids in entry.at.items()},
        "keeps": entry.keeps,
        "trap": entry.trap,
        "min_cc": entry.min_cc,
    }
    advice = None if one.advice is None else asdict(one.advice)
    return {
        "source": one.source,
        "known": known,
        "limiter": one.limiter,
        "outcome": one.outcome,
        "confidence": one.confidence,
        "summary": one.summary,
        "first_fix": one.fix,
        "bound": one.bound,
        "missing": list(one.missing),
        "time_us": one.time_us,
        "twin_us": one.twin_us,
        "walk": one.walk,
        "ncu_advice": advice,
    }


def parse(text: str, name: str) -> Validation:
    """The validation that :func:`render` wrote. Raises UnreadableReport for anything else, ``name`` in its message."""
    hint = "give a file that `triage validate -f json` wrote"
    try:
        content = json.loads(text)
        if not isinstance(content, dict) or content.get("schema") != SCHEMA:
            raise UnreadableReport(f"{name} is no JSON of a validation", hint)
        return Validation(
            about=tuple(_plain(About, one) for one in content["about"]),
            judged=tuple(_read(one) for one in content["kernels"]),
            checks={(str(one["kernel"]), str(one["twin"])): bool(one["ok"]) for one in content["checks"]},
            rounds=tuple(
                Round(float(one["scale"]), _answers(one["answers"]), str(one["source"])) for one in content["rounds"]
            ),
            skipped=tuple(_plain(Skipped, one) for one in content["skipped"]),
        )
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as fault:
        raise UnreadableReport(f"{name} is no JSON of a validation: {type(fault).__name__} {fault}", hint) from fault


def _plain(kind: type[T], values: Mapping[str, Any]) -> T:
    """A type of plain values from the keys it knows, each of the type it is declared as; what a newer version added is
    passed over."""
    declared = get_type_hints(kind)
    for key, value in values.items():
        if key in declared:
            _checked(value, key, _is(value, declared[key]))
    return kind(**{key: value for key, value in values.items() if key in declared})


def _is(value: Any, hint: Any) -> bool:
    kinds = tuple(get_args(hint) or (hint,))
    if isinstance(value, bool):
        return bool in kinds
    # JSON writes a whole number without a point.
    return isinstance(value, (*kinds, int) if float in kinds else kinds)


def _checked(value: Any, key: str, fine: bool) -> Any:
    """``value``, where it is ``fine``. Raises ``TypeError`` that names its key."""
    if not fine:
        raise TypeError(f"{key} is {value!r:.40}")
    return value


def _text_or_none(value: Any, key: str) -> str | None:
    return None if _checked(value, key, _is(value, str | None)) is None else str(value)


def _number_or_none(value: Any, key: str) -> float | None:
    fine = value is None or (_is(value, float) and math.isfinite(value))
    return None if _checked(value, key, fine) is None else float(value)


def _texts(value: Any, key: str, least: int = 0) -> tuple[str, ...]:
    fine = isinstance(value, list) and len(value) >= least and all(isinstance(each, str) for each in value)
    return tuple(_checked(value, key, fine))


def _answers(values: Mapping[str, Any]) -> dict[str, str | None]:
    return {str(kernel): _text_or_none(answer, "answer") for kernel, answer in values.items()}


def _read(one: Mapping[str, Any]) -> Judged:
    known = dict(one["known"])
    entry = Calibration(
        kernel=str(known["kernel"]),
        file=str(known["file"]),
        accept=_texts(known["accept"], "accept", 1),
        forbid=_texts(known["forbid"], "forbid"),
        twin=_text_or_none(known["twin"], "twin"),
        why=str(known["why"]),
        fix=_text_or_none(known["fix"], "fix"),
        at={float(scale): _texts(ids, "at") for scale, ids in known["at"].items()},
        keeps=bool(known["keeps"]),
        trap=bool(known["trap"]),
        min_cc=int(known["min_cc"]),
    )
    told = one["ncu_advice"]
    advice = None
    if told is not None:
        advice = Advice(
            str(told["rule"]), float(told["speedup"]), str(told["kind"]),
            _texts(told["focus"], "focus"), _texts(told["limiters"], "limiters"),
        )  # fmt: skip
    return Judged(
        entry=entry,
        limiter=_text_or_none(one["limiter"], "limiter"),
        confidence=str(one["confidence"]),
        summary=str(one["summary"]),
        fix=str(one["first_fix"]),
        bound=_number_or_none(one["bound"], "bound"),
        missing=_texts(one["missing"], "missing"),
        time_us=_number_or_none(one["time_us"], "time_us"),
        twin_us=_number_or_none(one["twin_us"], "twin_us"),
        walk=str(one["walk"]),
        advice=advice,
        source=str(one["source"]),
    )
