"""What is said of features becomes prices of both signs of their weights."""

import numpy as np

from hipad.estimator.problem_factory import entering_first, penalty_factors, signs_alone
from hipad.estimator.settings import RULE_SETTINGS
from hipad.rules.compiler import SignConstraints


def columns(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.intp)


KNOWN = SignConstraints(
    raised=columns(1, 7), lowered=columns(2), ignored=columns(0, 9), certain=columns(5, 7)
)


def test_each_kind_has_its_prices():
    prices = penalty_factors(KNOWN)
    found = dict(
        zip(prices.features.tolist(), zip(prices.up, prices.down, strict=True), strict=True)
    )
    inf, share = np.inf, RULE_SETTINGS.known_share
    assert found == {
        0: (inf, inf), 1: (share, inf), 2: (inf, share), 5: (0, 0), 7: (0, inf), 9: (inf, inf),
    }  # fmt: skip
    assert 0 < share < 1


def test_signs_alone_let_everyone_pay():
    prices = signs_alone(KNOWN)
    assert prices.features.tolist() == [0, 1, 2, 5, 7, 9]
    assert set(np.r_[prices.up, prices.down]) == {1.0, np.inf}


def test_nothing_known_is_nothing_priced():
    assert penalty_factors(SignConstraints()).features.size == 0


def test_a_path_begins_as_if_certain_features_paid_a_share():
    prices = entering_first(KNOWN)
    assert prices.costless.size == 0
    assert set(np.r_[prices.up, prices.down]) == {RULE_SETTINGS.known_share, np.inf}
