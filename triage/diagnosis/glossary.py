"""What each fact and metric is, in a sentence, from the rules in force and from ``rules/metrics.yaml``."""

from __future__ import annotations

from collections.abc import Mapping

from triage.rules.rulebook import Rulebook


def glossary(rulebook: Rulebook) -> Mapping[str, str]:
    """Fact ids, and the metrics that alone give a fact, to the sentence that says what they are."""
    said = {name: definition.says for name, definition in rulebook.facts.items()}
    for definition in rulebook.facts.values():
        for alternative in definition.alternatives:
            if len(alternative.formula.metrics) == 1 and alternative.formula.text == alternative.formula.metrics[0]:
                said.setdefault(alternative.formula.text, definition.says)
    return said
