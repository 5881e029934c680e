"""HIPADClassifier: a scikit-learn classifier that takes rules as well as data.

>>> from hipad.datasets import make_ksvm_s
>>> data = make_ksvm_s("10k", seed=0)
>>> clf = HIPADClassifier(data.rules, blocks=data.blocks, lambda1=0.08, standardize=False)
>>> bool(clf.fit(data.X_train, data.y_train).score(data.X_test, data.y_test) > 0.97)
True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from hipad.designs.base import FloatArray
from hipad.errors import DataError
from hipad.fitting import FitRun, Model, Plan
from hipad.parameters import check_parameters
from hipad.reporting import model_report
from hipad.rules import CompiledRule, FeatureIndex, Rule, RuleRecord, compile_rules
from hipad.solver import Hipad, Progress, Settings
from hipad.training import TrainingData, shares

FLOATS = [np.float64, np.float32]
CACHES = ("_data", "_hipad", "_model")


class HIPADClassifier(ClassifierMixin, BaseEstimator):
    """Sparse linear classifier for few patients, many features and expert rules.

    Parameters
    ----------
    rules : str or rules, default=None
        Text in the rule language, for example ``mean(K1) >= 4 => positive``, or parsed rules.
        Always in the user's units, whatever the scaling.
    blocks : dict, default=None
        Named groups of features: name -> column indices or feature names.
    lambda1 : float or "auto", default="auto"
        Sparsity. "auto" follows a path with cross-validation (one-standard-error rule).
    lambda2 : float, default=1.0
        Ridge.
    patients : float, "auto" or "equal", default="auto"
        What a rule without a worth of its own counts for; "auto" is a quarter of the patients,
        "equal" sets sigma to the stiffness, as the paper does.
    stiffness : float or "auto", default="auto"
        How closely the weights must follow a rule; "auto" is as soft as lets it speak.
    scope : "population" or "typical", default="population"
        Whether a rule speaks of every patient or of an otherwise typical one.
    class_weight : "balanced", dict or None, default="balanced"
        "balanced" gives each class one half of the total weight.
    calibrate : bool, default=True
        Put the average training patient of each class at decision value +1 and -1.
        False returns the optimum of the paper's problem as it is.
    method : "hipad", "admm" or "exact", default="hipad"
        Two phases; phase 1 to convergence; or the certified elastic net.
    engine : "ipm" or "osqp", default="ipm"
        Solver of phase 2.
    standardize : bool, default=True
        Scale columns to mean 0 and deviation 1, implicitly: sparse data stay sparse.
    switch : "support" or "paper", default="support"
        When phase 1 ends: the support has settled, or the paper's test.
    tol : float, default=1e-7
        Residuals at which the ADMM has converged.
    max_iter : int, default=5000
        Limit of sweeps in phase 1.

    Attributes
    ----------
    coef_, intercept_, classes_, support_ : the model in the user's units
    certificate_ : how far, at most, the result is from the optimum
    selection_certificate_ : the same for phase 1 over all features, or None
    history_ : one `Progress` a sweep or iteration
    rule_report_ : one `RuleRecord` a rule
    lambda1_ : the value used
    """

    _report: list[RuleRecord] | None
    _compiled: tuple[CompiledRule, ...]
    _data: TrainingData
    _model: Model

    def __init__(
        self,
        rules: str | Iterable[Rule] | None = None,
        *,
        blocks: Mapping[str, Any] | None = None,
        lambda1: float | str = "auto",
        lambda2: float = 1.0,
        patients: float | str = "auto",
        stiffness: float | str = "auto",
        scope: str = "population",
        class_weight: str | dict[Any, float] | None = "balanced",
        calibrate: bool = True,
        method: str = "hipad",
        engine: str = "ipm",
        standardize: bool = True,
        switch: str = "support",
        tol: float = 1e-7,
        max_iter: int = 5000,
    ) -> None:
        self.rules = rules
        self.blocks = blocks
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.patients = patients
        self.stiffness = stiffness
        self.scope = scope
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.method = method
        self.engine = engine
        self.standardize = standardize
        self.switch = switch
        self.tol = tol
        self.max_iter = max_iter

    @classmethod
    def paper(cls, rules: str | Iterable[Rule] | None = None, **parameters: Any) -> Self:
        """The paper's literal settings: equal rho, no calibration, no class weights.

        The paper sets all its rho to the same value, which is both stiffness and sigma.
        """
        literal = {"stiffness": 100.0, "patients": "equal", "class_weight": None}
        return cls(rules, **{**literal, "calibrate": False, "standardize": False, **parameters})

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to data X (array, DataFrame or sparse matrix) and two classes of labels y."""
        watch = self.start(X, y, sample_weight=sample_weight)
        for _ in watch:
            pass
        watch.finish()
        return self

    def start(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        like: HIPADClassifier | None = None,
        feature_names: Iterable[str] | FeatureIndex | None = None,
    ) -> Watch:
        """Begin a fit that can be watched, paused and stopped; `like` is an earlier fit to reuse.

        The earlier fit's Gram matrix and state serve when X is the very same object and labels,
        weights and scaling are unchanged. `feature_names` names the columns of a bare array.
        """
        check_parameters(self)
        original = X
        X, y, weights = self._validated(X, y, sample_weight)
        data = self._training_data(original, X, y, weights, like)
        self.feature_index_ = self._index(feature_names)
        plan = self._plan()
        warm = like._warm_start(data) if like is not None else None
        return Watch(self, FitRun(data, plan, warm))

    def decision_function(self, X: Any) -> FloatArray:
        """Signed distance of each row: +1 is the average positive training patient."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=["csr", "csc"], dtype=FLOATS, reset=False)
        kept = self.support_
        scores = X[:, kept] @ self.coef_[0, kept].astype(float) + self.intercept_[0]
        return np.asarray(scores, dtype=float).ravel()

    def predict(self, X: Any) -> np.ndarray:
        """Class of each row."""
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    @property
    def rule_report_(self) -> list[RuleRecord]:
        """One record a rule: who fires, margins, worst case, slack, residual, pull."""
        check_is_fitted(self)
        if self._report is None:
            self._report = model_report(self._compiled, self._data, self._model)
        return self._report

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model as JSON: weights, rules, settings, certificate, hash of the data."""
        from hipad.storage import save_model

        save_model(self, path)

    def __getstate__(self) -> dict[str, Any]:
        """Without the training data and solver state, which only speed up refits."""
        state = dict(super().__getstate__())
        if "_model" in state:
            state["_report"] = self.rule_report_
        return {key: value for key, value in state.items() if key not in CACHES}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags

    def _validated(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, FloatArray, FloatArray]:
        X, y = validate_data(self, X, y, accept_sparse=["csr", "csc"], dtype=FLOATS)
        check_classification_targets(y)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        classes = np.unique(y)
        if len(classes) != 2:
            raise DataError(two_classes_message(classes, type_of_target(y)))
        self.classes_ = classes
        signed = np.where(y == classes[1], 1.0, -1.0)
        kept = weights > 0
        if len(np.unique(signed[kept])) != 2:
            raise DataError(two_classes_message(np.unique(y[kept]), "weighted"))
        if not kept.all():
            X, signed, weights = X[kept], signed[kept], weights[kept]
        return X, signed, weights

    def _training_data(
        self, original: Any, X: Any, y: FloatArray, w: FloatArray, like: HIPADClassifier | None
    ) -> TrainingData:
        p = shares(y, w, self._signed_class_weight())
        earlier = getattr(like, "_data", None)
        if earlier is not None and earlier.same_as(original, y, w, p, self.standardize):
            return earlier
        return TrainingData.of(X, y, w, p, self.standardize, source=original)

    def _signed_class_weight(self) -> str | dict[float, float] | None:
        if not isinstance(self.class_weight, dict):
            return self.class_weight
        negative, positive = (self.class_weight.get(label, 1.0) for label in self.classes_)
        return {-1.0: float(negative), 1.0: float(positive)}

    def _index(self, names: Iterable[str] | FeatureIndex | None) -> FeatureIndex:
        if isinstance(names, FeatureIndex):
            return names
        if names is None:
            names = getattr(self, "feature_names_in_", None)
        return FeatureIndex(None if names is None else list(names), self.n_features_in_)

    def _plan(self) -> Plan:
        compiled = compile_rules(
            self.rules if self.rules is not None else (),
            feature_names=self.feature_index_,
            blocks=self.blocks,
            classes=tuple(self.classes_.tolist()),
        )
        settings = Settings(
            method=self.method,  # type: ignore[arg-type]
            engine=self.engine,  # type: ignore[arg-type]
            switch=self.switch,  # type: ignore[arg-type]
            tolerance=self.tol,
            max_sweeps=self.max_iter,
        )
        return Plan(
            compiled, self.lambda1, self.lambda2, self.patients, self.stiffness,
            self.scope, self.calibrate, settings,  # type: ignore[arg-type]
        )  # fmt: skip

    def _warm_start(self, data: TrainingData) -> Hipad | None:
        run = getattr(self, "_hipad", None)
        return run if getattr(self, "_data", None) is data else None

    def _take(self, run: FitRun) -> Self:
        """Copy the outcome of a run into the fitted attributes."""
        model: Model = run.model()
        self.coef_ = np.zeros((1, self.n_features_in_))
        self.coef_[0, model.features] = model.coef
        self.intercept_ = np.array([model.intercept])
        self.support_ = model.features
        self.certificate_ = model.solution.certificate
        self.selection_certificate_ = model.solution.selection
        self.lambda1_ = model.lambda1
        self.path_ = model.path
        self.history_ = list(run.history)
        self.n_iter_ = max(len(self.history_), 1)
        self._report = None
        self._compiled = run.plan.rules
        self._data, self._hipad, self._model = run.data, run.hipad, model
        return self


class Watch:
    """A fit in progress: an iterator of `Progress` that ends in a fitted classifier."""

    def __init__(self, classifier: HIPADClassifier, run: FitRun) -> None:
        self.classifier, self.run = classifier, run

    def __iter__(self) -> Iterator[Progress]:
        return self

    def __next__(self) -> Progress:
        return next(self.run)

    @property
    def history(self) -> list[Progress]:
        """All records so far."""
        return self.run.history

    @property
    def finished(self) -> bool:
        """Whether the fit went to its end."""
        return self.run.finished

    def stop(self) -> None:
        """End the iteration after the present step; the model so far stays."""
        self.run.stop()

    def resume(self) -> None:
        """Let a stopped fit go on."""
        self.run.resume()

    def finish(self) -> HIPADClassifier:
        """The classifier with the model so far; its certificate says if that was the end."""
        return self.classifier._take(self.run)


def two_classes_message(classes: np.ndarray, kind: str) -> str:
    """What to do about labels that are not two classes."""
    shown = ", ".join(repr(label) for label in classes[:5].tolist())
    if len(classes) < 2:
        advice = "add patients of the other class"
        return f"expected two classes in y, got one class ({shown}): {advice}"
    return (
        f"Only binary classification is supported. The type of the target is {kind}: expected two "
        f"classes in y, got {len(classes)} ({shown}, ...): choose the positive class and join "
        "the others"
    )
