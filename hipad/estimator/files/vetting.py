"""Is what a model file says possible? Asked before any of it becomes a model.

A checksum tells a whole file from a torn one, but anyone can compute it anew. So each part is held
to what a fitted model can hold; a `DataError` names the first part that is not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Final

import numpy as np

from hipad.data.encoding import ColumnRecipe
from hipad.errors import DataError
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.knowing.statement_report import StatementRecord
from hipad.estimator.parameters import check_parameters
from hipad.estimator.risks.common_scale import ClassRisks, CommonScale
from hipad.estimator.risks.risk_curve import RiskCurve
from hipad.rules import RuleRecord
from hipad.rules.analysis.box import Patient
from hipad.rules.language.statements import KINDS

LABEL_KINDS: Final = "biufUO"  # truth values, numbers, text, and text kept as objects
MOST_FEATURES: Final = 100_000_000
LABEL_BYTES: Final = 1_000_000
SHA256_DIGITS: Final = 64


def check_content(content: Any) -> None:
    """Refuse wrong types, and numbers that no fit gives."""
    _expect(isinstance(content, dict), "a record of a model", content)
    n_features = content["n_features"]
    _expect(_is_index(n_features, MOST_FEATURES + 1) and n_features > 0, "n_features", n_features)
    names = content["feature_names"]
    _expect(names is None or _is_list_of(names, str), "feature_names", names)
    _expect(isinstance(content["named_columns"], bool), "named_columns", content["named_columns"])
    _expect(names is not None or not content["named_columns"], "feature_names", names)
    _expect(isinstance(content["blocks"], dict), "blocks", content["blocks"])
    for name, columns in content["blocks"].items():
        _check_columns(f"block {name!r}", columns, n_features)
    _check_told(content)
    values = content["classes"]["values"]
    if not isinstance(values, list) or len(values) <= 2:
        _check_model(content, n_features)
        return
    models = content["models"]
    whole = _is_list_of(models, dict) and len(models) == len(values)
    _expect(whole, "a model for each class", models)
    for one in models:
        _check_told(one)
        _check_model(one, n_features)


def _check_told(content: dict[str, Any]) -> None:
    _expect(isinstance(content["rules"], str | None), "rules", content["rules"])
    digest = content["data_sha256"]
    _expect(isinstance(digest, str) and len(digest) == SHA256_DIGITS, "data_sha256", digest)


def _check_model(content: dict[str, Any], n_features: int) -> None:
    _check_weights(content["coefficients"], n_features)
    _expect(is_finite(content["intercept"]), "the intercept", content["intercept"])
    lambda1 = content["lambda1"]
    _expect(is_finite(lambda1) and lambda1 >= 0, "lambda1", lambda1)


def _check_weights(weights: dict[str, Any], n_features: int) -> None:
    indices, values = weights["indices"], weights["values"]
    _check_columns("the indices of the weights", indices, n_features)
    sound = isinstance(values, list) and all(map(is_finite, values))
    _expect(sound and len(values) == len(indices), "one finite weight per index", values)


def _check_columns(what: str, columns: Any, n_features: int) -> None:
    """Column numbers must lie in the table, and none may come twice."""
    known = isinstance(columns, list) and all(_is_index(j, n_features) for j in columns)
    _expect(known and len(set(columns)) == len(columns), f"different columns in {what}", columns)


def checked_classes(stored: dict[str, Any]) -> np.ndarray:
    """The classes in their own type; they must be different and in order."""
    values, kind = stored["values"], stored["dtype"]
    plain = _is_list_of(values, str | int | float) and len(values) >= 2
    _expect(plain and isinstance(kind, str) and len(kind) <= 20, "two classes or more", values)
    dtype = np.dtype(kind)
    _expect(dtype.kind in LABEL_KINDS and dtype.itemsize <= LABEL_BYTES, "a type of labels", kind)
    classes = np.array(values, dtype=dtype)
    _expect(classes.tolist() == values, f"classes of the type {kind}", values)
    _expect((classes[:-1] < classes[1:]).all(), "different classes in order", values)
    return classes


def check_settings(clf: HIPADClassifier) -> None:
    """Settings that `fit` would refuse are refused here too."""
    check_parameters(clf)
    for name in ("calibrate", "standardize"):
        _expect(isinstance(getattr(clf, name), bool), name, getattr(clf, name))


def check_recipe(recipe: ColumnRecipe, n_features: int) -> None:
    """The recipe must give as many columns as the model has weights."""
    width = len(recipe.number_names) + sum(map(len, recipe.levels.values()))
    for name, levels in recipe.levels.items():
        ordered = len(levels) > 0 and list(levels) == sorted(set(levels))
        _expect(ordered, f"different levels in order for {name!r}", levels)
    if recipe.kept is not None:
        _check_columns("the recipe", recipe.kept.tolist(), width)
        width = len(recipe.kept)
    _expect(width == n_features, f"a recipe for {n_features:,} columns", width)
    if recipe.fill is not None:
        whole = recipe.fill.shape == (len(recipe.number_names),)
        _expect(whole and np.isfinite(recipe.fill).all(), "one finite value per gap", recipe.fill)


def check_report(records: list[RuleRecord], n_features: int) -> None:
    """Columns that a record names must be there, and the record must read as sentences."""
    for record in records:
        for patient in _patients(record):
            _check_columns(f"the record of {record.label!r}", patient.columns.tolist(), n_features)
            _expect(len(patient.columns) == len(patient.values), "a value per column", record.label)
        _ = record.lines, record.as_dict()


def check_statements(records: list[StatementRecord], n_features: int) -> None:
    """Each record must be of a known kind, with a name and a finite weight for each column."""
    for record in records:
        what = f"the statement {record.text!r}"
        _expect(record.kind in KINDS, f"a kind of {what}", record.kind)
        _check_columns(what, list(record.columns), n_features)
        whole = len(record.columns) == len(record.features) == len(record.weights)
        _expect(whole and all(map(is_finite, record.weights)), f"weights of {what}", record.weights)
        broken = record.contrary
        possible = broken is None or _is_index(broken, len(record.columns) + 1)
        _expect(possible, f"a number of features in {what}", broken)
        _ = record.lines, record.as_dict()


def check_risks(curve: RiskCurve | None) -> None:
    """Risks must rise with the decision value, and be those of a share above 0 and below 1."""
    if curve is None:
        return
    _expect(0.0 < curve.prevalence < 1.0, "a prevalence above 0 and below 1", curve.prevalence)
    line = is_finite(curve.slope) and curve.slope >= 0 and is_finite(curve.intercept)
    _expect(line, "risks that rise along a line", curve.slope)
    at, log_odds = curve.at, curve.log_odds
    sound = at.size == log_odds.size != 1 and np.isfinite(at).all() and np.isfinite(log_odds).all()
    rising = sound and (np.diff(at) > 0).all() and (np.diff(log_odds) >= 0).all()
    _expect(rising, "points of risks that rise", at.tolist())


def check_scale(scale: CommonScale, risks: ClassRisks, n_classes: int) -> None:
    """One finite slope and intercept a class, and probabilities that rise with its values."""
    for numbers in (scale.slopes, scale.intercepts, risks.shift):
        whole = numbers.shape == (n_classes,) and np.isfinite(numbers).all()
        _expect(whole, "a finite number for each class", numbers.tolist())
    _expect((scale.slopes >= 0).all(), "slopes of at least 0", scale.slopes.tolist())
    sharp = is_finite(risks.sharpness) and risks.sharpness >= 0
    _expect(sharp, "a sharpness of at least 0", risks.sharpness)


def _patients(value: Any) -> Iterator[Patient]:
    if isinstance(value, Patient):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from _patients(getattr(value, field.name))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _patients(item)


def is_finite(value: Any) -> bool:
    """Whether this is a finite number, and not a truth value."""
    return isinstance(value, int | float) and type(value) is not bool and math.isfinite(value)


def _is_index(value: Any, below: int) -> bool:
    return type(value) is int and 0 <= value < below


def _is_list_of(value: Any, kind: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


def _expect(sound: Any, what: str, got: Any) -> None:
    if not sound:
        shown = repr(got) if not isinstance(got, list | tuple | dict) else f"{len(got):,} values"
        raise DataError(
            f"the model file is damaged: expected {what}, got {shown[:60]}: save the model again"
        )
