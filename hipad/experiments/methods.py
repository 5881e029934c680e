"""The methods that are compared, and the data that they are fitted to."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from hipad.data.preprocessing import MissingValues
from hipad.datasets import BLOCK_MEANS, make_ksvm_s
from hipad.estimator.calibration import says_positive
from hipad.estimator.classifier import HIPADClassifier
from hipad.evaluation.intervals import Estimate
from hipad.evaluation.metrics import PositiveClassView, ScoredRows, named_outcomes, roc_area
from hipad.exceptions import DataError
from hipad.experiments.runner import Figures
from hipad.rules import (
    ColumnValues,
    CompiledRule,
    FeatureIndex,
    compile_rules,
    parse_rules,
    rules_alone,
)
from hipad.rules.context import NameTable, as_values
from hipad.utils import FloatArray, IntArray

# --------------------------------------------------------------------------------------------------
# The data of an experiment, and how each seed draws its training and test rows from them.
#
# They are a table with labels -1 and +1, or a recipe for synthetic rows. They go to each
# worker once; a task then names how its rows are drawn:
#
#     labelled=8          eight training rows of each class, all others are tested
#     train=500           so many training rows at the classes' shares, all others are tested
#     fold=[2, 5]         fold 2 of 5 is tested, on the others one trains
#     (nothing)           the split that comes with the data, or a fresh draw of synthetic rows
#
# Groups are never split: where rows have groups, `labelled` and `train` count these; a group is of
# the class that most of its rows have.


@dataclass(frozen=True, eq=False)
class TrainTestSplit:
    """Rows to train on and rows to be judged by; labels are -1 and +1."""

    X_train: Any
    y_train: FloatArray
    X_test: Any
    y_test: FloatArray
    feature_names: tuple[str, ...] | None = None
    blocks: dict[str, IntArray] = field(default_factory=dict)
    rules: str = ""
    labels: tuple[Any, Any] = (-1, 1)  # what the rules call the negative and the positive class
    truth: FloatArray | None = None  # sign that each weight ought to have, or 0, where known
    groups: IntArray | None = None  # of the training rows
    gaps: tuple[MissingValues | None, MissingValues | None] = (
        None,
        None,
    )  # filled cells: training, test
    test_rows: IntArray | None = None  # which rows of the table are tested, where there is one

    @property
    def outcomes(self) -> Any:
        """The training labels as the rules call them."""
        return np.where(self.y_train > 0, self.labels[1], self.labels[0])


@dataclass(frozen=True, eq=False)
class ExperimentData:
    """A table: rows, labels -1 and +1, and what an expert knows of them."""

    name: str
    X: Any
    y: FloatArray
    feature_names: tuple[str, ...] | None = None
    blocks: dict[str, IntArray] = field(default_factory=dict)
    rules: str = ""
    split: tuple[IntArray, IntArray] | None = None
    labels: tuple[Any, Any] = (-1, 1)  # what the rules call the negative and the positive class
    groups: IntArray | None = None  # rows with the same number belong together
    apart: bool = False  # the split's test rows are no rows to learn from, however one draws
    gaps: MissingValues | None = None  # cells of X that were filled

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that figures depend on."""
        parts = [self.X] if not sparse.issparse(self.X) else _sparse_parts(self.X)
        digest = hashlib.sha256(
            repr((self.X.shape, self.feature_names, self.rules, self.labels, self.apart)).encode()
        )
        digest.update(repr(sorted(self.blocks)).encode())
        groups = () if self.groups is None else (self.groups,)
        blocks = [self.blocks[name] for name in sorted(self.blocks)]
        gaps = (self.gaps.columns, self.gaps.bits) if self.gaps else ()
        for array in [*parts, self.y, *(self.split or ()), *blocks, *groups, *gaps]:
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def draw(
        self,
        seed: int,
        *,
        labelled: int | None = None,
        train: int | None = None,
        fold: tuple[int, int] | None = None,
    ) -> TrainTestSplit:
        """Return the rows of one seed."""
        rows = self._training_rows(np.random.default_rng(seed), seed, labelled, train, fold)
        rest = np.setdiff1d(np.arange(self.y.size), rows)
        if self.groups is not None:
            rest = rest[~np.isin(self.groups[rest], self.groups[rows])]
        is_given = (labelled, train, fold) == (None, None, None)
        if self.split is not None and (self.apart or is_given):
            rest = np.asarray(self.split[1])
        own = self.feature_names, self.blocks, self.rules, self.labels
        groups = None if self.groups is None else self.groups[rows]
        gaps = (self.gaps.take(rows), self.gaps.take(rest)) if self.gaps else (None, None)
        parts = self.X[rows], self.y[rows], self.X[rest], self.y[rest]
        return TrainTestSplit(*parts, *own, groups=groups, gaps=gaps, test_rows=rest)

    def _training_rows(
        self,
        rng: np.random.Generator,
        seed: int,
        labelled: int | None,
        train: int | None,
        fold: tuple[int, int] | None,
    ) -> IntArray:
        pool = self.pool
        y, of_row = self.units
        if labelled is not None:
            drawn = _of_each_class(y, (labelled, labelled), rng)
            return pool[np.isin(of_row, drawn)]
        if train is not None:
            drawn = _of_each_class(y, at_prevalence(y, train), rng)
            return pool[np.isin(of_row, drawn)]
        if fold is not None:
            return self.folds(seed, fold[1])[fold[0]][0]
        if self.split is None:
            raise DataError(
                f"{self.name} has no split of its own: say how many rows are to be labelled"
            )
        return np.asarray(self.split[0])

    @property
    def pool(self) -> IntArray:
        """The rows that one may learn from."""
        if self.apart and self.split is not None:
            return np.asarray(self.split[0])
        return np.arange(self.y.size)

    @property
    def units(self) -> tuple[FloatArray, IntArray]:
        """The class of each row, or group, that one may learn from; and which each row is of."""
        y = self.y[self.pool]
        if self.groups is None:
            return y, np.arange(y.size)
        of_row = np.unique(self.groups[self.pool], return_inverse=True)[1]
        return np.where(np.bincount(of_row, y) >= 0, 1.0, -1.0), of_row

    def folds(self, seed: int, n: int) -> list[tuple[IntArray, IntArray]]:
        """Return rows to learn from and rows to be judged by, n times; groups are never split."""
        pool = self.pool
        y = self.y[pool]
        own = None if self.groups is None else self.groups[pool]
        units = np.arange(y.size) if own is None else own
        fewest = min(np.unique(units[y == sign]).size for sign in (-1.0, 1.0))
        if n < 2 or fewest < n:
            what = "rows" if own is None else "groups"
            raise DataError(
                f"expected 2 folds or more and as many {what} of each class, got {n} folds and "
                f"{fewest} {what} of the rarer class: choose fewer folds"
            )
        kind = StratifiedKFold if own is None else StratifiedGroupKFold
        parts = kind(n, shuffle=True, random_state=seed).split(y, y, own)
        found = [(pool[learnt], pool[held]) for learnt, held in parts]
        if any(np.unique(self.y[learnt]).size < 2 for learnt, _ in found):
            raise DataError("the groups leave a fold with one class to learn: choose fewer folds")
        return found

    def part(self, rows: IntArray) -> ExperimentData:
        """Return some rows as a table of their own."""
        groups = None if self.groups is None else self.groups[rows]
        gaps = self.gaps.take(rows) if self.gaps else None
        own = {"X": self.X[rows], "y": self.y[rows], "groups": groups, "gaps": gaps}
        return replace(self, **own, split=None, apart=False)


@dataclass(frozen=True, eq=False)
class Synthetic(ExperimentData):
    """ksvm-s: every seed makes rows of its own, in the worker that needs them."""

    name: str
    X: Any = None
    y: FloatArray = field(default_factory=lambda: np.zeros(0))
    preset: str = "10k"
    sizes: tuple[tuple[str, Any], ...] = ()

    @cached_property
    def fingerprint(self) -> str:
        return f"ksvm-s {self.preset} {self.sizes} {self.rules}"

    def draw(self, seed: int, **settings: Any) -> TrainTestSplit:
        """Return a fresh draw; `labelled` is the number of training rows of each class."""
        sizes = dict(self.sizes)
        if (labelled := settings.get("labelled")) is not None:
            sizes["n_train"] = 2 * labelled
        data = make_ksvm_s(self.preset, seed=seed, **sizes)
        truth = np.zeros(data.X_train.shape[1])
        for name, columns in data.blocks.items():
            truth[columns] = np.sign(BLOCK_MEANS[name])
        rows = data.X_train, data.y_train.astype(float), data.X_test, data.y_test.astype(float)
        known = data.blocks, self.rules or data.rules
        return TrainTestSplit(*rows, None, *known, truth=truth)


def rules_for(
    text: str,
    index: FeatureIndex,
    blocks: Mapping[str, IntArray],
    classes: tuple[str, str],
    values: Any = None,
) -> str:
    """Return rules as text that stands on its own: outcomes by their class, odd names in backticks.

    A rule whose line is another one in the new text keeps its number as its name.

    >>> rules_for("IL-6 >= 3 => positive", FeatureIndex(["IL-6"]), {}, ("well", "ill"))
    '`IL-6` >= 3 => ill'
    """
    found = named_outcomes(text, classes, NameTable(index, blocks, as_values(values)))
    new = parse_rules(str(found))
    labelled = zip(found, found.labels, new.labels, strict=True)
    rules = tuple(r if own == after else replace(r, name=own) for r, own, after in labelled)
    return str(replace(found, rules=rules))


def at_prevalence(y: FloatArray, size: int) -> tuple[int, int]:
    """Return how many rows of the negative and positive class keep the classes' shares.

    >>> at_prevalence(np.array([-1.0, -1.0, -1.0, 1.0]), 8)
    (6, 2)
    """
    positives = min(max(round(size * float(np.mean(y > 0))), 1), size - 1)
    return size - positives, positives


def _of_each_class(y: FloatArray, counts: tuple[int, int], rng: np.random.Generator) -> IntArray:
    """Return so many rows of the negative and the positive class, at random."""
    parts = []
    for sign, wanted in zip((-1.0, 1.0), counts, strict=True):
        rows = np.flatnonzero(y == sign)
        if wanted >= rows.size:
            raise DataError(
                f"{wanted} labelled rows of a class leave none to test: it has {rows.size}; "
                "choose fewer"
            )
        parts.append(rng.choice(rows, wanted, replace=False))
    return np.sort(np.concatenate(parts))


def _sparse_parts(X: Any) -> list[Any]:
    rows = X.tocsr()
    return [rows.data, rows.indices, rows.indptr]


# --------------------------------------------------------------------------------------------------
# What a task does: fit one method to one draw of rows and say how it did on the others.
#
# Every contestant chooses its parameters on the training rows alone. Times are processor time: of
# the fit at the chosen parameters (`fit_seconds`), and of the choice as well (a task's `seconds`).


C_GRID: Final = tuple(10.0**k for k in range(-5, 3))
ALPHAS: Final = tuple(10.0**k for k in range(-5, 1))  # of SGD: 1 / (C n) over usual n
L1_RATIOS: Final = (0.15, 0.5, 0.85)  # scikit-learn's usual one, and two that are sparser
FOLDS: Final = 5
HARD: Final = 10.0  # hard knowledge: each rule counts as so many times all patients


class MethodScores:
    """What a contestant gives back: scores of the test rows, and figures of its own."""

    def __init__(self, scores: FloatArray, **figures: float) -> None:
        self.scores, self.figures = scores, figures


def contest(
    data: ExperimentData,
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
    draw = data.draw(seed, **(rows or {}))
    found = METHODS[method].score(draw, draw.rules if rules is None else rules, dict(options or {}))
    return {**judged(found.scores, draw.y_test), **found.figures}


def judged(scores: FloatArray, y: FloatArray) -> Figures:
    """Return how scores do on rows of known class, each answered as `predict` answers it."""
    right = says_positive(scores) == (y > 0)
    halves = [float(np.mean(right[y == sign])) for sign in (-1.0, 1.0) if np.any(y == sign)]
    area = roc_area(y > 0, scores).value
    return {
        "accuracy": float(np.mean(right)),
        "balanced": float(np.mean(halves)),
        "area": None if np.isnan(area) else area,
    }


def _hipad(draw: TrainTestSplit, rules: str, options: dict[str, Any]) -> MethodScores:
    """HIPADClassifier, with rules where there are any."""
    clf = HIPADClassifier(rules or None, blocks=draw.blocks or None, **options)
    return _fitted(clf, draw)


def _fitted(clf: HIPADClassifier, draw: TrainTestSplit) -> MethodScores:
    fitted = _fit(clf, draw)
    figures: dict[str, float] = {"support": fitted.support_.size, "lambda1": fitted.lambda1_}
    figures["fit_seconds"] = _seconds_again(fitted, draw)
    negative, positive = map(str, draw.labels)
    oriented = PositiveClassView(fitted, (negative, positive))
    if draw.truth is not None:  # a feature that speaks for the wrong class is not found but false
        figures["found"] = int((oriented.weights * draw.truth > 0).sum())
        figures["false"] = int(fitted.support_.size - figures["found"])
    return MethodScores(oriented.scores(draw.X_test), **figures)


def _fit(clf: HIPADClassifier, draw: TrainTestSplit) -> HIPADClassifier:
    known: dict[str, Any] = {"feature_names": draw.feature_names, "gaps": draw.gaps[0]}
    run = clf.fit_iter(draw.X_train, draw.outcomes, groups=draw.groups, interactive=False, **known)
    return run.to_end().finish()


def _seconds_again(fitted: HIPADClassifier, draw: TrainTestSplit) -> float:
    """Return processor time of one cold fit at the parameters that were chosen."""
    chosen: dict[str, Any] = {"lambda1": fitted.lambda1_}
    if fitted.members_:
        chosen["rule_trust"] = fitted.members_
    if hasattr(fitted, "lambda2_"):
        chosen["lambda2"] = fitted.lambda2_
    again = HIPADClassifier(**{**fitted.get_params(deep=False), **chosen})
    start = time.process_time()
    _fit(again, draw)
    return time.process_time() - start


def _admm(draw: TrainTestSplit, rules: str, options: dict[str, Any]) -> MethodScores:
    """Return phase 1 alone, to convergence: the elastic-net SVM, with rules where there are any."""
    return _hipad(draw, rules, {"method": "admm", **options})


def _no_rules(draw: TrainTestSplit, rules: str, options: dict[str, Any]) -> MethodScores:
    """Return the same classifier without what the expert knows."""
    return _hipad(draw, "", options)


def _hard(draw: TrainTestSplit, rules: str, options: dict[str, Any]) -> MethodScores:
    """Return rules that nothing can outvote: knowledge taken as certain."""
    return _hipad(draw, rules, {"rule_weight": HARD * draw.y_train.size, **options})


def _libsvm(draw: TrainTestSplit, rules: str, options: dict[str, Any]) -> MethodScores:
    """Return a linear SVM without rules, C by inner folds; features are scaled where HIPAD scales
    them.
    """
    X, scaled = _short_indices(draw.X_train), bool(options.get("standardize", True))
    svc: Any = Pipeline([("scale", _scaler(X, scaled)), ("svc", SVC(kernel="linear"))])
    if folds := inner_folds(draw, options):
        svc.set_params(svc__C=_chosen_C(svc if scaled else None, X, draw.y_train, folds))
    start = time.process_time()
    svc.fit(X, draw.y_train)
    seconds = time.process_time() - start
    scores = svc.decision_function(_short_indices(draw.X_test))
    return MethodScores(scores, support=X.shape[1], fit_seconds=seconds)


def inner_folds(draw: TrainTestSplit, options: Mapping[str, Any] | None = None) -> list[Any]:
    """Return the folds by which every method chooses its parameters: given as `cv`, or five.

    None where a class has too few rows or groups.
    """
    if options and "cv" in options:
        return list(options["cv"])
    own = np.arange(draw.y_train.size) if draw.groups is None else draw.groups
    smallest = min(np.unique(own[draw.y_train == sign]).size for sign in (-1.0, 1.0))
    if smallest < 2:
        return []
    kind = StratifiedKFold if draw.groups is None else StratifiedGroupKFold
    shuffled = kind(min(FOLDS, smallest), shuffle=True, random_state=0)
    return list(shuffled.split(draw.X_train, draw.y_train, draw.groups))


def _scaler(X: Any, scaled: bool) -> Any:
    return StandardScaler(with_mean=not sparse.issparse(X)) if scaled else "passthrough"


def _searched(
    model: Any, grid: dict[str, Any], parts: tuple[Any, Any], draw: TrainTestSplit, options: Any
) -> MethodScores:
    """A linear model of scikit-learn on scaled columns, its parameters by the inner folds."""
    X, X_test = map(_short_indices, parts)
    scaler = _scaler(X, bool(options.get("standardize", True)))
    whole: Any = Pipeline([("scale", scaler), ("model", model)])
    if folds := inner_folds(draw, options):
        named = {f"model__{name}": values for name, values in grid.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of values that are not taken
            search = GridSearchCV(whole, named, cv=folds, refit=False).fit(X, draw.y_train)
        whole.set_params(**search.best_params_)
    start = time.process_time()
    whole.fit(X, draw.y_train)
    seconds = time.process_time() - start
    own = whole.named_steps["model"].coef_[0, : draw.X_train.shape[1]]  # no columns of rules
    support = int(np.count_nonzero(own))
    return MethodScores(whole.decision_function(X_test), support=support, fit_seconds=seconds)


def _l1_logistic(draw: TrainTestSplit, rules: str, options: dict[str, Any]) -> MethodScores:
    """Return logistic regression with an l1 penalty, without rules."""
    model = LogisticRegression(
        C=1.0, l1_ratio=1.0, solver="liblinear", class_weight="balanced", random_state=0
    )
    return _searched(model, {"C": C_GRID}, (draw.X_train, draw.X_test), draw, options)


def _elastic_net_sgd(draw: TrainTestSplit, rules: str, options: dict[str, Any]) -> MethodScores:
    """Return the hinge loss with an elastic net, by stochastic gradient descent, without rules."""
    model = SGDClassifier(penalty="elasticnet", class_weight="balanced", random_state=0)
    grid = {"alpha": ALPHAS, "l1_ratio": L1_RATIOS}
    return _searched(model, grid, (draw.X_train, draw.X_test), draw, options)


def _rules_as_features(draw: TrainTestSplit, rules: str, options: dict[str, Any]) -> MethodScores:
    """Return logistic regression on the columns, and a column for each rule: 1 where it fires."""
    compiled = _compiled(draw, rules)
    parts = []
    for X, gaps in zip((draw.X_train, draw.X_test), draw.gaps, strict=True):
        fired = np.zeros((X.shape[0], len(compiled)))
        for column, rule in zip(fired.T, compiled, strict=True):
            column[:] = rule.fires(X, gaps)
        both = [X, fired]
        parts.append(sparse.hstack(both, format="csr") if sparse.issparse(X) else np.hstack(both))
    model = LogisticRegression(C=1.0, class_weight="balanced", max_iter=1000)
    return _searched(model, {"C": C_GRID}, (parts[0], parts[1]), draw, options)


def _exact(draw: TrainTestSplit, rules: str, options: dict[str, Any]) -> MethodScores:
    """Return the elastic-net SVM to its certified optimum, without rules."""
    return _hipad(draw, "", {"method": "exact", **options})


def _admm_without(draw: TrainTestSplit, rules: str, options: dict[str, Any]) -> MethodScores:
    """Return the elastic-net SVM by the ADMM, without rules."""
    return _admm(draw, "", options)


def _chosen_C(scaling: Any, X: Any, y: FloatArray, folds: list[Any]) -> float:
    """Return the best C; where folds do not scale by themselves, their products of rows are
    shared.
    """
    if scaling is not None:
        search = GridSearchCV(scaling, {"svc__C": C_GRID}, cv=folds, refit=False)
        return float(search.fit(X, y).best_params_["svc__C"])
    products = X @ X.T
    products = products.toarray() if sparse.issparse(products) else products
    search = GridSearchCV(SVC(kernel="precomputed"), {"C": C_GRID}, cv=folds, refit=False)
    return float(search.fit(products, y).best_params_["C"])


def _short_indices(X: Any) -> Any:
    """Return the same matrix; a sparse one with indices of 32 bits, since LIBSVM takes no
    others.
    """
    if not sparse.issparse(X):
        return X
    rows = sparse.csr_array(X)
    parts = rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return sparse.csr_array(parts, shape=rows.shape)


def _rules_alone(draw: TrainTestSplit, rules: str, options: dict[str, Any]) -> MethodScores:
    """Let every rule vote for its outcome where it fires; nothing is learnt."""
    compiled = _compiled(draw, rules)
    return MethodScores(rules_alone(compiled, draw.X_test, gaps=draw.gaps[1]), support=0)


def _compiled(draw: TrainTestSplit, rules: str) -> tuple[CompiledRule, ...]:
    return compile_rules(
        rules,
        feature_names=draw.feature_names,
        n_features=draw.X_test.shape[1],
        blocks=draw.blocks or None,
        classes=draw.labels,
        values=ColumnValues(draw.X_train, draw.gaps[0]),
        asks=False,
    )


class Method(NamedTuple):
    """How a method learns and scores one split, and the studies that compare it."""

    score: Callable[[TrainTestSplit, str, dict[str, Any]], MethodScores]
    studies: tuple[str, ...] = ()  # the modules of these names


METHODS: Final = {
    "HIPAD": Method(_hipad, ("reproduction", "learning_curve", "perturbed_rules")),
    "ADMM": Method(_admm, ("reproduction",)),
    "no rules": Method(_no_rules, ("learning_curve", "perturbed_rules")),
    "hard rules": Method(_hard, ("perturbed_rules",)),
    "rules alone": Method(_rules_alone, ("learning_curve",)),
    "LIBSVM": Method(_libsvm, ("reproduction", "learning_curve")),
    "ADMM without rules": Method(_admm_without),
    "exact elastic net": Method(_exact),
    "l1 logistic regression": Method(_l1_logistic),
    "elastic-net SGD": Method(_elastic_net_sgd),
    "rules as features": Method(_rules_as_features),
}


def methods_of(study: str) -> tuple[str, ...]:
    """Return the names of the methods that a study compares."""
    return tuple(name for name, method in METHODS.items() if study in method.studies)


# --------------------------------------------------------------------------------------------------
# All methods on one table, by the same folds: figures, features and seconds.
#
#     for found in compare_methods(data):
#         ...                           # one `MethodResult` after each method
#
# Every method is judged by the same outer folds and chooses its parameters by the same inner folds
# of what is left to learn from; groups are never split. Data with a split of their own are judged
# by its test rows instead. Without a rule in the data, methods that need rules are left out.


# What is compared: the name that people read, and the method.
COMPARED: Final[dict[str, str]] = {
    "HIPAD-ENK": "HIPAD",
    "HIPAD": "no rules",
    "ADMM-ENK": "ADMM",
    "ADMM-ENSVM": "ADMM without rules",
    "exact elastic net": "exact elastic net",
    "LIBSVM": "LIBSVM",
    "l1 logistic regression": "l1 logistic regression",
    "elastic-net SGD": "elastic-net SGD",
    "rules alone": "rules alone",
    "rules as features": "rules as features",
}
NEEDS_RULES: Final = ("HIPAD-ENK", "ADMM-ENK", "rules alone", "rules as features")
FIGURES: Final = ("accuracy", "balanced_accuracy", "roc_auc")


@dataclass(frozen=True, eq=False)
class MethodResult:
    """One method: figures with intervals, mean number of features, processor seconds, scores.

    `scores` are those of rows that were not learnt from, else NaN; `rows` are the rows that are
    judged, so that two methods can be compared row by row.
    """

    name: str
    figures: dict[str, Estimate]
    support: float
    seconds: float
    scores: FloatArray
    rows: ScoredRows


def compare_methods(
    data: ExperimentData,
    names: Sequence[str] | None = None,
    *,
    n_folds: int = FOLDS,
    random_state: int = 0,
    options: Mapping[str, Any] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Iterator[MethodResult]:
    """Fit every method to all folds but one, again and again, and yield what it does.

    Parameters
    ----------
    data : ExperimentData
        The table; its labels, rules and groups.
    names : sequence of str, default=None
        Methods of `COMPARED`; None for all that the data allow.
    n_folds, random_state
        Of the outer folds; without a meaning where the data have a split.
    options : mapping, default=None
        Parameters of `HIPADClassifier`; of the others only whether columns are scaled.
    on_progress : callable, default=None
        Called with the number of fits done and of all.
    should_stop : callable, default=None
        Asked before each fit; True ends the work, and a method that is not done is not told.
    """
    usable = [name for name in COMPARED if data.rules.strip() or name not in NEEDS_RULES]
    asked = usable if names is None else list(names)
    for name in asked:
        if name not in usable:
            why = "rules for it" if name in NEEDS_RULES else f"a method of {', '.join(usable)}"
            raise DataError(f"expected {why}, got {name!r}: choose others")
    if data.split is None:
        draws = [data.draw(random_state, fold=(k, n_folds)) for k in range(n_folds)]
        held = [rows[1] for rows in data.folds(random_state, n_folds)]
    else:
        draws, held = [data.draw(random_state)], [np.asarray(data.split[1])]
    inner = [inner_folds(draw) for draw in draws]
    done, total = 0, len(asked) * len(draws)
    for name in asked:
        scores, sizes = np.full(data.y.size, np.nan), []
        start = time.thread_time()
        for draw, judged_rows, parts in zip(draws, held, inner, strict=True):
            if should_stop is not None and should_stop():
                return
            own: dict[str, Any] = {**(options or {}), **({"cv": parts} if parts else {})}
            found = METHODS[COMPARED[name]].score(draw, draw.rules, own)
            scores[judged_rows] = found.scores
            sizes.append(float(found.figures.get("support", 0.0)))
            done += 1
            if on_progress is not None:
                on_progress(done, total)
        known = np.flatnonzero(np.isfinite(scores))
        groups = None if data.groups is None else data.groups[known]
        rows = ScoredRows(data.y[known] > 0, scores[known], groups=groups)
        judged = replace(rows, folds=len(draws))
        yield MethodResult(
            name=name,
            figures={figure: judged.measure(figure) for figure in FIGURES},
            support=float(np.mean(sizes)),
            seconds=time.thread_time() - start,
            scores=scores,
            rows=judged,
        )
