"""Models as JSON files: weights, rules, settings, certificate; validated before they are used."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hipad.data.file_format import FOUND_OUT, FileFormat
from hipad.data.preprocessing import ColumnRecipe, Options
from hipad.data.roles import DecidedBy
from hipad.estimator.base import LazyClassCalibration, class_labels
from hipad.estimator.calibration import CalibrationMap, ClassProbabilities, MulticlassCalibration
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.fit import LazyCalibration, count_steps
from hipad.estimator.parameters import LAYERS, RENAMED, MemberRecord, check_parameters
from hipad.estimator.path import PathPoint, SelectionPath
from hipad.estimator.rule_report import FeaturePriorRecord
from hipad.estimator.serialization import (
    DIALECT,
    FORMAT,
    VERSION,
    Schema,
    StoredPriors,
    knowledge_of,
    plain,
    read_sealed,
    rebuild,
    schema_of,
    stored_knowledge,
    write_sealed,
)
from hipad.exceptions import DataError, HipadError
from hipad.rules import FeatureIndex, RuleRecord, RuleReport, resolve_blocks
from hipad.rules.ast import KINDS
from hipad.rules.compiler import ExpertKnowledge
from hipad.rules.guarantees import BoxPoint
from hipad.solvers import Certificate, Progress

# --------------------------------------------------------------------------------------------------
# Is what a model file says possible? Asked before any of it becomes a model.
#
# A checksum tells a whole file from a torn one, but anyone can compute it anew. So each part is
# held to what a fitted model can hold; a `DataError` names the first part that is not.


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
    _check_provenance(content)
    values = content["classes"]["values"]
    if not isinstance(values, list) or len(values) <= 2:
        _check_model(content, n_features)
        return
    models = content["models"]
    whole = _is_list_of(models, dict) and len(models) == len(values)
    _expect(whole, "a model for each class", models)
    for one in models:
        _check_provenance(one)
        _check_model(one, n_features)


def _check_provenance(content: dict[str, Any]) -> None:
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
    """Return the classes in their own type; they must be different and in order."""
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
        for point in _points(record):
            _check_columns(f"the record of {record.label!r}", point.columns.tolist(), n_features)
            _expect(len(point.columns) == len(point.values), "a value per column", record.label)
        _ = record.lines, record.as_dict()


def check_statements(records: list[FeaturePriorRecord], n_features: int) -> None:
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


def check_risks(curve: CalibrationMap | None) -> None:
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


def check_scale(scale: MulticlassCalibration, risks: ClassProbabilities, n_classes: int) -> None:
    """One finite slope and intercept a class, and probabilities that rise with its values."""
    for numbers in (scale.slopes, scale.intercepts, risks.shift):
        whole = numbers.shape == (n_classes,) and np.isfinite(numbers).all()
        _expect(whole, "a finite number for each class", numbers.tolist())
    _expect((scale.slopes >= 0).all(), "slopes of at least 0", scale.slopes.tolist())
    sharp = is_finite(risks.sharpness) and risks.sharpness >= 0
    _expect(sharp, "a sharpness of at least 0", risks.sharpness)


def _points(value: Any) -> Iterator[BoxPoint]:
    if isinstance(value, BoxPoint):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from _points(getattr(value, field.name))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _points(item)


def is_finite(value: Any) -> bool:
    """Return whether this is a finite number, and not a truth value."""
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


# --------------------------------------------------------------------------------------------------
# Models as JSON files: weights, rules, settings, certificate and a hash of the data; no pickle.
#
# Numbers are written so that they read back exactly: a loaded model predicts what the saved one
# did. Rules are kept compiled, and their text for the reader: it is not parsed when the model is
# loaded. A model of several classes holds what all of them share, a model for each class in
# `models`, their common scale and the probabilities at it.


AnyPath = str | os.PathLike[str]


class StoredFormat:
    """How what is known of a file's format is read back."""

    def read(self, value: object) -> FileFormat:
        return FileFormat.from_dict(value)


@dataclass(frozen=True, order=True)
class Opening:
    """One look at the test rows: when (ISO 8601), after how many edits, and why."""

    when: str
    edits: int
    reason: str


@dataclass(frozen=True)
class TableFile:
    """The file of the training rows, what was done with it, and which rows were held back."""

    name: str
    sha256: str
    preparation: Options
    test_share: float | None = None  # None: none was held back of this file
    seed: int = 0


@dataclass(frozen=True)
class Origin:
    """The table that a model was fitted to, so that later tables are prepared in the same way."""

    label: str
    classes: tuple[str, ...]  # negative, positive; or all of several
    recipe: ColumnRecipe
    decided_by: DecidedBy = "choice"  # what told the positive class
    group: str = ""  # the column whose rows are of one patient
    file_format: Annotated[FileFormat, StoredFormat()] = FOUND_OUT  # what cells of it mean
    file: TableFile | None = None  # None in files of earlier versions
    test_digest: str = ""  # a hash of the test rows, see `SealedTest`
    openings: tuple[Opening, ...] = ()  # who looked at these


@dataclass(frozen=True)
class StoredModel:
    """A model as read from a file; `origin` is None if it was not fitted to a table."""

    classifier: HIPADClassifier
    origin: Origin | None


def save_model(clf: HIPADClassifier, path: AnyPath, *, origin: Origin | None = None) -> None:
    """Write a fitted classifier; an existing file is replaced only once the new one is whole."""
    write_sealed(Path(path), {**_content(clf), "origin": plain(origin)})


def load_model(path: AnyPath) -> HIPADClassifier:
    """Read a classifier that `save` wrote; it predicts exactly as the saved one did.

    Parameters
    ----------
    path : str or path-like
        The file, JSON.

    Returns
    -------
    HIPADClassifier
        Fitted, with its reports and certificate, without its training rows.

    Raises
    ------
    DataError
        The file cannot be opened, or is no model.

    See Also
    --------
    HIPADClassifier : Its `save` writes the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from hipad import HIPADClassifier, load_model
    >>> clf = HIPADClassifier(lambda1=0.01).fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     clf.save(Path(folder) / "model.json")
    ...     same = load_model(Path(folder) / "model.json")
    >>> same.predict([[3.5]]).tolist()
    [1]
    """
    return read_model(path).classifier


def read_model(path: AnyPath) -> StoredModel:
    """Read a classifier and, where it has one, the origin of its data."""
    try:
        content = read_sealed(Path(path))
        check_content(content)
        return StoredModel(_classifier(content), _origin(content))
    except HipadError as error:
        raise DataError(f"{path}: {error}") from error
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise DataError(f"{path}: {_damaged(error)}") from error
    except (RecursionError, MemoryError, AssertionError) as error:
        raise DataError(f"{path}: {_damaged(error)}") from error


def _damaged(error: BaseException) -> str:
    reason = " ".join(f"{type(error).__name__} {error}".split())[:200]
    return f"the model file is damaged ({reason}): save it again"


def _content(clf: HIPADClassifier) -> dict[str, Any]:
    check_is_fitted(clf)
    clf = vars(clf).get("on_columns_", clf)  # of columns that were not in memory: those it knows
    shared = {
        "classes": _stored_classes(clf.classes_),
        "n_features": clf.n_features_in_,
        "feature_names": clf.feature_index_.names,
        "named_columns": hasattr(clf, "feature_names_in_"),
        "blocks": plain(used_blocks(clf)),
        "settings": stored_settings(clf),
    }
    if len(clf.classes_) == 2:
        return shared | _own_content(clf)
    return shared | _told_content(clf) | {
        "models": [_own_content(one) for one in clf.class_models_.values()],
        "scale": plain(clf._scale),
        "class_risks": plain(clf._class_risks.risks),
    }  # fmt: skip


def _told_content(clf: HIPADClassifier) -> dict[str, Any]:
    """Return the hash of the data, and what the reports say."""
    records = [replace(record, names=None) for record in clf.rule_report_]
    return {
        "data_sha256": clf.data_sha256_,
        "rules": _rules_text(clf),
        "rule_report": plain(records),
        "knowledge_report": plain(clf.knowledge_report_),
    }


def _own_content(clf: HIPADClassifier) -> dict[str, Any]:
    """Return a model of two classes, without what it shares with those of other classes."""
    return _told_content(clf) | {
        "compiled": plain(stored_knowledge(clf._knowledge)),
        "lambda1": clf.lambda1_,
        "lambda2": clf.lambda2_,
        "coefficients": {
            "indices": clf.support_.tolist(),
            "values": clf.coef_[0, clf.support_].tolist(),
        },
        "intercept": float(clf.intercept_[0]),
        "certificate": plain(clf.certificate_),
        "selection_certificate": plain(clf.selection_certificate_),
        "members": plain(clf.members_),
        "path": plain(clf.path_),
        "history": plain(clf.history_),
        "solver": clf.solver_,
        "risks": plain(clf.risk_source_.curve) if clf.risk_source_.known else None,
        "risk_threshold": clf.risk_threshold_,
    }


def _rules_text(clf: HIPADClassifier) -> str | None:
    """Return the rules as text, for whoever reads the file or fits again."""
    if isinstance(clf.rules, str | None):
        return clf.rules
    return str(clf._knowledge.written or "")


def used_blocks(clf: HIPADClassifier) -> dict[str, np.ndarray]:
    """Return blocks that rules and statements name, as column numbers; of a loaded model all."""
    rules = clf._knowledge.written
    if rules is None:
        return dict(resolve_blocks(clf.blocks, clf.feature_index_))
    sides = [side for rule in rules for condition in rule.conditions for side in condition.sides]
    named = {str(name).lower() for side in sides for term in side for name in term.names}
    named |= {str(n).lower() for statement in rules.statements for n in statement.names}
    own = {name: each for name, each in (clf.blocks or {}).items() if str(name).lower() in named}
    return dict(resolve_blocks(own, clf.feature_index_))


def _stored_classes(classes: np.ndarray) -> dict[str, Any]:
    values = classes.tolist()
    if classes.dtype.kind not in LABEL_KINDS or not all(
        isinstance(value, str | int | float) for value in values
    ):
        raise DataError(
            f"expected labels that are texts, numbers or truth values, got {classes.dtype}: "
            "write the labels as text before fitting"
        )
    return {"dtype": classes.dtype.str, "values": values}


def stored_settings(clf: HIPADClassifier) -> dict[str, Any]:
    """Return parameters as a model file holds them, without rules and blocks."""
    settings = clf.get_params(deep=False)
    weights = settings["class_weight"]
    if isinstance(weights, dict):  # JSON keys are texts only
        settings["class_weight"] = [[label, weight] for label, weight in weights.items()]
    if not isinstance(settings["cv"], int | list | None):  # a splitter, which is no data
        settings["cv"] = None
    return {key: plain(settings[key]) for key in settings if key not in ("rules", "blocks")}


def _origin(content: dict[str, Any]) -> Origin | None:
    raw = content["origin"]
    if isinstance(raw, dict):  # files of earlier versions have none of these
        earlier: dict[str, Any] = {
            "group": "",
            "file_format": {},
            "file": None,
            "test_digest": "",
            "openings": [],
        }
        raw = {**earlier, **raw}
    origin: Origin | None = rebuild(Origin | None, raw)
    if origin is not None:
        check_recipe(origin.recipe, content["n_features"])
        n_classes = len(content["classes"]["values"])
        if len(set(origin.classes)) != n_classes or len(origin.classes) != n_classes:
            raise DataError(f"expected {n_classes} classes of the table, got {len(origin.classes)}")
    return origin


def _classifier(content: dict[str, Any]) -> HIPADClassifier:
    classes = checked_classes(content["classes"])
    if len(classes) == 2:
        return _two_classes(content, classes)
    clf = _unfitted(content, classes)
    clf._knowledge = ExpertKnowledge()
    labels, stored = classes.tolist(), content["models"]
    models = {
        label: _two_classes({**content, **own}, class_labels(label))
        for label, own in zip(labels, stored, strict=True)
    }
    scale, risks = (
        rebuild(MulticlassCalibration, content["scale"]),
        rebuild(ClassProbabilities, content["class_risks"]),
    )
    check_scale(scale, risks, len(labels))
    clf._join(models, scale)
    clf._class_risks = LazyClassCalibration(risks=risks)
    return clf


def _unfitted(content: dict[str, Any], classes: np.ndarray) -> HIPADClassifier:
    """Return a classifier with settings, classes, columns and reports."""
    blocks = {name: np.array(columns, dtype=int) for name, columns in content["blocks"].items()}
    settings = content["settings"]
    _expect({"lambda1", "class_weight"} <= set(settings), "the settings of a fit", settings)
    clf = unfitted_classifier(settings, content["rules"], blocks)
    clf.classes_ = classes
    clf.n_features_in_ = content["n_features"]
    clf.feature_index_ = FeatureIndex(content["feature_names"], clf.n_features_in_)
    if content["named_columns"]:
        clf.feature_names_in_ = np.array(content["feature_names"], dtype=object)
    records = rebuild(tuple[RuleRecord, ...], list(map(_of_today, content["rule_report"])))
    clf._report = RuleReport(replace(record, names=clf.feature_index_) for record in records)
    check_report(clf._report, clf.n_features_in_)
    stored = content.get("knowledge_report", [])  # files of earlier versions have none
    today = [_renamed(record, {"felt": "influential"}) for record in stored]
    clf._stated = list(rebuild(tuple[FeaturePriorRecord, ...], today))
    check_statements(clf._stated, clf.n_features_in_)
    clf._sha256 = content["data_sha256"]
    return clf


def unfitted_classifier(
    settings: Mapping[str, Any], rules: Any, blocks: Mapping[str, Any]
) -> HIPADClassifier:
    """Return a classifier with the settings that a model file holds (`stored_settings`)."""
    own = _settings_of_today(dict(settings))
    if isinstance(own.get("class_weight"), list):
        own["class_weight"] = dict(own["class_weight"])
    if isinstance(own.get("rule_trust"), list):
        own["rule_trust"] = rebuild(tuple[MemberRecord, ...], own["rule_trust"])
    clf = HIPADClassifier(rules, blocks=dict(blocks) or None, **own)
    check_settings(clf)
    return clf


def _settings_of_today(stored: dict[str, Any]) -> dict[str, Any]:
    """Stored settings by today's names; files before there were layers hold all of them flat."""
    found: dict[str, Any] = {}
    for name, value in sorted(stored.items(), key=lambda pair: pair[0] in RENAMED):
        layer, _, own = RENAMED.get(name, name).partition("__")
        if own:
            found[layer] = {**(found.get(layer) or {}), own: value}
        elif layer not in LAYERS or value is not None:
            found[layer] = value
    return found


def _two_classes(content: dict[str, Any], classes: np.ndarray) -> HIPADClassifier:
    clf = _unfitted(content, classes)
    _set_model(clf, content)
    clf._knowledge = _knowledge(clf, content)
    curve = rebuild(CalibrationMap | None, content.get("risks"))
    check_risks(curve)
    clf._risks = LazyCalibration(curve=curve)
    threshold = content.get("risk_threshold")  # files of earlier versions have none
    sound = threshold is None or (is_finite(threshold) and 0.0 < threshold <= 1.0 and curve)
    _expect(sound, "a risk above 0 as threshold, and risks", threshold)
    clf.risk_threshold_ = threshold
    return clf


def _knowledge(clf: HIPADClassifier, content: dict[str, Any]) -> ExpertKnowledge:
    """The compiled rules; files of earlier versions hold none, and their text is not read again."""
    if "compiled" not in content:
        return ExpertKnowledge()
    return knowledge_of(rebuild(StoredPriors, content["compiled"]), clf.feature_index_)


def _of_today(record: dict[str, Any]) -> dict[str, Any]:
    """Return a stored record of a rule, with the fields that it has today.

    In files of version 1 no fit without the rule was made; files before trust was learnt from all
    rows hold what the rows that a rule covers left of its weight.
    """
    record = {"trust": None, "effect": None, "written": None, **record}
    record = _renamed(record, {"pull": "gradient", "knobs": "weights"})
    gradient, weights = record["gradient"], dict(record["weights"] or {})
    weights.pop("automatic", None)
    evidence = weights.pop("heard", weights.get("evidence"))
    if evidence:
        kept = {name: evidence[name] for name in ("fired", "right")}
        evidence = {"agreement": evidence.get("agreement", float("nan")), **kept}
    for part in ("train", "test"):
        counts = dict(record[part] or {})
        counts.pop("filled", None)  # of files in which filled values were taken for measured ones
        record[part] = {"gaps": [], **counts} if counts else None
    return {
        **record,
        "gradient": gradient and {k: value for k, value in gradient.items() if k != "felt"},
        "weights": {**weights, "evidence": evidence} if weights else None,
    }


def _point_of_today(point: dict[str, Any]) -> dict[str, Any]:
    """Return a stored point of a path; earlier versions call its excess loss `behind`."""
    return _renamed(point, {"behind": "excess_loss"})


def _renamed(record: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return a record with today's names for those that earlier versions had."""
    return {names.get(name, name): value for name, value in record.items()}


def _set_model(clf: HIPADClassifier, content: dict[str, Any]) -> None:
    weights = content["coefficients"]
    clf.support_ = np.array(weights["indices"], dtype=int)
    clf.coef_ = np.zeros((1, clf.n_features_in_))
    clf.coef_[0, clf.support_] = np.array(weights["values"], dtype=float)
    clf.intercept_ = np.array([content["intercept"]], dtype=float)
    clf.lambda1_ = float(content["lambda1"])
    clf.lambda2_ = float(content["lambda2"])
    clf.certificate_ = rebuild(Certificate, content["certificate"])
    clf.selection_certificate_ = rebuild(Certificate | None, content["selection_certificate"])
    members = [{"on_rows": False, "cut": None, **member} for member in content.get("members", [])]
    clf.members_ = rebuild(tuple[MemberRecord, ...], members)
    path = [_point_of_today(point) for point in content["path"]]
    clf.path_ = SelectionPath(rebuild(tuple[PathPoint, ...], path))
    clf.history_ = list(rebuild(tuple[Progress, ...], content["history"]))
    clf.n_iter_ = count_steps(clf.history_)
    clf.solver_ = str(content.get("solver", ""))


# --------------------------------------------------------------------------------------------------
# The JSON Schema of model files. What a schema cannot say (the checksum, weights for columns that
# are there, probabilities that rise) `load_model` checks.


COLUMNS: Final[Schema] = {
    "type": "array",
    "items": {"type": "integer", "minimum": 0},
    "uniqueItems": True,
}


def model_schema() -> Schema:
    """Return the JSON Schema (draft 2020-12) of the files that `HIPADClassifier.save` writes.

    Returns
    -------
    dict
        A new one each time, made of plain JSON values.

    Examples
    --------
    >>> schema = model_schema()
    >>> schema["properties"]["format"], sorted(schema["properties"]["content"])
    ({'const': 'hipad-model'}, ['allOf'])
    """
    definitions: dict[str, Schema] = {}
    record: Schema = {
        "data_sha256": {"type": "string", "pattern": f"^[0-9a-f]{{{SHA256_DIGITS}}}$"},
        "rules": schema_of(str | None, definitions),
        "rule_report": schema_of(tuple[RuleRecord, ...], definitions),
        "knowledge_report": schema_of(tuple[FeaturePriorRecord, ...], definitions),
    }
    weights: Schema = {
        "indices": COLUMNS,
        "values": {"type": "array", "items": {"type": "number"}},
    }
    model: Schema = record | {
        "compiled": schema_of(StoredPriors, definitions),
        "lambda1": {"type": "number", "minimum": 0},
        "lambda2": {"type": "number", "minimum": 0},
        "coefficients": _object(weights),
        "intercept": {"type": "number"},
        "certificate": schema_of(Certificate, definitions),
        "selection_certificate": schema_of(Certificate | None, definitions),
        "members": schema_of(tuple[MemberRecord, ...], definitions),
        "path": schema_of(tuple[PathPoint, ...], definitions),
        "history": schema_of(tuple[Progress, ...], definitions),
        "solver": {"type": "string"},
        "risks": schema_of(CalibrationMap | None, definitions),
        "risk_threshold": {
            "anyOf": [{"type": "number", "exclusiveMinimum": 0, "maximum": 1}, {"type": "null"}]
        },
    }
    labels: Schema = {"type": ["string", "number", "boolean"]}
    classes: Schema = {
        "dtype": {"type": "string", "maxLength": 20},
        "values": {"type": "array", "items": labels, "minItems": 2, "uniqueItems": True},
    }
    shared: Schema = {
        "classes": _object(classes),
        "n_features": {"type": "integer", "minimum": 1},
        "feature_names": schema_of(tuple[str, ...] | None, definitions),
        "named_columns": {"type": "boolean"},
        "blocks": {"type": "object", "additionalProperties": COLUMNS},
        "settings": {"type": "object"},  # the parameters of HIPADClassifier, by their names
        "origin": schema_of(Origin | None, definitions),
    }
    several: Schema = record | {
        "models": {"type": "array", "items": {"$ref": "#/$defs/model"}, "minItems": 3},
        "scale": schema_of(MulticlassCalibration, definitions),
        "class_risks": schema_of(ClassProbabilities, definitions),
    }
    definitions["model"] = {"description": "A model of two classes.", **_object(model)}
    definitions["several"] = {"description": "Three classes or more.", **_object(several)}
    header: Schema = {
        "format": {"const": FORMAT},
        "version": {"const": VERSION},
        "library": {"type": "string"},
        "checksum": {"type": "string", "pattern": f"^[0-9a-f]{{{SHA256_DIGITS}}}$"},
        "content": {
            "allOf": [
                _object(shared),
                {
                    "if": {"required": ["models"]},
                    "then": {"$ref": "#/$defs/several"},
                    "else": {"$ref": "#/$defs/model"},
                },
            ]
        },
    }
    return {
        "$schema": DIALECT,
        "title": f"A model of HIPAD Workbench, format version {VERSION}",
        **_object(header),
        "$defs": dict(sorted(definitions.items())),
    }


def _object(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}
