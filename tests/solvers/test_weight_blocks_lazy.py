"""Lazy features are the full ADMM, not an approximation: every iterate at every sweep."""

import numpy as np
import pytest
import scipy.sparse as sp

from hipad.designs import make_design
from hipad.solvers.admm import Admm, AdmmSettings
from hipad.solvers.weight_blocks import LazyFeatures, Penalties
from tests.oracles import random_problem
from tests.solvers.problems import MU, follow, rule, state_of, sweeps_of, to_problem

EXACT = 1e-10
SWEEPS = 120


def wide(seed, **options):
    """More features than samples, most of them noise, so that most can stay lazy."""
    defaults = {"n": 16, "m": 90, "lambda1": 0.08, "lambda2": 0.3}
    raw = random_problem(seed, **defaults | options)
    return raw._replace(rules=tuple(r._replace(rho=0.1 * r.rho) for r in raw.rules))


def start(raw, design=None, relaxation=1.6):
    settings = AdmmSettings(penalties=MU, balance=False, relaxation=relaxation)
    admm = Admm(to_problem(raw, design), settings)
    assert isinstance(admm.features, LazyFeatures)
    return admm


def assert_features_came_and_went(admm, shifts, raw):
    """Features outside the rules must enter and leave, and some must never be touched."""
    named = np.unique(np.concatenate([r.B.indices for r in raw.rules] + [np.zeros(0, int)]))
    entered = np.setdiff1d(np.concatenate([s.entered for s in shifts]), named)
    left = np.setdiff1d(np.concatenate([s.left for s in shifts]), named)
    assert entered.size
    assert left.size
    assert admm.features.active.size < raw.X.shape[1]


@pytest.mark.parametrize("relaxation", [1.0, 1.6])
@pytest.mark.parametrize("scope", ["population", "typical"])
@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("conditions", [(), (1,), (1, 2), (2, 1, 1)])
def test_equals_full_admm(conditions, centered, scope, relaxation):
    raw = wide(len(conditions), conditions=conditions, scope=scope, centered=centered)
    admm = start(raw, relaxation=relaxation)
    shifts = follow(admm, sweeps_of(raw, MU, omega=relaxation), SWEEPS, EXACT)
    if not centered:  # these draw fewer features in
        assert_features_came_and_went(admm, shifts, raw)


@pytest.mark.parametrize("scaled", [False, True], ids=["plain", "scaled"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_equals_full_admm_on_every_design(form, scaled):
    raw = wide(5, weighted=True)
    X = np.where(np.random.default_rng(0).random(raw.X.shape) < 0.5, raw.X, 0.0)
    mean, scale = (X.mean(axis=0), X.std(axis=0)) if scaled else (None, None)
    raw = raw._replace(X=(X - mean) / scale if scaled else X)
    admm = start(raw, make_design(form(X), mean=mean, scale=scale))
    shifts = follow(admm, sweeps_of(raw, MU, omega=1.6), SWEEPS, EXACT)
    assert_features_came_and_went(admm, shifts, raw)


@pytest.mark.parametrize("scope", ["population", "typical"])
def test_equals_full_admm_after_a_change_of_penalties(scope):
    raw, other = wide(2, scope=scope), Penalties(hinge=0.2, w=0.1, slack=1.1, u=0.05)
    admm = start(raw)
    before = follow(admm, sweeps_of(raw, MU, omega=1.6), 25, EXACT)
    admm.features.set_penalties(other)
    after = follow(admm, sweeps_of(raw, other, omega=1.6, **state_of(admm)), SWEEPS, EXACT)
    assert_features_came_and_went(admm, before + after, raw)


NAMES_OTHERS = rule(np.eye(90)[40:42] - np.eye(90)[60:62], [-0.5, -0.3], sign=-1.0)


@pytest.mark.parametrize(
    "change",
    [
        {"lambda1": 0.05},
        {"lambda1": 0.3},
        {"lambda2": 2.0},
        {"scope": "typical"},
        {"rules": (wide(3).rules[0], NAMES_OTHERS)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_warm_start_goes_on_with_the_same_numbers(change):
    raw = wide(3)
    old = start(raw)
    follow(old, sweeps_of(raw, MU, omega=1.6), 30, EXACT)
    changed = raw._replace(**change)
    new = Admm(to_problem(changed), old.settings, warm=old.state())
    follow(new, sweeps_of(changed, MU, omega=1.6, **state_of(old)), 60, EXACT)


def test_reads_the_data_a_few_times_only():
    raw = wide(7, n=20, m=3000, lambda1=0.2)
    admm = start(raw)
    for _ in range(SWEEPS):
        admm.sweep()
    assert admm.features.passes <= 6
    assert admm.features.active.size < 300


def test_scores_and_support_are_those_of_c():
    raw = wide(4)
    admm = start(raw)
    for _ in range(40):
        admm.sweep()
    _, c, _ = admm.features.full()
    support, values = admm.features.support()
    np.testing.assert_array_equal(support, np.flatnonzero(c))
    np.testing.assert_array_equal(values, c[support])
    np.testing.assert_allclose(admm.features.scores(), raw.X @ c, atol=1e-12)
