"""HIPADClassifier: inputs of every kind, bad ones too, watching, warm starts, the acceptance."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from hipad import HIPADClassifier, parse_rules
from hipad.datasets import make_ksvm_s
from hipad.errors import HipadError, RuleError
from hipad.solver import Status

METHODS = ["hipad", "exact", "admm"]
RULE = "x0 >= 2 => positive"


def data(n=30, m=6, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.standard_normal((n, m)) + np.outer(2 * y - 1, np.r_[1.0, np.full(m - 1, 0.3)]), y


def fit(*given, rules=RULE, **parameters):
    X, y = given or data()
    return HIPADClassifier(rules, **{"lambda1": 0.05, **parameters}).fit(X, y)


def same_model(one, other, **close):
    np.testing.assert_allclose(one.coef_, other.coef_, **{"rtol": 1e-6, "atol": 1e-8, **close})
    np.testing.assert_allclose(
        one.intercept_, other.intercept_, **{"rtol": 1e-6, "atol": 1e-8, **close}
    )


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
        watch = HIPADClassifier("b >= 2 => 1", lambda1=0.05).start(X, y, feature_names=["a", "b"])
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
        clf = fit(X, labels[y])
        assert set(clf.predict(X).tolist()) == set(labels.tolist())
        same_model(clf, fit(X, y))
        assert np.mean(clf.predict(X) == labels[y]) > 0.8

    def test_lists_and_a_series_of_labels(self):
        X, y = data()
        same_model(fit(X.tolist(), y.tolist()), fit(X, y))
        same_model(fit(X, pd.Series(np.array(["a", "b"])[y])), fit(X, y))

    def test_outcomes_may_be_the_labels_themselves(self):
        X, y = data()
        labels = np.array(["NEG", "BCR/ABL"])[1 - y]
        by_label = fit(X, labels, rules='x0 >= 2 => "BCR/ABL"')
        same_model(by_label, fit(X, labels, rules="x0 >= 2 => negative"))

    def test_class_weights_of_ones_own_move_the_answers(self):
        X, y = data(n=60)
        shares = [
            np.mean(fit(X, y, class_weight={0: w, 1: 1.0}).predict(X)) for w in (0.2, 1.0, 5.0)
        ]
        assert shares[0] > shares[1] > shares[2]


class TestScikitLearn:
    """Clone, pipelines, grid search."""

    def test_clone_keeps_every_parameter(self):
        clf = HIPADClassifier(RULE, blocks={"K": [0]}, lambda1=0.2, scope="typical", tol=1e-6)
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
            *((name, value) for name in ("lambda1", "lambda2", "patients", "stiffness", "tol")
              for value in (-1.0, np.inf, np.nan, "some", None)),
            ("lambda2", 0.0),
            ("max_iter", 0),
            ("scope", "world"),
            ("method", "simplex"),
            ("engine", "cplex"),
            ("switch", "never"),
            ("class_weight", "heavy"),
            ("class_weight", {0: -1.0}),
        ],
    )  # fmt: skip
    def test_unusable_values_are_refused(self, name, value):
        with pytest.raises(HipadError, match=name):
            fit(**{name: value})

    def test_the_papers_preset_can_be_changed(self):
        clf = HIPADClassifier.paper(RULE, lambda1=0.05, stiffness=10.0)
        assert (clf.calibrate, clf.class_weight, clf.patients) == (False, None, "equal")
        assert clf.stiffness == 10.0
        assert clf.fit(*data()).certificate_.status is Status.SOLVED


class TestBadData:
    """A clear error and nothing lost, or a right answer with a true status."""

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
    def test_values_that_are_no_numbers(self, value, form):
        X, y = data()
        X[3, 2] = value
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            fit(form(X), y)

    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            (np.zeros(30), r"got one class \(0.0\)"),
            (np.arange(30) % 3, r"got 3 \(0, 1, 2"),
            (np.linspace(0, 1, 30), "continuous"),
            (np.array(["a", None] * 15, dtype=object), "NoneType and str"),
            (np.array(["a", 1] * 15, dtype=object), "expected labels of one type"),
        ],
    )
    def test_labels_that_are_not_two_classes(self, labels, message):
        with pytest.raises(ValueError, match=message):
            fit(data()[0], labels)

    def test_weights_that_leave_one_class(self):
        X, y = data()
        with pytest.raises(ValueError, match="one class"):
            HIPADClassifier(lambda1=0.1).fit(X, y, sample_weight=y)
        with pytest.raises(ValueError, match=r"[Nn]egative"):
            HIPADClassifier(lambda1=0.1).fit(X, y, sample_weight=y - 0.5)

    def test_one_patient(self):
        with pytest.raises(ValueError, match="one class"):
            fit(np.ones((1, 3)), [1])

    @pytest.mark.parametrize(
        ("rules", "message"),
        [
            ("x99 >= 1 => positive", "x99"),
            ("mean(K9) >= 1 => positive", "K9"),
            ("x0 >= 1 => ill", "ill"),
            ("max(x0, x1) >= 1 => positive", "max"),
            ("x0 >= => positive", "line 1|expected"),
        ],
    )
    def test_rules_that_do_not_fit_the_data(self, rules, message):
        with pytest.raises(RuleError, match=message):
            fit(rules=rules)

    def test_a_refused_fit_leaves_the_old_model(self):
        X, y = data()
        clf = fit(X, y)
        before = clf.decision_function(X)
        for worse in (X[:, :3] * np.nan, X[:, :2]):
            clf.rules = RULE if np.isnan(worse).any() else "x5 >= 1 => positive"
            with pytest.raises(ValueError, match=r"NaN|x5"):
                clf.fit(worse, y)
            assert clf.n_features_in_ == 6
            assert np.array_equal(clf.decision_function(X), before)

    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize(
        "change",
        [
            lambda X, y: (X[:2], y[:2]),
            lambda X, y: (X[:3], y[:3]),
            lambda X, y: (X[:, :1], y),
            lambda X, y: (np.c_[X, np.zeros(30), np.full(30, 7.3)], y),
            lambda X, y: (np.c_[X, X], y),
            lambda X, y: (np.r_[X, X[:5]], np.r_[y, 1 - y[:5]]),
            lambda X, y: (1e-6 * X, y),
            lambda X, y: (1e6 * X, y),
            lambda X, y: (X * np.logspace(-6, 6, 6), y),
        ],
        ids=["N=2", "N=3", "m=1", "constant", "twins", "contradicted", "small", "large", "mixed"],
    )
    def test_awkward_data_are_solved(self, method, change):
        X, y = change(*data())
        clf = fit(X, y, rules=None, method=method)
        assert clf.certificate_.status is Status.SOLVED
        assert clf.certificate_.gap < 1e-6
        assert clf.support_.size > 0
        assert clf.score(X, y) > 0.6

    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("lambda1", ["auto", 0.05])
    @pytest.mark.parametrize("X", [np.zeros((30, 3)), np.full((30, 3), 7.3), data()[0]])
    def test_features_that_tell_nothing_give_a_truthful_empty_model(self, method, lambda1, X):
        X, y = np.r_[X, X], np.r_[np.zeros(30), np.ones(30)]
        clf = fit(X, y, rules=None, method=method, lambda1=lambda1)
        assert clf.support_.size == 0
        assert clf.certificate_.status is Status.SOLVED
        assert "no feature tells the classes apart" in clf.certificate_.message
        assert len(np.unique(clf.predict(X))) == 1

    @pytest.mark.parametrize("method", METHODS)
    def test_twins_share_the_weight(self, method):
        X, y = data()
        clf = fit(np.c_[X, X[:, 0]], y, rules=None, method=method, tol=1e-10)
        assert clf.coef_[0, 0] == pytest.approx(clf.coef_[0, 6], rel=1e-5)

    @pytest.mark.parametrize("method", METHODS)
    def test_without_sparsity_every_feature_stays(self, method):
        assert fit(lambda1=0.0, method=method).support_.size == 6

    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize(
        "rules",
        [
            "x0 >= 3 and x0 <= 1 => positive",
            "x0 >= 2 => positive\nx0 >= 2 => positive",
            "x0 >= 2 and 2*x0 >= 4 and x0 >= 1 and x1 >= 0 => positive",
            "x0 >= 2 => positive\nx0 >= 2 => negative",
            "x0 >= 2 => positive worth 1000000 patients",
            "x0 >= -100 => positive",
        ],
        ids=["empty region", "identical", "redundant", "opposite", "heavy", "always"],
    )
    def test_awkward_rules_are_solved(self, method, rules):
        clf = fit(rules=rules, method=method)
        assert clf.certificate_.status is Status.SOLVED
        assert clf.certificate_.gap < 1e-5
        assert len(clf.rule_report_) == len(parse_rules(rules))
        assert all(str(record) for record in clf.rule_report_)

    @pytest.mark.parametrize("method", ["hipad", "exact"])
    def test_rows_that_repeat_a_condition_change_nothing(self, method):
        once = fit(rules="x0 >= 2 => positive", method=method)
        often = fit(rules="x0 >= 2 and 3*x0 >= 6 and x0 >= 1 => positive", method=method)
        same_model(once, often, rtol=1e-4, atol=1e-5)

    def test_a_limit_of_sweeps_is_told(self):
        with pytest.warns(ConvergenceWarning, match="iteration limit"):
            clf = fit(max_iter=2, method="admm")
        assert clf.certificate_.status is Status.LIMIT
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fit()


class TestWatching:
    """Start, pause, stop, continue, and refits that reuse what is known."""

    def test_watching_changes_nothing(self):
        X, y = data()
        watch = HIPADClassifier(RULE, lambda1=0.05).start(X, y)
        records = list(watch)
        assert watch.finished
        same_model(watch.finish(), fit(X, y), rtol=0, atol=0)
        assert [r.phase for r in records] == sorted(r.phase for r in records)
        assert len(records) == len(watch.history) == watch.finish().n_iter_

    def test_a_pause_changes_nothing(self):
        X, y = data()
        watch = HIPADClassifier(RULE, lambda1=0.05).start(X, y)
        for record in watch:
            if record.iteration % 3 == 0:
                break
        watch.finish()  # a look at the model so far
        watch.stop()
        assert list(watch) == []
        watch.resume()
        for _ in watch:
            pass
        same_model(watch.finish(), fit(X, y), rtol=0, atol=0)

    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("lambda1", ["auto", 0.05])
    @pytest.mark.parametrize("steps", [0, 1, 4])
    def test_a_stopped_fit_is_a_model_that_says_so(self, method, lambda1, steps):
        X, y = data()
        watch = HIPADClassifier(RULE, lambda1=lambda1, method=method).start(X, y)
        for _ in range(steps):
            next(watch)
        watch.stop()
        clf = watch.finish()
        assert clf.certificate_.status is Status.STOPPED
        assert np.isfinite(clf.coef_).all()
        assert set(clf.predict(X)) <= {0, 1}
        assert len(clf.rule_report_) == 1
        if lambda1 == "auto" and steps:
            assert clf.score(X, y) > 0.7  # the best lambda1 so far, fitted to the end

    def test_the_classifier_stays_as_it_was_until_the_end(self):
        X, y = data()
        clf = fit(X, y)
        before = clf.decision_function(X)
        watch = clf.set_params(lambda1=0.4).start(X[:, :4], y)
        next(watch)
        assert np.array_equal(clf.decision_function(X), before)
        for _ in watch:
            pass
        assert watch.finish() is clf
        assert clf.n_features_in_ == 4

    @pytest.mark.parametrize("method", METHODS)
    def test_a_warm_refit_equals_a_cold_one(self, method):
        X, y = data(n=40, m=30)
        first = fit(X, y, method=method, tol=1e-9)
        changed = HIPADClassifier("x0 >= 1.7 => positive", lambda1=0.05, method=method, tol=1e-9)
        watch = changed.start(X, y, like=first)
        for _ in watch:
            pass
        warm = watch.finish()
        cold = fit(X, y, rules="x0 >= 1.7 => positive", method=method, tol=1e-9)
        assert warm._data is first._data
        assert warm._data.design.gram() is first._data.design.gram()
        assert np.array_equal(warm.support_, cold.support_)
        objectives = [clf.certificate_.primal_objective for clf in (warm, cold)]
        assert objectives[0] == pytest.approx(objectives[1], rel=1e-7)
        same_model(warm, cold, rtol=1e-4, atol=1e-6)

    def test_only_the_same_data_are_reused(self):
        X, y = data()
        first = fit(X, y)

        def refit(X, y, **parameters):
            clf = HIPADClassifier(RULE, **{"lambda1": 0.05, **parameters})
            watch = clf.start(X, y, like=first)
            for _ in watch:
                pass
            return watch.finish()

        assert refit(X, y)._data is first._data
        for other in (
            refit(X.copy(), y),
            refit(X, 1 - y),
            refit(X, y, standardize=False),
            refit(X, y, class_weight=None if y.mean() != 0.5 else {0: 2.0}),
        ):
            assert other._data is not first._data
        X[:, 1] *= 3.0  # in place: the same object, other data
        assert refit(X, y)._data is not first._data
        same_model(refit(X, y), fit(X, y))


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
