"""A text read for certain data: with their names, and with rules for several spelled out.

`max(K1) >= 3` is met as soon as one feature of K1 is: it stands for one rule for each. Whoever
looks at rules one by one, as a page or a report does, reads them here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from hipad.errors import RuleError
from hipad.rules.compiling.compile import compile_rules
from hipad.rules.compiling.settling.lexicon import Lexicon
from hipad.rules.language.model import Rule
from hipad.rules.language.parsing import RulesText, read_rules

SEVERAL: Final = ("max", "min")  # functions of which one feature may be enough


def read_for(text: str, lexicon: Lexicon, classes: Sequence[object]) -> RulesText:
    """The rules of a text as these data understand it; several where a rule stands for several.

    >>> from hipad.rules.compiling.naming.names import FeatureIndex
    >>> names = Lexicon(FeatureIndex(["blood pressure", "Age"]))
    >>> print(read_for("blood pressure >= 140 => ill", names, ("well", "ill")).rules)
    `blood pressure` >= 140 => ill
    """
    found = read_rules(text, lexicon)
    parts = [_ways(rule, lexicon, classes) for rule in found.rules]
    if all(len(some) == 1 for some in parts):
        return found
    rules = tuple(rule for some in parts for rule in some)
    return replace(found, rules=replace(found.rules, rules=rules))


def _ways(rule: Rule, lexicon: Lexicon, classes: Sequence[object]) -> list[Rule]:
    """The rules that a rule stands for; itself where it is one, or cannot be used."""
    if not _may_be_several(rule):
        return [rule]
    context: dict[str, Any] = {"feature_names": lexicon.index, "blocks": lexicon.blocks}
    try:
        found = compile_rules(
            [rule],
            classes=classes,
            positive_chosen=True,
            include_off=True,
            values=lexicon.values,
            **context,
        )
    except RuleError:
        return [rule]
    if len(found) == 1:
        return [rule]
    named = [f"{rule.name}_{k}" if rule.name else "" for k in range(1, len(found) + 1)]
    return [
        replace(each.rule, name=name, place=rule.place)
        for each, name in zip(found, named, strict=True)
    ]


def _may_be_several(rule: Rule) -> bool:
    terms = (term for each in rule.conditions for side in each.sides for term in side)
    return any(term.function in SEVERAL for term in terms)
