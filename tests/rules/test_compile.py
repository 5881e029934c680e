from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hipad.exceptions import RuleError
from hipad.rules import (
    Condition,
    FeatureIndex,
    FeatureSpan,
    Rule,
    RuleSet,
    Term,
    compile_each,
    compile_rules,
    parse_rules,
)

M = 6


VALUES = st.integers(-40, 40).map(lambda n: n / 8)


FEATURES = st.sampled_from([f"x{j}" for j in range(M)])


GROUPS = st.lists(
    FEATURES | st.just("K") | st.just(FeatureSpan("x1", "x3")), min_size=1, max_size=3
)


BLOCKS = {"K": np.array([0, 2, 5])}


def _of_one_patient(term: Term) -> Term:
    """The mean of one feature is that of its column: the sum is the patient's own value."""
    alone = len(term.names) == 1 and term.names[0] != "K" and isinstance(term.names[0], str)
    return Term(term.coefficient, term.names, "sum") if alone else term


@st.composite
def conditions(draw: st.DrawFn) -> Condition:
    feature = st.builds(lambda c, f: Term(c, (f,)), VALUES, FEATURES)
    group = st.builds(
        lambda c, g, f: Term(c, tuple(g), f), VALUES, GROUPS, st.sampled_from(["mean", "sum"])
    ).map(_of_one_patient)
    side = tuple(draw(st.lists(feature | group, min_size=1, max_size=3)))
    if draw(st.booleans()):
        names = tuple(draw(GROUPS))
        function, relation = draw(st.sampled_from([("min", ">="), ("max", "<=")]))
        return Condition(((Term(2.0, names, function),), (Term(draw(VALUES)),)), (relation,))
    relation = draw(st.sampled_from([">=", "<=", "=", ">", "<"]))
    return Condition((side, (Term(draw(VALUES)), Term(1.0, ("x4",)))), (relation,))


RULES = st.builds(
    lambda found: Rule(tuple(found), "positive"), st.lists(conditions(), min_size=1, max_size=3)
)


POINTS = hnp.arrays(np.float64, (5, M), elements=st.integers(-80, 80).map(lambda n: n / 16))


def value(terms: tuple[Term, ...], x: np.ndarray) -> float:
    """One side at a point, straight from its meaning."""
    total = 0.0
    for term in terms:
        columns: set[int] = set()
        for name in term.names:
            if isinstance(name, FeatureSpan):
                columns |= set(range(int(name.first[1:]), int(name.last[1:]) + 1))
            else:
                columns |= set(BLOCKS["K"]) if name == "K" else {int(name[1:])}
        numbers = [x[j] for j in columns] or [1.0]
        functions = {"mean": np.mean, "sum": sum, "min": min, "max": max, "": sum}
        total += term.coefficient * functions[term.function](numbers)
    return total


def margins(rule: Rule, x: np.ndarray) -> list[float]:
    """How far each comparison is from its border; not negative where it is met."""
    found = []
    for condition in rule.conditions:
        left, right = (value(side, x) for side in condition.sides)
        gap = left - right if condition.relations[0][0] == ">" else right - left
        found.append(-abs(gap) if condition.relations == ("=",) else gap)
    return found


@given(RULES, POINTS)
def test_firing_is_what_the_words_say_and_what_the_matrix_says(rule: Rule, X: np.ndarray):
    (compiled,) = compile_rules([rule], n_features=M, blocks=BLOCKS)
    slack = compiled.d - X @ compiled.B.T.toarray()
    assert (compiled.fires(X) == (slack >= -1e-5).all(axis=1)).all()
    for x, fires in zip(X, compiled.fires(X), strict=True):
        assert fires == (min(margins(rule, x)) >= -1e-9)


@given(
    RULES,
    POINTS,
    hnp.arrays(np.float64, M, elements=st.floats(-3, 3)),
    hnp.arrays(np.float64, M, elements=st.floats(0.1, 4)),
)
def test_scaling_changes_nothing(rule: Rule, X: np.ndarray, mean: np.ndarray, scale: np.ndarray):
    (compiled,) = compile_rules([rule], n_features=M, blocks=BLOCKS)
    slack = compiled.d - X @ compiled.B.T.toarray()
    assume((np.abs(slack) > 1e-3).all() or not compiled.B.nnz)
    scaled = compiled.scaled(mean, scale)
    again = scaled.d - (X - mean) / scale @ scaled.B.T.toarray()
    assert ((again >= 0).all(axis=1) == compiled.fires(X)).all()
    assert np.allclose(again, slack, atol=1e-9)


def test_or_is_not_and():
    X = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
    either = compile_rules("x0 >= 1 or x1 >= 1 => positive", n_features=2)
    both = compile_rules("x0 >= 1 and x1 >= 1 => positive", n_features=2)
    assert [rule.B.shape[0] for rule in either] == [1, 1]
    assert [rule.B.shape[0] for rule in both] == [2]
    assert np.logical_or(*(rule.fires(X) for rule in either)).tolist() == [True, True, True, False]
    assert both[0].fires(X).tolist() == [False, False, True, False]


@pytest.mark.parametrize(
    ("outcome", "classes", "sign"),
    [
        ("positive", (0, 1), 1),
        ("negative", ("NEG", "BCR/ABL"), -1),
        ("BCR/ABL", ("NEG", "BCR/ABL"), 1),
        ("neg", ("NEG", "BCR/ABL"), -1),
        ("+1", (-1, 1), 1),
        ("0", (np.float64(0.0), np.float64(1.0)), -1),
        ("positive", ("positive", "sick"), -1),
        ("negative", ("positive", "negative"), 1),
        ("True", (False, True), 1),
    ],
)
def test_outcomes_are_the_users_classes(outcome: str, classes: tuple, sign: int):
    rule = Rule.simple("", {"x0": 1}, 1, outcome)
    assert compile_rules([rule], n_features=1, classes=classes)[0].sign == sign


def test_rules_that_are_off_are_passed_over():
    text = "x0 >= 1 => positive\noff x1 >= 1 => negative"
    assert [rule.label for rule in compile_rules(text, n_features=2)] == ["rule 1"]
    assert len(compile_rules(text, n_features=2, include_off=True)) == 2
    assert compile_rules(RuleSet(), n_features=2) == ()


def test_a_million_unnamed_features_need_no_names():
    (compiled,) = compile_rules("sum(x999990:x999999) >= 1 => positive", n_features=1_000_000)
    assert compiled.B.shape == (1, 1_000_000)
    assert compiled.columns.tolist() == list(range(999_990, 1_000_000))


def test_strict_signs_are_strict_on_counts():
    X = np.array([[0.0, 0.5], [1.0, 1.5], [126.0, 2.5], [125.0, 3.5]])
    above, low, high = compile_rules(
        "x0 > 0 => positive\nx0 < 126 => negative\nx0 >= 126 => positive", n_features=2, values=X
    )
    assert above.fires(X).tolist() == [False, True, True, True]
    assert not (low.fires(X) & high.fires(X)).any()
    assert low.d[0] < -high.d[0]


def test_one_compiled_rule_has_one_place_in_the_text():
    rules = parse_rules("any(x0, x1) >= 2 => positive\nx0 >= 1 => positive")
    found, errors = compile_each(rules, feature_names=FeatureIndex(n_features=3))
    assert list(found) == [1]
    assert errors[0].suggestion == "x0 >= 2 or x1 >= 2 => positive"


@pytest.mark.parametrize("text", ["x0 > 3 => positive", "x0 >= 3 mg => positive"])
def test_without_rows_a_rule_whose_meaning_they_tell_is_warned_of(text):
    with pytest.warns(UserWarning, match="compiled without rows"):
        compile_rules(text, n_features=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_rules(text, n_features=2, values=[[0.0, 1.0], [5.0, 2.0]])
        compile_rules("x0 >= 3 => positive", n_features=2)


def test_without_rows_a_name_before_a_comparison_is_asked_about():
    text, names = "diabetes and age >= 40 => positive", ["diabetes", "age"]
    with pytest.raises(RuleError, match="diabetes = 1 or diabetes >= 40"):
        compile_rules(text, feature_names=names)
    (rule,) = compile_rules(text, feature_names=names, values=[[0.0, 30.0], [1.0, 50.0]])
    assert rule.fires([[0, 50], [1, 50], [1, 30]]).tolist() == [False, True, False]
