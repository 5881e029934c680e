"""From tables as they were read, and what the user wants done with them, to a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from hipad.data import (
    Options,
    Prepared,
    Table,
    TestRows,
    learning_gaps,
    learning_rows,
    match_test,
    match_unlabelled,
    prepare,
    split,
    summarise,
)
from hipad.data.preprocessing import labelled_rows
from hipad.data.roles import labels_of, row_names
from hipad.data.written_numbers import Text
from hipad.exceptions import DataError
from hipad.rules import FeatureIndex
from hipad.rules.compiled_rule import first_outcome
from hipad.utils import IntArray
from ui.dataset import NO_BLOCK, Dataset, Loaded, Preparation


def build(
    loaded: Loaded, preparation: Preparation, blocks: Mapping[str, str], rules: str = ""
) -> Dataset:
    """Prepare the loaded tables; DataError says what is wrong with the choice.

    The first of the rules may tell which class is positive.
    """
    train, test = _rows(loaded, preparation, first_outcome(rules))
    more = _unlabelled(loaded, preparation, train)
    X, _ = learning_rows(train.X, train.y, train.unlabelled, None if more is None else more.X)
    n, alone = len(train.y), X is train.X
    groups = train.groups
    if groups is not None and X.shape[0] > len(groups):  # of another file: of other patients
        groups = np.r_[groups, groups.max() + 1 + np.arange(X.shape[0] - len(groups))]
    everything = replace(train.recipe, kept=None).feature_names
    kept = train.recipe.kept
    summary = summarise(train.X, train.feature_names)
    summary["missing"] = [loaded.missing.get(name, 0) for name in train.feature_names]
    summary.insert(1, "block", NO_BLOCK)
    labels = _every_label(loaded, preparation, train, test)
    bare = Dataset(
        name=loaded.name,
        key=loaded.key,
        X_train=train.X if alone else X[:n],
        y_train=train.y,
        X_test=None if test is None else test.X,
        y_test=None if test is None else test.y,
        index=FeatureIndex(train.feature_names),
        every=FeatureIndex(everything),
        kept=np.arange(len(everything)) if kept is None else kept,
        classes=train.classes,
        steps=tuple(
            step
            for part in (train, test, more)
            for step in (() if part is None else part.steps)
            if step.option != "positive" or labels is None
        ),
        blocks={},
        blocks_failed={},
        summary=summary,
        label=preparation.label,
        recipe=train.recipe,
        patients=(train.rows + 1, np.empty(0, int) if test is None else test.rows + 1),
        ids=(_ids(loaded.table, train), _ids(_tested(loaded, preparation), train)),
        group=train.group,
        groups=groups,
        groups_test=None if test is None else test.groups,
        decided_by=train.decided_by,
        file_format=loaded.table.reading.later,
        X_all=None if alone else X,
        every_label=labels,
        gaps_seen=learning_gaps(train, more),
        gaps_test=None if test is None else test.gaps,
        decimal=loaded.table.decimal,
        unlabelled_names=(
            *_names(loaded.table, train.unlabelled_rows),
            *(() if more is None else _names(loaded.unlabelled, more.rows, second=True)),
        ),
    )
    return bare.with_blocks(blocks)


def _ids(table: Table, train: Prepared) -> tuple[str, ...]:
    """What rows of a table are called, by the columns that name them in training."""
    return row_names(table, {n: role for n, role in train.roles.items() if n in table.names})


def _every_label(
    loaded: Loaded, preparation: Preparation, train: Prepared, test: TestRows | None
) -> tuple[Text, Text | None] | None:
    """The labels of training and test rows as they are, where several classes are told apart."""
    if not preparation.all_classes or not train.merged:
        return None
    labels = labels_of(loaded.table, preparation.label)[train.rows]
    if test is None or test.y is None:
        return labels, None
    known = sorted({*train.merged, train.classes[1]})
    return labels, labels_of(_tested(loaded, preparation), preparation.label, known)[test.rows]


def _names(table: Table | None, rows: IntArray, *, second: bool = False) -> list[str]:
    """Patients by their IDs, or by the number of their row in the first or second file."""
    ids = () if table is None else table.row_ids
    where = " of the second file" if second else ""
    return [ids[i] if ids else f"row {i + 1}{where}" for i in rows.tolist()]


def _unlabelled(loaded: Loaded, preparation: Preparation, train: Prepared) -> TestRows | None:
    """The rows of the file of patients without a label, where there is one."""
    if loaded.unlabelled is None or not preparation.use_unlabelled:
        return None
    return match_unlabelled(train, loaded.unlabelled)


def facing_rules(data: Dataset, loaded: Loaded, preparation: Preparation, rules: str) -> Dataset:
    """The data with the positive class that the rules tell now, where neither user nor labels do.

    The patients stay where they are: only which of the two classes is called positive changes.
    """
    if data.decided_by not in ("rule", "rarer", "order"):
        return data
    options = Options(**preparation.options())
    _, _, classes = labelled_rows(loaded.table, options, first_outcome(rules))
    told = (classes.negative, classes.positive)
    if (told, classes.decided_by) == (data.classes, data.decided_by):
        return data
    return replace(data, classes=told, decided_by=classes.decided_by)


def _tested(loaded: Loaded, preparation: Preparation) -> Table:
    """The table that test patients are rows of."""
    return loaded.test if preparation.test == "file" and loaded.test else loaded.table


def _rows(
    loaded: Loaded, preparation: Preparation, outcome: str
) -> tuple[Prepared, TestRows | None]:
    """Training rows, and test rows where they are asked for."""
    if preparation.test == "split":
        options = Options(**preparation.options())
        share, seed = preparation.test_fraction, preparation.seed
        parts = split(loaded.table, options, share, seed, outcome=outcome)
        return parts.train, parts.test
    train = prepare(loaded.table, **preparation.options(), outcome=outcome)
    if preparation.test != "file":
        return train, None
    if loaded.test is None:
        raise DataError("expected a second file with test rows, got none: give one, or split")
    return train, match_test(train, loaded.test)
