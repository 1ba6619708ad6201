"""Arithmetic over metrics and facts, with unknown operands kept as intervals.

A formula is text such as ``100 * l1tex__a.sum / l1tex__b.sum``. It is parsed with :mod:`ast`, checked against a short
list of allowed nodes and turned into nested closures; nothing is ever evaluated as Python. Allowed: metric names,
fact names, numbers, ``+ - * /``, parentheses, ``min``, ``max`` and ``ceil`` (a block is padded to whole warps, a grid
to whole waves).

Every value is a pair ``(low, high)`` in the unit of the metrics: equal when known. A counter that was not collected
is ``(0, inf)`` (counters and percentages are not negative), so a sum with one unknown operand is unknown above but
bounded below, and a condition on it can still be decided where that bound is enough.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from triage.magnitude import plausible

Interval = tuple[float, float]
Lookup = Callable[[str], Interval]

UNKNOWN: Interval = (0.0, math.inf)
MAX_LENGTH = 2_000
MAX_NODES = 400
# Metric names carry a double underscore after the unit; the source counters below are the exceptions.
METRIC = re.compile(
    r"^(?:[a-z][a-z0-9]*__[A-Za-z0-9_]+|(?:thread_)?inst_executed(?:_true)?"
    r"|memory_(?:l1|l2|ideal|shared|access)_[a-z0-9_]+)(?:\.[a-z_0-9]+)*$"
)
FACT = re.compile(r"^[a-z][a-z0-9_]*$")


class FormulaError(ValueError):
    """The text is no formula of the allowed kind; the message says what is not allowed."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A checked formula: ``evaluate(metric, fact)`` gives its interval. ``metrics`` and ``facts`` are its operands."""

    text: str
    metrics: tuple[str, ...]
    facts: tuple[str, ...]
    evaluate: Callable[[Lookup, Lookup], Interval]


def parse(text: str, facts: Iterable[str]) -> Formula:
    """Parse ``text``; names in ``facts`` are facts, other names must look like ncu metrics.

    Raises :class:`FormulaError` for anything else, for formulas over 2,000 characters or 400 terms.
    """
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"formula is {len(text)} characters long; at most {MAX_LENGTH} are allowed")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as fault:
        raise FormulaError(f"not a formula: {getattr(fault, 'msg', None) or fault}") from None
    if sum(1 for _ in ast.walk(tree)) > MAX_NODES * 3:
        raise FormulaError(f"formula has more than {MAX_NODES} terms")
    metrics: list[str] = []
    used: list[str] = []
    known = facts if isinstance(facts, (set, frozenset, dict)) else set(facts)
    run = _compile(tree.body, known, metrics, used)
    return Formula(text.strip(), tuple(dict.fromkeys(metrics)), tuple(dict.fromkeys(used)), run)


def _compile(
    node: ast.expr, facts: Iterable[str], metrics: list[str], used: list[str]
) -> Callable[[Lookup, Lookup], Interval]:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        if not plausible(node.value):
            raise FormulaError("holds a number of a size that nothing measured has")
        constant = (float(node.value), float(node.value))
        return lambda metric, fact: constant
    if isinstance(node, (ast.Name, ast.Attribute)):
        return _operand(_dotted(node), facts, metrics, used)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _compile(node.operand, facts, metrics, used)

        def negate(metric: Lookup, fact: Lookup) -> Interval:
            low, high = inner(metric, fact)
            return (-high, -low)

        return negate
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        left = _compile(node.left, facts, metrics, used)
        right = _compile(node.right, facts, metrics, used)
        combine = _BINARY[type(node.op)]
        return lambda metric, fact: combine(left(metric, fact), right(metric, fact))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        parts = [_compile(part, facts, metrics, used) for part in node.args]
        if node.func.id in ("min", "max") and len(parts) > 1:
            choose = min if node.func.id == "min" else max

            def pick(metric: Lookup, fact: Lookup) -> Interval:
                values = [part(metric, fact) for part in parts]
                return (choose(v[0] for v in values), choose(v[1] for v in values))

            return pick
        if node.func.id == "ceil" and len(parts) == 1:
            return lambda metric, fact: _ceil(parts[0](metric, fact))
        raise FormulaError(f"{node.func.id}(...) is not allowed; only min, max (two or more values) and ceil (one)")
    raise FormulaError(f"{ast.unparse(node)!r} is not allowed; use names, numbers, + - * /, min, max, ceil")


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        raise FormulaError("a dot may only stand inside a metric name")
    return ".".join([node.id, *reversed(parts)])


def _operand(
    name: str, facts: Iterable[str], metrics: list[str], used: list[str]
) -> Callable[[Lookup, Lookup], Interval]:
    if name in facts:
        used.append(name)
        return lambda metric, fact: fact(name)
    if METRIC.match(name):
        metrics.append(name)
        return lambda metric, fact: metric(name)
    raise FormulaError(f"{name!r} is neither a declared fact nor the name of an ncu metric")


def _add(a: Interval, b: Interval) -> Interval:
    return (a[0] + b[0], a[1] + b[1])


def _subtract(a: Interval, b: Interval) -> Interval:
    return (a[0] - b[1], a[1] - b[0])


def _multiply(a: Interval, b: Interval) -> Interval:
    if a[0] >= 0 and b[0] >= 0:
        return (_times(a[0], b[0]), _times(a[1], b[1]))
    products = [_times(x, y) for x in a for y in b]
    return (min(products), max(products))


def _times(x: float, y: float) -> float:
    # inf * 0 is a bound meeting nothing: nothing wins.
    return 0.0 if x == 0 or y == 0 else x * y


def _divide(a: Interval, b: Interval) -> Interval:
    if b == (0.0, 0.0):
        # Nothing of nothing was counted: a share of it is none. Something of nothing contradicts itself.
        return (0.0, 0.0) if a == (0.0, 0.0) else UNKNOWN
    if a[0] < 0 or b[0] < 0:
        return (-math.inf, math.inf) if b[0] <= 0 <= b[1] else _span(a, b)
    low = a[0] / b[1] if b[1] not in (0.0, math.inf) else 0.0
    high = a[1] / b[0] if b[0] > 0 else (0.0 if a[1] == 0 else math.inf)
    # A quotient beyond what a float holds is no counter's: nothing is known then.
    return (low, high) if low < math.inf else UNKNOWN


def _span(a: Interval, b: Interval) -> Interval:
    quotients = [x / y if math.isfinite(y) else 0.0 for x in a for y in b]
    return (min(quotients), max(quotients))


def _ceil(a: Interval) -> Interval:
    low, high = (float(math.ceil(end)) if math.isfinite(end) else end for end in a)
    return (low, high)


_BINARY: dict[type[ast.operator], Callable[[Interval, Interval], Interval]] = {
    ast.Add: _add,
    ast.Sub: _subtract,
    ast.Mult: _multiply,
    ast.Div: _divide,
}
