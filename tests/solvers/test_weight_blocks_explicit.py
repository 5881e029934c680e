"""Feature sides with a number for every feature: the same sweeps as the full ADMM."""

import numpy as np
import pytest
import scipy.sparse as sp

from hipad.designs import make_design
from hipad.solvers import admm as admm_module
from hipad.solvers.admm import Admm, AdmmSettings, choose_features
from hipad.solvers.weight_blocks import DirectFeatures, KrylovFeatures, LazyFeatures, Penalties
from tests.oracles import random_problem
from tests.solvers.problems import MU, follow, state_of, sweeps_of, to_problem

OTHER = Penalties(hinge=0.2, w=0.1, slack=1.1, u=0.05)


def start(raw, side, design=None, relaxation=1.6):
    settings = AdmmSettings(penalties=MU, balance=False, relaxation=relaxation)
    admm = Admm(to_problem(raw, design), settings)
    admm.features = side(admm.problem, MU)
    return admm


class AccurateKrylov(KrylovFeatures):
    tolerance = 1e-14


@pytest.mark.parametrize(
    ("side", "atol"), [(DirectFeatures, 1e-10), (AccurateKrylov, 1e-9), (KrylovFeatures, 1e-5)]
)
@pytest.mark.parametrize("relaxation", [1.0, 1.6])
@pytest.mark.parametrize("scope", ["population", "typical"])
@pytest.mark.parametrize(("conditions", "centered"), [((), False), ((1, 2), False), ((1, 2), True)])
def test_equals_full_admm(conditions, centered, scope, relaxation, side, atol):
    options = {"conditions": conditions, "scope": scope, "centered": centered}
    raw = random_problem(4, n=40, m=25, weighted=True, **options)
    admm = start(raw, side, relaxation=relaxation)
    shifts = follow(admm, sweeps_of(raw, MU, omega=relaxation), 60, atol)
    assert sum(s.entered.size for s in shifts)
    assert sum(s.left.size for s in shifts)


@pytest.mark.parametrize(("side", "atol"), [(DirectFeatures, 1e-10), (AccurateKrylov, 1e-9)])
def test_equals_full_admm_on_scaled_sparse_data(side, atol):
    raw = random_problem(2, n=40, m=12)
    X = np.where(raw.X > 0, raw.X, 0.0)
    mean, scale = X.mean(axis=0), X.std(axis=0)
    raw = raw._replace(X=(X - mean) / scale)
    admm = start(raw, side, make_design(sp.csr_array(X), mean=mean, scale=scale))
    follow(admm, sweeps_of(raw, MU, omega=1.6), 60, atol)


@pytest.mark.parametrize(("side", "atol"), [(DirectFeatures, 1e-10), (AccurateKrylov, 1e-9)])
def test_equals_full_admm_after_a_change_of_penalties(side, atol):
    raw = random_problem(3, n=40, m=12, scope="typical")
    admm = start(raw, side)
    follow(admm, sweeps_of(raw, MU, omega=1.6), 20, atol)
    admm.features.set_penalties(OTHER)
    follow(admm, sweeps_of(raw, OTHER, omega=1.6, **state_of(admm)), 40, atol)


@pytest.mark.parametrize("change", [{"lambda1": 0.2}, {"lambda2": 3.0}, {"scope": "typical"}])
def test_warm_start_goes_on_with_the_same_numbers(change):
    raw = random_problem(4, n=40, m=12)
    old = start(raw, DirectFeatures)
    follow(old, sweeps_of(raw, MU, omega=1.6), 20, 1e-10)
    changed = raw._replace(**change)
    new = Admm(to_problem(changed), old.settings, warm=old.state())
    assert isinstance(new.features, DirectFeatures)
    follow(new, sweeps_of(changed, MU, omega=1.6, **state_of(old)), 40, 1e-10)


@pytest.mark.parametrize(
    ("n", "m", "largest", "side"),
    [
        (8, 20, 6000, LazyFeatures),
        (20, 20, 6000, LazyFeatures),
        (20, 8, 6000, DirectFeatures),
        (20, 8, 9, DirectFeatures),
        (20, 12, 9, KrylovFeatures),
        (12, 20, 9, KrylovFeatures),
    ],
)
def test_the_shape_of_the_data_chooses_the_side(monkeypatch, n, m, largest, side):
    monkeypatch.setattr(admm_module, "LARGEST_FACTOR", largest)
    raw = random_problem(0, n=n, m=m)
    assert type(choose_features(to_problem(raw), MU)) is side


def test_krylov_counts_its_passes():
    admm = start(random_problem(5, n=40, m=12), KrylovFeatures)
    admm.sweep()
    first = admm.features.passes
    admm.sweep()
    assert first > 2
    assert admm.features.passes > first
