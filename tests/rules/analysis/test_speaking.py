from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hipad.rules import Witnesses, compile_rules
from hipad.rules.analysis.pull import shortest_patient
from hipad.rules.analysis.speaking import (
    ALONE,
    CONVINCING,
    EXPECTED,
    FLOOR,
    PRIOR,
    SHARPNESS,
)

X = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0], [4.0, 5.0], [8.0, 5.0]])
Y = np.array([-1.0, -1.0, 1.0, 1.0, 1.0])


def patients(text, X=X, y=Y, weights=None):
    rules = compile_rules(text, n_features=X.shape[1])
    return rules, Witnesses.of(rules, X, y, np.ones(len(y)) if weights is None else weights)


def test_the_typical_patient_lies_the_mean_excess_beyond_the_threshold():
    (rule,), seen = patients("x0 >= 3 => positive")
    np.testing.assert_allclose(seen.excess(rule), [np.mean([0.0, 1.0, 5.0])])
    weights = np.array([1.0, 1.0, 1.0, 1.0, 3.0])
    (rule,), seen = patients("x0 >= 3 => positive", weights=weights)
    np.testing.assert_allclose(seen.excess(rule), [np.mean([0.0, 1.0, 5.0, 5.0, 5.0])])


def test_where_few_meet_the_premise_the_deviation_says_how_far():
    (none, one, many), seen = patients(
        "x0 >= 9 => positive\nx0 >= 7 => positive\nx0 >= 1 and x0 <= 2.01 => negative"
    )
    np.testing.assert_allclose(seen.excess(none), [ALONE * X[:, 0].std()])
    np.testing.assert_allclose(seen.excess(one), [ALONE * X[:, 0].std()])
    assert seen.excess(many).sum() < 1.01  # both ends of an interval leave somebody between them


def test_the_excess_has_a_floor():
    Z = np.array([[0.0], [10.0], [10.01], [10.02]])
    (rule,), seen = patients("x0 >= 10 => positive", X=Z, y=np.array([-1.0, -1.0, 1.0, 1.0]))
    np.testing.assert_allclose(seen.excess(rule), [FLOOR * Z.std()])


@pytest.mark.parametrize("text", ["x0 = 3 => positive", "x0 >= 9 and x0 <= 1 => positive"])
def test_a_premise_without_room_stays_as_it_is(text):
    (rule,), seen = patients(text)
    np.testing.assert_array_equal(seen.excess(rule), np.zeros(2))


NUMBERS = st.integers(-30, 30).map(lambda n: n / 10)


@given(st.tuples(NUMBERS, NUMBERS), st.floats(0.1, 3), st.integers(0, 10_000))
def test_whoever_can_meet_a_rule_can_meet_it_as_it_is_told(centre, width, seed):
    rng = np.random.default_rng(seed)
    Z, y = rng.standard_normal((20, 2)), np.tile([-1.0, 1.0], 10)
    a, b = centre
    text = f"x0 >= {a!r} and x0 <= {a + width!r} and x0 + x1 <= {b!r} => positive"
    rules, seen = patients(text, X=Z, y=y)
    (told,) = seen.all_spoken(rules)
    assert shortest_patient(told.B, told.d) is not None


def test_rules_count_from_the_middle_between_the_classes():
    rules, seen = patients("x0 >= 3 => positive")
    middle = (1.5 + 5.0) / 2
    np.testing.assert_allclose(seen.middle(2), [middle, 0.0])
    (told,) = seen.all_spoken(rules, np.array([2.0, 1.0]))
    np.testing.assert_allclose(told.d, -3.0 - 2.0 + middle)
    np.testing.assert_allclose(told.B.toarray(), [[-2.0, 0.0]])


def test_labels_do_not_say_who_is_typical():
    (rule,), seen = patients("x0 >= 3 => positive")
    (_,), others = patients("x0 >= 3 => positive", y=-Y)
    np.testing.assert_array_equal(seen.excess(rule), others.excess(rule))


def test_sparse_rows_are_the_same_rows():
    rules, seen = patients("x0 >= 3 and x1 <= 6 => positive")
    _, other = patients("x0 >= 3 and x1 <= 6 => positive", X=sparse.csc_array(X))
    np.testing.assert_array_equal(seen.all_spoken(rules)[0].d, other.all_spoken(rules)[0].d)


def test_trust_falls_with_contradiction_and_never_rises_above_one():
    y = np.tile([-1.0, 1.0], 20)
    trusts = []
    for wrong in range(6):
        Z = np.zeros((40, 1))
        Z[1:11:2] = 1.0  # five who bear the rule out
        Z[0 : 2 * wrong : 2] = 1.0
        (rule,), seen = patients("x0 >= 1 => positive", X=Z, y=y)
        heard = seen.heard(rule)
        assert (heard.fired, heard.right) == (5 + wrong, 5)
        trusts.append(heard.trust)
    assert trusts[0] == 1.0
    assert trusts == sorted(trusts, reverse=True)
    q = (EXPECTED * PRIOR + 5) / (PRIOR + 10)
    assert trusts[-1] == pytest.approx(((q - 0.5) / (CONVINCING - 0.5)) ** SHARPNESS)


def test_a_coin_has_next_to_nothing_left_and_a_good_rule_all():
    y = np.tile([-1.0, 1.0], 20)
    for right, least, most in ((5, 0.0, 0.1), (8, 1.0, 1.0)):
        Z = np.zeros((40, 1))
        Z[1 : 2 * right : 2], Z[0 : 2 * (10 - right) : 2] = 1.0, 1.0
        (rule,), seen = patients("x0 >= 1 => positive", X=Z, y=y)
        assert least <= seen.heard(rule).trust <= most


def test_where_few_are_labelled_more_of_them_are_needed_to_shake_a_rule():
    trusts = []
    for copies in (1, 4):
        y, Z = np.tile([-1.0, 1.0], 4 * copies), np.zeros((8 * copies, 1))
        Z[:4] = 1.0  # right on two of four
        (rule,), seen = patients("x0 >= 1 => positive", X=Z, y=y)
        trusts.append(seen.heard(rule).trust)
    assert trusts[0] > 0.9 > 0.5 > trusts[1]


def test_who_is_met_by_nobody_is_trusted():
    (rule,), seen = patients("x0 >= 100 => positive")
    assert seen.heard(rule).trust == 1.0
    assert not seen.heard(rule).doubtful


def test_a_rule_that_is_mostly_wrong_is_doubtful():
    y = np.repeat([-1.0, 1.0], [60, 20])
    Z = np.zeros((80, 1))
    Z[:30], Z[60:62] = 1.0, 1.0  # right on 2 of 32
    (rule,), seen = patients("x0 >= 1 => positive", X=Z, y=y)
    assert seen.heard(rule).trust == 0.0
    assert "30 of the 32 training patients it speaks of contradict it" in str(seen.heard(rule))


def test_a_rule_of_a_rare_class_is_judged_against_its_prevalence():
    y = np.repeat([-1.0, 1.0], [90, 10])
    Z = np.zeros((100, 1))
    Z[:10], Z[90:98] = 1.0, 1.0  # right on 8 of 18, where 1 in 10 would be chance
    (rule,), seen = patients("x0 >= 1 => positive", X=Z, y=y)
    assert seen.heard(rule).trust == 1.0


def test_rules_on_the_same_features_are_judged_by_the_patients_of_all():
    y = np.tile([-1.0, 1.0], 20)
    Z = np.zeros((40, 2))
    Z[:8, 0], Z[8:16, 0] = 1.0, -1.0  # each side is right on four of eight
    text = "x0 >= 1 => positive\nx0 <= -1 => negative\nx1 >= 1 => positive"
    (high, low, other), seen = patients(text, X=Z, y=y)
    heard = seen.all_heard([high, low, other])
    assert heard[0].shared
    assert (heard[0].fired, heard[0].right) == (16, 8)
    assert heard[0].trust == heard[1].trust < seen.heard(high).trust
    assert not heard[2].shared
    assert "8 of the 16 training patients it and other rules on the same features speak of" in str(
        heard[0]
    )


def test_a_side_that_is_wrong_is_not_saved_by_the_other():
    y = np.tile([-1.0, 1.0], 20)
    Z = np.zeros((40, 1))
    Z[y > 0] = 1.0
    Z[:8] = -1.0
    Z[8:10] = -1.0
    (right, wrong), seen = patients("x0 >= 1 => positive\nx0 <= -1 => positive", X=Z, y=y)
    one, other = seen.all_heard([right, wrong])
    assert other.trust <= seen.heard(wrong).trust
    assert one.trust <= seen.heard(right).trust == 1.0


def test_a_patient_who_meets_two_rules_counts_once():
    y = np.tile([-1.0, 1.0], 20)
    Z = np.zeros((40, 1))
    Z[:8] = 5.0
    (low, high), seen = patients("x0 >= 1 => positive\nx0 >= 2 => positive", X=Z, y=y)
    alone = seen.heard(low)
    assert [one.trust for one in seen.all_heard([low, high])] == [alone.trust] * 2
    assert seen.all_heard([low, high])[0].fired == 8
