"""Units through formulas: a sum of bytes and percent, or a ratio called a percentage, is a fault.

The unit of a fact is declared; that of a metric is known where its name tells it. A number can stand for any unit, and
a product with a number may convert, so only what is certain is reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from triage.rules.checks import said_unit
from triage.rules.rulebook import FactDef, Rulebook, Spot
from triage.rules.yamlfile import Fault

# A unit, or None where it is not known. FLEX is a plain number: it takes the unit of what it is added to.
Unit = str | None
FLEX = "number"


class Mismatch(Exception):
    """Two different units are added or compared."""


def check_units(rulebook: Rulebook) -> Iterator[Fault]:
    """Facts whose formulas do not have the unit they declare, and roll-ups of different units."""
    units = {name: definition.unit for name, definition in rulebook.facts.items()}
    for definition in rulebook.facts.values():
        for text, spot in _formulas(definition):
            try:
                unit = unit_of(text, units)
            except Mismatch as fault:
                yield Fault(*spot, "unit", f"the fact {definition.id!r}: {fault} in {_short(text)}")
                continue
            if unit not in (None, FLEX, definition.unit):
                found, declared = said_unit(unit or ""), said_unit(definition.unit)
                message = f"the fact {definition.id!r} is declared in {declared}, but {_short(text)} is in {found}"
                yield Fault(*spot, "unit", message)
        for part in (*definition.largest_of, *definition.sum_of_known):
            if units.get(part, definition.unit) != definition.unit:
                found, declared = said_unit(units[part]), said_unit(definition.unit)
                message = f"the fact {definition.id!r} is declared in {declared}, its part {part!r} in {found}"
                yield Fault(*definition.spot, "unit", message)


def _formulas(definition: FactDef) -> list[tuple[str, Spot]]:
    found = [(way.formula.text, way.spot) for way in definition.alternatives]
    return found + [(bound.text, definition.spot) for bound in (*definition.at_most, *definition.at_least)]


def unit_of(text: str, facts: Mapping[str, str]) -> Unit:
    """The unit of a formula. Raises :class:`Mismatch` where different units are added or compared."""
    return _unit(ast.parse(text, mode="eval").body, facts)


def _unit(node: ast.expr, facts: Mapping[str, str]) -> Unit:
    if isinstance(node, ast.Constant):
        return FLEX
    if isinstance(node, (ast.Name, ast.Attribute)):
        name = ast.unparse(node)
        return facts[name] if name in facts else metric_unit(name)
    if isinstance(node, ast.UnaryOp):
        return _unit(node.operand, facts)
    if isinstance(node, ast.Call):
        return _same([_unit(part, facts) for part in node.args])
    if isinstance(node, ast.BinOp):
        left, right = _unit(node.left, facts), _unit(node.right, facts)
        if isinstance(node.op, (ast.Add, ast.Sub)):
            return _same([left, right])
        return _product(left, right) if isinstance(node.op, ast.Mult) else _quotient(left, right)
    return None


def _same(units: list[Unit]) -> Unit:
    known = list(dict.fromkeys(unit for unit in units if unit not in (None, FLEX)))
    if len(known) > 1:
        raise Mismatch(f"{said_unit(known[0] or '')} meets {said_unit(known[1] or '')}")
    if known:
        return known[0]
    return FLEX if all(unit == FLEX for unit in units) else None


def _product(left: Unit, right: Unit) -> Unit:
    if FLEX in (left, right):
        # A number may convert; of a plain number it makes a plain number or a percentage.
        return FLEX if {left, right} <= {FLEX, ""} else None
    if left == "":
        return right
    return left if right == "" else None


def _quotient(left: Unit, right: Unit) -> Unit:
    if left is not None and left == right:
        return FLEX if left == FLEX else ""
    if FLEX in (left, right):
        return FLEX if {left, right} <= {FLEX, ""} else None
    return left if right == "" else None


def metric_unit(name: str) -> Unit:
    """The unit of an ncu metric where its name tells it, in base units."""
    if ".pct" in name or name.endswith("_pct"):
        return "%"
    if name.startswith("gpu__time_duration"):
        return "ns"
    if name.startswith("dram__bytes") and name.endswith(".sum"):
        return "byte"
    if "__t_sectors" in name and name.endswith(".sum"):
        return "sector"
    return None


def _short(text: str) -> str:
    return f"'{text}'" if len(text) <= 60 else f"'{text[:57]}...'"
