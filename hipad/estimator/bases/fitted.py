"""A fitted model: what it predicts, the risks it tells, what it reports, how it is kept.

Reports, risks and the hash of the data are made when they are first asked for. That needs the
training data, so they are made at the latest before the model is pickled or saved without them.
"""

from __future__ import annotations

from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hipad.designs.base import FloatArray
from hipad.estimator.bases.two_classes import TwoClasses
from hipad.estimator.knowing.statement_report import StatementRecord, statement_report
from hipad.estimator.report import model_report
from hipad.estimator.risks.risk_curve import RiskCurve, check_prevalence
from hipad.estimator.risks.source import RiskSource
from hipad.estimator.run import FitRun, Model, count_steps
from hipad.estimator.training import TrainingData
from hipad.rules import FeatureIndex, RuleRecord
from hipad.rules.compiling.knowledge import Knowledge
from hipad.solver import Hipad

CACHES = ("_data", "_hipad", "_model", "_kept")


class FittedModel(TwoClasses):
    """What a classifier can be asked once `_set_outcome` gave it a model."""

    prevalence: float | None
    n_features_in_: int
    feature_index_: FeatureIndex
    _report: list[RuleRecord] | None
    _stated: list[StatementRecord] | None
    _sha256: str | None
    _knowledge: Knowledge
    _data: TrainingData
    _hipad: Hipad | None
    _model: Model
    _risks: RiskSource

    def decision_function(self, X: Any) -> FloatArray:
        """Signed distance of each row; two units lie between the average training patients."""
        check_is_fitted(self)
        X = self._rows_to_predict(X)
        kept = self.support_
        scores = X[:, kept] @ self.coef_[0, kept].astype(float) + self.intercept_[0]
        return np.asarray(scores, dtype=float).ravel()

    def predict(self, X: Any) -> np.ndarray:
        """Class of each row: the second one above decision value 0."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

    def predict_proba(self, X: Any) -> FloatArray:
        """The risk of each class for each row, learnt from out-of-fold scores (docs/math.md).

        Risks are at the true prevalence of the training rows, or at `prevalence`. The decision is
        not: with balanced classes it asks which class fits better, not which is likelier. Where one
        class is rare, a row may well be put into it at a risk below one half. Both rise together.
        """
        risks = self.risk_curve_.risks(self.decision_function(X), self.prevalence)
        return np.column_stack((1.0 - risks, risks))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithm of `predict_proba`."""
        return np.log(self.predict_proba(X))

    @property
    def risk_curve_(self) -> RiskCurve:
        """From decision value to risk; made at the first call, by folds if none were fitted yet."""
        check_prevalence(self.prevalence)
        return self.risk_source_.curve

    @property
    def risk_source_(self) -> RiskSource:
        """Says whether risks are known, and whether they are there at once."""
        check_is_fitted(self)
        return self._risks

    @property
    def rule_report_(self) -> list[RuleRecord]:
        """One record a rule: who fires, margins, worst case, slack, residual, pull, effect."""
        check_is_fitted(self)
        if self._report is None:
            self._report = model_report(self._data, self._model, self._hipad)
        return self._report

    @property
    def knowledge_report_(self) -> list[StatementRecord]:
        """One record a statement about features: their weights, and what a fit without it says."""
        check_is_fitted(self)
        if self._stated is None:
            self._stated = statement_report(self._model, self.feature_index_)
        return self._stated

    @property
    def data_sha256_(self) -> str:
        """A hash of the training rows, labels and weights."""
        check_is_fitted(self)
        if self._sha256 is None:
            self._sha256 = self._data.sha256
        return self._sha256

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model as JSON: weights, rules, settings, certificate, hash of the data."""
        from hipad.estimator.files.model_file import save_model

        save_model(self, path)

    def __getstate__(self) -> dict[str, Any]:
        """Without the training data and solver state, which only speed up refits."""
        state = dict(super().__getstate__())
        if "_model" in state:
            state |= {"_report": self.rule_report_, "_stated": self.knowledge_report_}
            state |= {"_sha256": self.data_sha256_}
        return {key: value for key, value in state.items() if key not in CACHES}

    def _take(self, fresh: FittedModel, run: FitRun) -> Self:
        """Become what `fresh`, on which the run was prepared, is with the outcome of the run."""
        fresh._set_outcome(run)
        parameters = self.get_params(deep=False)
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        for name, value in vars(fresh).items():
            if name not in parameters:
                setattr(self, name, value)
        return self

    def _set_outcome(self, run: FitRun) -> None:
        """Take the model of a run, and what reports of it are made from."""
        model = run.model()
        self.coef_ = np.zeros((1, self.n_features_in_))
        self.coef_[0, model.features] = model.coef
        self.intercept_ = np.array([model.intercept])
        self.support_ = model.features
        self.certificate_ = model.solution.certificate
        self.selection_certificate_ = model.solution.selection
        self.lambda1_ = model.lambda1
        self.lambda2_ = model.lambda2
        self.members_ = model.members
        self.path_ = model.path
        self.history_ = list(run.history)
        self.n_iter_ = count_steps(self.history_)
        self._report = self._stated = self._sha256 = None
        self._knowledge = run.plan.knowledge
        self._data, self._hipad, self._model = run.data, run.hipad, model
        self._risks = RiskSource((run.data, model))
