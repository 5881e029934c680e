"""Usual classifiers, tuned on the training rows by inner folds for balanced accuracy.

All of them weigh the classes alike, and all may choose whether the columns are scaled to deviation
1. With ties the first candidate goes, which is the most regularised one.

    SVC                 LIBSVM's linear support vector machine
    logistic, l1        sparse logistic regression
    LinearSVC, l1       sparse support vector machine with squared hinge loss
    SGD, elastic net    the elastic-net support vector machine by stochastic gradient descent
    filter + SVC        the columns whose class means differ most, then SVC
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from benchmarks.rivals.base import LinearModel, linear_model

FOLDS = 5
BALANCED = {"class_weight": "balanced"}
Fit = Callable[[Any, np.ndarray], LinearModel]


def svc(C: float) -> Fit:
    """LIBSVM on the Gram matrix, which has fewer entries than X."""

    def fit(X: Any, y: np.ndarray) -> LinearModel:
        gram = X @ X.T
        gram = gram.toarray() if issparse(gram) else gram
        model = SVC(kernel="precomputed", C=C, max_iter=100_000, **BALANCED).fit(gram, y)
        w = X[model.support_].T @ model.dual_coef_.ravel()
        return LinearModel(np.asarray(w).ravel(), float(model.intercept_[0]), model.classes_)

    return fit


def filtered(count: int, C: float) -> Fit:
    """SVC on so many columns."""

    def fit(X: Any, y: np.ndarray) -> LinearModel:
        strength = np.nan_to_num(f_classif(X, y)[0], nan=0.0, posinf=0.0)
        kept = np.argsort(-strength, kind="stable")[:count]
        inner = svc(C)(X[:, kept], y)
        w = np.zeros(X.shape[1])
        w[kept] = inner.w
        return LinearModel(w, inner.b, inner.classes)

    return fit


def of(make: Callable[..., Any], **settings: Any) -> Fit:
    """A linear classifier of scikit-learn."""

    def fit(X: Any, y: np.ndarray) -> LinearModel:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return linear_model(make(**settings, **BALANCED).fit(X, y))

    return fit


def scaled(fit: Fit) -> Fit:
    """The same on columns of deviation 1, centred where X is dense."""

    def on_scaled(X: Any, y: np.ndarray) -> LinearModel:
        scaler = StandardScaler(with_mean=not issparse(X)).fit(X)
        model = fit(scaler.transform(X), y)
        w = model.w / scaler.scale_
        b = model.b if issparse(X) else model.b - float(scaler.mean_ @ w)
        return LinearModel(w, b, model.classes)

    return on_scaled


@dataclass(frozen=True)
class Tuned:
    """The best of some candidates by inner folds, fitted to all rows."""

    name: str
    candidates: tuple[Fit, ...] = field(repr=False)

    def fit(self, X: Any, y: np.ndarray) -> LinearModel:
        everyone = [way(fit) for way in (lambda fit: fit, scaled) for fit in self.candidates]
        found = [np.mean(list(self._scores(fit, X, y))) for fit in everyone]
        return everyone[int(np.argmax(found))](X, y)

    def _scores(self, fit: Fit, X: Any, y: np.ndarray) -> Iterator[float]:
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
        for train, test in folds.split(np.zeros(len(y)), y):
            model = fit(X[train], y[train])
            yield float(balanced_accuracy_score(y[test], model.predict(X[test])))


POWERS = tuple(10.0**k for k in range(-5, 3))
L1_STRENGTHS = tuple(10.0**k for k in (-2, -1.5, -1, -0.5, 0, 0.5, 1, 2))
TUNED = (
    Tuned("SVC", tuple(svc(C) for C in POWERS)),
    Tuned(
        "logistic, l1",
        tuple(
            of(LogisticRegression, l1_ratio=1, solver="liblinear", C=C, max_iter=200)
            for C in L1_STRENGTHS
        ),
    ),
    Tuned(
        "LinearSVC, l1",
        tuple(of(LinearSVC, penalty="l1", dual=False, C=C, max_iter=300) for C in L1_STRENGTHS),
    ),
    Tuned(
        "SGD, elastic net",
        tuple(
            of(
                SGDClassifier, loss="hinge", penalty="elasticnet", alpha=alpha, l1_ratio=ratio,
                random_state=0, max_iter=300,
            )
            for ratio in (0.5, 0.15)
            for alpha in (1.0, 0.1, 0.01, 0.001, 0.0001)
        ),
    ),
    Tuned(
        "filter + SVC",
        tuple(filtered(count, C) for count in (20, 100, 500) for C in (0.001, 0.1, 1.0)),
    ),
)  # fmt: skip
