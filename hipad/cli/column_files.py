"""Fits and answers on files that are read by columns, such as PLINK genotypes and column stores."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

import numpy as np
import scipy.sparse as sp

from hipad.cli.check import CheckedTable, class_lines, classes_of, read_rule_file, refuse, written
from hipad.cli.inputs import Bar, label_of, read_data, read_text
from hipad.dask_design import open_columns
from hipad.data import Table, with_labels
from hipad.data.column_store import MAGIC, ColumnSource
from hipad.data.preprocessing import ColumnRecipe
from hipad.data.roles import CERTAIN, find_classes, labels_of, positive_line, row_groups
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.model_io import Origin, StoredModel, save_model
from hipad.estimator.screening import ScreenedRun, columns_of_model, named_columns
from hipad.evaluation.metrics import PositiveClassView
from hipad.exceptions import DataError, RuleError
from hipad.rules import FeatureIndex, read_blocks
from hipad.rules.compiled_rule import first_outcome
from hipad.solvers.solution import single_thread
from hipad.streamed_design import filled
from hipad.utils import IntArray

# --------------------------------------------------------------------------------------------------
# Which files these are. Tables are read whole, with all that is known of their formats; a matrix on
# disk is read by columns, a block at a time, and is never in memory as a whole.


SOME_COLUMNS: Final = 5  # that a message about an unknown name gives as examples
ENDINGS: Final = (".bed", ".npy")
PHENOTYPE: Final = "phenotype"
CASES: Final = {0.0: "control", 1.0: "case"}
FOR_TABLES: Final = {
    "split": "--split",
    "test": "--test",
    "open_test": "--open-test",
    "unlabelled": "--unlabelled",
    "symbols": "--symbols",
    "exclude": "--exclude",
    "feature": "--feature",
    "id": "--id",
}


def is_column_file(path: str, options: argparse.Namespace) -> bool:
    """Whether a file is to be read by columns: by its form, or as memory is limited."""
    if options.memory is not None or options.scheduler is not None:
        return True
    place = Path(path)
    if place.is_dir() or place.suffix.lower() in ENDINGS:
        return True
    with suppress(OSError, ValueError), place.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC
    return False


def add_column_options(parser: argparse.ArgumentParser) -> None:
    """Add options: memory, and a cluster."""
    own = parser.add_argument_group(
        "files that are read by columns",
        "PLINK .bed, column stores, .npy and Zarr always; .h5ad if one of these is given",
    )
    own.add_argument(
        "--memory", metavar="SIZE", help="what a fit may take, such as 4GB (default: 1 GiB)"
    )
    own.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="a Dask scheduler, such as tcp://host:8786, whose workers then read the file and "
        "compute; they must see it under the same path (default: this machine)",
    )


def opened(path: str, options: argparse.Namespace) -> ColumnSource:
    """Return the columns of a file, on the cluster that is named."""
    return open_columns(Path(path).absolute(), memory=options.memory, scheduler=options.scheduler)


def rows_of(source: ColumnSource) -> Table:
    """Return the rows as a table of what is known of them without the columns."""
    names = source.row_names
    text = {}
    if source.labels is not None:
        text[PHENOTYPE] = np.array([CASES.get(float(one), "") for one in source.labels], dtype="U7")
    return Table(
        np.zeros((source.shape[0], 0)),
        (),
        text,
        "columns",
        label=PHENOTYPE if text else None,
        ids=() if names is None else tuple(map(str, names)),
    )


# --------------------------------------------------------------------------------------------------
# A fit. All that can be wrong is found before the first pass over the columns.


@dataclass(frozen=True)
class LabelledRows:
    """The rows of a file with their classes; None where a row has no label."""

    label: str
    classes: tuple[str, ...]
    decided_by: Any
    y: np.ndarray
    groups: IntArray | None

    @property
    def known(self) -> np.ndarray:
        """Which rows have a label."""
        return np.array([one is not None for one in self.y])


def run_column_fit(options: argparse.Namespace, words: TextIO) -> HIPADClassifier | None:
    """Fit a classifier to a file that is read by columns, and save it; None where rules were
    refused.
    """
    _refuse_options(options)
    text = read_rule_file(options.rules) if options.rules else ""
    source = opened(options.data, options)
    rows = _labelled(rows_of(source), options, text)
    blocks = _blocks(options.blocks, source)
    n, m = source.shape
    print(f"data: {n:,} rows by {m:,} columns, read by columns", file=words)
    if unknown := int((~rows.known).sum()):
        print(f"data: rows without a label: {unknown:,}", file=words)
    print("data: missing values are the mean of their column", file=words)
    rules: Any = text
    if len(rows.classes) == 2:
        print(positive_line(_two(rows), rows.decided_by), file=words)
        chosen = rows.decided_by in CERTAIN
        said = written(text, *_on_named(source, text, rows, blocks), chosen=chosen)
        if said.first.errors:
            refuse(options.rules, said)
            return None
        rules = said.rules
        for line in said.lines:
            print(line, file=words)
    else:
        print(f"classes: {', '.join(rows.classes)}; each is told from all others", file=words)
    clf = _fitted(_build(options, rules, blocks), source, rows)
    save_model(clf, Path(options.model), origin=_origin(clf, rows))
    for line in _report(clf, source, rows):
        print(line, file=words)
    return clf


def _refuse_options(options: argparse.Namespace) -> None:
    given = [word for name, word in FOR_TABLES.items() if getattr(options, name, None)]
    if given:
        raise DataError(
            f"expected no {given[0]} for a file that is read by columns, got it: leave it out "
            "(labels and groups come from --labels FILE; hipad predict judges by another file)"
        )


def _labelled(table: Table, options: argparse.Namespace, rules: str) -> LabelledRows:
    if options.labels:
        table = with_labels(table, read_data(options.labels, turn=False))
    if not table.names:
        raise DataError(
            "expected the classes of the rows, got none: give a table with the rows' IDs and "
            "their classes as --labels FILE"
        )
    label, several = label_of(table, options), classes_of(table, options)
    cells = labels_of(table, label)
    has_label = cells != ""
    decided: Any = "choice"
    classes: tuple[str, ...] = several
    if not several:
        found = find_classes(cells[has_label], label, options.positive, first_outcome(rules))
        cells, decided = found.apply(cells), found.decided_by
        classes = (str(found.negative), str(found.positive))
    y = np.full(len(cells), None, dtype=object)
    y[has_label] = [str(cell) for cell in cells[has_label]]
    groups = row_groups(table, options.group) if options.group else None
    return LabelledRows(label, classes, decided, y, groups)


def _blocks(path: str | None, source: ColumnSource) -> dict[str, IntArray]:
    """Return the blocks of a file, as columns of the source."""
    if path is None:
        return {}
    text = read_text(path)
    columns, _ = named_columns(source, text, None)
    index = FeatureIndex(source.names_of(columns))
    try:
        found = read_blocks(text, index)
    except RuleError as error:
        raise DataError(f"{path}: {error} (patterns are for tables in memory)") from error
    for remark in found.remarks:
        print(f"note: {Path(path).name}: {remark}", file=sys.stderr)
    return {name: columns[members] for name, members in found.columns.items()}


def _on_named(
    source: ColumnSource, text: str, rows: LabelledRows, blocks: dict[str, IntArray]
) -> tuple[CheckedTable, dict[str, IntArray]]:
    """What rules are read on: the columns that they may name, and no others."""
    columns, own = named_columns(source, text, blocks)
    columns = np.union1d(columns, np.arange(min(SOME_COLUMNS, source.shape[1]))).astype(np.intp)
    known = np.flatnonzero(rows.known)
    X = filled(source.columns(columns)[known])
    negative, positive = _two(rows)
    table = CheckedTable(
        X,
        np.where(rows.y[known] == positive, 1.0, -1.0),
        known + 1,
        (negative, positive),
        FeatureIndex(source.names_of(columns)),
        rows_of(source),
    )
    places = {name: np.searchsorted(columns, members) for name, members in own.items()}
    return table, places


def _two(rows: LabelledRows) -> tuple[str, str]:
    negative, positive = rows.classes
    return negative, positive


def _build(options: argparse.Namespace, rules: Any, blocks: dict[str, IntArray]) -> HIPADClassifier:
    from hipad.cli.models import build

    return build(options, rules, blocks)


def _fitted(clf: HIPADClassifier, source: ColumnSource, rows: LabelledRows) -> HIPADClassifier:
    """Fit with a bar; Ctrl-C ends the fit, with the model so far where there is one."""
    from hipad.cli.models import stopping

    watch = clf.fit_iter(source, rows.y, groups=rows.groups, interactive=False)
    assert isinstance(watch, ScreenedRun)
    with Bar() as bar, stopping(watch), single_thread():
        watch.screening.on_block = lambda passes: bar.show(f"reading columns: pass {passes:.1f}")
        for record in watch:
            bar.progress(record)
    return watch.finish()


def _origin(clf: HIPADClassifier, rows: LabelledRows) -> Origin:
    """Return what later files need: the columns that the model knows, and what fills their gaps."""
    columns, kept = clf.columns_, clf.support_
    fill = clf.on_columns_._data.X.mean(axis=0)
    fill[np.searchsorted(columns, kept)] = clf.support_means_
    names = tuple(clf.on_columns_.feature_index_.names or ())
    recipe = ColumnRecipe(names, {}, np.asarray(fill, dtype=float))
    return Origin(rows.label, rows.classes, recipe, rows.decided_by)


def _report(clf: HIPADClassifier, source: ColumnSource, rows: LabelledRows) -> Iterator[str]:
    yield f"passes: the columns were read {clf.n_passes_:.1f} times"
    if len(rows.classes) > 2:
        yield from class_lines(clf)
    else:
        yield (
            f"features: {clf.support_.size:,} of {clf.n_features_in_:,} kept at lambda1 "
            f"{clf.lambda1_:.4g}"
        )
        yield f"solver: {clf.solver_}"
        yield f"certificate: {clf.certificate_}"
        if clf.certificate_.message:
            yield f"note: {clf.certificate_.message}"
        known = rows.known
        held = source.select(np.flatnonzero(known))
        model = PositiveClassView(clf, _two(rows))
        own = None if rows.groups is None else rows.groups[known]
        yield str(model.judge(held, rows.y[known].astype(str), part="training", groups=own))
    yield from map(str, clf.rule_report_)
    yield from map(str, clf.knowledge_report_)


# --------------------------------------------------------------------------------------------------
# Answers. Of a file only the columns that the model uses are read.


def columns_to_predict(path: str, stored: StoredModel, origin: Origin) -> tuple[Any, Table]:
    """Return the columns of a model in a file that is read by columns, gaps filled as in training,
    and what is known of its rows.
    """
    source, clf = open_columns(Path(path).absolute()), stored.classifier
    columns, kept = columns_of_model(clf, source), clf.support_
    values, fill = source.columns(columns), origin.recipe.fill
    gaps = np.isnan(values)
    values = np.where(gaps, 0.0 if fill is None else fill[kept], values)
    place = np.repeat(kept, values.shape[0])
    row = np.tile(np.arange(values.shape[0]), kept.size)
    shape = (values.shape[0], clf.n_features_in_)
    return sp.csr_array((values.ravel(order="F"), (row, place)), shape=shape), rows_of(source)


def is_column_file_to_predict(path: str) -> bool:
    """Whether a file is read by columns by its form alone."""
    return is_column_file(path, argparse.Namespace(memory=None, scheduler=None))
