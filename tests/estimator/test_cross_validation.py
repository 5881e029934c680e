from __future__ import annotations

import numpy as np
import pytest

from hipad import HIPADClassifier
from hipad.estimator.cross_validation import CrossValidator
from hipad.estimator.parameters import FitSettings
from hipad.estimator.path import PathFits
from hipad.estimator.problem_factory import ProblemFactory, TrainingData, shares
from hipad.estimator.settings import RULE_SETTINGS, SELECTION
from hipad.rules.compiler import compile_knowledge


def validator_of(n=40, m=4, rules="", seed=0, **parameters):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.standard_normal((n, m)) + y[:, None] * np.r_[1.0, np.zeros(m - 1)]
    data = TrainingData.of(X, y, np.ones(n), shares(y, np.ones(n), "balanced"), True)
    plan = FitSettings.of(HIPADClassifier(**parameters), compile_knowledge(rules, n_features=m))
    return CrossValidator(ProblemFactory(data, plan))


def fits(validator, weight=1.0):
    """Every model scores by the first column."""
    count, named = len(validator.training), validator.named
    scores = np.repeat(weight * validator.data.design.columns([0]), count, axis=1)
    of_named = np.repeat(weight * (named == 0.0), count).reshape(named.size, count)
    kept = np.ones((1, count), dtype=bool)
    sizes = np.ones(count)
    weights = np.full((1, count), weight)
    features = np.array([0])
    reached = np.ones(count, dtype=bool)
    return PathFits(
        0.1, 1.0, scores, np.zeros(count), sizes, of_named, features, kept, weights, reached
    )


def test_nobody_is_judged_by_a_model_that_saw_him():
    validator = validator_of()
    assert 1 < len(validator.repeats) <= SELECTION.max_repeats
    parts = [part for parts in validator.repeats for part in parts]
    for rows, out in zip(validator.training, parts, strict=False):
        assert np.intersect1d(rows, out).size == 0
        assert rows.size + out.size == 40
    assert validator.training[-1].size == 40, "the model itself comes last"


def test_many_patients_need_no_repeats_and_cv_says_how_many_folds():
    assert len(validator_of(n=400).repeats) == 1
    assert len(validator_of(cv=3).repeats[0]) == 3


def test_the_scale_of_the_models_has_no_say():
    validator = validator_of()
    one, other = (validator.evaluate(fits(validator, weight)) for weight in (1.0, 50.0))
    assert one.loss == pytest.approx(other.loss)
    np.testing.assert_allclose(one.scores, other.scores)
    assert one.loss < np.log(2)
    assert validator.evaluate(fits(validator, -1.0)).loss == pytest.approx(np.log(2), abs=0.02)


def test_a_rule_has_a_say_by_its_worth():
    text = "x0 >= 1 => {} worth {} patients"
    without = validator_of().evaluate(fits(validator_of()))

    def loss(outcome, worth):
        validator = validator_of(rules=text.format(outcome, worth))
        return validator.evaluate(fits(validator)).loss

    assert loss("negative", 20) > without.loss > loss("positive", 20)
    assert loss("negative", 1e-6) == pytest.approx(without.loss, abs=1e-6)
    validator = validator_of(rules=text.format("positive", 20))
    weights = validator.evaluate(fits(validator)).weights
    assert weights[-1] / weights[:-1].sum() == pytest.approx(RULE_SETTINGS.vote * 20 / 40)


def test_where_rows_and_features_are_many_some_rows_teach():
    validator = validator_of(n=100, m=30, selection={"max_rows": 25})
    assert validator.training[-1].size <= 26
    assert sum(part.size for part in validator.repeats[0]) == 100, "all are judged"
    assert validator_of(n=100, m=20, selection={"max_rows": 25}).training[-1].size == 100


def test_one_patient_with_an_odd_value_does_not_rule_the_loss():
    validator = validator_of()
    tame = fits(validator)
    wild = fits(validator)
    wild.scores[3] *= -1e4 * np.sign(wild.scores[3] * validator.data.y[3])
    usual, odd = (validator.evaluate(one).loss for one in (tame, wild))
    assert odd < usual + 0.1
    assert odd < 0.9 * np.log(2)


@pytest.mark.parametrize("m", [4, 1200])
def test_folds_count_in_their_own_scales(m):
    validator = validator_of(m=m)
    X, k = validator.data.X, 0
    deviation, own = X.std(axis=0), X[validator.training[k]].std(axis=0)
    spare = validator.data.design.scale**2 - deviation**2
    expected = np.sqrt(own**2 + spare) / validator.data.design.scale
    np.testing.assert_allclose(validator.units[:, k], expected, rtol=1e-6)
    np.testing.assert_allclose(validator.units[:, -1], 1.0)
