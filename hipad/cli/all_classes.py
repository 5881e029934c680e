"""Tables and models of three classes or more, none of which is the positive one.

Columns are prepared without regard to labels. So a table is prepared as for one class against the
rest, and then has all its labels back.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hipad.cli.inputs import label_of
from hipad.data import Matched, Prepared, Table
from hipad.data.classes import check_known, labels_of
from hipad.data.preparing import MAX_LEVELS
from hipad.data.table import Text
from hipad.errors import DataError
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.files.model_file import Origin
from hipad.evaluation.judging import classes_line
from hipad.wording import count


def classes_of(table: Table, options: argparse.Namespace) -> tuple[str, ...]:
    """The classes to tell apart where there are three or more; () where it is one against another.

    There may be as many as a text column may have levels: a label of more is hardly one.
    """
    if options.positive is not None:
        return ()
    names = [name for name in np.unique(labels_of(table, label_of(table, options))) if name]
    return tuple(map(str, names)) if 2 < len(names) <= MAX_LEVELS else ()


def with_all_labels(train: Prepared) -> Prepared:
    """The training rows with the labels that they have in the table."""
    y = labels_of(train.table, train.options.label)[train.rows]
    steps = tuple(step for step in train.steps if step.option != "positive")
    return replace(train, y=y, steps=steps)


def labels_of_test(test: Matched, table: Table, label: str, classes: Sequence[str]) -> Text:
    """The labels of test rows, which must be among the classes of the training rows."""
    labels = labels_of(table, label, classes)[test.rows]
    check_known(labels, set(classes), label)
    return labels


def class_lines(clf: HIPADClassifier) -> list[str]:
    """Features and certificates of all classes' models, and what was made of rules."""
    lines = [
        f"features: {clf.support_.size:,} of {clf.n_features_in_:,} kept in "
        f"{count(len(clf.classes_), 'model')}, one for each class against the rest"
    ]
    for label, one in clf.class_models_.items():
        bounds = one.certificate_
        lines.append(
            f"  {label}: {count(one.support_.size, 'feature')} at lambda1 {one.lambda1_:.4g}; "
            f"{bounds.status}, at most {bounds.gap:.1e} (relative) above the optimum"
        )
    lines.append(f"certificate (the worst of all classes): {clf.certificate_}")
    if clf.certificate_.message:
        lines.append(f"note: {clf.certificate_.message}")
    return lines


def judged(clf: HIPADClassifier, X: Any, truth: Text, part: str) -> str:
    """How many answers are right, of all rows and of each class."""
    return classes_line(clf.predict(X), truth, clf.classes_.tolist(), part=part)


def answer_columns(clf: HIPADClassifier, X: Any, classes: Sequence[str]) -> dict[str, list[Any]]:
    """For each row its class, and the score and risk of every class."""
    scores, risks = clf.decision_function(X), clf.predict_proba(X)
    columns: dict[str, list[Any]] = {"class": [classes[k] for k in np.argmax(scores, axis=1)]}
    columns |= {f"score of {name}": scores[:, k].tolist() for k, name in enumerate(classes)}
    return columns | {f"risk of {name}": risks[:, k].tolist() for k, name in enumerate(classes)}


def two_classes(origin: Origin) -> tuple[str, str]:
    """The classes of a model, for a command that takes two; DataError where there are more."""
    if len(origin.classes) != 2:
        raise DataError(
            f"expected a model of two classes, got one of {len(origin.classes)}: fit one class "
            "against the rest, with --positive"
        )
    negative, positive = origin.classes
    return negative, positive
