"""Labels of any type as two classes: signs for the solver, the user's own labels for the user."""

from __future__ import annotations

from numbers import Number
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from hipad.designs.base import FloatArray
from hipad.errors import DataError


class SignedLabels(NamedTuple):
    """The two classes in order, and for each row -1 for the first, +1 for the second."""

    classes: np.ndarray
    signs: FloatArray


def signed_labels(y: np.ndarray, weights: FloatArray) -> SignedLabels:
    """The two classes of y; each must have a row whose weight is above zero."""
    check_classification_targets(y)
    classes = np.unique(y)
    if len(classes) != 2:
        raise DataError(_not_two(classes, type_of_target(y)))
    signs = np.where(y == classes[1], 1.0, -1.0)
    weighted = np.unique(y[weights > 0])
    if len(weighted) != 2:
        raise DataError(_not_two(weighted, "binary, but weights are zero"))
    return SignedLabels(classes, signs)


def unlabelled_rows(y: Any) -> np.ndarray | None:
    """Where a label is missing: NaN, None, or scikit-learn's -1 beside two classes.

    A -1 beside one other class is a class of its own. None where every row has a label.

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
    return missing if missing.any() else None


def _as_they_came(y: Any) -> np.ndarray:
    """Labels as an array; those of a list keep their types, as a NaN among words does."""
    return np.asarray(y) if hasattr(y, "dtype") else np.asarray(y, dtype=object)


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
    if all(isinstance(one, float) and one.is_integer() for one in values):
        values = [int(one) for one in values]
    return np.asarray(plain_labels(np.array(values, dtype=object)))


def plain_labels(y: Any) -> Any:
    """Labels kept as Python objects in an array of their common type; others as they are.

    >>> plain_labels(np.array([True, False], dtype=object)).dtype
    dtype('bool')
    """
    if getattr(getattr(y, "dtype", None), "kind", "") != "O" or getattr(y, "ndim", 1) != 1:
        return y
    values = np.asarray(y).tolist()
    kinds = {type(value) for value in values}
    for same in ({str}, {bool}, {int}, {int, float}):
        if kinds and kinds <= same:
            return np.array(values)
    if kinds and str not in kinds:
        return y
    names = " and ".join(sorted(kind.__name__ for kind in kinds))
    raise DataError(f"expected labels of one type in y, got {names}: write them all as text")


def by_sign(
    class_weight: str | dict[Any, float] | None, classes: np.ndarray
) -> str | dict[float, float] | None:
    """Weights of the two classes by their signs; a class that is not named has weight one.

    A label may be written as text: "1" names the class 1.
    """
    if not isinstance(class_weight, dict):
        return class_weight
    labels = classes.tolist()
    weights = dict.fromkeys(labels, 1.0)
    for named, weight in class_weight.items():
        found = [label for label in labels if label == named or str(label) == str(named)]
        if len(found) != 1:
            listed = " and ".join(repr(label) for label in labels)
            raise DataError(
                f"expected class_weight to name the classes {listed}, got {named!r}: write one of "
                "them"
            )
        weights[found[0]] = float(weight)
    return {-1.0: weights[labels[0]], 1.0: weights[labels[1]]}


def _not_two(classes: np.ndarray, kind: str) -> str:
    shown = ", ".join(repr(label) for label in classes[:5].tolist())
    if len(classes) < 2:
        return (
            f"expected two classes in y, got one class ({shown}): add patients of the other class"
        )
    return (
        f"Only binary classification is supported. The type of the target is {kind}: expected two "
        f"classes in y, got {len(classes)} ({shown}, ...): choose the positive class and join "
        "the others"
    )
