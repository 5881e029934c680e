"""Studies from files that are there already: a model that was saved, a session of the app."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from hipad.data import Options
from hipad.data.file_format import FileFormat
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.model_io import StoredModel, stored_settings
from hipad.estimator.serialization import FORMAT, MOST_BYTES, of_any_version, rebuild
from hipad.evaluation.cross_validation import SealedTest
from hipad.evaluation.metrics import PositiveClassView
from hipad.exceptions import DataError, unopened
from hipad.reporting.analysis import stored_model
from hipad.reporting.study import HeldBack, HeldBackKind, Study, StudyNotes, StudyTable
from hipad.rules.names import define_columns

SESSION: Final = "hipad-workbench-session"
LONGEST_ANSWER: Final = 20_000
MOST_ANSWERS: Final = 200
MOST_PROVENANCE: Final = 1_000


def read_source(path: Path) -> Study:
    """Return the study of a model file or of a session of the app; DataError for any other file.

    Parameters
    ----------
    path : Path
        A file that `HIPADClassifier.save`, `hipad fit` or the app wrote.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise unopened(path, error) from error
    if len(content) > MOST_BYTES:
        raise DataError(f"expected a file of at most {MOST_BYTES:,} bytes, got more: {path}")
    try:
        text = content.decode("utf-8")
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{path}: expected a model or a session, got another file: give model.json or "
            "session.json as they were saved"
        ) from error
    if isinstance(raw, dict) and raw.get("format") == FORMAT:
        return study_of_model(text)
    if isinstance(raw, dict) and raw.get("kind") == SESSION:
        return study_of_session(raw)
    raise DataError(
        f"{path}: expected a model or a session, got another file: give model.json or "
        "session.json as they were saved"
    )


def study_of_model(text: str) -> Study:
    """Return the study of a model, as far as its file tells.

    Parameters
    ----------
    text : str
        The content of the model file.
    """
    stored = stored_model(text)
    clf, origin = stored.classifier, stored.origin
    if len(clf.classes_) != 2:
        raise DataError(
            f"expected a model of two classes for a report, got one of {len(clf.classes_)}: fit "
            "one class against the rest"
        )
    study = Study(
        rules=_rules_text(clf),
        blocks={
            name: define_columns(columns, clf.feature_index_)
            for name, columns in (clf.blocks or {}).items()
        },
        parameters=stored_settings(clf),
        risk_threshold=_threshold(stored),
        model=text,
    )
    if origin is None:
        return study
    found = replace(
        study,
        preparation=Options(origin.label, origin.classes[1], drop_constant=False),
        decided_by=origin.decided_by,
    )
    if origin.file is None:
        return found
    file = origin.file
    held = HeldBack() if file.test_share is None else HeldBack("split", file.test_share, file.seed)
    return replace(
        found,
        tables=(StudyTable("table", file.name, file.sha256, origin.file_format),),
        preparation=replace(file.preparation, positive=origin.classes[1]),
        held_back=held,
    )


def _threshold(stored: StoredModel) -> float | None:
    classes = stored.classifier.classes_ if stored.origin is None else stored.origin.classes
    return PositiveClassView(stored.classifier, (str(classes[0]), str(classes[1]))).threshold


def _rules_text(clf: HIPADClassifier) -> str:
    return clf.rules if isinstance(clf.rules, str) else ""


def study_of_session(raw: Mapping[str, Any]) -> Study:
    """Return the study of a session of the app, its present rules and settings.

    Parameters
    ----------
    raw : mapping
        The session file as JSON.
    """
    fit = raw.get("fit")
    if not isinstance(fit, dict):
        raise DataError(
            "expected a session that says how its model is fitted, got one of an earlier version: "
            "reopen it in the app and save it again"
        )
    try:
        prepared = dict(raw["preparation"])
        own = {name: prepared[name] for name in asdict(Options("")) if name in prepared}
        kind = prepared.get("test", "none")
        with of_any_version():
            return Study(
                tables=() if raw.get("sample") else _session_tables(raw, kind),
                sample=rebuild(str, raw.get("sample", "")),
                draw=dict(raw.get("draw") or {}),
                preparation=rebuild(Options, own),
                held_back=HeldBack(
                    rebuild(HeldBackKind, kind),
                    float(prepared.get("test_fraction", 0.25)),
                    int(prepared.get("seed", 0)),
                ),
                row_word=rebuild(str, prepared.get("row_word") or "row"),
                rules=rebuild(str, raw["rules"]) if fit.get("use_rules", True) else "",
                blocks=rebuild(dict[str, str], raw["blocks"]),
                parameters=dict(fit["parameters"]),
                lambda1_share=rebuild(float | None, fit.get("lambda1_share")),
                seal=SealedTest("", demonstration=True) if raw.get("sample") else None,
                seals=tuple(SealedTest.from_dict(one) for one in raw.get("seals") or []),
                edits=int(raw.get("edits", 0)),
                notes=read_notes(raw.get("notes") or {}),
            )
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"the session file cannot be used: {error}") from error


def _session_tables(raw: Mapping[str, Any], kind: str) -> tuple[StudyTable, ...]:
    name, key = rebuild(str, raw["data_name"]), rebuild(str, raw["data_key"])
    stated = FileFormat.from_dict(raw.get("file_format") or {})
    tables = [StudyTable("table", name, "" if key == name else key, stated)]
    if kind == "file":
        tables.append(StudyTable("test", "", ""))
    if raw.get("unlabelled"):
        tables.append(StudyTable("unlabelled", rebuild(str, raw["unlabelled"]), ""))
    return tuple(tables)


def read_notes(raw: Any) -> StudyNotes:
    """Return what people said of a study, as JSON holds it; ValueError where it does not fit."""
    with of_any_version():
        notes: StudyNotes = rebuild(StudyNotes, raw)
    if len(notes.answers) > MOST_ANSWERS or len(notes.provenance) > MOST_PROVENANCE:
        raise ValueError(
            f"expected at most {MOST_ANSWERS} answers and {MOST_PROVENANCE:,} rules, got more"
        )
    texts = [notes.title, notes.question, notes.remarks, *notes.answers.values()]
    texts += [text for one in notes.provenance for text in (one.who, one.when, one.source)]
    if any(len(text) > LONGEST_ANSWER for text in texts):
        raise ValueError(f"expected texts of at most {LONGEST_ANSWER:,} characters, got longer")
    return notes
