from __future__ import annotations

import numpy as np
import pytest

from hipad.exceptions import DataError
from hipad.experiments.methods import COMPARED, METHODS, ExperimentData, compare_methods

RNG = np.random.default_rng(0)
Y = np.where(np.arange(60) % 2, 1.0, -1.0)
X = RNG.normal(size=(60, 8))
X[:, 0] += 1.5 * Y
DATA = ExperimentData(
    "small", X, Y, feature_names=tuple("abcdefgh"), rules="a >= 1 => 1\na <= -1 => -1"
)


def test_every_method_is_judged_on_all_rows():
    found = list(compare_methods(DATA, n_folds=2))
    assert [one.name for one in found] == list(COMPARED)
    for one in found:
        assert np.isfinite(one.scores).all()
        assert one.figures["accuracy"].value > 0.7, one.name
        assert one.figures["accuracy"].low < one.figures["accuracy"].value
        assert one.seconds > 0


def test_without_rules_methods_that_need_them_are_left_out():
    plain = ExperimentData("small", X, Y)
    evidence: list[tuple[int, int]] = []
    found = list(
        compare_methods(
            plain,
            n_folds=2,
            on_progress=lambda done, total: evidence.append((done, total)),
            should_stop=lambda: len(evidence) >= 3,
        )
    )
    assert [one.name for one in found] == ["HIPAD"]
    assert evidence[-1] == (3, 12)
    with pytest.raises(DataError, match="expected rules for it"):
        next(compare_methods(plain, ["rules alone"]))


def test_every_name_is_of_a_method():
    assert set(COMPARED.values()) <= set(METHODS)
