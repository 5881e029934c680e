"""What runs: `method`, and `solver_`, which says it."""

import numpy as np
import pytest

from hipad import HIPADClassifier, load_model
from hipad.datasets import make_ksvm_s


@pytest.fixture(scope="module")
def data():
    return make_ksvm_s(n_train=60, n_test=60, n_features=400, block_size=10, seed=3)


def fitted(data, rules=True, **settings):
    given = {"rules": data.rules, "blocks": data.blocks} if rules else {}
    clf = HIPADClassifier(**given, lambda1=0.08, standardize=False, **settings)
    return clf.fit(data.X_train, data.y_train)


@pytest.mark.parametrize("rules", [True, False])
def test_hipad_runs_the_admm_and_auto_ends_at_the_same_model(data, rules):
    auto, hipad = (fitted(data, rules, method=method) for method in ("auto", "hipad"))
    assert auto.solver_.startswith("working sets (")
    assert hipad.solver_.startswith("ADMM (")
    assert "then interior point (" in auto.solver_
    assert "then interior point (" in hipad.solver_
    np.testing.assert_array_equal(auto.support_, hipad.support_)
    np.testing.assert_allclose(auto.coef_, hipad.coef_, rtol=0, atol=1e-7)
    assert auto.certificate_.status is hipad.certificate_.status


def test_solver_counts_the_steps_of_each_phase(data):
    clf = fitted(data, method="hipad")
    for phase in (1, 2):
        steps = sum(record.phase == phase for record in clf.history_)
        assert f"({steps} step" in clf.solver_.split(", then ")[phase - 1]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "admm"}, "ADMM"),
        ({"method": "exact"}, "working sets"),
        ({"solver": {"phase2_solver": "osqp"}}, "OSQP"),
    ],
)
def test_solver_names_what_was_asked_for(data, settings, words):
    assert words in fitted(data, **settings).solver_


def test_a_watched_run_is_the_papers_algorithm(data):
    clf = HIPADClassifier(data.rules, blocks=data.blocks, lambda1=0.08, standardize=False)
    run = clf.fit_iter(data.X_train, data.y_train)
    assert run.to_end().finish().solver_.startswith("ADMM (")


def test_solver_is_kept_with_the_model(data, tmp_path):
    clf = fitted(data)
    clf.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").solver_ == clf.solver_
