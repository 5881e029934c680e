"""The state of one session: a single typed object, made in one place.

    from ui.state import app_state
    state = app_state()
    state.data, state.rules.text, state.settings, state.job, state.models

Widgets keep nothing of their own: a page reads a value from here, shows it, and writes the answer
back, so nothing is lost on the way to another page. Whatever changes the data goes through `load`,
`prepare` and `set_blocks`, which either succeed or leave everything as it was.

A click that comes while an earlier one is still at work is answered by a thread of its own. Every
change of the data draws a ticket when it is asked for, and only the newest ticket may be used: the
last click wins, however long those before it take.
"""

from __future__ import annotations

import logging
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count as count_from
from threading import RLock
from typing import Any, ClassVar, Final, TypeVar, cast

import streamlit as st

from hipad.data import Turn
from hipad.data.file_format import FileFormat
from hipad.evaluation.cross_validation import SealedTest
from hipad.exceptions import DataError, HipadError
from hipad.reporting.study import StudyNotes
from hipad.utils import count
from ui.data.loading import LoadingJob, PreparedData, ReadingJob, build, facing_rules, prepare_data
from ui.dataset import Dataset, Loaded, Preparation
from ui.experiments.experiments_state import ExperimentsState
from ui.jobs import BackgroundJob
from ui.models import Request, TrainedModel, TrainingJob
from ui.rules.rule_text import TextHistory
from ui.session.session_file import ModelRecipe, Refit, Session, recipe_of
from ui.settings import RunSettings
from ui.workbench.sliders import Tuning

# --------------------------------------------------------------------------------------------------
# A cache of values that are computed from others.

Value = TypeVar("Value")
_NUMBERS: Final = count_from()  # of all sessions together


class BackgroundWork(ABC):
    """Work that goes on between two drawings of a page, and ends with the session."""

    @abstractmethod
    def stop(self) -> None:
        """End it soon."""


@dataclass
class SessionCache:
    """Values by name, each with the key that tells whether it must be made anew."""

    memo: dict[str, tuple[object, Any]] = field(default_factory=dict)

    def remember(self, name: str, key: object, make: Callable[[], Value]) -> Value:
        """What `make` gives, made anew only when `key` differs from that of the last time."""
        known = self.memo.get(name)
        if known is None or known[0] != key:
            known = self.memo[name] = (key, make())
        return cast(Value, known[1])

    def fresh_key(self, name: str, shown: object) -> str:
        """The key of a widget that shows this: another whenever that differs, never one again.

        A browser may still report a widget that has gone, as if its user had just changed it: what
        such a report asks for must not be done, see `is_drawn`.
        """
        return self.remember(f"key of {name}", shown, lambda: f"{name}_{next(_NUMBERS)}")

    def is_drawn(self, name: str, key: str) -> bool:
        """Whether the widget of this name was drawn last under this key."""
        return self.memo.get(f"key of {name}", (None, None))[1] == key


# --------------------------------------------------------------------------------------------------
# Snapshots: a session that was set aside when other data came.


@dataclass(frozen=True, eq=False)
class StateSnapshot:
    """A session that was set aside when other data came, whole and ready to go on."""

    why: str
    fields: Mapping[str, Any]

    NAMES: ClassVar = (
        "loaded", "preparation", "data", "blocks", "rules", "settings", "job", "ran", "models",
        "pinned", "refitting", "tuning", "keep_name", "notes",
    )  # fmt: skip

    @classmethod
    def of(cls, state: Any, why: str) -> StateSnapshot:
        """What a session holds now; its history of rules may go on without changing this one."""
        fields = {name: getattr(state, name) for name in cls.NAMES}
        fields["rules"] = replace(state.rules, edits=list(state.rules.edits))
        return cls(why, fields)

    def put_back(self, state: Any) -> None:
        """Give the session what it held."""
        for name, value in self.fields.items():
            setattr(state, name, value)

    @property
    def words(self) -> str:
        """What there is to go back to, as a sentence."""
        models, job = self.fields["models"], self.fields["job"]
        parts = [count(len(models), "kept model")] if models else []
        parts += ["a run"] if job is not None else []
        name = self.fields["loaded"].name
        return f"Your work on {name} is saved ({' and '.join(parts) or 'its rules'})"


# --------------------------------------------------------------------------------------------------
# The state.

KEY: Final = "workbench"
MOST_SOURCES: Final = 2  # files as they came that are kept
MOST_PASTS: Final = 2  # sessions that are set aside: each holds its data


class SupersededError(Exception):
    """A newer change of the data was asked for: this one is no longer wanted."""


def new_name() -> str:
    """A name for a work, which nobody can guess."""
    return secrets.token_hex(16)


@dataclass
class AppState(SessionCache):
    """What a session holds. None and empty mean: not yet."""

    loaded: Loaded | None = None
    pending: Loaded | None = None  # a table that cannot be used before a label is chosen
    awaiting: Session | None = None  # a reopened session whose data are yet to be given
    loading: LoadingJob | None = None  # the newest load of a sample, while it is on its way
    readings: dict[str, ReadingJob] = field(default_factory=dict)  # files on their way, by uploader
    sources: dict[str, bytes] = field(
        default_factory=dict, repr=False
    )  # files as they came, packed
    stated: tuple[str, FileFormat, Turn] | None = (
        None  # how a file is to be read when it comes again
    )
    preparation: Preparation | None = None
    data: Dataset | None = None
    blocks: dict[str, str] = field(default_factory=dict)  # name -> definition, see data/features.py
    rules: TextHistory = field(default_factory=TextHistory)
    settings: RunSettings = field(default_factory=RunSettings)
    job: TrainingJob | None = None
    ran: ModelRecipe | None = None  # what the job was asked for
    models: list[TrainedModel] = field(default_factory=list)  # those the user keeps, newest last
    pinned: str = ""  # name of the model that others are compared with
    refitting: Refit | None = None  # models of a reopened session that are fitted again
    tuning: Tuning = field(default_factory=Tuning)
    lab: ExperimentsState = field(
        default_factory=ExperimentsState
    )  # experiments, see ui/experiments
    edited: dict[str, int] = field(default_factory=dict)  # see `edits`, by the key of the data
    seals: dict[str, SealedTest] = field(default_factory=dict)  # by the digest of the test rows
    notes: StudyNotes = field(default_factory=StudyNotes)  # what the user says, for its report
    expert: bool = False
    speed: str = "full speed"  # of a run, see ui/run
    error: str = ""  # why the last thing the user asked for could not be done
    notice: str = ""  # something the user should know, shown once
    version: int = 0  # grows whenever the data change; part of the keys of widgets that show them
    arrivals: int = 0  # grows with every load: the browser then begins at the top of the page
    pasts: list[StateSnapshot] = field(
        default_factory=list
    )  # set aside, newest last: see `go_back`
    returns: int = 0  # grows with `go_back`; part of the keys of widgets that must forget
    keep_name: str = field(default_factory=new_name)  # under which this work is kept, see session/
    keep_holder: str = field(default_factory=new_name)  # who this session is to other servers
    kept: object = None  # what was kept last
    _ticket: object = None  # of the newest change of the data that was asked for
    _changing: RLock = field(default_factory=RLock, repr=False, compare=False)
    _followed: object = None  # the run and refits that began by themselves with other patients

    @property
    def model(self) -> TrainedModel | None:
        """The model of the current job, final or not."""
        return self.job.outcome if self.job is not None else None

    @property
    def edits(self) -> int:
        """How many versions of rules and settings were run on these data, whatever came between."""
        return 0 if self.loaded is None else self.edited.get(self.loaded.key, 0)

    @edits.setter
    def edits(self, number: int) -> None:
        if self.loaded is not None:
            self.edited[self.loaded.key] = number

    @property
    def pinned_model(self) -> TrainedModel | None:
        """The kept model that others are compared with; None where none is pinned."""
        return next((model for model in self.models if model.name == self.pinned), None)

    def request(self, **changes: Any) -> Request:
        """The fit that the present choices ask for; `changes` are fields to take instead."""
        if self.data is None:
            raise DataError("expected data to learn from, none are loaded: load a sample or a file")
        asked = Request(self.data, self.rules.text, dict(self.blocks), self.settings)
        return replace(asked, **changes)

    def launch(self, *, speed: float | None = None) -> None:
        """Start a run with the present choices, in place of the one before."""
        if self.job is not None:
            self.job.stop()
        if self.data and self.loaded and self.preparation and not self.models:
            given = self.loaded, self.preparation, self.rules.text
            self.data = facing_rules(self.data, *given)
        asked = self.request()
        recipe = ModelRecipe(asked.name, asked.rules, dict(asked.blocks), asked.settings)
        before = None if self.ran is None else replace(self.ran, cutoff=None)
        self.edits += recipe != before
        self.ran = recipe
        self.job = asked.job(speed=speed)
        self.job.launch()

    def add_seals(self, seals: Iterable[SealedTest]) -> None:
        """Join records of openings with those there are: none is ever forgotten."""
        for seal in seals:
            known = self.seals.get(seal.digest)
            self.seals[seal.digest] = seal if known is None else known.merged(seal)

    def load(self, loaded: Loaded, preparation: Preparation | None = None) -> None:
        """Take new data in place of the old, with the rules, blocks and settings they bring."""
        ticket = self.draw_ticket()
        arrived = prepare_data(loaded, preparation)
        with self._used(ticket):
            self._replace_data(arrived)

    def begin_load(self, loading: LoadingJob) -> None:
        """Start to load; whatever was asked for before may no longer change the data."""
        with self._changing:
            self.draw_ticket()
            self.loading = loading
        loading.launch()

    def take(self, loading: LoadingJob) -> None:
        """Take what a load brought, and run if that was asked for; SupersededError if it is old."""
        with self._changing:
            if self.loading is not loading:
                raise SupersededError
            self.loading = None
            self._replace_data(loading.result())
            if loading.runs:
                self.launch()

    def keep_source(self, sha256: str, packed: bytes) -> None:
        """Keep a file as it came, to read it in another way; only the last ones stay."""
        if packed:
            others = [item for item in self.sources.items() if item[0] != sha256]
            self.sources = dict([*others, (sha256, packed)][-MOST_SOURCES:])

    def draw_ticket(self) -> object:
        """Begin a change of the data: tickets that were drawn before, and a load, are void."""
        with self._changing:
            if self.loading is not None:
                self.loading.stop()
            self.loading, self._ticket = None, object()
            return self._ticket

    @contextmanager
    def _used(self, ticket: object) -> Iterator[None]:
        """Change the data, undisturbed by other threads, if this is the newest ticket."""
        with self._changing:
            if ticket is not self._ticket:
                raise SupersededError
            yield

    def _replace_data(self, arrived: PreparedData) -> None:
        loaded, preparation, data = arrived
        self._set_aside(f"You switched to {loaded.name}")
        self.data, self.keep_name = data, new_name()
        self.arrivals += 1
        self.loaded, self.preparation = loaded, preparation
        self.blocks, self.notes = dict(loaded.blocks), StudyNotes()
        self.rules.change(loaded.rules, f"rules of {loaded.name}" if loaded.rules else "new data")
        self.settings = RunSettings.from_dict(loaded.settings)
        self._forget_models()

    def unload(self) -> None:
        """Put the data away; what was made with them can be had back."""
        with self._used(self.draw_ticket()):
            self._set_aside("You removed the file")
            self.sources = {}
            self.loaded = self.preparation = self.data = None
            self.blocks, self.keep_name = {}, new_name()
            self._forget_models()

    def prepare(self, preparation: Preparation, loaded: Loaded | None = None) -> None:
        """Prepare the data anew; raises DataError and changes nothing when that cannot be done.

        A run and kept models go along: they are fitted again to the patients that there are then,
        and those of before can be had back.
        """
        loaded = loaded or self.loaded
        if loaded is None:
            raise DataError("expected data to prepare, none are loaded: load a sample or a file")
        ticket = self.draw_ticket()
        data = build(loaded, preparation, self.blocks, self.rules.text)
        with self._used(ticket):
            recipes, pinned = (*map(recipe_of, self.models), *self.waiting), self.pinned_name
            had_run = self.job is not None
            if self._followed is None or self._followed != (self.job, self.refitting):
                self._set_aside("You changed the data")
            self.data, self.loaded, self.preparation = data, loaded, preparation
            self._forget_models()
            self.refit(recipes, pinned)
            if had_run:
                self.launch()
            self._followed = (self.job, self.refitting)

    def _set_aside(self, why: str) -> None:
        """Keep what there is, if there is a run or a model that other data would drop."""
        if self.data is None or not (self.models or self.waiting or self.job is not None):
            return
        self.pasts = [*self.pasts, StateSnapshot.of(self, why)][-MOST_PASTS:]

    def go_back(self) -> None:
        """Take up what was set aside last; what there is now is set aside in its place."""
        with self._used(self.draw_ticket()):
            if not self.pasts:  # a second click of the same hand
                return
            past = self.pasts.pop()
            self._set_aside("You switched back")
            self._forget_models()
            past.put_back(self)
            self.returns += 1
            if self.refitting is not None and self.refitting.left:
                self.refitting.go_on()

    def let_go(self) -> None:
        """Forget what was set aside last."""
        self.pasts = self.pasts[:-1]

    def call_rows(self, word: str) -> None:
        """Call a row of the data by another of ROW_WORDS; models and figures stay."""
        if self.data is not None and self.preparation is not None:
            self.preparation = replace(self.preparation, row_word=word)
            self.data = replace(self.data, unit=word)

    def set_blocks(self, blocks: Mapping[str, str]) -> None:
        """Name other blocks; kept models stay, since each holds its own blocks."""
        if self.data is not None:
            self.data = self.data.with_blocks(blocks)
        self.blocks = dict(blocks)

    def keep(self, model: TrainedModel) -> None:
        """Keep a model under its name, in place of one of the same name."""
        self.models = [other for other in self.models if other.name != model.name] + [model]

    @property
    def waiting(self) -> tuple[ModelRecipe, ...]:
        """Models of a reopened session that are not fitted yet."""
        known = {model.name for model in self.models}
        owed = self.refitting.owed if self.refitting is not None else ()
        return tuple(recipe for recipe in owed if recipe.name not in known)

    @property
    def pinned_name(self) -> str:
        """The pinned model's name, even while that model is fitted again."""
        return self.pinned or (self.refitting.pinned if self.refitting is not None else "")

    def refit(self, recipes: tuple[ModelRecipe, ...], pinned: str) -> None:
        """Begin to fit models of a reopened session again."""
        if self.data is not None and recipes:
            self.refitting = Refit(self.data, recipes, pinned)
            self.refitting.go_on()

    def take_refitted(self) -> None:
        """Keep the models that are done; one that was kept meanwhile under its name stays."""
        if self.refitting is None:
            return
        for model in self.refitting.arrived():
            if all(model.name != other.name for other in self.models):
                self.keep(model)
                if model.name == self.refitting.pinned and not self.pinned:
                    self.pinned = model.name

    def stop_work(self) -> None:
        """End whatever is still computed for this session, when nobody can come back to it."""
        self._stop_fits()
        if self.loading is not None:
            self.loading.stop()
        for reading in self.readings.values():
            reading.stop()

    def _stop_fits(self) -> None:
        if self.job is not None:
            self.job.stop()
        if self.refitting is not None:
            self.refitting.job.stop()
        for _, made in self.memo.values():
            if isinstance(made, BackgroundJob | BackgroundWork):
                made.stop()
        self.lab.stop()

    def _forget_models(self) -> None:
        """Let go of the models of the data before: they cannot be compared with new ones."""
        self._stop_fits()
        self._followed = None
        self.job, self.ran, self.refitting, self.tuning = None, None, None, Tuning()
        self.lab.forget()
        self.models, self.pinned = [], ""
        self.pending, self.error = None, ""
        self.memo.clear()
        self.version += 1


def open_session() -> AppState:
    """The state of this session, made at its first run; only app.py calls this."""
    if KEY not in st.session_state:
        st.session_state[KEY] = AppState()
    return app_state()


def app_state() -> AppState:
    """The state of this session.

    A server that has just started runs a page by itself when its address is asked for, without
    app.py and its navigation: then the visit starts over there.
    """
    if KEY not in st.session_state:
        st.switch_page("app.py")
    return cast(AppState, st.session_state[KEY])


# --------------------------------------------------------------------------------------------------
# Error boundary.

LOGGER: Final = logging.getLogger(__name__)


def attempt(state: AppState, action: Callable[[], Any]) -> bool:
    """Do something with data; when it cannot be done, say why and leave everything as it was."""
    state.error = ""
    try:
        action()
    except SupersededError:
        return False
    except HipadError as error:
        state.error = str(error)
    except MemoryError:
        state.error = "this table is too large for memory: leave out columns or rows"
    except Exception as error:
        # The text of an unforeseen error may carry patient values, its type does not.
        LOGGER.exception("what a user asked for failed")
        state.error = f"this failed inside the program ({type(error).__name__}): nothing changed"
    return not state.error
