"""The data of a session: tables as they were read, and the numbers made of them.

`Loaded` is what came in, `Preparation` what the user wants done with it, `Dataset` the result. A
dataset is made once for each choice (data/loading.py) and kept: pages only look things up in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from threading import Lock
from typing import Annotated, Any, Final, Literal, NamedTuple

import numpy as np
import pandas as pd

from hipad.data import (
    MissingValues,
    Options,
    PreparationStep,
    Table,
    column_statistics,
    learning_rows,
)
from hipad.data.file_format import FOUND_OUT, FileFormat
from hipad.data.preprocessing import ColumnRecipe
from hipad.data.roles import DecidedBy, labels_of
from hipad.estimator.model_io import TableFile
from hipad.estimator.problem_factory import standardised_design
from hipad.rules import FeatureIndex, RuleSet, RulesText
from hipad.rules.compiler import read_for
from hipad.rules.context import ColumnValues, NameTable
from hipad.rules.names import resolve_kept
from hipad.utils import FloatArray, IntArray, count
from ui.settings import SEED, Choice, Number
from ui.text import in_row_word

MOST_CLASSES: Final = 50
NO_BLOCK: Final = "no block"
ROW: Final = "row"  # what a row is called where nothing says who or what it is
ROW_WORDS: Final = ("patient", "sample", "customer", "part", ROW)


@dataclass(frozen=True, eq=False)
class Loaded:
    """Tables as read, and what came with them; `key` tells it from anything else loaded."""

    name: str
    table: Table
    test: Table | None = None
    test_name: str = ""
    unlabelled: Table | None = None  # further patients whose class nobody knows
    unlabelled_name: str = ""
    sample: str = ""
    about: str = ""
    label: str = ""
    positive: str | None = None
    rules: str = ""
    blocks: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    preparation: Mapping[str, Any] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)  # what a synthetic sample is drawn from
    row_word: str = ""  # what a row is called; empty: as the names of its columns suggest

    @property
    def key(self) -> str:
        """The hash of the file, or the name of a sample: equal for equal data."""
        return self.table.sha256 or self.name

    @cached_property
    def missing(self) -> dict[str, int]:
        """Gaps of each numeric column that has any."""
        numbers = self.table.numbers
        if np.isfinite(numbers.data if self.table.is_sparse else numbers.sum()).all():
            return {}
        gaps = column_statistics(numbers).missing
        return {self.table.number_names[j]: int(gaps[j]) for j in np.flatnonzero(gaps)}

    def labels(self, column: str) -> list[str]:
        """The different labels in a column."""
        return list(self.frequency(column))

    def frequency(self, column: str) -> dict[str, int]:
        """How often each label comes in a column, by the alphabet."""
        names, times = np.unique(labels_of(self.table, column), return_counts=True)
        found = zip(map(str, names), map(int, times), strict=True)
        return {name: n for name, n in found if name}


@dataclass(frozen=True)
class Preparation(Options):
    """What is to be done with a table: each field is a choice on the Data page."""

    all_classes: bool = False  # of several: tell each from all others, not one from the rest
    test: Literal["split", "file", "none"] = "split"
    test_fraction: Annotated[float, Number(0.05, 0.98)] = 0.25
    seed: Annotated[int, SEED] = 0
    row_word: Annotated[str, Choice(("", *ROW_WORDS))] = ""  # empty: as the table suggests

    def options(self) -> dict[str, Any]:
        """The part that `hipad.data.prepare` takes."""
        return {field.name: getattr(self, field.name) for field in fields(Options)}


class JudgedRows(NamedTuple):
    """The rows that models are judged by."""

    part: Literal["test", "training"]
    X: Any
    y: np.ndarray
    groups: IntArray | None = None  # equal where rows are of one patient


@dataclass(frozen=True, eq=False)
class Dataset:
    """Training and test rows in the same columns; `y` holds class names as text."""

    name: str
    key: str
    X_train: Any
    y_train: np.ndarray
    X_test: Any | None
    y_test: np.ndarray | None
    index: FeatureIndex  # names of the columns of X
    every: FeatureIndex  # names of all columns, those left out among them; blocks speak of these
    kept: IntArray  # of all columns those in X
    classes: tuple[str, str]  # negative, positive
    steps: tuple[PreparationStep, ...]
    blocks: dict[str, IntArray]
    blocks_failed: dict[str, str]
    summary: pd.DataFrame  # one row per feature: feature, block, mean, sd, missing, min, max
    label: str
    recipe: ColumnRecipe  # how the columns of X come from those of the table
    patients: tuple[np.ndarray, np.ndarray]  # rows of the file, counted from one: training, test
    ids: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())  # of all rows, where the file has them
    decided_by: DecidedBy = "choice"  # why the positive class is the positive one
    file_format: FileFormat = FOUND_OUT  # what cells of later files mean
    X_all: Any | None = None  # training rows, then those without a label; None without any
    unlabelled_names: tuple[str, ...] = ()  # IDs or rows of those without a label
    every_label: tuple[np.ndarray, np.ndarray | None] | None = None  # where all are told apart
    group: str = ""  # the column whose rows are of one patient
    # of the learning rows and of the test rows: equal where rows are of one patient
    groups: IntArray | None = None
    groups_test: IntArray | None = None
    gaps_seen: MissingValues | None = None  # cells of X_seen without a value in the file
    gaps_test: MissingValues | None = None
    decimal: str = ""  # decimal mark of the file's numbers
    file: TableFile | None = None  # where the training rows come from
    unit: str = ROW  # one of ROW_WORDS: what a row is, or what several rows of a group belong to
    is_sealed: bool = False  # whether test rows judge where they were opened, and nowhere else
    _reading: Lock = field(default_factory=Lock, init=False, repr=False)

    @property
    def learning_rows(self) -> tuple[Any, np.ndarray]:
        """What a fit takes: training rows, then those without a label, whose class is None."""
        if self.X_all is None:
            return self.X_train, self.y_train
        labels = np.full(self.X_all.shape[0], None, dtype=object)
        labels[: len(self.y_train)] = self.y_train
        return self.X_all, labels

    @property
    def class_names(self) -> tuple[str, ...]:
        """All classes that are told apart, in order; two where it is one against the other."""
        if self.every_label is None:
            return self.classes
        return tuple(map(str, np.unique(self.every_label[0])))

    @property
    def groups_train(self) -> IntArray | None:
        """The patient of each training row, where several rows are of one."""
        return None if self.groups is None else self.groups[: len(self.y_train)]

    def row_word(self, n: float = 2) -> str:
        """Return what one or several of those are called whom the model is about.

        Where several rows belong to one of them and nothing names these, they are groups.
        """
        word = "group" if self.unit == ROW and self.groups is not None else self.unit
        return word if n == 1 else f"{word}s"

    def line_word(self, n: float = 2) -> str:
        """Return what one or several rows of the table are called, where rows are counted."""
        if self.groups is None:
            return self.row_word(n)
        return "row" if n == 1 else "rows"

    def said(self, text: str) -> str:
        """Return a sentence on patients in the word that these data have for them."""
        return in_row_word(text, self.row_word(1))

    @property
    def n_patients(self) -> int:
        """How many there are to learn from: rows, or groups of rows where these belong together."""
        own = self.groups_train
        return len(self.y_train) if own is None else int(np.unique(own).size)

    def whom(self, part: Literal["train", "test"]) -> str:
        """How many rows a part has, in the word for these, or rows of how many patients."""
        y = self.y_train if part == "train" else self.y_test
        groups = self.groups_train if part == "train" else self.groups_test
        n = 0 if y is None else len(y)
        if groups is None:
            return count(n, self.row_word(1))
        return f"{count(n, 'row')} of {count(np.unique(groups).size, self.row_word(1))}"

    @property
    def X_seen(self) -> Any:
        """All rows that numbers in rules, such as percentiles, are learnt from."""
        return self.X_train if self.X_all is None else self.X_all

    @property
    def gaps_train(self) -> MissingValues | None:
        """The cells of the training rows without a value in the file."""
        if not self.gaps_seen or self.X_all is None:
            return self.gaps_seen
        return self.gaps_seen.take(slice(len(self.y_train)))

    @cached_property
    def values(self) -> ColumnValues:
        """What numbers in rules, such as percentiles, are learnt from: measured values only."""
        return ColumnValues(self.X_seen, self.gaps_seen)

    @property
    def X_unlabelled(self) -> Any | None:
        """The rows without a label."""
        return None if self.X_all is None else self.X_all[len(self.y_train) :]

    @property
    def n_unlabelled(self) -> int:
        return len(self.unlabelled_names)

    def with_training(self, rows: Any, **others: Any) -> Dataset:
        """The same with some of the training rows only; those without a label all stay."""
        X, y = self.X_train[rows], self.y_train[rows]
        every = None if self.X_all is None else learning_rows(X, y, self.X_unlabelled)[0]
        labels, groups, gaps = self.every_label, self.groups, self.gaps_seen
        n = len(self.y_train)
        if labels is not None:
            labels = (labels[0][rows], labels[1])
        if groups is not None:
            groups = np.r_[groups[:n][rows], groups[n:]]
        if gaps:
            gaps = gaps.take(np.r_[np.arange(n)[rows], np.arange(n, self.X_seen.shape[0])])
        changed = {"X_all": every, "every_label": labels, "groups": groups, "gaps_seen": gaps}
        return replace(self, X_train=X, y_train=y, **{**changed, **others})

    @cached_property
    def standardisation(self) -> tuple[FloatArray, FloatArray]:
        """Means and scales of the columns, as a fit takes them."""
        signs = np.where(self.y_train == self.classes[1], 1.0, -1.0)
        design = standardised_design(self.X_train, signs, np.ones(len(signs)))
        assert design.mean is not None
        assert design.scale is not None
        return design.mean, design.scale

    @cached_property
    def name_table(self) -> NameTable:
        """What names in a text mean on these data."""
        return NameTable(self.index, self.blocks, self.values, decimal=self.decimal)

    def read(self, text: str) -> RulesText:
        """Rules and statements as these data understand them.

        A page and the check of its rules ask at the same time: the second waits for the first, and
        finds the text read.
        """
        with self._reading:
            return read_for(text, self.name_table, self.classes)

    def parse(self, text: str) -> RuleSet:
        """The same; RuleError at the first mistake."""
        found = self.read(text)
        if found.errors:
            raise copy(found.errors[0])  # what is remembered must not collect tracebacks
        return found.rules

    @property
    def feature_names(self) -> list[str]:
        return list(self.summary["feature"])

    @property
    def n_features(self) -> int:
        return int(self.X_train.shape[1])

    @property
    def judged(self) -> JudgedRows:
        """The test rows whose class is known, or the training ones where none may be looked at."""
        has_test = self.X_test is not None and self.y_test is not None and len(self.y_test) > 0
        if has_test and not self.is_sealed:
            assert self.y_test is not None
            return JudgedRows("test", self.X_test, self.y_test, self.groups_test)
        return JudgedRows("training", self.X_train, self.y_train, self.groups_train)

    def counts(self, part: Literal["train", "test"]) -> dict[str, int]:
        """Rows of each class, negative first."""
        y = self.y_train if part == "train" else self.y_test
        return {name: 0 if y is None else int((y == name).sum()) for name in self.classes}

    def called(self, which: int, rows: Any = slice(None)) -> np.ndarray:
        """Training (0) or test (1) rows by their IDs, or by their numbers."""
        numbers, ids = self.patients[which][rows], self.ids[which]
        return np.array([ids[i - 1] for i in numbers], dtype=object) if ids else numbers

    def block_of(self, columns: IntArray) -> list[str]:
        """The block that each of these columns is in, or `no block`."""
        return [str(block) for block in self.summary["block"].to_numpy()[columns]]

    def with_blocks(self, definitions: Mapping[str, str]) -> Dataset:
        """The same data with other blocks."""
        blocks, failed = resolve_kept(definitions, self.every, self.kept)
        summary = self.summary.assign(block=_block_names(self.n_features, blocks))
        return replace(self, blocks=blocks, blocks_failed=failed, summary=summary)


def _block_names(n_features: int, blocks: Mapping[str, IntArray]) -> np.ndarray:
    names = np.full(n_features, NO_BLOCK, dtype=object)
    for block, columns in reversed(list(blocks.items())):
        names[columns] = block
    return names
