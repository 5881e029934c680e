"""HIPADClassifier: inputs of every kind, scikit-learn's ways, the acceptance."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from hipad import HIPADClassifier, parse_rules
from hipad.datasets import make_ksvm_s
from hipad.estimator.parameters import LAYERS
from hipad.exceptions import DataError, HipadError
from hipad.solvers import Status
from hipad.solvers.admm import transition
from tests.small import RULE, data, fit, same_model


class TestInputs:
    """The same data in another form give the same model."""

    @pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix])
    @pytest.mark.parametrize("standardize", [True, False])
    def test_sparse_is_dense(self, form, standardize):
        X, y = data()
        X[np.abs(X) < 0.7] = 0.0
        plain = fit(X, y, standardize=standardize)
        same_model(fit(form(X), y, standardize=standardize), plain)
        scores = plain.decision_function(X)
        np.testing.assert_allclose(plain.decision_function(form(X)), scores, rtol=1e-12)

    def test_single_precision(self):
        X, y = data()
        X = X.astype(np.float32)
        same_model(fit(X, y), fit(X.astype(float), y), rtol=1e-4, atol=1e-5)

    def test_data_frame_with_named_features_in_rules_and_blocks(self):
        X, y = data(m=3)
        frame = pd.DataFrame(X, columns=["Glucose", "p-36=t", "Age"])
        rules = "Glucose >= 2 and `p-36=t` >= 1 => sick\nmean(K) <= -1 => well"
        labels = np.array(["well", "sick"])[1 - y]
        named = HIPADClassifier(rules, blocks={"K": ["Glucose", "Age"]}, lambda1=0.05)
        named.fit(frame, labels)
        assert named.feature_names_in_.tolist() == list(frame.columns)
        assert named.classes_.tolist() == ["sick", "well"]
        numbered = "x0 >= 2 and x1 >= 1 => sick\nmean(K) <= -1 => well"
        bare = HIPADClassifier(numbered, blocks={"K": [0, 2]}, lambda1=0.05).fit(X, labels)
        same_model(named, bare)

    def test_names_for_a_bare_array(self):
        X, y = data(m=2)
        watch = HIPADClassifier("b >= 2 => 1", lambda1=0.05).fit_iter(
            X, y, feature_names=["a", "b"]
        )
        for _ in watch:
            pass
        same_model(watch.finish(), fit(X, y, rules="x1 >= 2 => 1"))

    def test_rules_may_be_text_or_parsed(self):
        same_model(fit(rules=parse_rules(RULE)), fit(rules=RULE))
        same_model(fit(rules=list(parse_rules(RULE))), fit(rules=RULE))

    @pytest.mark.parametrize(
        "labels",
        [
            ["benign", "malignant"],
            [0, 1],
            [-1, 1],
            [1, 2],
            [False, True],
            [0.0, 1.0],
            np.array(["a", "b"], dtype=object),
            np.array([0, 1], dtype=object),
            np.array([False, True], dtype=object),
        ],
    )
    def test_labels_of_any_type(self, labels):
        X, y = data()
        labels = np.asarray(labels)
        clf = fit(X, labels[y], rules=RULE.replace("positive", str(labels[1])))
        assert set(clf.predict(X).tolist()) == set(labels.tolist())
        same_model(clf, fit(X, y))
        assert np.mean(clf.predict(X) == labels[y]) > 0.8

    def test_lists_and_a_series_of_labels(self):
        X, y = data()
        same_model(fit(X.tolist(), y.tolist()), fit(X, y))
        same_model(fit(X, pd.Series(np.array(["no", "yes"])[y])), fit(X, y))

    def test_outcomes_may_be_the_labels_themselves(self):
        X, y = data()
        labels = np.array(["NEG", "BCR/ABL"])[1 - y]
        by_label = fit(X, labels, rules='x0 >= 2 => "BCR/ABL"')
        same_model(by_label, fit(X, labels, rules="x0 >= 2 => positive"))

    def test_class_weights_may_name_the_classes_in_text(self):
        same_model(fit(class_weight={"0": 50, "1": 1}), fit(class_weight={0: 50, 1: 1}))
        assert not np.allclose(fit(class_weight={"0": 50}).coef_, fit(class_weight=None).coef_)

    def test_a_class_weight_for_no_class_is_told(self):
        with pytest.raises(DataError, match="expected class_weight to name the classes 0 and 1"):
            fit(class_weight={"ill": 2.0})

    def test_rules_may_be_a_list_of_texts(self):
        texts = ["x0 >= 2 => positive", "x1 >= 3 => negative"]
        same_model(fit(rules=texts), fit(rules="\n".join(texts)), rtol=0, atol=0)
        mixed = [texts[0], *parse_rules(texts[1])]
        same_model(fit(rules=mixed), fit(rules="\n".join(texts)), rtol=0, atol=0)

    def test_class_weights_of_ones_own_move_the_answers(self):
        X, y = data(n=60)
        shares = [
            np.mean(fit(X, y, class_weight={0: w, 1: 1.0}).predict(X)) for w in (0.2, 1.0, 5.0)
        ]
        assert shares[0] > shares[1] > shares[2]


class TestScikitLearn:
    """Clone, pipelines, grid search."""

    def test_clone_keeps_every_parameter(self):
        clf = HIPADClassifier(
            RULE,
            blocks={"K": [0]},
            lambda1=0.2,
            solver={"tol": 1e-6},
            rule_settings={"scope": "typical"},
        )
        assert clone(clf).get_params() == clf.get_params()

    def test_grid_search_in_a_pipeline(self):
        X, y = data(n=40)
        pipe = make_pipeline(MinMaxScaler(), HIPADClassifier("x0 >= 0.9 => positive"))
        grid = {"hipadclassifier__lambda1": [0.02, 0.2, 5.0]}
        search = GridSearchCV(pipe, grid, cv=3).fit(X, y)
        assert search.best_params_["hipadclassifier__lambda1"] < 5.0
        assert search.best_score_ > 0.7
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()

    def test_cross_validation(self):
        X, y = data(n=40)
        assert cross_val_score(HIPADClassifier(RULE, lambda1=0.1), X, y, cv=4).mean() > 0.7


class TestParameters:
    """What cannot be used is refused in a sentence, before anything is computed."""

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            *((name, value) for name in ("lambda1", "lambda2", "rule_weight", "rho")
              for value in (-1.0, np.inf, np.nan, "some", None)),
            ("lambda2", 0.0),
            ("solver", {"tol": -1.0}),
            ("solver", {"max_iter": 0}),
            ("rule_settings", {"scope": "world"}),
            ("method", "simplex"),
            ("solver", {"phase2_solver": "cplex"}),
            ("solver", {"phase1_stop": "never"}),
            ("class_weight", "heavy"),
            ("class_weight", {0: -1.0}),
        ],
    )  # fmt: skip
    def test_unusable_values_are_refused(self, name, value):
        told = next(iter(value)) if name in LAYERS else name
        with pytest.raises(HipadError, match=told):
            fit(**{name: value})

    def test_the_papers_preset_can_be_changed(self):
        clf = HIPADClassifier.paper(RULE, lambda1=0.05, rho=10.0)
        assert (clf.selection.calibrate, clf.class_weight) == (False, None)
        assert (clf.rule_weight, clf.rule_settings.centered) == ("equal", False)
        assert (clf.rho, clf.solver.phase1_stop) == (10.0, "paper")
        changed = HIPADClassifier.paper(RULE, solver={"tol": 1e-6}).solver
        assert (changed.tol, changed.phase1_stop) == (1e-6, "paper")

    def test_the_papers_switch_is_its_own_test_on_w(self):
        """Phase 1 ends with the first sweep whose w moved less than the paper's bound."""
        watch = HIPADClassifier.paper(RULE, lambda1=0.05).fit_iter(*data())
        weights = [np.zeros(6)]
        for record in watch:
            if record.phase == 2:
                break
            weights.append(watch.hipad.admm.features.full()[0].copy())
        passed = [transition(w, old) for old, w in pairwise(weights[1:])]
        assert passed == [False] * (len(passed) - 1) + [True]

    def test_the_papers_switch_is_not_called_a_failure_nor_an_optimum(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            clf = HIPADClassifier.paper(RULE, lambda1=0.05).fit(*data(m=40))
        assert clf.certificate_.gap < 1e-8
        assert not clf.certificate_.is_optimal()


class TestAcceptance:
    """A fast version of the figures that the method is judged by."""

    @pytest.mark.parametrize("seed", range(3))
    def test_ksvm_s_10k(self, seed):
        draw = make_ksvm_s("10k", seed=seed)
        clf = HIPADClassifier(draw.rules, blocks=draw.blocks, lambda1=0.08, standardize=False)
        clf.fit(draw.X_train, draw.y_train)
        true = np.concatenate(list(draw.blocks.values()))
        hits = np.intersect1d(clf.support_, true).size
        assert clf.score(draw.X_test, draw.y_test) >= 0.985
        assert hits / clf.support_.size >= 0.97
        assert hits / true.size >= 0.9
        assert clf.certificate_.status is Status.SOLVED

    def test_rules_tell_what_training_rows_do_not_show(self):
        draw = make_ksvm_s("10k", seed=0, n_features=1_000)
        with_rules, without = (
            HIPADClassifier(rules, blocks=draw.blocks, lambda1=0.08, standardize=False)
            .fit(draw.X_train, draw.y_train)
            .score(draw.X_test, draw.y_test)
            for rules in (draw.rules, None)
        )
        assert with_rules > without + 0.1
