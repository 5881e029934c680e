"""Compiled rules as a model file keeps them: what they say, and B, d and sign in the user's units.

A file that holds them is never parsed again: the numbers learnt, the columns found and the words
shown are those of the fit, whatever the language becomes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from hipad.arrays import FloatArray, IntArray
from hipad.errors import DataError
from hipad.rules import CompiledRule, Condition, FeatureIndex, FeatureSpan, Rule, Term
from hipad.rules.compiling.knowledge import CompiledStatement, Knowledge, known_features
from hipad.rules.language.statements import Statement
from hipad.rules.language.terms import Name


@dataclass(frozen=True)
class StoredTerm:
    """A term; each name is one text, or the two ends of a range of columns."""

    coefficient: float
    names: tuple[tuple[str, ...], ...]
    function: str
    unit: str


@dataclass(frozen=True)
class StoredCondition:
    """A condition in its sides, relations and form."""

    sides: tuple[tuple[StoredTerm, ...], ...]
    relations: tuple[str, ...]
    form: str


@dataclass(frozen=True, eq=False)
class StoredRule:
    """A compiled rule: `text` is for the reader, B is given by its rows (CSR)."""

    label: str
    text: str
    name: str
    conditions: tuple[StoredCondition, ...]
    settled: tuple[StoredCondition, ...]
    written_outcome: str
    outcome: str
    worth: float | None
    note: str
    preface: tuple[str, ...]
    sign: float
    remarks: tuple[str, ...]
    sources: tuple[str, ...]
    row_ends: IntArray
    columns: IntArray
    values: FloatArray
    d: FloatArray


@dataclass(frozen=True, eq=False)
class StoredStatement:
    """A statement about features, with the columns it is about."""

    text: str
    said: str
    kind: str
    names: tuple[tuple[str, ...], ...]
    written_outcome: str
    outcome: str
    note: str
    preface: tuple[str, ...]
    after: int
    columns: IntArray


@dataclass(frozen=True, eq=False)
class StoredKnowledge:
    """All rules and statements that took part in a fit."""

    rules: tuple[StoredRule, ...]
    statements: tuple[StoredStatement, ...]


def stored_knowledge(known: Knowledge) -> StoredKnowledge:
    """What a model file keeps of rules and statements."""
    return StoredKnowledge(
        tuple(map(_stored_rule, known.rules)), tuple(map(_stored_statement, known.statements))
    )


def knowledge_of(stored: StoredKnowledge, index: FeatureIndex) -> Knowledge:
    """The rules and statements of a model file; DataError where they cannot be any."""
    rules = tuple(_rule(each, index) for each in stored.rules)
    statements = tuple(_statement(each, len(index)) for each in stored.statements)
    return Knowledge(rules, known_features(statements, index), statements)


def _stored_rule(compiled: CompiledRule) -> StoredRule:
    rule = compiled.rule
    return StoredRule(
        label=compiled.label,
        text=str(rule),
        name=rule.name,
        conditions=tuple(map(_stored_condition, rule.conditions)),
        settled=tuple(map(_stored_condition, compiled.settled)),
        written_outcome=rule.outcome,
        outcome=compiled.outcome,
        worth=rule.worth,
        note=rule.note,
        preface=rule.preface,
        sign=compiled.sign,
        remarks=compiled.remarks,
        sources=compiled.sources,
        row_ends=compiled.B.indptr[1:].astype(np.int64),
        columns=compiled.B.indices.astype(np.int64),
        values=compiled.B.data,
        d=compiled.d,
    )


def _rule(stored: StoredRule, index: FeatureIndex) -> CompiledRule:
    what = f"the rule {stored.label!r}"
    ends, columns, values, d = stored.row_ends, stored.columns, stored.values, stored.d
    starts = np.concatenate(([0], ends))
    sound = len(ends) == len(d) > 0 and ends[-1] == len(columns) == len(values)
    _expect(sound and bool((np.diff(starts) >= 0).all()), f"whole rows of {what}")
    _check_columns(columns, len(index), what)
    _expect(bool(np.isfinite(values).all() and np.isfinite(d).all()), f"finite numbers of {what}")
    _expect(stored.sign in (-1.0, 1.0), f"a sign of {what}")
    _expect(len(stored.sources) == len(d), f"a condition for each row of {what}")
    rule = Rule(
        tuple(map(_condition, stored.conditions)),
        stored.written_outcome,
        stored.name,
        stored.worth,
        stored.note,
        preface=stored.preface,
    )
    B = sparse.csr_array((values, columns, starts), shape=(len(d), len(index)))
    return CompiledRule(
        rule,
        B,
        d,
        stored.sign,
        stored.remarks,
        stored.label,
        stored.sources,
        index,
        tuple(map(_condition, stored.settled)),
        stored.outcome,
    )


def _stored_condition(condition: Condition) -> StoredCondition:
    sides = tuple(tuple(map(_stored_term, side)) for side in condition.sides)
    return StoredCondition(sides, condition.relations, condition.form)


def _condition(stored: StoredCondition) -> Condition:
    sides = tuple(tuple(map(_term, side)) for side in stored.sides)
    return Condition(sides, stored.relations, stored.form)


def _stored_term(term: Term) -> StoredTerm:
    return StoredTerm(term.coefficient, _stored_names(term.names), term.function, term.unit)


def _term(stored: StoredTerm) -> Term:
    return Term(stored.coefficient, _names(stored.names), stored.function, unit=stored.unit)


def _stored_names(names: Iterable[Name]) -> tuple[tuple[str, ...], ...]:
    return tuple((name,) if isinstance(name, str) else (name.first, name.last) for name in names)


def _names(stored: Iterable[tuple[str, ...]]) -> tuple[Name, ...]:
    found: list[Name] = []
    for parts in stored:
        _expect(len(parts) in (1, 2), "a name or the two ends of a range")
        found.append(parts[0] if len(parts) == 1 else FeatureSpan(*parts))
    return tuple(found)


def _stored_statement(compiled: CompiledStatement) -> StoredStatement:
    said = compiled.statement
    return StoredStatement(
        text=str(said),
        said=said.kind,
        kind=compiled.kind,
        names=_stored_names(said.names),
        written_outcome=said.outcome,
        outcome=compiled.outcome,
        note=said.note,
        preface=said.preface,
        after=said.after,
        columns=compiled.columns.astype(np.int64),
    )


def _statement(stored: StoredStatement, n_features: int) -> CompiledStatement:
    _check_columns(stored.columns, n_features, f"the statement {stored.text!r}")
    said = Statement(
        stored.said,
        _names(stored.names),
        stored.written_outcome,
        stored.note,
        preface=stored.preface,
        after=stored.after,
    )
    known = ("raised", "lowered") if stored.said in ("raised", "lowered") else (stored.said,)
    _expect(stored.kind in known, f"a kind of the statement {stored.text!r}")
    return CompiledStatement(said, stored.kind, stored.columns.astype(np.intp), stored.outcome)


def _check_columns(columns: IntArray, n_features: int, what: str) -> None:
    inside = bool(((columns >= 0) & (columns < n_features)).all())
    _expect(inside, f"columns of the table in {what}")


def _expect(sound: bool, what: str) -> None:
    if not sound:
        raise DataError(f"the model file is damaged: expected {what}: save the model again")
