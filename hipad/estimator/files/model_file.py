"""Models as JSON files: weights, rules, settings, certificate and a hash of the data; no pickle.

Numbers are written so that they read back exactly: a loaded model predicts what the saved one did.
Rules are kept compiled, and their text for the reader: it is not parsed when the model is loaded.
A model of several classes holds what all of them share, a model for each class in `models`, their
common scale and the probabilities at it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hipad.data.classes import DecidedBy
from hipad.data.encoding import ColumnRecipe
from hipad.data.file_format import FOUND_OUT, FileFormat
from hipad.errors import DataError, HipadError
from hipad.estimator.choosing.choice import PathPoint
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.files.json_values import plain, rebuild
from hipad.estimator.files.sealing import read_sealed, write_sealed
from hipad.estimator.files.stored_rules import StoredKnowledge, knowledge_of, stored_knowledge
from hipad.estimator.files.vetting import (
    LABEL_KINDS,
    check_content,
    check_recipe,
    check_report,
    check_risks,
    check_scale,
    check_settings,
    check_statements,
    checked_classes,
)
from hipad.estimator.knowing.statement_report import StatementRecord
from hipad.estimator.risks.common_scale import ClassRisks, CommonScale
from hipad.estimator.risks.risk_curve import RiskCurve
from hipad.estimator.risks.source import RiskSource
from hipad.estimator.run import count_steps
from hipad.estimator.several_classes import ClassRiskSource, class_labels
from hipad.estimator.trust.member_record import MemberRecord
from hipad.rules import FeatureIndex, RuleRecord, resolve_blocks
from hipad.rules.compiling.knowledge import Knowledge
from hipad.solver import Certificate, Progress

AnyPath = str | os.PathLike[str]


class StoredFormat:
    """How what is known of a file's format is read back."""

    def read(self, value: object) -> FileFormat:
        return FileFormat.from_dict(value)


@dataclass(frozen=True)
class Origin:
    """The table that a model was fitted to, so that later tables are prepared in the same way."""

    label: str
    classes: tuple[str, ...]  # negative, positive; or all of several
    recipe: ColumnRecipe
    decided_by: DecidedBy = "choice"  # what told the positive class
    group: str = ""  # the column whose rows are of one patient
    file_format: Annotated[FileFormat, StoredFormat()] = FOUND_OUT  # what cells of it mean


@dataclass(frozen=True)
class StoredModel:
    """A model as read from a file; `origin` is None if it was not fitted to a table."""

    classifier: HIPADClassifier
    origin: Origin | None


def save_model(clf: HIPADClassifier, path: AnyPath, *, origin: Origin | None = None) -> None:
    """Write a fitted classifier; an existing file is replaced only once the new one is whole."""
    write_sealed(Path(path), {**_content(clf), "origin": plain(origin)})


def load_model(path: AnyPath) -> HIPADClassifier:
    """Read a classifier that `save` wrote; it predicts exactly as the saved one did."""
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
    shared = {
        "classes": _stored_classes(clf.classes_),
        "n_features": clf.n_features_in_,
        "feature_names": clf.feature_index_.names,
        "named_columns": hasattr(clf, "feature_names_in_"),
        "blocks": plain(used_blocks(clf)),
        "settings": _settings(clf),
    }
    if len(clf.classes_) == 2:
        return shared | _own_content(clf)
    return shared | _told_content(clf) | {
        "models": [_own_content(one) for one in clf.class_models_.values()],
        "scale": plain(clf._scale),
        "class_risks": plain(clf._class_risks.risks),
    }  # fmt: skip


def _told_content(clf: HIPADClassifier) -> dict[str, Any]:
    """The hash of the data, and what the reports say."""
    records = [replace(record, names=None) for record in clf.rule_report_]
    return {
        "data_sha256": clf.data_sha256_,
        "rules": _rules_text(clf),
        "rule_report": plain(records),
        "knowledge_report": plain(clf.knowledge_report_),
    }


def _own_content(clf: HIPADClassifier) -> dict[str, Any]:
    """A model of two classes, without what it shares with those of other classes."""
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
        "risks": plain(clf.risk_source_.curve) if clf.risk_source_.known else None,
    }


def _rules_text(clf: HIPADClassifier) -> str | None:
    """The rules as text, for whoever reads the file or fits again."""
    if isinstance(clf.rules, str | None):
        return clf.rules
    return str(clf._knowledge.written or "")


def used_blocks(clf: HIPADClassifier) -> dict[str, np.ndarray]:
    """The blocks that rules and statements name, as column numbers; of a loaded model all."""
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


def _settings(clf: HIPADClassifier) -> dict[str, Any]:
    settings = clf.get_params(deep=False)
    weights = settings["class_weight"]
    if isinstance(weights, dict):  # JSON keys are texts only
        settings["class_weight"] = [[label, weight] for label, weight in weights.items()]
    if not isinstance(settings["cv"], int | list | None):  # a splitter, which is no data
        settings["cv"] = None
    return {key: plain(settings[key]) for key in settings if key not in ("rules", "blocks")}


def _origin(content: dict[str, Any]) -> Origin | None:
    raw = content["origin"]
    if isinstance(raw, dict):  # files of earlier versions have neither
        raw = {"group": "", "file_format": {}, **raw}
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
    clf._knowledge = Knowledge()
    labels, stored = classes.tolist(), content["models"]
    models = {
        label: _two_classes({**content, **own}, class_labels(label))
        for label, own in zip(labels, stored, strict=True)
    }
    scale, risks = (
        rebuild(CommonScale, content["scale"]),
        rebuild(ClassRisks, content["class_risks"]),
    )
    check_scale(scale, risks, len(labels))
    clf._join(models, scale)
    clf._class_risks = ClassRiskSource(risks=risks)
    return clf


def _unfitted(content: dict[str, Any], classes: np.ndarray) -> HIPADClassifier:
    """A classifier with settings, classes, columns and reports."""
    settings = dict(content["settings"])
    if isinstance(settings["class_weight"], list):
        settings["class_weight"] = dict(settings["class_weight"])
    if isinstance(settings.get("rule_trust"), list):
        settings["rule_trust"] = rebuild(tuple[MemberRecord, ...], settings["rule_trust"])
    blocks = {name: np.array(columns, dtype=int) for name, columns in content["blocks"].items()}
    clf = HIPADClassifier(content["rules"], blocks=blocks or None, **settings)
    check_settings(clf)
    clf.classes_ = classes
    clf.n_features_in_ = content["n_features"]
    clf.feature_index_ = FeatureIndex(content["feature_names"], clf.n_features_in_)
    if content["named_columns"]:
        clf.feature_names_in_ = np.array(content["feature_names"], dtype=object)
    records = rebuild(tuple[RuleRecord, ...], list(map(_of_today, content["rule_report"])))
    clf._report = [replace(record, names=clf.feature_index_) for record in records]
    check_report(clf._report, clf.n_features_in_)
    stored = content.get("knowledge_report", [])  # files of earlier versions have none
    clf._stated = list(rebuild(tuple[StatementRecord, ...], stored))
    check_statements(clf._stated, clf.n_features_in_)
    clf._sha256 = content["data_sha256"]
    return clf


def _two_classes(content: dict[str, Any], classes: np.ndarray) -> HIPADClassifier:
    clf = _unfitted(content, classes)
    _set_model(clf, content)
    clf._knowledge = _knowledge(clf, content)
    curve = rebuild(RiskCurve | None, content.get("risks"))
    check_risks(curve)
    clf._risks = RiskSource(curve=curve)
    return clf


def _knowledge(clf: HIPADClassifier, content: dict[str, Any]) -> Knowledge:
    """The compiled rules; files of earlier versions hold none, and their text is not read again."""
    if "compiled" not in content:
        return Knowledge()
    return knowledge_of(rebuild(StoredKnowledge, content["compiled"]), clf.feature_index_)


def _of_today(record: dict[str, Any]) -> dict[str, Any]:
    """A stored record of a rule, with the fields that it has today.

    In files of version 1 no fit without the rule was made; files before trust was learnt from all
    rows hold what the rows that a rule covers left of its weight.
    """
    record = {"trust": None, "effect": None, "written": None, **record}
    pull, knobs = record["pull"], dict(record["knobs"] or {})
    knobs.pop("automatic", None)
    if knobs.get("heard"):
        kept = {name: knobs["heard"][name] for name in ("fired", "right")}
        knobs["heard"] = {"agreement": knobs["heard"].get("agreement", float("nan")), **kept}
    for part in ("train", "test"):
        counts = dict(record[part] or {})
        counts.pop("filled", None)  # of files in which filled values were taken for measured ones
        record[part] = {"gaps": [], **counts} if counts else None
    return {
        **record,
        "pull": pull and {name: value for name, value in pull.items() if name != "felt"},
        "knobs": knobs or None,
    }


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
    clf.path_ = rebuild(tuple[PathPoint, ...], content["path"])
    clf.history_ = list(rebuild(tuple[Progress, ...], content["history"]))
    clf.n_iter_ = count_steps(clf.history_)
