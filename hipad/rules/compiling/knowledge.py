"""What an expert knows of single features, beside the rules: a direction, certainty, or nothing.

"ABL1 is raised in BCR/ABL" fixes the sign of a weight. "x does not matter" keeps a feature out.
"x is certain" lets a feature in without paying lambda1. None of these is an implication, so none is
a row of (B, d).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from hipad.arrays import IntArray
from hipad.errors import RuleError
from hipad.rules.compiling.compile import as_rule_set, compile_rules
from hipad.rules.compiling.compiled import CompiledRule
from hipad.rules.compiling.naming.members import Blocks, resolve_blocks
from hipad.rules.compiling.naming.names import FeatureIndex, as_index
from hipad.rules.compiling.outcomes import class_sign
from hipad.rules.compiling.resolving import Resolver
from hipad.rules.compiling.settling.lexicon import Lexicon
from hipad.rules.compiling.settling.values import as_values
from hipad.rules.language.model import Rule, RuleSet
from hipad.rules.language.spelling import on_line, quote_label, quote_name, rule_error
from hipad.rules.language.statements import Statement
from hipad.rules.language.terms import Term
from hipad.wording import count, listed

_CONTRARY: Final = (
    ("raised", "lowered"),
    ("raised", "ignored"),
    ("lowered", "ignored"),
    ("certain", "ignored"),
)
_SAID: Final = {
    "raised": "speak for the positive class",
    "lowered": "speak against it",
    "ignored": "do not matter",
    "certain": "are certain",
}


def _no_features() -> IntArray:
    return np.zeros(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class FeatureKnowledge:
    """Columns, sorted, whose weights are known to be >= 0, <= 0, exactly 0, or free of lambda1.

    A column may be certain and raised (or lowered) at once; every other pair contradicts itself.
    """

    raised: IntArray = field(default_factory=_no_features)
    lowered: IntArray = field(default_factory=_no_features)
    ignored: IntArray = field(default_factory=_no_features)
    certain: IntArray = field(default_factory=_no_features)

    def __bool__(self) -> bool:
        return any(part.size for part in (self.raised, self.lowered, self.ignored, self.certain))


@dataclass(frozen=True, eq=False)
class CompiledStatement:
    """A statement with the columns it is about; `kind` is as the weights see it.

    What is raised in the negative class is lowered for the weights, whose sign is the positive one.
    """

    statement: Statement
    kind: str
    columns: IntArray
    outcome: str = ""

    @property
    def meaning(self) -> str:
        """What it does to the model, in plain words."""
        names = listed([quote_name(n) if isinstance(n, str) else str(n)
                        for n in self.statement.names], limit=5)  # fmt: skip
        many = f" ({count(len(self.columns), 'feature')})" if len(self.columns) > 1 else ""
        says = {
            "raised": f"can only speak for {quote_label(self.outcome)}",
            "lowered": f"can only speak for {quote_label(self.outcome)}",
            "ignored": "gets no weight",
            "certain": "is in, however few features there may be",
        }[self.kind]
        high = "low" if self.statement.kind == "lowered" else "high"
        subject = f"a {high} {names}" if self.outcome else names
        return f"{subject}{many} {says}"


@dataclass(frozen=True, eq=False)
class Knowledge:
    """All that was written: rules, and what is known of single features.

    `written` holds all of it as it was read, with what is switched off; None if that is not known.
    """

    rules: tuple[CompiledRule, ...] = ()
    features: FeatureKnowledge = field(default_factory=FeatureKnowledge)
    statements: tuple[CompiledStatement, ...] = ()
    written: RuleSet | None = None


def compile_knowledge(rules: str | Iterable[Rule | str], **context: Any) -> Knowledge:
    """Compile rules and statements about features; `context` is that of `compile_rules`.

    >>> known = compile_knowledge("x0 raises the risk\\nx1 does not matter", n_features=3)
    >>> known.features.raised, known.features.ignored
    (array([0]), array([1]))
    """
    index = as_index(context.get("feature_names"), context.get("n_features"))
    blocks, values = resolve_blocks(context.get("blocks"), index), as_values(context.get("values"))
    asks = bool(context.get("asks", True))
    found = as_rule_set(rules, Lexicon(index, blocks, values, asks=asks))
    context = {**context, "feature_names": index, "blocks": blocks, "values": values}
    context.pop("n_features", None)
    named = {key: context[key] for key in ("blocks", "classes", "positive_chosen")
             if key in context}  # fmt: skip
    stated, errors = compile_statements(found.statements, feature_names=index, **named)
    for error in errors:
        raise error
    on = [each for each in stated.values() if each.statement.enabled]
    compiled = compile_rules(found, **context)
    return Knowledge(compiled, known_features(on, index), tuple(on), found)


def read_knowledge(
    rules: str | Iterable[Rule | str] | None,
    index: FeatureIndex,
    blocks: Blocks | None = None,
    values: Any = None,
) -> RuleSet:
    """Rules and statements as they are read for these columns, before they are compiled."""
    known = Lexicon(index, resolve_blocks(blocks, index), as_values(values))
    return as_rule_set(rules if rules is not None else (), known)


def compile_statements(
    statements: Sequence[Statement],
    *,
    feature_names: FeatureIndex,
    blocks: Blocks | None = None,
    classes: Sequence[object] = ("negative", "positive"),
    positive_chosen: bool = False,
) -> tuple[dict[int, CompiledStatement], list[RuleError]]:
    """Each statement that fits the data by its position, and what is wrong with the others."""
    resolver = Resolver(feature_names, resolve_blocks(blocks, feature_names))
    found: dict[int, CompiledStatement] = {}
    errors: list[RuleError] = []
    for position, statement in enumerate(statements):
        try:
            found[position] = _compiled(statement, resolver, classes, positive_chosen)
        except RuleError as error:
            line = statement.place and statement.place[0]
            placed = error if error.column else rule_error(str(error), column=1)
            errors.append(on_line(placed, line))
    return found, errors


def known_features(stated: Sequence[CompiledStatement], index: FeatureIndex) -> FeatureKnowledge:
    """What all statements say together; RuleError where two of them contradict each other."""
    parts = {
        kind: np.unique(np.concatenate([
            _no_features(), *(each.columns for each in stated if each.kind == kind)
        ])).astype(np.intp)
        for kind in _SAID
    }  # fmt: skip
    for one, other in _CONTRARY:
        both = np.intersect1d(parts[one], parts[other])
        if len(both):
            names = listed([quote_name(index.name(j)) for j in both], limit=4)
            raise rule_error(
                f"{names} cannot both {_SAID[one]} and {_SAID[other]}: take one statement out"
            )
    return FeatureKnowledge(**parts)


def _compiled(
    statement: Statement, resolver: Resolver, classes: Sequence[object], positive_chosen: bool
) -> CompiledStatement:
    columns = resolver.columns(Term(1.0, statement.names, "sum", column=1))
    if statement.kind not in ("raised", "lowered"):
        return CompiledStatement(statement, statement.kind, columns)
    outcome = statement.outcome or "positive"
    sign = class_sign(outcome, classes, positive_chosen=positive_chosen, place=statement.place)
    kinds = ("raised", "lowered")
    kind = statement.kind if sign > 0 else kinds[1 - kinds.index(statement.kind)]
    return CompiledStatement(statement, kind, columns, str(classes[int(sign > 0)]))
