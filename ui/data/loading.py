"""From a file or a sample to a dataset, in threads, while every page stays usable.

state.begin_load(LoadingJob("Diabetes", make, runs=True))   # those before it are void
loading.wait(0.1)                                           # pages poll it
state.take(loading)                                         # only the newest one is taken
"""

from __future__ import annotations

import re
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from hipad.data import (
    LIMITS,
    Cancelled,
    Limits,
    Options,
    Prepared,
    Table,
    TestRows,
    Turn,
    learning_gaps,
    learning_groups,
    learning_rows,
    match_test,
    match_unlabelled,
    prepare,
    read_apart,
    split,
    summarise,
)
from hipad.data.file_format import FOUND_OUT, FileFormat, stated_number
from hipad.data.preprocessing import labelled_rows, roles_for
from hipad.data.roles import Role, group_column, labels_of, name_words, row_names, words_of
from hipad.data.written_numbers import Text
from hipad.estimator.model_io import TableFile
from hipad.exceptions import DataError
from hipad.rules import FeatureIndex
from hipad.rules.compiled_rule import first_outcome
from hipad.utils import IntArray
from ui.dataset import MOST_CLASSES, NO_BLOCK, ROW, Dataset, Loaded, Preparation
from ui.jobs import SCHEDULER, UNSEEN_SECONDS, BackgroundJob, JobStopped

# --------------------------------------------------------------------------------------------------
# A first guess: above all, which column holds the classes.

# Words that name an outcome, in the languages of most exports; a longer name may hold one of them.
OUTCOME_WORDS: Final = frozenset({
    "label", "class", "outcome", "target", "y", "diagnosis", "status", "group", "response",
    "result", "endpoint", "diagnose", "befund", "klasse", "gruppe", "ergebnis", "ausgang",
    "zielgröße", "endpunkt", "diagnostic", "diagnóstico", "diagnostico", "classe", "groupe",
    "résultat", "resultat", "clase", "grupo", "resultado", "diagnosi", "esito", "uitkomst",
})  # fmt: skip
NEAR_EDGE: Final = 20  # columns of numbers that are looked at, from the start and from the end


def first_preparation(loaded: Loaded) -> Preparation:
    """A guess to start from: the label that came with the data, or the likeliest column."""
    label = loaded.label or loaded.table.label or likely_label(loaded)
    test = "split" if loaded.test is None else "file"
    choices = {"positive": loaded.positive, "test": test, **loaded.preparation}
    return Preparation(label=label, **choices)


def likely_label(loaded: Loaded) -> str:
    """Return the column whose name or content looks most like a label.

    First by its name, the whole of it or a word in it; then the last column of text with two
    values, and the last and the first column of numbers.
    """
    names = loaded.table.names
    looked_at = names[:1000] + names[-1000:]
    for name in looked_at:
        if name.lower() in OUTCOME_WORDS:
            return name
    candidates = label_candidates(loaded)
    for name in candidates:
        if OUTCOME_WORDS.intersection(re.findall(r"[^\W\d_]+", name.lower())):
            return name
    two = [name for name in candidates if len(loaded.labels(name)) == 2]
    return next(iter(two), names[-1])


def label_candidates(loaded: Loaded) -> list[str]:
    """Return columns that can hold classes, the likeliest first: of few values, the last first."""
    table = loaded.table
    text = list(table.text)[-200:][::-1]
    numbers = [*table.number_names[-NEAR_EDGE:][::-1], *table.number_names[:NEAR_EDGE]]
    return [name for name in dict.fromkeys([*text, *numbers]) if _has_classes(loaded, name)]


def _has_classes(loaded: Loaded, name: str) -> bool:
    often = list(loaded.frequency(name).values())
    return 2 <= len(often) <= MOST_CLASSES and 2 * len(often) <= sum(often)


# Words in the name of a group's or an ID's column, in the languages of most exports.
UNITS: Final = {
    "patient": words_of(
        "patient patients patienten pat patientid patid patno patnr patientno patientnr "
        "patientennummer pid mrn fallnummer fallnr subject subj subjectid subjid usubjid proband "
        "probandin probandennummer participant participantid volunteer paciente paziente "
        "sujet"
    ),
    "sample": words_of(
        "sample samples sampleid sampleno specimen specimenid probe probenid probennummer "
        "accession gsm aliquot"
    ),
    "customer": words_of(
        "customer customers customerid custid client clientid clientnum kunde kunden kundennr "
        "kundennummer cliente"
    ),
    "part": words_of(
        "part parts partid partno partnr teil teile teilenr teilenummer bauteil component "
        "componentid serial serialno seriennummer workpiece werkstuck pieza piece"
    ),
}


def guess_unit(loaded: Loaded, train: Prepared) -> str:
    """Return what a row is called: as the data say, else by the name of its group's or ID's column.

    Columns of a table of genes that was turned are samples.
    """
    if loaded.row_word:
        return loaded.row_word
    named = [name for name, column in train.roles.items() if column.role is Role.ID]
    for name in [train.group, *named] if train.group else named:
        for word, known in UNITS.items():
            if known.intersection(name_words(name)):
                return word
    return "sample" if loaded.table.turned else ROW


# --------------------------------------------------------------------------------------------------
# Tables and choices to a dataset.


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
    groups = learning_groups(train, X.shape[0])
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
        file=TableFile(
            loaded.name,
            loaded.table.sha256,
            Options(**preparation.options()),
            preparation.test_fraction if preparation.test == "split" else None,
            preparation.seed,
        ),
        unit=preparation.row_word or guess_unit(loaded, train),
        is_sealed=not loaded.sample,
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
    classes_of_file = (classes.negative, classes.positive)
    if (classes_of_file, classes.decided_by) == (data.classes, data.decided_by):
        return data
    return replace(data, classes=classes_of_file, decided_by=classes.decided_by)


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
        raise DataError(
            "expected a second file with test rows, got none: upload one, or "
            "test on a part of this table"
        )
    return train, match_test(train, loaded.test)


# --------------------------------------------------------------------------------------------------
# Jobs: a file is read in a process of its own, few at once on a server; a sample is drawn.

KEPT_BYTES: Final = 100 * 2**20  # of a file: of a larger one nothing is kept but the table
READING_SLOTS: Final = threading.BoundedSemaphore(stated_number("HIPAD_READERS", 2, least=0))


class ReadingJob(BackgroundJob[Table]):
    """Read one file; `outcome` is its table."""

    def __init__(
        self,
        file: str,
        content: bytes,
        *,
        limits: Limits = LIMITS,
        turn: Turn = "auto",
        stated: FileFormat = FOUND_OUT,
        unseen_seconds: float = UNSEEN_SECONDS,
        slots: threading.Semaphore = READING_SLOTS,
    ) -> None:
        super().__init__(
            self._read, name=f"{file}: reading", unseen_seconds=unseen_seconds, slots=slots
        )
        self.file = file
        self.shown_at = -1  # the version of the session's data at which its error was shown
        self.source = b""  # the packed content, for another reading of it
        self._options: dict[str, Any] = {"limits": limits, "turn": turn, "stated": stated}
        self._content = [content]  # given away as it is read, so that its memory can be freed

    def _run(self) -> None:
        super()._run()
        self._content.clear()

    def _read(self, job: BackgroundJob[Table]) -> Iterator[None]:
        if len(self._content[0]) <= KEPT_BYTES:
            self.source = zlib.compress(self._content[0], 1)
        try:
            self.outcome = read_apart(
                self._content.pop(),
                self.file,
                progress=self._report,
                cancelled=self.must_stop,
                **self._options,
            )
        except Cancelled:
            raise JobStopped from None
        yield from ()  # no steps: the process that reads is asked to stop

    def _report(self, share: float | None, message: str) -> None:
        self.progress, self.message = share, message


LOADING_SLOTS: Final = threading.BoundedSemaphore(2)  # loads at work at once, of all sessions


class PreparedData(NamedTuple):
    """Data that are ready to be used."""

    loaded: Loaded
    preparation: Preparation
    data: Dataset


def prepare_data(loaded: Loaded, preparation: Preparation | None = None) -> PreparedData:
    """Prepare tables as asked, or as they suggest; DataError says why that cannot be done."""
    SCHEDULER.give_way()
    preparation = preparation or first_preparation(loaded)
    if preparation.test == "split" and not can_split(loaded, preparation):
        preparation = replace(preparation, test="none")
    return PreparedData(
        loaded, preparation, build(loaded, preparation, loaded.blocks, loaded.rules)
    )


def can_split(loaded: Loaded, preparation: Preparation) -> bool:
    """Whether patients can be held back; several rows of few patients may leave none to learn."""
    options = Options(**preparation.options())
    try:
        if not group_column(roles_for(loaded.table, options)):
            return True
        split(loaded.table, options, preparation.test_fraction, preparation.seed)
    except DataError:
        return False
    return True


class LoadingJob(BackgroundJob[PreparedData]):
    """Make a sample and prepare it; a newer load stops it."""

    def __init__(
        self,
        sample: str,
        make: Callable[[], Loaded],
        *,
        runs: bool = False,
        slots: threading.Semaphore = LOADING_SLOTS,
    ) -> None:
        super().__init__(self._load, name=sample, unseen_seconds=float("inf"), slots=slots)
        self.sample = sample
        self.runs = runs  # whether a run begins when the data are taken
        self._make = make

    def _load(self, job: BackgroundJob[PreparedData]) -> Iterator[None]:
        self.outcome = prepare_data(self._make())
        yield from ()

    def result(self) -> PreparedData:
        """Return the data, when they are there; raise what went wrong."""
        if self.exception is not None:
            raise self.exception
        if self.outcome is None:
            raise CancelledError
        return self.outcome
