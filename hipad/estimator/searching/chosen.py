"""A search that has chosen: which settings are best, and the answers of their model."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from hipad.designs.base import FloatArray
from hipad.estimator.bases.table_classifier import TableClassifier
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.searching.results import best_of
from hipad.solver.threads import single_thread


class ChosenModel(TableClassifier):
    """Answers with `best_estimator_`, once `_choose` has made it from the results of a search."""

    refit: Any
    cv_results_: dict[str, Any]
    scorer_: Any

    def decision_function(self, X: Any) -> FloatArray:
        """Decision values of the best model."""
        return self._best.decision_function(X)

    def predict(self, X: Any) -> np.ndarray:
        """Class of each row by the best model."""
        return self._best.predict(X)

    def predict_proba(self, X: Any) -> FloatArray:
        """Risks of both classes by the best model."""
        return self._best.predict_proba(X)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithm of `predict_proba`."""
        return self._best.predict_log_proba(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score by which the settings were chosen, of the best model."""
        further = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self.scorer_(self._best, X, y, **further))

    @property
    def n_iter_(self) -> int:
        """Steps of the best model."""
        return self._best.n_iter_

    @property
    def _best(self) -> HIPADClassifier:
        check_is_fitted(self, "cv_results_")
        if not hasattr(self, "best_estimator_"):
            raise NotFittedError("expected a model of the best settings, got none: use refit=True")
        best: HIPADClassifier = self.best_estimator_
        return best

    def _choose(
        self,
        template: HIPADClassifier,
        X: Any,
        y: Any,
        sample_weight: Any,
        names: Any,
        groups: Any = None,
    ) -> None:
        """Find the best settings and, unless `refit` is off, fit them to all rows."""
        if hasattr(self, "best_estimator_"):
            delattr(self, "best_estimator_")
        self.best_index_ = best_of(self.cv_results_, self.refit)
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        if self.refit is not False:
            best = clone(template).set_params(**self.best_params_)
            own = {"sample_weight": sample_weight, "groups": groups}
            if names is getattr(self, "feature_names_in_", None):
                self.best_estimator_ = best.fit(X, y, **own)
                return
            run = best.start(X, y, **own, feature_names=names, quick=True)
            with single_thread():
                self.best_estimator_ = run.to_end().finish()
