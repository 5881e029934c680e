from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from hipad import HIPADClassifier
from hipad.estimator.parameters import (
    CHOICES,
    MAY_BE_NONE,
    SMALLEST,
    WHOLE,
    WORDS,
    FitSettings,
    admm_settings,
    check_parameters,
)
from hipad.exceptions import HipadError
from hipad.rules.compiler import ExpertKnowledge
from hipad.solvers import AdmmSettings
from hipad.solvers.problem import Scope
from hipad.solvers.solution import Method

PARAMETERS = HIPADClassifier().get_params()
BY_NAME = {path.rpartition("__")[2]: path for path in PARAMETERS}
NUMBERS = sorted(SMALLEST)


def given(name, value):
    """A classifier with one parameter or field of a layer."""
    return HIPADClassifier().set_params(**{BY_NAME[name]: value})


def refused(**parameters):
    with pytest.raises(HipadError) as error:
        check_parameters(HIPADClassifier(**parameters))
    return str(error.value)


def refused_field(name, value):
    with pytest.raises(HipadError) as error:
        check_parameters(given(name, value))
    return str(error.value)


def test_the_defaults_and_the_papers_settings_are_usable():
    check_parameters(HIPADClassifier())
    check_parameters(HIPADClassifier.paper())


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_every_kind_are_taken(name):
    least = SMALLEST[name][0]
    values = (2, np.int64(3)) if name in WHOLE else (1, 1.5, np.float32(2.0), np.int64(3))
    for value in [one for one in values if one >= least] or [int(least), np.int64(99)]:
        check_parameters(given(name, value))


def test_a_part_of_a_step_is_told():
    assert "a whole number" in refused(solver={"max_iter": 10.5})


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [-0.1, float("inf"), float("nan"), True, None, "1.0", [1.0]])
def test_what_is_not_a_usable_number_is_told(name, value):
    if value is None and name in MAY_BE_NONE:
        pytest.skip("may be left to the classifier")
    message = refused_field(name, value)
    kind = "whole" if name in WHOLE else "finite"
    assert message.startswith(f"expected {name} to be a {kind} number")
    assert repr(value) in message


@pytest.mark.parametrize(("name", "words"), [(n, WORDS[n]) for n in NUMBERS if n in WORDS])
def test_words_are_taken_where_they_mean_something(name, words):
    for word in words:
        check_parameters(given(name, word))
    assert f"or {words[0]!r}" in refused_field(name, "much")


@pytest.mark.parametrize(("name", "choices"), sorted((n, tuple(c)) for n, c in CHOICES.items()))
def test_a_wrong_choice_lists_the_right_ones(name, choices):
    message = refused_field(name, "other")
    assert all(repr(choice) in message for choice in choices)
    for choice in choices:
        check_parameters(given(name, choice))


@pytest.mark.parametrize("weights", ["even", 2.0, {1: 0.0}, {1: -2.0}, {1: float("nan")}])
def test_wrong_class_weights_are_told(weights):
    assert "class_weight" in refused(class_weight=weights)


def test_zero_is_a_limit_of_some_and_not_of_others():
    for name in ("lambda1", "rule_weight", "rho"):
        check_parameters(given(name, 0))
    assert "lambda2" in refused(lambda2=0)
    for name in ("tol", "max_iter"):
        assert name in refused(solver={name: 0})


def test_a_plan_takes_the_parameters_over():
    clf = HIPADClassifier(
        lambda1=0.3,
        class_weight={0: 2.0},
        solver={"tol": 1e-5, "max_iter": 7, "phase2_solver": "osqp"},
    )
    plan = FitSettings.of(clf, ExpertKnowledge())
    assert (plan.lambda1, plan.balanced, plan.calibrate) == (0.3, False, True)
    assert (plan.settings.tolerance, plan.settings.max_sweeps) == (1e-5, 7)
    assert plan.settings.phase2_solver == "osqp"


def test_every_default_of_the_classifier_and_of_the_solver_is_in_the_vocabulary():
    for name, choices in CHOICES.items():
        assert PARAMETERS[BY_NAME[name]] in choices
        assert all(choices.values())  # each has words for a page
    assert set(CHOICES["method"]) == {"auto", *get_args(Method)}
    assert set(CHOICES["scope"]) == set(get_args(Scope))


@pytest.mark.parametrize("value", [["ipm"], None, 1])
def test_a_choice_that_is_not_a_word_is_told(value):
    assert repr(value) in refused(solver={"phase2_solver": value})


def test_penalties_start_at_mu_or_are_scaled_to_the_data():
    assert admm_settings("auto") == AdmmSettings()
    started = admm_settings(3).penalties
    assert set(vars(started).values()) == {3.0}
