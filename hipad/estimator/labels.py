"""Labels of any type as classes: codes for the fit, the user's own labels for the user."""

from __future__ import annotations

import warnings
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from hipad.arrays import IntArray
from hipad.designs.base import FloatArray
from hipad.errors import DataError
from hipad.wording import some

FRACTIONS = ("Float32", "Float64")  # types of data frames that keep gaps beside fractions


class CodedLabels(NamedTuple):
    """The classes in order, and for each row the position of its class."""

    classes: np.ndarray
    codes: IntArray


def coded_labels(y: np.ndarray, weights: FloatArray) -> CodedLabels:
    """The classes of the rows whose weight is above zero; there must be two or more.

    >>> coded_labels(np.array(["well", "ill", "well"]), np.ones(3))
    CodedLabels(classes=array(['ill', 'well'], dtype='<U4'), codes=array([1, 0, 1]))
    """
    check_classification_targets(y)
    classes = np.unique(y[weights > 0])
    if len(classes) < 2:
        raise DataError(
            f"expected two classes in y or more, got {_shown_classes(classes)}: add patients of "
            "another class"
        )
    codes = np.searchsorted(classes, y)
    return CodedLabels(classes, codes.astype(np.intp))


def _shown_classes(classes: np.ndarray) -> str:
    """No class, or one, in words."""
    return f"one class ({classes.tolist()[0]!r})" if len(classes) else "none of weight above 0"


def unlabelled_rows(y: Any) -> np.ndarray | None:
    """Where a label is missing: NaN, None, or scikit-learn's -1 beside two classes.

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
    """Labels as an array; those of lists and of data frames' own types keep their kind."""
    if isinstance(getattr(y, "dtype", None), np.dtype):
        return np.asarray(y)
    return np.asarray(y, dtype=object)


def is_missing(label: Any) -> bool:
    """Whether a label stands for none: None, NaN, or what data frames have in its place."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, Number) and bool(label != label)


def known_labels(y: Any, known: np.ndarray) -> np.ndarray:
    """The labels that are there, in an array of their common type.

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
    """Labels kept as Python objects in an array of their common type; others as they are.

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
    """Weights of the classes by their positions; a class that is not named has weight one.

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
