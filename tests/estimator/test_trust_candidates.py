import pytest

from hipad.estimator.settings import RULE_SETTINGS
from hipad.estimator.trust import rule_candidates
from hipad.rules import compile_rules


def rules(*worths):
    lines = [f"x{i} >= 1 => 1{worth}" for i, worth in enumerate(worths)]
    return compile_rules("\n".join(lines), n_features=len(worths), classes=(0, 1))


@pytest.mark.parametrize("count", [1, 2, 3, RULE_SETTINGS.max_single + 1])
def test_rule_candidates_priors_sum_to_one_and_the_first_has_no_rules(count):
    found = rule_candidates(rules(*[""] * count), 0.4)
    assert sum(found.values()) == pytest.approx(1.0)
    first = next(iter(found))
    assert found[first] == pytest.approx(0.6)
    assert first.weights(50) == (0.0,) * count
    singles = count if 1 < count <= RULE_SETTINGS.max_single else 0
    assert len(found) == 1 + len(RULE_SETTINGS.shares) + singles


def test_rule_candidates_keep_a_written_weight():
    found = rule_candidates(rules(" worth 3 patients", ""), 0.5)
    assert {one.weights(10)[0] for one in found} == {None}
    assert {one.weights(10)[1] for one in found} == {
        0.0,
        *(10 * share for share in RULE_SETTINGS.shares),
    }
    assert rule_candidates(rules(" worth 3 patients"), 0.5) == {}


def test_rule_candidates_left_out_are_those_of_the_other_rules():
    both, alone = rules("", "", ""), rules("", "")
    found = rule_candidates(both, 0.5, left_out=1)
    expected = rule_candidates(alone, 0.5)
    assert [(one.shares[0], one.shares[2]) for one in found] == [one.shares for one in expected]
    assert list(found.values()) == list(expected.values())
    assert {one.shares[1] for one in found} == {0.0}


def test_rule_candidates_spread_rules_over_unlabelled_rows():
    found = rule_candidates(rules("", ""), 0.5, unlabelled=True)
    assert [one.shares[0] for one in found if one.on_rows] == [RULE_SETTINGS.unlabelled_share]
    assert sum(found.values()) == pytest.approx(1.0)
