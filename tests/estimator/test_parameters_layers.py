"""Parameters in layers, their names of earlier versions, and those that cannot act."""

from __future__ import annotations

import warnings
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from hipad import HIPADClassifier, load_model
from hipad.estimator.grid_search import HIPADClassifierCV
from hipad.estimator.parameters import LAYERS, RENAMED, check_parameters, layer_of
from hipad.estimator.settings import RuleSettings, SelectionSettings, SolverSettings
from hipad.exceptions import HipadError

OLD_FILE = Path(__file__).with_name("files") / "model_of_old_names.json"  # of version 0.1.0
# what that version predicted for three rows
OLD_ROWS = np.array([
    [0.13, -0.13, 0.64, 0.1, -0.54, 0.36],
    [1.3, 0.95, -0.7, -1.27, -0.62, 0.04],
    [-2.33, -0.22, -1.25, -0.73, -0.54, -0.32],
])  # fmt: skip
OLD_VALUES = [0.23319910596972152, 1.5989208532847126, -2.5399646618000578]
RULE = "x0 >= 1 => positive"
GIVEN = {"lambda1": 0.1, "lambda2": 2.0}
# old name, a value that is not the default, and the parameters of today
OLD = [
    ("patients", 4.0, {"rule_weight": 4.0}),
    ("stiffness", 50.0, {"rho": 50.0}),
    ("anchored", False, {"rule_settings": RuleSettings(centered=False)}),
    ("scope", "typical", {"rule_settings": RuleSettings(scope="typical")}),
    ("calibrate", False, {"selection": SelectionSettings(calibrate=False)}),
    ("engine", "osqp", {"solver": SolverSettings(phase2_solver="osqp")}),
    ("switch", "paper", {"solver": SolverSettings(phase1_stop="paper")}),
    ("mu", 2.0, {"solver": SolverSettings(mu=2.0)}),
    ("tol", 1e-5, {"solver": SolverSettings(tol=1e-5)}),
    ("max_iter", 4000, {"solver": SolverSettings(max_iter=4000)}),
]


def rows(n=30, m=6):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, m)).round(2)
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1, -1)


def quiet():
    return warnings.catch_warnings(action="error")


@pytest.mark.parametrize(("old", "value", "today"), OLD)
def test_old_names_warn_and_give_the_same_model(old, value, today):
    now = HIPADClassifier(RULE, **GIVEN, **today)
    with pytest.warns(FutureWarning, match=f"'{old}' is accepted for one more release"):
        built = HIPADClassifier(RULE, **GIVEN, **{old: value})
    with pytest.warns(FutureWarning, match=old):
        set_later = HIPADClassifier(RULE, **GIVEN).set_params(**{old: value})
    assigned = HIPADClassifier(RULE, **GIVEN)
    with pytest.warns(FutureWarning, match=old):
        setattr(assigned, old, value)
    expected = now.get_params()
    for clf in (built, set_later, assigned):
        assert clf.get_params() == expected
        with pytest.warns(FutureWarning, match=old):
            assert getattr(clf, old) == value
    X, y = rows()
    np.testing.assert_array_equal(built.fit(X, y).coef_, now.fit(X, y).coef_)


def test_every_old_name_is_tested():
    assert {old for old, *_ in OLD} == set(RENAMED)


def test_old_names_of_a_grid_search():
    with pytest.warns(FutureWarning, match="patients"):
        search = HIPADClassifierCV(RULE, lambda1=[0.1], lambda2=1.0, patients=[1, 9], cv=2)
    assert search.rule_weight == [1, 9]
    assert search.fit(*rows()).best_params_["rule_weight"] in (1, 9)


def test_old_method_names():
    X, y = rows()
    now = HIPADClassifier(RULE, **GIVEN).fit(X, y)
    with pytest.warns(FutureWarning, match="fit_iter"):
        run = HIPADClassifier(RULE, **GIVEN).start(X, y, like=now, quick=True)
    again = HIPADClassifier(RULE, **GIVEN).fit_iter(X, y, warm_start_from=now, interactive=False)
    coef = again.to_end().finish().coef_
    np.testing.assert_array_equal(run.to_end().finish().coef_, coef)


def test_unknown_parameters_are_refused():
    with pytest.raises(TypeError, match="'stifness'"):
        HIPADClassifier(stifness=1.0)
    with pytest.raises(ValueError, match="nothing"):
        HIPADClassifier().set_params(nothing=1)
    with pytest.raises(ValueError, match="nothing"):
        HIPADClassifier().set_params(solver__nothing=1)
    with pytest.raises(HipadError, match="fields of solver"):
        check_parameters(HIPADClassifier(solver={"nothing": 1}))
    with pytest.raises(HipadError, match=r"SolverSettings\(\.\.\.\)"):
        check_parameters(HIPADClassifier(solver=3))


def test_today_names_do_not_warn():
    X, y = rows()
    with quiet():
        clf = HIPADClassifier(RULE, **GIVEN, rule_weight=3, rho=5.0, solver={"tol": 1e-6})
        clone(clf).set_params(solver__mu=1.0, rule_settings__scope="typical").fit(X, y)
        HIPADClassifier.paper(RULE, lambda1=0.1)


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_is_a_frozen_documented_dataclass(layer):
    kind = LAYERS[layer]
    with pytest.raises(FrozenInstanceError):
        setattr(kind(), fields(kind)[0].name, 1)
    for field in fields(kind):
        assert field.name in (kind.__doc__ or ""), field.name
    assert layer_of(HIPADClassifier(), layer) == kind()


def test_a_layer_as_dict_is_the_dataclass():
    one = HIPADClassifier(solver={"tol": 1e-6}, selection={"ridges": [1.0, 0.1]})
    assert layer_of(one, "solver") == SolverSettings(tol=1e-6)
    assert layer_of(one, "selection").ridges == (1.0, 0.1)
    check_parameters(one)


def test_nested_names_in_clone_pipeline_and_grid():
    X, y = rows()
    clf = HIPADClassifier(**GIVEN, solver={"tol": 1e-6})
    assert clf.get_params()["solver__tol"] == 1e-6
    assert "solver__tol" not in clf.get_params(deep=False)
    assert clone(clf).get_params() == clf.get_params()
    before = clf.solver
    clf.set_params(solver__mu=3.0)
    assert (clf.solver.tol, clf.solver.mu, before) == (1e-6, 3.0, {"tol": 1e-6})
    model = make_pipeline(FunctionTransformer(), HIPADClassifier(**GIVEN))
    search = GridSearchCV(model, {"hipadclassifier__solver__phase2_solver": ["ipm", "osqp"]}, cv=2)
    assert len(search.fit(X, y).cv_results_["params"]) == 2


@pytest.mark.parametrize(
    ("parameters", "rules", "told"),
    [
        ({"method": "exact", "solver": {"mu": 2.0}, **GIVEN}, None, "mu has no effect"),
        ({"method": "admm", "solver": {"phase2_solver": "osqp"}, **GIVEN}, None, "phase2_solver"),
        ({"cv": 3, **GIVEN}, None, "cv chooses nothing"),
        ({"max_features": 3, **GIVEN}, None, "max_features has no effect"),
        ({"rule_trust": 0.7, **GIVEN}, None, "rule_trust has no effect without rules"),
        ({"rule_trust": 0.7, "rule_weight": 3, **GIVEN}, RULE, "rule_trust has no effect with"),
        ({"rule_weight": 3, **GIVEN}, None, "rule_weight has no effect"),
    ],
)
def test_a_parameter_that_cannot_act_warns(parameters, rules, told):
    with pytest.warns(UserWarning, match=told) as caught:
        HIPADClassifier(rules, **parameters).fit(*rows())
    assert len([one for one in caught if told in str(one.message)]) == 1


@pytest.mark.parametrize(
    ("parameters", "rules"),
    [
        (GIVEN, None), (GIVEN, RULE), ({"rule_trust": None, **GIVEN}, None),
        ({"cv": 2, "rule_trust": 0.7, **GIVEN}, RULE), ({"method": "admm", **GIVEN}, None),
        ({"method": "hipad", "solver": {"mu": 2.0}, **GIVEN}, None),
    ],
)  # fmt: skip
def test_parameters_that_act_do_not_warn(parameters, rules):
    with quiet():
        HIPADClassifier(rules, **parameters).fit(*rows())


def test_a_model_file_of_old_names_opens(tmp_path):
    with quiet():
        old = load_model(OLD_FILE)
        old.save(tmp_path / "again.json")
        again = load_model(tmp_path / "again.json")
    for clf in (old, again):
        np.testing.assert_allclose(clf.decision_function(OLD_ROWS), OLD_VALUES, rtol=1e-12)
        assert (clf.rule_weight, clf.rho) == (4.0, 50.0)
        solver = SolverSettings(phase1_stop="paper", mu=2.0, tol=1e-6, max_iter=3000)
        assert layer_of(clf, "solver") == solver
    np.testing.assert_allclose(clone(old).fit(*rows()).coef_, old.coef_, atol=1e-9)


@pytest.mark.parametrize(
    "given",
    [
        {"rho": 5.0, "stiffness": 3.0},
        {"patients": 3.0, "rule_weight": 3.0},
        {"tol": 1e-5, "solver": {"tol": 1e-6}},
        {"tol": 1e-5, "solver": SolverSettings(tol=1e-6)},
        {"engine": "osqp", "phase2_solver": "ipm"},
    ],
)
def test_a_parameter_under_two_names_is_refused(given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        for kind in (HIPADClassifier, HIPADClassifierCV):
            with pytest.raises(HipadError, match=r"expected one value of .* alone"):
                kind(**given)
            with pytest.raises(HipadError, match=r"expected one value of .* alone"):
                kind().set_params(**given)


def test_an_old_name_beside_other_fields_of_its_layer_is_no_doubt():
    with pytest.warns(FutureWarning, match="tol"):
        clf = HIPADClassifier(tol=1e-5, solver=SolverSettings(max_iter=50))
    assert clf.solver == SolverSettings(tol=1e-5, max_iter=50)
    clf.set_params(solver=SolverSettings(tol=1e-3), solver__tol=1e-4)  # as in scikit-learn
    assert clf.solver.tol == 1e-4
