"""What rules say where values are missing is what they say on the measured values alone."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from hipad.data.preprocessing import MissingValues
from hipad.estimator.classifier import HIPADClassifier
from hipad.evaluation.rule_study import StudyRows, as_told, first_look, study_rules
from hipad.rules import (
    ColumnValues,
    FeatureIndex,
    RuleColumns,
    best_threshold,
    compile_rules,
    read_rules,
    rule_counts,
    rule_overlap,
)

NAMES = ["a", "b", "c"]
TEXT = """\
one: a >= 0.5 => positive
two: a > p60(a) and b <= mean(b) + 0.5*sd(b) => negative
three: not c => positive
"""


@st.composite
def tables(draw):
    """Rows with gaps, the same rows filled by medians, and outcomes."""
    seed, n = draw(st.integers(0, 10_000)), draw(st.integers(8, 60))
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=n), rng.normal(3, 2, n), rng.integers(0, 2, n)])
    X = np.where(rng.random(X.shape) < draw(st.sampled_from([0.0, 0.2, 0.6])), np.nan, X)
    for j in range(3):  # the first three rows have all values, of both kinds
        X[:3, j] = [0.0, 1.0, 1.0]
    filled = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    return X, filled, y


@given(tables(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_counts_are_those_on_measured_values(made, is_sparse):
    X, filled, y = made
    gaps = MissingValues.of(np.isnan(X))
    matrix = sparse.csr_array(filled) if is_sparse else filled
    rules = compile_rules(TEXT, feature_names=NAMES, values=ColumnValues(matrix, gaps))
    alike = compile_rules(TEXT, feature_names=NAMES, values=X)
    witnesses = RuleColumns.of(rules, matrix, y, np.ones(len(y)), gaps=gaps)
    for rule, same in zip(rules, alike, strict=True):
        assert rule.resolved_text == same.resolved_text  # learnt from measured values
        known = ~np.isnan(X[:, rule.columns]).any(axis=1)
        alone = rule_counts(rule, X[known], y[known])
        counts = rule_counts(rule, matrix, y, missing=gaps)
        rows = np.flatnonzero(known)
        for part in ("fired", "right", "wrong"):
            assert getattr(counts, part).tolist() == rows[getattr(alone, part)].tolist()
        assert counts.gaps.tolist() == np.flatnonzero(~known).tolist()
        assert np.array_equal(rule.fires(matrix, gaps), rule.fires(X))
        only = RuleColumns.of([rule], X[known], y[known], np.ones(len(rows)))
        one, other = (astuple(each.heard(rule)) for each in (witnesses, only))
        assert one == pytest.approx(other, nan_ok=True)
        np.testing.assert_allclose(witnesses.excess(rule), only.excess(rule), atol=1e-12)
        best, least = best_threshold(rule, X, y), best_threshold(rule, X[known], y[known])
        assert best == least
    assert rule_overlap(rules, matrix, gaps=gaps).covered == rule_overlap(rules, X).covered


@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 9))
@settings(max_examples=40, deadline=None)
def test_marks_are_those_that_were_made(seed, n, p):
    rng = np.random.default_rng(seed)
    marked = rng.random((n, p)) < rng.choice([0.0, 0.1, 0.6])
    gaps, columns = MissingValues.of(marked), rng.permutation(p)[: rng.integers(1, p + 1)]
    assert np.array_equal(gaps.mask(columns), marked[:, columns])
    assert np.array_equal(gaps.rows(columns), marked[:, columns].any(axis=1))
    chosen = rng.permutation(n)[: rng.integers(1, n + 1)]
    assert np.array_equal(gaps.take(chosen).mask(np.arange(p)), marked[chosen])
    assert np.array_equal(gaps.keep(columns).mask(np.arange(len(columns))), marked[:, columns])
    pairs = MissingValues.at(*np.nonzero(marked), n)
    assert np.array_equal(pairs.mask(np.arange(p)), marked)
    both = MissingValues.stacked([(gaps, n), (None, 3), (pairs, n)])
    nothing = np.zeros((3, p), dtype=bool)
    assert np.array_equal(both.mask(np.arange(p)), np.vstack([marked, nothing, marked]))


def gappy(n=120, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    marked = np.zeros((n, 4), dtype=bool)
    marked[:, 0] = rng.random(n) < 0.5
    filled = X.copy()
    filled[marked[:, 0], 0] = np.median(X[~marked[:, 0], 0])
    return filled, y, MissingValues.of(marked)


def test_a_study_speaks_of_measured_values():
    X, y, gaps = gappy()
    index = FeatureIndex(n_features=4)
    values = ColumnValues(X, gaps)
    rules = read_rules("x0 >= p25(x0) => positive")
    first, compiled = first_look(rules, index, {}, ("negative", "positive"), values=values)
    ends = X.min(axis=0), X.max(axis=0)
    patients = StudyRows((X, y), None, *ends, None, None, np.full(len(y), 1 / len(y)), gaps)
    *_, study = study_rules(first, compiled, patients)
    known = ~gaps.rows([0])
    (check,) = study.checks
    assert len(check.train.fired) == round(0.75 * known.sum())
    assert check.train.no_value == f"no value: {(~known).sum()} of {len(y)}"
    assert as_told(study.active, patients)[1][0].fired == len(check.train.fired)


def test_a_fit_hears_measured_values_only():
    X, y, gaps = gappy()
    text = "x0 >= p25(x0) => negative"  # wrong, and the median lies among those it speaks of
    clf = HIPADClassifier(text, lambda1=0.05, lambda2=1.0)
    told = clf.fit_iter(X, y, gaps=gaps, interactive=False).to_end().finish()
    (record,) = told.rule_report_
    known = ~gaps.rows([0])
    assert record.train.gaps.tolist() == np.flatnonzero(~known).tolist()
    assert len(record.train.fired) == round(0.75 * known.sum())
    assert record.heard.fired == len(record.train.fired)
    assert f"no value: {(~known).sum()} of {len(y)}" in str(record)


def test_gaps_of_other_rows_are_refused():
    X, y, gaps = gappy()
    with pytest.raises(ValueError, match="expected gaps of 120 rows"):
        HIPADClassifier("x0 >= 0 => positive").fit_iter(X, y, gaps=gaps.take(slice(60)))
