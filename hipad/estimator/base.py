"""What every classifier here shares: labels, several classes, predictions, risks and reports."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Number, Real
from os import PathLike
from typing import Any, Final, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from hipad.dask_design import open_columns
from hipad.data.column_store import ColumnSource, is_by_columns
from hipad.estimator.calibration import (
    CalibrationMap,
    ClassProbabilities,
    MulticlassCalibration,
    check_prevalence,
    class_shares,
    says_positive,
)
from hipad.estimator.fit import (
    Classifier,
    FitRun,
    LazyCalibration,
    Model,
    count_steps,
    decision_values,
    fresh_values,
    held_out_values,
)
from hipad.estimator.parameters import LayeredParameters
from hipad.estimator.path import SelectionPath
from hipad.estimator.problem_factory import TrainingData
from hipad.estimator.rule_report import FeaturePriorRecord, model_report, statement_report
from hipad.estimator.screening import ScreenedRun, columns_of_model
from hipad.exceptions import DataError, HipadError
from hipad.rules import FeatureIndex, FeaturePrior, Rule, RuleRecord, RuleReport, RuleSet
from hipad.rules.compiled_rule import NamedClass, named_class
from hipad.rules.compiler import ExpertKnowledge
from hipad.solvers import Certificate, Hipad, Progress, Status
from hipad.solvers.solution import StepwiseSolver
from hipad.streamed_design import filled
from hipad.utils import FloatArray, IntArray, count, html_table, listed, number, some

# --------------------------------------------------------------------------------------------------
# Three classes and more: a model for each class against all others, over the same rows.
#
# 1. the rows are scaled once, and their Gram matrix is computed once; only labels and shares differ
# 2. a rule knows its class. The model of that class has the rule as it is; every other model is
#    given that whom it covers is not of its class. A rule that says `not c` has no meaning for
#    models other than that of c. A statement that a feature is raised or lowered in a class belongs
#    to that class's model: what it means for the others is open, as they may be raised as well.
#    What is certain or does not matter is so for all
# 3. each model is that of a fit to the two classes `c` and `not c`, with its own trust in the rules
# 4. their decision values are put on a common scale (calibration.py); the class whose value
#    is largest is predicted


WORSE: Final = (Status.SOLVED, Status.INACCURATE, Status.LIMIT, Status.STOPPED)


class ClassRuns(FitRun[Classifier]):
    """What `HIPADClassifier.fit_iter` returns for several classes: one run after another.

    `label` is the class whose run is under way, `runs` has all of them. What else a run can be
    asked, its data, path or members, is answered by the run under way.
    """

    def __init__(
        self,
        runs: Mapping[Any, FitRun[Any]],
        data: TrainingData,
        written: RuleSet,
        take: Callable[[FitRun[Classifier]], Classifier],
    ) -> None:
        self.runs, self.all_classes, self.written = dict(runs), data, written
        self.label = next(iter(runs))
        self._outcome = take
        StepwiseSolver.__init__(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "label" not in vars(self):
            raise AttributeError(name)
        return getattr(self.runs[self.label], name)

    @property
    def finished(self) -> bool:
        """Whether the runs of all classes went to their end."""
        return all(run.finished for run in self.runs.values())

    def _generate(self) -> Iterator[Progress]:
        for label, run in self.runs.items():
            self.label = label
            yield from run


def class_labels(label: object) -> np.ndarray:
    """Return the two classes of a model: all others, and the class.

    >>> class_labels("setosa").tolist()
    ['not setosa', 'setosa']
    """
    return np.array([f"not {label}", str(label)])


def rules_of_class(rules: RuleSet, classes: np.ndarray, position: int) -> RuleSet:
    """Return what rules and statements tell the model of one class; rules that tell it nothing are
    off.

    >>> from hipad.rules import parse_rules
    >>> rules = parse_rules("x0 >= 1 => a\\nx1 >= 2 => not b\\nx3 is raised in b")
    >>> print(rules_of_class(rules, np.array(["a", "b", "c"]), 2))
    x0 >= 1 => "not c"
    off x1 >= 2 => "not b"
    """
    labels, pair = classes.tolist(), class_labels(classes.tolist()[position])
    found: list[Rule] = []
    for rule in rules.rules:
        named = _named(rule, labels)
        if named is None or (named.negated and named.position != position):
            found.append(replace(rule, enabled=False))
            continue
        own = named.position == position and not named.negated
        found.append(replace(rule, outcome=str(pair[int(own)])))
    stated: list[FeaturePrior] = []
    for one in rules.statements:
        named = _named(one, labels)
        if one.kind not in ("raised", "lowered"):
            stated.append(one)
        elif named is not None and named.position == position:
            stated.append(replace(one, outcome=str(pair[int(not named.negated)])))
    return replace(rules, rules=tuple(found), statements=tuple(stated))


def _named(one: Rule | FeaturePrior, labels: Sequence[object]) -> NamedClass | None:
    """Return class that a rule or statement names; None for one that is off, or that is of none."""
    if not one.enabled or (isinstance(one, FeaturePrior) and one.kind not in ("raised", "lowered")):
        return None
    return named_class(one.outcome, labels, place=one.place)


def owners(rules: RuleSet, classes: np.ndarray) -> dict[str, int]:
    """The position of the class that each rule which is on speaks of, by the rule's label."""
    pairs = zip(rules.labels, rules, strict=True)
    found = {label: _named(rule, classes.tolist()) for label, rule in pairs}
    return {label: named.position for label, named in found.items() if named is not None}


def data_of_class(data: TrainingData, position: int) -> TrainingData:
    """Return the rows of all classes as one class against the rest; the design is shared.

    A row counts in every model as it does in the whole. Were the class to count as much as all
    others, a class far away would count half against its neighbour, whom alone it can be taken for.
    """
    return replace(data, y=np.where(data.y == position, 1.0, -1.0))


def common_scale(models: list[Any], data: TrainingData) -> MulticlassCalibration:
    """Return the scale on which the models of all classes decide.

    It is learnt from out-of-fold values where the fits have them, else from those of the training
    rows: a fit with given values holds nobody out.
    """
    own = np.column_stack([decision_values(one._data, one._model) for one in models])
    values, rows = own, np.ones(data.y.size, dtype=bool)
    if all(one._model.held_out is not None for one in models):
        held_out = np.column_stack([held_out_values(one._data, one._model) for one in models])
        known = _known_rows(held_out, data)
        if known.any():
            values, rows = held_out, known
    return MulticlassCalibration.fit(values[rows], *_of_rows(data, rows))


class LazyClassCalibration:
    """Makes the risks of several classes when they are first asked for, and keeps them.

    By out-of-fold values, for which folds are fitted where there were none.
    """

    def __init__(
        self,
        origin: tuple[list[Any], TrainingData, MulticlassCalibration] | None = None,
        risks: ClassProbabilities | None = None,
    ) -> None:
        self._origin, self._risks = origin, risks

    @property
    def risks(self) -> ClassProbabilities:
        """Probabilities at decision values."""
        if self._risks is None:
            assert self._origin is not None  # a loaded model has its risks
            self._risks, self._origin = _learnt_risks(*self._origin), None
        return self._risks

    def __getstate__(self) -> dict[str, Any]:
        """With the risks, and without the training rows."""
        return {"_origin": None, "_risks": self.risks}


def _learnt_risks(
    models: list[Any], data: TrainingData, scale: MulticlassCalibration
) -> ClassProbabilities:
    found = [fresh_values(one._data, one._model) for one in models]
    repeats = min(map(len, found))
    values = np.vstack([np.column_stack([one[k] for one in found]) for k in range(repeats)])
    codes = np.tile(data.y.astype(np.intp), repeats)
    rows = np.isfinite(values).all(axis=1)
    if np.unique(codes[rows]).size < len(models):
        return ClassProbabilities.constant(class_shares(data.y.astype(np.intp), data.weights))
    p, counts = (np.tile(one, repeats)[rows] / repeats for one in (data.p, data.weights))
    settings = models[0]._model.plan.selection
    return ClassProbabilities.fit(scale.of(values[rows]), codes[rows], p, counts, settings)


def _known_rows(values: FloatArray, data: TrainingData) -> np.ndarray:
    """Return rows whose values are known for all classes; none, where a class has no such row."""
    known = np.isfinite(values).all(axis=1)
    return known & (np.unique(data.y[known]).size == values.shape[1])


def _of_rows(data: TrainingData, rows: np.ndarray) -> tuple[Any, FloatArray, FloatArray]:
    return data.y[rows].astype(np.intp), data.p[rows], data.weights[rows]


def worst_certificate(found: Mapping[Any, Certificate | None]) -> Certificate | None:
    """Return the certificate of the class that is farthest from its optimum; its message names the
    class.

    None where a class has none.
    """
    if any(one is None for one in found.values()):
        return None
    label, worst = max(
        ((label, one) for label, one in found.items() if one is not None),
        key=lambda pair: (WORSE.index(pair[1].status), pair[1].gap),
    )
    if not worst.message:
        return worst
    return replace(worst, message=f"class {label}: {worst.message}")


# --------------------------------------------------------------------------------------------------
# Labels of any type as classes: codes for the fit, the user's own labels for the user.


FRACTIONS = ("Float32", "Float64")  # types of data frames that keep gaps beside fractions


class CodedLabels(NamedTuple):
    """The classes in order, and for each row the position of its class."""

    classes: np.ndarray
    codes: IntArray


def coded_labels(y: np.ndarray, weights: FloatArray) -> CodedLabels:
    """Return the classes of the rows whose weight is above zero; there must be two or more.

    >>> coded_labels(np.array(["well", "ill", "well"]), np.ones(3))
    CodedLabels(classes=array(['ill', 'well'], dtype='<U4'), codes=array([1, 0, 1]))
    """
    check_classification_targets(y)
    classes = np.unique(y[weights > 0])
    if len(classes) < 2:
        raise DataError(
            f"expected two classes in y or more, got {_shown_classes(classes)}: add rows of "
            "another class"
        )
    codes = np.searchsorted(classes, y)
    return CodedLabels(classes, codes.astype(np.intp))


def _shown_classes(classes: np.ndarray) -> str:
    """No class, or one, in words."""
    return f"one class ({classes.tolist()[0]!r})" if len(classes) else "none of weight above 0"


def unlabelled_rows(y: Any) -> np.ndarray | None:
    """Return where a label is missing: NaN, None, or scikit-learn's -1 beside two classes.

    A -1 beside one other class, or beside three and more, is a class of its own; of the latter a
    warning tells. None where every row has a label.

    >>> unlabelled_rows(np.array([0, 1, -1])).tolist()
    [False, False, True]
    >>> unlabelled_rows(["ill", None, "well"]).tolist()
    [False, True, False]
    >>> unlabelled_rows(np.array([-1, 1]))
    """
    if not hasattr(y, "__len__") or getattr(y, "ndim", 1) != 1:
        return None
    values = _as_they_came(y)
    if values.dtype.kind in "bUS" or values.ndim != 1:
        return None
    if values.dtype.kind in "iuf":
        missing, numbers = np.isnan(values), True
    else:
        missing = np.array([is_missing(one) for one in values.tolist()], dtype=bool)
        numbers = all(isinstance(one, Number) for one in values[~missing].tolist())
    if numbers:
        classes = set(values[~missing].tolist())
        if -1 in classes and len(classes) == 3:
            missing[~missing] = values[~missing] == -1
        elif -1 in classes and len(classes) > 3:
            others = some(sorted(str(one) for one in classes - {-1}))
            warnings.warn(
                f"-1 beside the classes {others} is taken as a class of its own: write NaN or None "
                "for rows without a label",
                UserWarning,
                stacklevel=5,
            )
    return missing if missing.any() else None


def _as_they_came(y: Any) -> np.ndarray:
    """Return labels as an array; those of lists and of data frames' own types keep their kind."""
    if isinstance(getattr(y, "dtype", None), np.dtype):
        return np.asarray(y)
    return np.asarray(y, dtype=object)


def is_missing(label: Any) -> bool:
    """Return whether a label stands for none: None, NaN, or what data frames have in its place."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, Number) and bool(label != label)


def known_labels(y: Any, known: np.ndarray) -> np.ndarray:
    """Return the labels that are there, in an array of their common type.

    Whole numbers that became fractions beside a NaN are whole numbers again.

    >>> known_labels(np.array([1.0, np.nan, 0.0]), np.array([True, False, True])).tolist()
    [1, 0]
    """
    if not known.any():
        raise DataError("expected labels in y, got none: give at least one row of each class")
    values = _as_they_came(y)[known].tolist()
    whole = all(isinstance(one, float) and one.is_integer() for one in values)
    if whole and str(getattr(y, "dtype", "")) not in FRACTIONS:
        values = [int(one) for one in values]
    return np.asarray(plain_labels(np.array(values, dtype=object)))


def plain_labels(y: Any) -> Any:
    """Return labels kept as Python objects in an array of their common type; others as they are.

    Data frames' own types of labels (nullable numbers, categories, texts) are such objects too.

    >>> plain_labels(np.array([True, False], dtype=object)).dtype
    dtype('bool')
    """
    kind = getattr(y, "dtype", None)
    if kind is None or getattr(y, "ndim", 1) != 1:
        return y
    if isinstance(kind, np.dtype) and kind.kind != "O":
        return y
    values = _as_they_came(y).tolist()
    kinds = {type(value) for value in values}
    for same in ({str}, {bool}, {int}, {int, float}):
        if kinds and kinds <= same:
            return np.array(values)
    if kinds and str not in kinds:
        return np.asarray(y)
    names = " and ".join(sorted(kind.__name__ for kind in kinds))
    raise DataError(f"expected labels of one type in y, got {names}: write them all as text")


def by_class(
    class_weight: str | dict[Any, float] | None, classes: np.ndarray
) -> str | dict[float, float] | None:
    """Return weights of the classes by their positions; a class that is not named has weight one.

    A label may be written as text: "1" names the class 1.
    """
    if not isinstance(class_weight, dict):
        return class_weight
    labels = classes.tolist()
    weights = dict.fromkeys(range(len(labels)), 1.0)
    for named, weight in class_weight.items():
        found = [
            at for at, label in enumerate(labels) if label == named or str(label) == str(named)
        ]
        if len(found) != 1:
            listed = " and ".join(repr(label) for label in labels)
            raise DataError(
                f"expected class_weight to name the classes {listed}, got {named!r}: write one of "
                "them"
            )
        weights[found[0]] = float(weight)
    return {float(at): weight for at, weight in weights.items()}


# --------------------------------------------------------------------------------------------------
# What every classifier here is to scikit-learn: labels of any kind, rows dense or sparse.


FORMS = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}


class TrainingRows(NamedTuple):
    """Rows of finite numbers, their labels, the positions of their classes, weights of at least 0.

    `known` marks the rows that have a label among all that came; `unlabelled` are the others.
    Rows of one group have the same number.
    """

    X: Any
    y: np.ndarray
    codes: IntArray
    weights: FloatArray
    known: np.ndarray
    unlabelled: Any = None
    groups: IntArray | None = None  # of the rows with a label, then of the others
    others: np.ndarray | None = None  # marks the unlabelled rows among all that came


def group_codes(groups: Any, n_rows: int) -> IntArray | None:
    """Return a number for each row, equal where rows are of one group; None without groups.

    >>> group_codes(["b", "a", "b"], 3).tolist()
    [1, 0, 1]
    """
    if groups is None:
        return None
    values = np.asarray(groups)
    if values.shape != (n_rows,):
        shape = "x".join(map(str, values.shape))
        raise DataError(
            f"expected a group for each of {n_rows:,} rows, got {shape}: give one value per row"
        )
    if values.dtype.kind == "O":
        values = np.array([str(value) for value in values.tolist()])
    codes: IntArray = np.unique(values, return_inverse=True)[1].astype(np.intp)
    return codes


class TableClassifier(LayeredParameters, ClassifierMixin, BaseEstimator):
    """A classifier that takes sparse rows as they are."""

    classes_: np.ndarray

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _labelled(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> TrainingRows:
        """The rows of a fit, checked; the classifier learns its classes and columns from them."""
        missing, unlabelled, counted = unlabelled_rows(y), None, None
        if missing is None:
            X, y = validate_data(self, X, plain_labels(y), **FORMS)
            known = np.ones(X.shape[0], dtype=bool)
        else:
            X = validate_data(self, X, **FORMS)
            check_consistent_length(X, missing)
            known = ~missing
            y = known_labels(y, known)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        numbers = group_codes(groups, X.shape[0])
        if missing is not None:
            counted = missing & (weights > 0)
            unlabelled = X[counted] if counted.any() else None
            numbers = None if numbers is None else np.r_[numbers[known], numbers[counted]]
            X, weights = X[known], weights[known]
        self.classes_, codes = coded_labels(y, weights)
        return TrainingRows(X, y, codes, weights, known, unlabelled, numbers, counted)

    def _rows_to_predict(self, X: Any) -> Any:
        """Return rows to predict, which must have the columns of the fit."""
        return validate_data(self, X, reset=False, **FORMS)


# --------------------------------------------------------------------------------------------------
# A fitted model: what it predicts, its risks, what it reports, how it is kept.
#
# Reports, risks and the hash of the data are made when they are first asked for. That needs the
# training data, so they are made at the latest before the model is pickled or saved without them.


FEW = 20  # a product with all columns is faster than cutting out one in so many
CACHES = ("_data", "_hipad", "_model", "_parts")
OF_COLUMNS = ("n_features_in_", "feature_index_", "feature_names_in_", "coef_", "support_")


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
    _report: RuleReport | None
    _stated: list[FeaturePriorRecord] | None
    _sha256: str | None
    _knowledge: ExpertKnowledge
    _data: TrainingData
    _hipad: Hipad | None
    _model: Model
    _risks: LazyCalibration
    _scale: MulticlassCalibration
    _class_risks: LazyClassCalibration
    risk_threshold_: float | None = None

    def decision_function(self, X: Any) -> FloatArray:
        """Return signed distance of each row; two units lie between the average training rows.

        Of several classes there is a column each: the decision values of the classes' models on a
        common scale, that of log odds.
        """
        check_is_fitted(self)
        if is_by_columns(X):
            return self._decide_by_columns(open_columns(X))
        X = self._rows_to_predict(X)
        kept, weights = self.support_, self.coef_.astype(float).T
        if isinstance(X, np.ndarray) and (X.dtype != float or FEW * kept.size < X.shape[1]):
            X, weights = X[:, kept], weights[kept]
        scores = np.asarray(X @ weights + self.intercept_, dtype=float)
        return scores if self._is_several else scores.ravel()

    def _decide_by_columns(self, source: ColumnSource) -> FloatArray:
        """The same for columns that are not in memory, of which those of the model are read."""
        columns, kept = columns_of_model(self, source), self.support_
        scores = np.zeros((source.shape[0], len(self.coef_))) + self.intercept_
        width = max(int(source.memory / (64 * max(source.shape[0], 1))), 1)
        for start in range(0, kept.size, width):
            part = slice(start, start + width)
            values = source.columns(columns[part])
            means = getattr(self, "support_means_", None)
            gaps = np.isnan(values)
            if means is not None and gaps.any():
                values = np.where(gaps, means[part], values)
            scores += filled(values) @ self.coef_[:, kept[part]].T
        return scores if self._is_several else scores.ravel()

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row: the second one above decision value 0.

        With a `risk_threshold_` it is the second one from that risk on (`set_risk_threshold`). Of
        several classes it is the one of the largest decision value.
        """
        if self.risk_threshold_ is not None:
            return self.classes_.take(self.predict_proba(X)[:, 1] >= self.risk_threshold_)
        scores = self.decision_function(X)
        if self._is_several:
            return self.classes_.take(np.argmax(scores, axis=1))
        return self.classes_.take(says_positive(scores))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the risk of each class for each row, learnt from out-of-fold scores
        (docs/math.md).

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
        """Return the logarithm of `predict_proba`."""
        return np.log(self.predict_proba(X))

    def set_risk_threshold(self, value: float | None, *, positive: Any = None) -> Self:
        """Answer with a class from this risk of it on; decision values and risks stay.

        A threshold chosen on the rows that then judge it flatters the model: choose it on
        out-of-fold risks (`hipad.evaluation.curves`). A new fit forgets it, as risks are new.

        Parameters
        ----------
        value : float or None
            A risk above 0 and below 1, at the prevalence of `predict_proba`; None answers by the
            sign of the decision value again.
        positive : label, default=None
            The class whose risk it is; None is the second one of `classes_`.

        Returns
        -------
        HIPADClassifier
            Itself.

        Examples
        --------
        >>> from hipad import HIPADClassifier
        >>> from hipad.datasets import make_ksvm_s
        >>> data = make_ksvm_s("10k", seed=0)
        >>> clf = HIPADClassifier(lambda1=0.1).fit(data.X_train, data.y_train)
        >>> clf = clf.set_risk_threshold(0.2)
        >>> from_risk = clf.predict_proba(data.X_test)[:, 1] >= 0.2
        >>> bool(((clf.predict(data.X_test) == 1) == from_risk).all())
        True
        """
        known = self.risk_source_.known  # of several classes it says why there is none
        if value is None:
            self.risk_threshold_ = None
            return self
        number = isinstance(value, Real) and not isinstance(value, bool)
        if not number or not 0.0 < float(value) < 1.0:
            raise HipadError(
                f"expected a risk above 0 and below 1 as threshold, got {value!r}: give the risk "
                "from which on the answer is that class, or None"
            )
        if not known:
            raise HipadError(
                "expected a model that knows risks to set a threshold on them, got one without: "
                "fit it again"
            )
        second = self.classes_[1] if positive is None else positive
        if second not in self.classes_.tolist():
            raise HipadError(
                f"expected positive to be one of the classes {self.classes_.tolist()}, got "
                f"{positive!r}: choose one of them"
            )
        # the first class from risk t on: the second one from beyond 1 - t on
        threshold = float(value)
        if second != self.classes_[1]:
            threshold = min(float(np.nextafter(1.0 - threshold, 2.0)), 1.0)
        self.risk_threshold_ = threshold
        return self

    @property
    def risk_curve_(self) -> CalibrationMap:
        """From decision value to risk; made at the first call, by folds if none were fitted yet."""
        check_prevalence(self.prevalence)
        return self.risk_source_.curve

    @property
    def risk_source_(self) -> LazyCalibration:
        """Says whether risks are known, and whether they are there at once."""
        check_is_fitted(self)
        if self._is_several:
            raise HipadError(
                f"expected two classes for one curve of risks, got {len(self.classes_)} classes: "
                "ask predict_proba, or one of class_models_"
            )
        return self._risks

    @property
    def rule_report_(self) -> RuleReport:
        """One record a rule: who fires, margins, worst case, slack, residual, gradient, effect.

        Of several classes, each rule is reported as in the model of the class that it speaks of.
        """
        check_is_fitted(self)
        if "on_columns_" in vars(self):
            return self.on_columns_.rule_report_
        if self._report is None and self._is_several:
            self._report = RuleReport(self._reports_of_owners())
        if self._report is None:
            self._report = RuleReport(model_report(self._data, self._model, self._hipad))
        return self._report

    @property
    def knowledge_report_(self) -> list[FeaturePriorRecord]:
        """One record a statement about features: their weights, and what a fit without it says."""
        check_is_fitted(self)
        if "on_columns_" in vars(self):
            return self.on_columns_.knowledge_report_
        if self._stated is None and self._is_several:
            records = [r for one in self.class_models_.values() for r in one.knowledge_report_]
            self._stated = list({record.text: record for record in records}.values())
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
        from hipad.estimator.model_io import save_model

        save_model(self, path)

    def _html_repr(self) -> str:
        """scikit-learn's diagram of the parameters and, once fitted, a table of the model."""
        diagram = str(super()._html_repr())
        if not hasattr(self, "coef_"):
            return diagram
        chosen = zip(np.ravel(self.lambda1_), np.ravel(self.lambda2_), strict=True)
        known = self._knowledge
        rules = len(known.rules) if known.written is None else len(known.written)
        rows = [
            ("classes", listed([str(label) for label in self.classes_.tolist()])),
            ("features", f"{self.support_.size:,} of {self.n_features_in_:,}"),
            ("lambda1, lambda2", "; ".join(f"{number(a)}, {number(b)}" for a, b in chosen)),
            ("knowledge", count(rules, "rule") if rules else "none"),
            ("solver", self.solver_),
            ("certificate", str(self.certificate_)),
        ]
        return diagram + html_table((), rows, "The fitted model")

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
        if isinstance(run, ScreenedRun):
            self._set_screened(run)
            return self
        if isinstance(run, ClassRuns):
            self._set_classes(run)
            return self
        model = run.model()
        self.coef_ = np.zeros((1, self.n_features_in_))
        self.coef_[0, model.features] = model.coef
        self.intercept_ = np.array([model.intercept])
        self.support_ = model.features
        self.risk_threshold_ = None
        self.certificate_ = model.solution.certificate
        self.selection_certificate_ = model.solution.selection
        self.lambda1_ = model.lambda1
        self.lambda2_ = model.lambda2
        self.members_ = model.members
        self.path_ = SelectionPath(model.path)
        self.history_ = list(run.history)
        self.n_iter_ = count_steps(self.history_)
        self.solver_ = run.hipad.solver if run.hipad is not None else ""
        self._report = self._stated = self._sha256 = None
        self._knowledge = run.plan.knowledge
        self._data, self._hipad, self._model = run.data, run.hipad, model
        self._risks = LazyCalibration((run.data, model))
        return self

    def _set_screened(self, run: ScreenedRun[Any]) -> None:
        """Take the model on the columns in memory as one of all columns.

        `on_columns_` is that model, `columns_` are the columns it knows.
        """
        assert run.small is not None
        small, columns = run.small.finish(), run.screening.columns
        own = {*self.get_params(deep=False), *OF_COLUMNS}
        self.__dict__.update({k: v for k, v in vars(small).items() if k not in own})
        self.on_columns_, self.columns_ = small, columns
        self.support_ = columns[small.support_]
        self.support_means_ = run.screening.values[:, small.support_].mean(axis=0)
        self.coef_ = np.zeros((len(small.coef_), self.n_features_in_))
        self.coef_[:, columns] = small.coef_
        self.n_passes_ = run.passes

    def _set_classes(self, run: ClassRuns[Any]) -> None:
        """Take the models of all classes, and put them on a common scale."""
        self._data, self._hipad = run.all_classes, None
        self._knowledge = ExpertKnowledge(written=run.written)
        self._report = self._stated = self._sha256 = None
        models = {label: one.finish() for label, one in run.runs.items()}
        scale = common_scale([*models.values()], self._data)
        self._join(models, scale)
        self._class_risks = LazyClassCalibration(([*models.values()], self._data, scale))

    def _join(self, models: Mapping[Any, Any], scale: MulticlassCalibration) -> None:
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
        self.solver_ = "; ".join(f"{label}: {one.solver_}" for label, one in models.items())

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
