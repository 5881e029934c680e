"""What a task does: fit one method to one draw of rows and say how it did on the others.

Every contestant chooses its parameters on the training rows alone. Times are processor time: of
the fit at the chosen parameters (`fit_seconds`), and of the choice as well (a task's `seconds`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from scipy import sparse
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from hipad.arrays import FloatArray
from hipad.errors import DataError
from hipad.estimator.classifier import HIPADClassifier
from hipad.evaluation.metrics import roc_area
from hipad.evaluation.orientation import Oriented
from hipad.experiments.material import Draw, Material
from hipad.experiments.task import Figures
from hipad.rules import ColumnValues, compile_rules, rules_alone

C_GRID: Final = tuple(10.0**k for k in range(-5, 3))
FOLDS: Final = 5
HARD: Final = 10.0  # hard knowledge: each rule counts as so many times all patients


class Scored:
    """What a contestant gives back: scores of the test rows, and figures of its own."""

    def __init__(self, scores: FloatArray, **figures: float) -> None:
        self.scores, self.figures = scores, figures


def contest(
    material: Material,
    seed: int,
    *,
    method: str,
    rows: dict[str, Any] | None = None,
    rules: str | None = None,
    options: dict[str, Any] | None = None,
) -> Figures:
    """Fit a method to the rows of a seed; `rules` replace those of the data."""
    if method not in METHODS:
        raise DataError(f"expected a method of {', '.join(METHODS)}, got {method!r}")
    draw = material.draw(seed, **(rows or {}))
    found = METHODS[method](draw, draw.rules if rules is None else rules, dict(options or {}))
    return {**judged(found.scores, draw.y_test), **found.figures}


def judged(scores: FloatArray, y: FloatArray) -> Figures:
    """How scores do on rows of known class; a score of 0 is a tie and counts one half."""
    right = np.where(scores == 0, 0.5, (scores > 0) == (y > 0))
    halves = [float(np.mean(right[y == sign])) for sign in (-1.0, 1.0) if np.any(y == sign)]
    area = roc_area(y > 0, scores).value
    return {
        "accuracy": float(np.mean(right)),
        "balanced": float(np.mean(halves)),
        "area": None if np.isnan(area) else area,
    }


def _hipad(draw: Draw, rules: str, options: dict[str, Any]) -> Scored:
    """HIPADClassifier, with rules where there are any."""
    clf = HIPADClassifier(rules or None, blocks=draw.blocks or None, **options)
    return _fitted(clf, draw)


def _fitted(clf: HIPADClassifier, draw: Draw) -> Scored:
    fitted = _fit(clf, draw)
    figures: dict[str, float] = {"support": fitted.support_.size, "lambda1": fitted.lambda1_}
    figures["fit_seconds"] = _seconds_again(fitted, draw)
    negative, positive = map(str, draw.labels)
    oriented = Oriented(fitted, (negative, positive))
    if draw.truth is not None:  # a feature that speaks for the wrong class is not found but false
        figures["found"] = int((oriented.weights * draw.truth > 0).sum())
        figures["false"] = int(fitted.support_.size - figures["found"])
    return Scored(oriented.scores(draw.X_test), **figures)


def _fit(clf: HIPADClassifier, draw: Draw) -> HIPADClassifier:
    known: dict[str, Any] = {"feature_names": draw.feature_names, "gaps": draw.gaps[0]}
    run = clf.start(draw.X_train, draw.outcomes, groups=draw.groups, quick=True, **known)
    return run.to_end().finish()


def _seconds_again(fitted: HIPADClassifier, draw: Draw) -> float:
    """Processor time of one cold fit at the parameters that were chosen."""
    chosen: dict[str, Any] = {"lambda1": fitted.lambda1_}
    if fitted.members_:
        chosen["rule_trust"] = fitted.members_
    if hasattr(fitted, "lambda2_"):
        chosen["lambda2"] = fitted.lambda2_
    again = HIPADClassifier(**{**fitted.get_params(deep=False), **chosen})
    start = time.process_time()
    _fit(again, draw)
    return time.process_time() - start


def _admm(draw: Draw, rules: str, options: dict[str, Any]) -> Scored:
    """Phase 1 alone, to convergence: the elastic-net SVM, with rules where there are any."""
    return _hipad(draw, rules, {"method": "admm", **options})


def _no_rules(draw: Draw, rules: str, options: dict[str, Any]) -> Scored:
    """The same classifier without what the expert knows."""
    return _hipad(draw, "", options)


def _hard(draw: Draw, rules: str, options: dict[str, Any]) -> Scored:
    """Rules that nothing can outvote: knowledge taken as certain."""
    return _hipad(draw, rules, {"patients": HARD * draw.y_train.size, **options})


def _libsvm(draw: Draw, rules: str, options: dict[str, Any]) -> Scored:
    """A linear SVM without rules, C by inner folds; features are scaled where HIPAD scales them."""
    X, scaled = _short_indices(draw.X_train), bool(options.get("standardize", True))
    scaler: Any = StandardScaler(with_mean=not sparse.issparse(X)) if scaled else "passthrough"
    svc: Any = Pipeline([("scale", scaler), ("svc", SVC(kernel="linear"))])
    own = np.arange(draw.y_train.size) if draw.groups is None else draw.groups
    smallest = min(np.unique(own[draw.y_train == sign]).size for sign in (-1.0, 1.0))
    if smallest >= 2:
        kind = StratifiedKFold if draw.groups is None else StratifiedGroupKFold
        shuffled = kind(min(FOLDS, smallest), shuffle=True, random_state=0)
        folds = list(shuffled.split(X, draw.y_train, draw.groups))
        svc.set_params(svc__C=_chosen_C(svc if scaled else None, X, draw.y_train, folds))
    start = time.process_time()
    svc.fit(X, draw.y_train)
    seconds = time.process_time() - start
    scores = svc.decision_function(_short_indices(draw.X_test))
    return Scored(scores, support=X.shape[1], fit_seconds=seconds)


def _chosen_C(scaling: Any, X: Any, y: FloatArray, folds: list[Any]) -> float:
    """The best C; where folds do not scale by themselves, their products of rows are shared."""
    if scaling is not None:
        search = GridSearchCV(scaling, {"svc__C": C_GRID}, cv=folds, refit=False)
        return float(search.fit(X, y).best_params_["svc__C"])
    products = X @ X.T
    products = products.toarray() if sparse.issparse(products) else products
    search = GridSearchCV(SVC(kernel="precomputed"), {"C": C_GRID}, cv=folds, refit=False)
    return float(search.fit(products, y).best_params_["C"])


def _short_indices(X: Any) -> Any:
    """The same matrix; a sparse one with indices of 32 bits, since LIBSVM takes no others."""
    if not sparse.issparse(X):
        return X
    rows = sparse.csr_array(X)
    parts = rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return sparse.csr_array(parts, shape=rows.shape)


def _rules_alone(draw: Draw, rules: str, options: dict[str, Any]) -> Scored:
    """Every rule votes for its outcome where it fires; nothing is learnt."""
    compiled = compile_rules(
        rules,
        feature_names=draw.feature_names,
        n_features=draw.X_test.shape[1],
        blocks=draw.blocks or None,
        classes=draw.labels,
        values=ColumnValues(draw.X_train, draw.gaps[0]),
        asks=False,
    )
    return Scored(rules_alone(compiled, draw.X_test, gaps=draw.gaps[1]), support=0)


METHODS: Final[dict[str, Callable[[Draw, str, dict[str, Any]], Scored]]] = {
    "HIPAD": _hipad,
    "ADMM": _admm,
    "LIBSVM": _libsvm,
    "no rules": _no_rules,
    "hard rules": _hard,
    "rules alone": _rules_alone,
}
