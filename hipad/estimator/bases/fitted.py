"""A fitted model: what it predicts, the risks it tells, what it reports, how it is kept.

Reports, risks and the hash of the data are made when they are first asked for. That needs the
training data, so they are made at the latest before the model is pickled or saved without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hipad.designs.base import FloatArray
from hipad.errors import HipadError
from hipad.estimator.bases.table_classifier import TableClassifier
from hipad.estimator.knowing.statement_report import StatementRecord, statement_report
from hipad.estimator.report import model_report
from hipad.estimator.risks.common_scale import CommonScale
from hipad.estimator.risks.risk_curve import RiskCurve, check_prevalence
from hipad.estimator.risks.source import RiskSource
from hipad.estimator.run import FitRun, Model, count_steps
from hipad.estimator.several_classes import (
    ClassRiskSource,
    ClassRuns,
    common_scale,
    owners,
    worst_certificate,
)
from hipad.estimator.training import TrainingData
from hipad.rules import FeatureIndex, RuleRecord
from hipad.rules.compiling.knowledge import Knowledge
from hipad.solver import Hipad

FEW = 20  # a product with all columns is faster than cutting out one in so many
CACHES = ("_data", "_hipad", "_model", "_parts")


class FittedModel(TableClassifier):
    """What a classifier can be asked once `_set_outcome` gave it a model."""

    prevalence: float | None
    class_models_: dict[Any, Any]  # of several classes: label -> model of it against the rest
    lambda1_: Any  # a number; of several classes one for each, as lambda2_, in an array
    lambda2_: Any
    members_: Any  # of several classes a dict by class, as path_
    path_: Any
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
    _scale: CommonScale
    _class_risks: ClassRiskSource

    def decision_function(self, X: Any) -> FloatArray:
        """Signed distance of each row; two units lie between the average training patients.

        Of several classes there is a column each: the decision values of the classes' models on a
        common scale, that of log odds.
        """
        check_is_fitted(self)
        X = self._rows_to_predict(X)
        kept, weights = self.support_, self.coef_.astype(float).T
        if isinstance(X, np.ndarray) and (X.dtype != float or FEW * kept.size < X.shape[1]):
            X, weights = X[:, kept], weights[kept]
        scores = np.asarray(X @ weights + self.intercept_, dtype=float)
        return scores if self._is_several else scores.ravel()

    def predict(self, X: Any) -> np.ndarray:
        """Class of each row: the second one above decision value 0, of several the largest."""
        scores = self.decision_function(X)
        if self._is_several:
            return self.classes_.take(np.argmax(scores, axis=1))
        return self.classes_.take(scores > 0)

    def predict_proba(self, X: Any) -> FloatArray:
        """The risk of each class for each row, learnt from out-of-fold scores (docs/math.md).

        Risks are at the true prevalence of the training rows, or at `prevalence`. The decision is
        not: with balanced classes it asks which class fits better, not which is likelier. Where one
        class is rare, a row may well be put into it at a risk below one half. Both rise together.
        Of several classes the risks are the softmax of their decision values, at the prevalence:
        where the classes count by their rows (`class_weight=None`) or are of one size, the class
        that is predicted has the largest risk.
        """
        scores = self.decision_function(X)
        if self._is_several:
            self._without_prevalence()
            return self._class_risks.risks.of(scores)
        risks = self.risk_curve_.risks(scores, self.prevalence)
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
        if self._is_several:
            raise HipadError(
                f"expected two classes for one curve of risks, got {len(self.classes_)} classes: "
                "ask predict_proba, or one of class_models_"
            )
        return self._risks

    @property
    def rule_report_(self) -> list[RuleRecord]:
        """One record a rule: who fires, margins, worst case, slack, residual, pull, effect.

        Of several classes, each rule is told as in the model of the class that it speaks of.
        """
        check_is_fitted(self)
        if self._report is None and self._is_several:
            self._report = self._reports_of_owners()
        if self._report is None:
            self._report = model_report(self._data, self._model, self._hipad)
        return self._report

    @property
    def knowledge_report_(self) -> list[StatementRecord]:
        """One record a statement about features: their weights, and what a fit without it says."""
        check_is_fitted(self)
        if self._stated is None and self._is_several:
            told = [r for one in self.class_models_.values() for r in one.knowledge_report_]
            self._stated = list({record.text: record for record in told}.values())
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
        if "_data" in state:
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

    def _set_outcome(self, run: FitRun) -> Self:
        """Take the model of a run, and what reports of it are made from."""
        if isinstance(run, ClassRuns):
            self._set_classes(run)
            return self
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
        return self

    def _set_classes(self, run: ClassRuns[Any]) -> None:
        """Take the models of all classes, and put them on a common scale."""
        self._data, self._hipad = run.all_classes, None
        self._knowledge = Knowledge(written=run.written)
        self._report = self._stated = self._sha256 = None
        models = {label: one.finish() for label, one in run.runs.items()}
        scale = common_scale([*models.values()], self._data)
        self._join(models, scale)
        self._class_risks = ClassRiskSource(([*models.values()], self._data, scale))

    def _join(self, models: Mapping[Any, Any], scale: CommonScale) -> None:
        """Be the classifier of several classes that these models of single ones make up."""
        self.class_models_, self._scale = dict(models), scale
        every = list(models.values())
        self.coef_ = scale.slopes[:, None] * np.vstack([one.coef_ for one in every])
        intercepts = np.concatenate([one.intercept_ for one in every])
        self.intercept_ = scale.slopes * intercepts + scale.intercepts
        self.support_ = np.unique(np.concatenate([one.support_ for one in every]))
        found = {label: one.certificate_ for label, one in models.items()}
        worst = worst_certificate(found)
        assert worst is not None  # every fit has one
        self.certificate_ = worst
        chosen = {label: one.selection_certificate_ for label, one in models.items()}
        self.selection_certificate_ = worst_certificate(chosen)
        self.lambda1_ = np.array([one.lambda1_ for one in every])
        self.lambda2_ = np.array([one.lambda2_ for one in every])
        self.members_ = {label: one.members_ for label, one in models.items()}
        self.path_ = {label: one.path_ for label, one in models.items()}
        self.history_ = [record for one in every for record in one.history_]
        self.n_iter_ = count_steps(self.history_)

    @property
    def _is_several(self) -> bool:
        return len(self.classes_) > 2

    def _reports_of_owners(self) -> list[RuleRecord]:
        """Each rule's record in the model of the class that it speaks of, in the rules' order."""
        written = self._knowledge.written
        assert written is not None  # a loaded model has its report
        found: dict[str, list[RuleRecord]] = {}
        for position, one in enumerate(self.class_models_.values()):
            own = {name for name, at in owners(written, self.classes_).items() if at == position}
            for record in one.rule_report_:
                name = record.label if record.label in own else record.label.rpartition(".")[0]
                if name in own:
                    found.setdefault(name, []).append(record)
        return [record for name in written.labels for record in found.get(name, ())]

    def _without_prevalence(self) -> None:
        """A share of the positive class means nothing where there are several."""
        if self.prevalence is not None:
            raise HipadError(
                f"expected no prevalence for {len(self.classes_)} classes, got "
                f"{self.prevalence!r}: leave it None; it is the share of the second of two classes"
            )
