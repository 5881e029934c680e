"""Rules for certain data: text or rules in, compiled rules or everything that is wrong out."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from hipad.errors import RuleError
from hipad.rules.compiling.assembling import Assembler, ResolvedRule, together
from hipad.rules.compiling.compiled import CompiledRule
from hipad.rules.compiling.naming.members import Blocks, resolve_blocks
from hipad.rules.compiling.naming.names import FeatureIndex, as_index
from hipad.rules.language.model import Rule, RuleSet
from hipad.rules.language.parsing import parse_rules
from hipad.rules.language.statements import Statement
from hipad.rules.language.words.lexing import Vocabulary
from hipad.rules.units import unit_in_name, unit_of
from hipad.wording import listed

_HELPED = 20  # errors that say which names are near


def compile_rules(
    rules: str | Iterable[Rule | str],
    *,
    feature_names: FeatureIndex | Sequence[object] | None = None,
    n_features: int | None = None,
    blocks: Blocks | None = None,
    classes: Sequence[object] = ("negative", "positive"),
    positive_chosen: bool = False,
    include_off: bool = False,
    values: Any = None,
    asks: bool = True,
) -> tuple[CompiledRule, ...]:
    """Compile rules for data with these columns and these (negative, positive) classes.

    Rules that are switched off are passed over unless `include_off`. `values` are the training rows
    (or their ColumnValues), from which percentiles and the like are learnt, and which tell counts,
    columns of 0 and 1 and the range of each column: without them a rule whose meaning depends on
    these is warned of, or refused. A number in a unit that the column may not have is refused with
    what to write, or only remarked on unless `asks`. A rule that is met as soon as one of several
    features is becomes one compiled rule for each.

    >>> X = [[3, 5, 0], [3, 4, 9]]
    >>> (rule,) = compile_rules("mean(x0, x1) >= 4 => positive", n_features=3, values=X)
    >>> rule.B.toarray(), rule.d, rule.sign
    (array([[-0.5, -0.5,  0. ]]), array([-4.]), 1.0)
    >>> rule.fires(X)
    array([ True, False])
    """
    index = as_index(feature_names, n_features)
    columns = resolve_blocks(blocks, index)
    context = Assembler(index, columns, classes, positive_chosen, values, asks)
    found = as_rule_set(rules, context.lexicon)
    resolved: list[ResolvedRule] = []
    errors: list[RuleError] = []
    for rule, label in zip(found, found.labels, strict=True):
        if rule.enabled or include_off:
            if len(errors) == _HELPED:
                context = context.without_suggestions()
            try:
                resolved += context.resolved(rule, label, several=True)
            except RuleError as error:
                errors.append(error)
    if errors:
        raise together(errors)
    if values is None:
        _warn_of_unknown_values(resolved)
    # The names of all rules before the matrices of all: one kind of work at a time is faster.
    return tuple([each.compiled(index) for each in resolved])


def _warn_of_unknown_values(resolved: list[ResolvedRule]) -> None:
    """Say which rules may mean something else on the data that they are meant for."""
    strict = [each.label for each in resolved if _is_strict(each)]
    units = [each.label for each in resolved if _has_unit(each.rule)]
    told = []
    if strict:
        told.append(
            f"the border belongs to '>' and '<' of {listed(strict, limit=4)}, which it does not on "
            "whole numbers"
        )
    if units:
        told.append(f"the numbers of {listed(units, limit=4)} may be in another unit than the data")
    if told:
        sentence = f"the rules are compiled without rows: {'; '.join(told)}: pass values=X"
        warnings.warn(sentence, UserWarning, stacklevel=3)


def _is_strict(each: ResolvedRule) -> bool:
    return any({"<", ">"} & set(condition.relations) for condition in each.settled)


def _has_unit(rule: Rule) -> bool:
    terms = [term for each in rule.conditions for side in each.sides for term in side]
    names = [name for term in terms for name in term.names if isinstance(name, str)]
    known = any(unit_in_name(name) is not None for name in names)
    return not known and any(unit_of(term.unit) is not None for term in terms)


def compile_each(
    rules: RuleSet,
    *,
    feature_names: FeatureIndex,
    blocks: Blocks | None = None,
    classes: Sequence[object] = ("negative", "positive"),
    positive_chosen: bool = False,
    values: Any = None,
) -> tuple[dict[int, CompiledRule], list[RuleError]]:
    """Each rule that fits the data by its position, off or on, and what is wrong with the others.

    Near names are looked for in the first few errors only.
    """
    index = feature_names
    columns = resolve_blocks(blocks, index)
    context = Assembler(index, columns, classes, positive_chosen, values)
    found: dict[int, CompiledRule] = {}
    errors: list[RuleError] = []
    for position, (rule, label) in enumerate(zip(rules, rules.labels, strict=True)):
        if len(errors) == _HELPED:
            context = context.without_suggestions()
        try:
            (each,) = context.resolved(rule, label, several=False)
            found[position] = each.compiled(index)
        except RuleError as error:
            errors.append(error)
    return found, errors


def as_rule_set(rules: str | Iterable[Rule | str], vocabulary: Vocabulary | None = None) -> RuleSet:
    """Rules from text, or from any iterable of rules and texts.

    >>> print(as_rule_set(["a >= 1 => positive", "b >= 2 => positive"]))
    a >= 1 => positive
    b >= 2 => positive
    """
    if isinstance(rules, str):
        return parse_rules(rules, vocabulary)
    if isinstance(rules, RuleSet):
        return rules
    given = tuple(rules)
    texts = [each for each in given if isinstance(each, str)]
    if texts and len(texts) == len(given):
        return parse_rules("\n".join(texts), vocabulary)
    found: list[Rule] = []
    statements: list[Statement] = []
    for each in given:
        if isinstance(each, str):
            part = parse_rules(each, vocabulary)
            statements += [replace(s, after=len(found) + s.after) for s in part.statements]
            found += part
        else:
            found.append(each)
    return RuleSet(tuple(found), statements=tuple(statements))
