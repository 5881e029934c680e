"""From a file or a sample to a dataset, in threads, while every page stays usable."""

from __future__ import annotations

import re
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future, wait
from dataclasses import replace
from typing import Final, NamedTuple

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
    learning_rows,
    match_test,
    match_unlabelled,
    prepare,
    read_apart,
    split,
    summarise,
)
from hipad.data.file_format import FOUND_OUT, FileFormat
from hipad.data.limits import stated_number
from hipad.data.preprocessing import labelled_rows, roles_for
from hipad.data.roles import group_column, labels_of, row_names
from hipad.data.written_numbers import Text
from hipad.exceptions import DataError, HipadError
from hipad.rules import FeatureIndex
from hipad.rules.compiled_rule import first_outcome
from hipad.utils import IntArray
from ui.dataset import MOST_CLASSES, NO_BLOCK, Dataset, Loaded, Preparation
from ui.jobs import POLL_SECONDS, SCHEDULER, UNSEEN_SECONDS, JobStatus

# --------------------------------------------------------------------------------------------------
# A first guess at what is to be done with a table: above all, which column holds the classes.

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


# --------------------------------------------------------------------------------------------------
# From tables as they were read, and what the user wants done with them, to a dataset.


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


# --------------------------------------------------------------------------------------------------
# A file on its way to a table: read in a process of its own, which the page watches.
#
#     reading = Reading("mine.csv", content)
#     reading.launch()
#     reading.seen()                # the page calls this at every look; an unseen one ends itself
#     reading.cancel()
#
# The thread calls nothing of streamlit. Only a few files are read at once on a server; the others
# wait for a place.

KEPT_BYTES: Final = 100 * 2**20  # of a file: of a larger one nothing is kept but the table
READING_SLOTS: Final = threading.BoundedSemaphore(stated_number("HIPAD_READERS", 2, least=0))


class ReadingJob:
    """One file: waiting, running, finished, failed, or stopped: by the user, or unseen."""

    def __init__(
        self,
        name: str,
        content: bytes,
        *,
        limits: Limits = LIMITS,
        turn: Turn = "auto",
        stated: FileFormat = FOUND_OUT,
        unseen_seconds: float = UNSEEN_SECONDS,
        places: threading.Semaphore = READING_SLOTS,
    ) -> None:
        self.name = name
        self.status = JobStatus.WAITING
        self.done: float | None = None  # share that is read, where it is known
        self.words = ""
        self.table: Table | None = None
        self.error = ""
        self.told_at = -1  # the state of the page at which its error was told
        self.source = b""  # the packed content, for another reading of it
        self._content, self._limits, self._turn = content, limits, turn
        self._stated = stated
        self._unseen_seconds, self._places = unseen_seconds, places
        self._last_seen = time.monotonic()
        self._cancelled = threading.Event()
        self._thread = threading.Thread(target=self._work, name="hipad-reading", daemon=True)

    @property
    def is_active(self) -> bool:
        return self.status in (JobStatus.WAITING, JobStatus.RUNNING)

    @property
    def was_cancelled(self) -> bool:
        return self.status is JobStatus.STOPPED and not self.error

    def launch(self) -> None:
        """Start the thread that reads."""
        self.seen()
        self._thread.start()

    def seen(self) -> None:
        """Somebody looks at this reading."""
        self._last_seen = time.monotonic()

    def cancel(self) -> None:
        """Stop; the process that reads is ended."""
        self._cancelled.set()

    def wait(self, seconds: float | None = None) -> None:
        """Wait for the thread to end."""
        self._thread.join(seconds)

    def _work(self) -> None:
        try:
            self.table = self._read()
            self.status = JobStatus.FINISHED
        except Cancelled:
            self._stop()
        except HipadError as error:
            self.error, self.status = str(error), JobStatus.FAILED
        except Exception as error:
            # The text of an unforeseen error may carry patient values, its type does not.
            self.error = f"{self.name}: reading failed inside the program ({type(error).__name__})"
            self.status = JobStatus.FAILED
        finally:
            self._content = b""

    def _read(self) -> Table:
        while not self._places.acquire(timeout=POLL_SECONDS):
            if self._must_stop():
                raise Cancelled
        try:
            self.status = JobStatus.RUNNING
            if len(self._content) <= KEPT_BYTES:
                self.source = zlib.compress(self._content, 1)
            return read_apart(
                self._give(),
                self.name,
                limits=self._limits,
                turn=self._turn,
                stated=self._stated,
                progress=self._tell,
                cancelled=self._must_stop,
            )
        finally:
            self._places.release()

    def _give(self) -> bytes:
        """Hand the content over and keep no reference, so that its memory can be freed."""
        content, self._content = self._content, b""
        return content

    def _tell(self, done: float | None, words: str) -> None:
        self.done, self.words = done, words

    def _stop(self) -> None:
        if not self._cancelled.is_set():
            self.error = (
                f"reading {self.name} was stopped, because the page was closed or out of sight for "
                "too long: upload it again"
            )
        self.status = JobStatus.STOPPED

    def _must_stop(self) -> bool:
        unseen = time.monotonic() - self._last_seen
        return self._cancelled.is_set() or unseen > self._unseen_seconds


# --------------------------------------------------------------------------------------------------
# A sample on its way: drawn and prepared by a thread, while every page stays usable.
#
#     state.begin_load(Loading("Diabetes", make, runs=True))   # those before it are void
#     loading.wait(0.1)                                        # the page looks in again and again
#     state.take(loading)                                      # only the newest load may be taken
#
# The thread calls nothing of streamlit and changes nothing of a session: `Arrived` is all it makes.

LOADING_SLOTS: Final = threading.BoundedSemaphore(2)  # loads at work at once, of all sessions
LOOK: Final = 0.05  # seconds between two looks at a place


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


class LoadingJob:
    """One load: at work, done, or cancelled by a newer one."""

    def __init__(
        self,
        name: str,
        make: Callable[[], Loaded],
        *,
        runs: bool = False,
        places: threading.Semaphore = LOADING_SLOTS,
    ) -> None:
        self.name = name
        self.runs = runs  # whether a run begins when the data are taken
        self._make, self._places = make, places
        self._future: Future[PreparedData] = Future()
        self._cancelled = threading.Event()

    def launch(self) -> None:
        """Start the thread."""
        threading.Thread(target=self._work, name="hipad-loading", daemon=True).start()

    def cancel(self) -> None:
        """Nobody wants these data any more: do not begin, or forget what is made."""
        self._cancelled.set()

    def wait(self, seconds: float) -> bool:
        """Wait for the data, at most so long; True when there is nothing more to wait for."""
        return bool(wait([self._future], seconds).done)

    def result(self) -> PreparedData:
        """The data, when they are there; raises what went wrong."""
        return self._future.result()

    def _work(self) -> None:
        while not self._places.acquire(timeout=LOOK):
            if self._cancelled.is_set():
                break
        else:
            try:
                if not self._cancelled.is_set():
                    self._future.set_result(prepare_data(self._make()))
            except BaseException as error:  # raised again where the data are taken
                self._future.set_exception(error)
            finally:
                self._places.release()
        if not self._future.done():
            self._future.set_exception(CancelledError())
