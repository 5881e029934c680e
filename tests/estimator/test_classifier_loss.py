"""`loss=`: the same certified model by every method, kept in files, and the tutorial's own."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from hipad import HIPADClassifier, HIPADClassifierCV, load_model
from hipad.datasets import make_ksvm_s
from hipad.estimator.serialization import read_sealed, write_sealed
from hipad.exceptions import HipadError
from hipad.solvers import Status
from tests.oracles import clarabel_enk

ROOT = Path(__file__).resolve().parents[2]

OSQP = {"phase2_solver": "osqp"}


@pytest.fixture(scope="module")
def data():
    return make_ksvm_s(n_train=60, n_test=60, n_features=300, block_size=10, seed=3)


def fitted(data, **settings):
    given = {"lambda1": 0.08, "loss": "squared_hinge", **settings}
    clf = HIPADClassifier(data.rules, blocks=data.blocks, **given)
    return clf.fit(data.X_train, data.y_train)


@pytest.mark.parametrize(
    "settings", [{"method": "hipad"}, {"solver": OSQP}, {"method": "hipad", "solver": OSQP}]
)
def test_every_method_ends_at_the_same_model(data, settings):
    auto, other = fitted(data), fitted(data, **settings)
    assert auto.certificate_.status is other.certificate_.status is Status.SOLVED
    assert auto.support_.tolist() == other.support_.tolist()
    np.testing.assert_allclose(auto.coef_, other.coef_, rtol=0, atol=1e-7)


def test_admm_and_exact_agree_on_the_elastic_net(data):
    admm, exact = (fitted(data, method=method, rule_trust=None) for method in ("admm", "exact"))
    assert admm.support_.tolist() == exact.support_.tolist()
    np.testing.assert_allclose(admm.coef_, exact.coef_, rtol=0, atol=1e-7)
    assert exact.certificate_.undecided == 0
    assert exact.certificate_.certain == exact.support_.size


def test_it_is_the_optimum_of_an_independent_solver():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(40) % 2, 1.0, -1.0)
    X = rng.standard_normal((40, 12)) + 0.5 * y[:, None] * (np.arange(12) < 3)
    plain = {"standardize": False, "lambda2": 0.5, "lambda1": 0.05}
    plain |= {"selection": {"calibrate": False}}
    clf = HIPADClassifier(loss="squared_hinge", method="exact", **plain).fit(X, y)
    wanted = clarabel_enk(X, y, np.full(40, 1 / 40), (), 0.05, 0.5, squared=True)
    np.testing.assert_allclose(clf.coef_[0], wanted.w, rtol=0, atol=1e-6)
    assert clf.certificate_.primal_objective == pytest.approx(wanted.objective, rel=1e-8)


def test_the_losses_differ_and_defaults_choose_with_either(data):
    hinge, squared = fitted(data, loss="hinge"), fitted(data)
    assert np.abs(hinge.coef_ - squared.coef_).max() > 1e-4
    auto = fitted(data, lambda1="auto")
    assert auto.certificate_.status is Status.SOLVED
    assert auto.score(data.X_test, data.y_test) > 0.8


def test_several_classes_take_it():
    rng = np.random.default_rng(1)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, 20)) + 1.5 * (np.arange(20) == y[:, None])
    clf = HIPADClassifier(lambda1=0.02, loss="squared_hinge").fit(X, y)
    assert {one.loss for one in clf.class_models_.values()} == {"squared_hinge"}
    assert clf.certificate_.status is Status.SOLVED


def test_a_saved_model_keeps_it_and_an_older_file_means_the_hinge(data, tmp_path):
    clf, path = fitted(data), tmp_path / "model.json"
    clf.save(path)
    loaded = load_model(path)
    assert loaded.loss == "squared_hinge"
    assert clone(loaded).loss == "squared_hinge"
    np.testing.assert_array_equal(
        loaded.decision_function(data.X_test), clf.decision_function(data.X_test)
    )
    content = read_sealed(path)
    del content["settings"]["loss"]
    write_sealed(path, content)
    assert load_model(path).loss == "hinge"


def test_a_word_that_is_no_loss_is_refused(data):
    with pytest.raises(HipadError, match="expected loss to be 'hinge' or 'squared_hinge'"):
        fitted(data, loss="logistic")


def test_the_tutorial_adds_a_loss_by_its_two_steps(tmp_path):
    text = (ROOT / "docs" / "losses.md").read_text("utf-8")
    loss, table, usage = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    shutil.copytree(
        ROOT / "hipad", tmp_path / "hipad", ignore=shutil.ignore_patterns("__pycache__")
    )
    module = tmp_path / "hipad" / "solvers" / "losses.py"
    source, old = module.read_text("utf-8"), re.compile(r"^LOSSES: Final.*\n", re.MULTILINE)
    assert len(old.findall(source)) == 1
    module.write_text(old.sub(f"{loss}\n\n{table}", source), "utf-8")
    found = subprocess.run(
        [sys.executable, "-c", usage], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("solved: ")


def test_a_search_takes_it_and_its_grid_begins_where_that_loss_lets_a_feature_in():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(40) % 2, 1, 0)
    X = rng.standard_normal((40, 12)) + 0.5 * y[:, None] * (np.arange(12) < 3)
    search = HIPADClassifierCV(lambda1=3, lambda2=1.0, cv=2, loss="squared_hinge").fit(X, y)
    assert search.best_estimator_.loss == "squared_hinge"
    largest = max(search.cv_results_["param_lambda1"]) / 0.9

    def size(lambda1):
        found = HIPADClassifier(lambda1=lambda1, lambda2=1.0, loss="squared_hinge").fit(X, y)
        return found.support_.size

    assert size(1.001 * largest) == 0 < size(0.99 * largest)
    with pytest.raises(HipadError, match="expected loss to be 'hinge' or 'squared_hinge'"):
        HIPADClassifierCV(loss="logistic").fit(X, y)


def test_without_balanced_classes_the_intercept_is_that_of_the_loss(data):
    y = np.where(np.arange(60) % 3 == 0, 1, -1)
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 8)) + 0.8 * y[:, None] * (np.arange(8) < 2)
    given = {"lambda1": 0.02, "lambda2": 1.0, "class_weight": None}
    clf = HIPADClassifier(loss="squared_hinge", **given).fit(X, y)
    scores = clf.decision_function(X)
    shifts = np.array([-0.05, 0.0, 0.05])[:, None]
    squared, hinge = (
        (np.maximum(1 - y * (scores + shifts), 0) ** power).sum(axis=1) for power in (2, 1)
    )
    assert squared.argmin() == 1
    assert hinge.argmin() != 1  # the hinge would put it elsewhere
