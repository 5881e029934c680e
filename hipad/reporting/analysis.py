"""From a study and its tables to everything that its report shows.

    tables = sample_tables(study)                  # or {"table": read_table(path)}
    found = analyse(study, tables)                 # Findings
    for step in (steps := analyse_steps(study, tables)): ...   # with progress

The whole analysis follows from the study: which rows are held back, the fit, the folds that repeat
it, the refits to halves. So whoever has the study and the tables finds the same figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from hipad.data import (
    Prepared,
    Table,
    TestRows,
    learning_gaps,
    learning_groups,
    learning_rows,
    match_test,
    match_unlabelled,
    prepare,
    split,
    with_labels,
    with_symbols,
)
from hipad.data.roles import row_names
from hipad.datasets import SAMPLES, ksvm_tables, make_ksvm_s, read_sample
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.model_io import (
    Origin,
    StoredModel,
    read_model,
    save_model,
    unfitted_classifier,
)
from hipad.estimator.problem_factory import largest_lambda1
from hipad.evaluation.assessment import Assessment, Source, Step, Steps, assess_steps
from hipad.evaluation.comparison import Difference, compare_rows
from hipad.evaluation.cross_validation import CorrectedFigure, corrected_figure, data_digest
from hipad.evaluation.metrics import PositiveClassView, named_outcomes
from hipad.evaluation.stability import Stability, stability_steps
from hipad.exceptions import DataError
from hipad.reporting.study import Study, TableRole
from hipad.rules import FeatureIndex, RuleSet
from hipad.rules.compiled_rule import first_outcome
from hipad.rules.compiler import read_for
from hipad.rules.context import ColumnValues, NameTable
from hipad.rules.names import resolve_kept
from hipad.solvers.solution import single_thread
from hipad.utils import IntArray

Tables = Mapping[TableRole, Table]
SYNTHETIC: Final = "ksvm-s-"
CORRECTED: Final = "balanced_accuracy"


def sample_tables(study: Study) -> dict[TableRole, Table]:
    """Return the tables of a bundled sample.

    >>> sorted(sample_tables(Study(sample="pima")))
    ['table']
    """
    if study.sample in SAMPLES:
        return {"table": read_sample(study.sample).table}
    preset = study.sample.removeprefix(SYNTHETIC)
    if preset == study.sample:
        raise DataError(f"expected a bundled sample, got {study.sample!r}: give the tables")
    controls = {name: value for name, value in study.draw.items() if name != "preset"}
    try:
        data = make_ksvm_s(preset, **controls)
    except TypeError as error:
        raise DataError("expected sizes to draw the sample at, got others") from error
    train, test = ksvm_tables(data, preset, **controls)
    return {"table": train, "test": test}


# --------------------------------------------------------------------------------------------------
# The rows of a study, and its fits.


@dataclass(frozen=True, eq=False)
class Arranged:
    """The prepared rows of a study: `hipad.evaluation.assessment.Fits`."""

    study: Study
    train: Prepared
    test: TestRows | None
    X: Any  # all rows that a fit takes: those with a label, then the others
    y: np.ndarray
    blocks: dict[str, IntArray]
    gaps: Any
    n_rows: int  # of the table
    n_unlabelled_file: int = 0
    test_names: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def classes(self) -> tuple[str, str]:
        return self.train.classes

    @property
    def X_train(self) -> Any:
        return self.train.X

    @property
    def y_train(self) -> np.ndarray:
        return self.train.y

    @cached_property
    def groups(self) -> IntArray | None:
        """Numbers of all rows that a fit takes, equal where rows are of one patient."""
        return learning_groups(self.train, len(self.y))

    @property
    def groups_train(self) -> IntArray | None:
        return None if self.groups is None else self.groups[: len(self.y_train)]

    @property
    def X_test(self) -> Any:
        return None if self.test is None else self.test.X

    @property
    def y_test(self) -> np.ndarray | None:
        return None if self.test is None else self.test.y

    @property
    def groups_test(self) -> IntArray | None:
        return None if self.test is None else self.test.groups

    @cached_property
    def index(self) -> FeatureIndex:
        """The names of the columns of X."""
        return FeatureIndex(self.train.feature_names)

    @property
    def n_unlabelled(self) -> int:
        """How many rows without a label are learnt from."""
        return len(self.y) - len(self.y_train)

    @cached_property
    def has_rules(self) -> bool:
        """Whether the rules say anything."""
        known = self.rules()
        return bool(known or known.statements)

    def rules(self, rows: IntArray | None = None) -> RuleSet:
        """Return the rules as some of the rows understand them, their outcomes as class names."""
        X, gaps = (self.X, self.gaps) if rows is None else self._part(rows)[::2]
        values = ColumnValues(X, gaps)
        decimal = self.train.table.decimal
        table = NameTable(self.index, self.blocks, values, decimal=decimal)
        found = read_for(self.study.rules, table, self.classes)
        if found.errors:
            raise found.errors[0]
        return named_outcomes(found.rules, self.classes)

    def start(self, learnt: IntArray | None, *, rules: bool) -> Any:
        """Begin the fit, to some of the training rows or to all, with rules or without."""
        X, y, gaps, groups = self.X, self.y, self.gaps, self.groups
        if learnt is not None:
            X, y, gaps = self._part(learnt)
            n = len(self.y_train)
            groups = None if groups is None else np.r_[groups[:n][learnt], groups[n:]]
        said = self.rules(learnt) if rules else None
        clf = unfitted_classifier(self.study.parameters, said, self.blocks)
        if self.study.lambda1_share is not None:
            rows = self.train.X if learnt is None else self.train.X[learnt]
            labels = self.y_train if learnt is None else self.y_train[learnt]
            signs = np.where(labels == self.classes[1], 1.0, -1.0)
            largest = largest_lambda1(
                rows, signs, standardize=clf.standardize, class_weight=clf.class_weight
            )
            clf.set_params(lambda1=self.study.lambda1_share * largest)
        return clf.fit_iter(
            X, y, groups=groups, feature_names=self.index, interactive=False, gaps=gaps
        )

    def _part(self, learnt: IntArray) -> tuple[Any, np.ndarray, Any]:
        """Return some training rows with all rows without a label, their labels and gaps."""
        n = len(self.y_train)
        rows = np.r_[np.arange(n)[learnt], np.arange(n, len(self.y))]
        gaps = self.gaps.take(rows) if self.gaps else self.gaps
        X = self.train.X[learnt] if len(self.y) == n else self.X[rows]
        return X, self.y[rows], gaps

    @property
    def origin(self) -> Origin:
        """What later tables need to be prepared in the same way."""
        train = self.train
        return Origin(
            train.options.label,
            train.classes,
            train.recipe,
            self.study.decided_by,
            train.group,
            train.table.reading.later,
        )


def arrange(study: Study, tables: Tables) -> Arranged:
    """Prepare the rows of a study; DataError where the tables are not those it names.

    Parameters
    ----------
    study : Study
        What was decided.
    tables : mapping from role to Table
        The files as they were read, in the format that the study states.
    """
    if "table" not in tables:
        raise DataError("expected the table of the study, got none: give the file")
    for role, table in tables.items():
        study.check_table(role, table.sha256)
    table = tables["table"]
    if "labels" in tables:
        table = with_labels(table, tables["labels"])
    if "symbols" in tables:
        table = with_symbols(table, tables["symbols"])
    options, held = study.preparation, study.held_back
    test: TestRows | None = None
    tested, outcome = table, first_outcome(study.rules)
    if held.kind == "split":
        parts = split(table, options, held.share, held.seed, outcome=outcome)
        train, test = parts.train, parts.test
    else:
        train = prepare(table, **asdict(options), outcome=outcome)
        if held.kind == "file":
            if "test" not in tables:
                raise DataError("expected the test rows of the study, got none: give their file")
            tested = tables["test"]
            test = match_test(train, tested)
    more = None
    if "unlabelled" in tables and options.use_unlabelled:
        more = match_unlabelled(train, tables["unlabelled"])
    X, y = learning_rows(train.X, train.y, train.unlabelled, None if more is None else more.X)
    every = FeatureIndex(replace(train.recipe, kept=None).feature_names)
    kept = train.recipe.kept
    blocks, _ = resolve_kept(study.blocks, every, np.arange(len(every)) if kept is None else kept)
    steps = (*train.steps, *(() if test is None else test.steps))
    return Arranged(
        study=study,
        train=replace(train, steps=(*steps, *(() if more is None else more.steps))),
        test=test,
        X=X,
        y=y,
        blocks=blocks,
        gaps=learning_gaps(train, more),
        n_rows=table.n_rows,
        n_unlabelled_file=0 if more is None else len(more.rows),
        names=_row_names(table, train, train.rows),
        test_names=() if test is None else _row_names(tested, train, test.rows),
    )


def _row_names(table: Table, train: Prepared, rows: IntArray) -> tuple[str, ...]:
    known = {name: role for name, role in train.roles.items() if name in table.names}
    ids = row_names(table, known)
    return tuple(ids[i] if ids else str(i + 1) for i in rows.tolist())


# --------------------------------------------------------------------------------------------------
# Everything that is found.


@dataclass(frozen=True, eq=False)
class Findings:
    """What a report shows.

    Attributes
    ----------
    study : Study
        What was asked.
    stored : StoredModel
        The fitted model, with the origin of its columns.
    arranged : Arranged or None
        The rows; None where only a model file is there, which has no figures.
    assessment : Assessment or None
        Scores of rows that the model has not seen.
    differences : tuple of Difference
        What the rules change, on these rows.
    corrected : CorrectedFigure or None
        The figure of the best version tried, corrected for the choice.
    stability, stability_without : Stability or None
        Refits to halves, with rules and without.
    repeats : bool or None
        Whether the model of the study was found again; None where it holds none.
    """

    study: Study
    stored: StoredModel
    arranged: Arranged | None = None
    assessment: Assessment | None = None
    differences: tuple[Difference, ...] = ()
    corrected: CorrectedFigure | None = None
    stability: Stability | None = None
    stability_without: Stability | None = None
    repeats: bool | None = None

    @property
    def classifier(self) -> HIPADClassifier:
        return self.stored.classifier

    @cached_property
    def classes(self) -> tuple[str, str]:
        """The negative and the positive class."""
        if self.stored.origin is not None:
            negative, positive = self.stored.origin.classes[:2]
            return negative, positive
        labels = [str(label) for label in self.classifier.classes_]
        return labels[0], labels[1]

    @cached_property
    def view(self) -> PositiveClassView:
        """The model, seen from the positive class."""
        return PositiveClassView(self.classifier, self.classes)


def analyse(study: Study, tables: Tables) -> Findings:
    """Return everything that a report of the study shows; see `analyse_steps`."""
    steps = analyse_steps(study, tables)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Findings = end.value
            return found


def analyse_steps(study: Study, tables: Tables) -> Steps[Findings]:
    """Find everything that a report shows; yields a `Step` after each step.

    Parameters
    ----------
    study : Study
        What was decided; figures on test rows are computed only where its test set was opened.
    tables : mapping from role to Table
        The files: see `arrange`.

    Yields
    ------
    Step
        What is being done, and which share of all is done.

    Returns
    -------
    Findings
        What was found, as the value of the generator.
    """
    steps = _analyse_steps(study, tables)
    while True:
        with single_thread():  # sums of several threads differ in the last digits
            try:
                step = next(steps)
            except StopIteration as end:
                found: Findings = end.value
                return found
        yield step


def _analyse_steps(study: Study, tables: Tables) -> Steps[Findings]:
    yield Step("The table is prepared", 0.0)
    rows = arrange(study, tables)
    if rows.y_test is not None and len(rows.y_test):
        study = study.sealed_by(data_digest(rows.X_test, rows.y_test))
        rows = replace(rows, study=study)
    if len(np.unique(rows.y_train)) != 2:
        raise DataError("expected two classes for a report: tell one class from the rest")
    run = rows.start(None, rules=True)
    for _ in run:
        yield Step("The model is fitted", 0.02)
    clf = run.finish()
    if study.risk_threshold is not None:
        clf.set_risk_threshold(study.risk_threshold, positive=rows.classes[1])
    stored = StoredModel(clf, rows.origin)
    again = None if not study.model else same_model(stored_model(study.model), stored)
    is_open = study.is_open and rows.y_test is not None and len(rows.y_test) > 0
    source: Source = "test" if is_open else "cross-validated"
    share = 0.45 if study.analysis.refits else 0.9
    found = yield from _part(
        assess_steps(
            rows,
            clf,
            source,
            names=np.array(rows.test_names if is_open else rows.names, dtype=object),
            noun=study.row_word,
            n_folds=study.analysis.folds,
            random_state=study.analysis.fold_seed,
        ),
        0.05,
        share,
    )
    found = found.at(study.risk_threshold)
    yield Step("What each rule did is found by fits without it", 0.05 + share)
    _ = clf.rule_report_, clf.knowledge_report_, clf.risk_curve_
    differences: tuple[Difference, ...] = ()
    if found.without is not None:
        differences = compare_rows(found.without, found.rows, ("balanced_accuracy", "roc_auc"))
    own = without = None
    if study.analysis.refits:
        own, without = yield from _part(_refits(rows, clf, source), 0.07 + share, 0.92 - share)
    return Findings(
        study=study,
        stored=stored,
        arranged=rows,
        assessment=found,
        differences=differences,
        corrected=_corrected(study, found),
        stability=own,
        stability_without=without,
        repeats=again,
    )


def _part(steps: Steps[Any], start: float, share: float) -> Steps[Any]:
    """Yield the steps of a part as shares of the whole."""
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            return end.value
        yield Step(step.message, start + share * step.share)


def _refits(
    rows: Arranged, clf: HIPADClassifier, source: str
) -> Steps[tuple[Stability, Stability | None]]:
    """Refit the model, and one without its rules, to halves of the training rows."""
    plan = rows.study.analysis
    asked = rows.X_test if source == "test" else None
    parts = 1 + int(rows.has_rules)
    found: list[Stability] = []
    for part in range(parts):
        which = "without rules" if part else "of the model"
        fitted = clf
        if part:
            run = rows.start(None, rules=False)
            for _ in run:
                yield Step("A model without rules is fitted", part / parts)
            fitted = run.finish()
        sign = PositiveClassView(fitted, rows.classes).sign
        last: Stability | None = None
        for last in stability_steps(
            fitted, plan.refits, X_rows=asked, random_state=plan.refit_seed
        ):
            done = (last.done + last.decoy_refits) / (1.2 * last.total)
            message = f"Refits {which}: {last.done:,} of {last.total:,}"
            yield Step(message, (part + done) / parts)
        assert last is not None
        found.append(last.seen_from(sign).at(rows.study.risk_threshold))
    return found[0], found[1] if parts == 2 else None


def _corrected(study: Study, found: Assessment) -> CorrectedFigure | None:
    """Correct the figure of the best version tried; of cross-validated rows only."""
    if found.source != "cross-validated" or len(study.versions) < 2:
        return None
    scores = [one.scores for one in study.versions if len(one.scores) == len(found.rows)]
    if len(scores) < 2:
        return None
    with suppress(DataError):  # too few patients of a class to draw from
        return corrected_figure(
            np.column_stack(scores), found.rows.positive, CORRECTED, groups=found.rows.groups
        )
    return None


def findings_of_model(study: Study) -> Findings:
    """Return what a model file alone tells: no figure, as it holds no rows."""
    return Findings(study=study, stored=stored_model(study.model))


def stored_model(text: str) -> StoredModel:
    """Return the model of the text of a model file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        path.write_text(text, "utf-8")
        return read_model(path)


def model_text(stored: StoredModel) -> str:
    """Return a model as the text of a model file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        save_model(stored.classifier, path, origin=stored.origin)
        return path.read_text("utf-8")


def same_model(one: StoredModel, other: StoredModel) -> bool:
    """Return whether two models have the same weights, to the last digit that is told."""
    first, second = one.classifier, other.classifier
    if not np.array_equal(first.support_, second.support_):
        return False
    close = np.allclose(first.coef_, second.coef_, rtol=1e-9, atol=0.0)
    return bool(close and np.allclose(first.intercept_, second.intercept_, rtol=1e-9, atol=1e-12))
