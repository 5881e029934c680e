"""Everything of a session as it is saved: made from the state, and taken up again.

A `SavedSession` is what a session file holds (`session_file.py`) and what goes beyond it: every
version of the rules, the sliders, the last run, and which tables are needed. Models and the run are
kept as what makes them again, so a file never brings weights of its own. Tables lie beside it, see
`store.py`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any, Final

from hipad.data import Table
from hipad.estimator.serialization import of_any_version, rebuild
from hipad.exceptions import DataError
from hipad.utils import listed
from ui.data.samples import CARDS
from ui.dataset import Loaded
from ui.jobs import JobStatus
from ui.rules.rule_text import LONGEST, Edit, TextHistory
from ui.session.session_file import (
    LARGEST,
    ModelRecipe,
    Session,
    read_json,
    read_session,
    session_of,
)
from ui.settings import NAME, RULES, Number, Text
from ui.state import AppState

# --------------------------------------------------------------------------------------------------
# Reopening a session: its data if they can be had, then everything else.


def reopen(state: AppState, content: bytes) -> None:
    """Take up the session in a file; the user's own data must be uploaded again for it."""
    session = read_session(content)
    if state.loaded is not None and state.loaded.key == session.data_key:
        restore(state, session, state.loaded)
    elif session.sample:
        restore(state, session, draw_sample(session))
    else:
        state.awaiting = session


def draw_sample(session: Session) -> Loaded:
    """The sample that a session was made with."""
    card = next((card for card in CARDS if card.key == session.sample), None)
    if card is None:
        raise DataError(f"expected a sample of this app, got {session.sample[:60]!r}")
    controls = {name: value for name, value in session.draw.items() if name != "preset"}
    try:
        return card.load(**controls)
    except TypeError as error:
        raise DataError("expected no sizes to draw for a sample that is not drawn") from error


def restore(state: AppState, session: Session, loaded: Loaded) -> None:
    """Put a session's choices on its data, and begin to fit its models again."""
    preparation, lacking = session.preparation, []
    if preparation.test == "file" and loaded.test is None:
        preparation = replace(preparation, test="split")
        lacking.append("test patients")
    if session.unlabelled and loaded.unlabelled is None:
        lacking.append("patients without a label")
    if lacking:
        state.notice = (
            f"The session had a file with {listed(lacking)}: upload it again under Preparation."
        )
    state.load(replace(loaded, blocks=session.blocks, rules=session.rules), preparation)
    state.settings = session.settings
    state.edits = max(state.edits, session.edits)
    state.add_seals(session.seals)
    state.notes = session.notes
    state.awaiting = None
    state.refit(session.models, session.pinned)


# --------------------------------------------------------------------------------------------------
# Saving and restoring.

KIND: Final = "hipad-workbench-work"
VERSION: Final = 1
DIGEST: Final = Text(64)


@dataclass(frozen=True)
class SavedSession:
    """A session and what else there was; `tables` names the tables of its own, by content."""

    session: Session
    table: Annotated[str, DIGEST] = ""  # empty: a sample, which is always at hand
    test: Annotated[str, DIGEST] = ""
    unlabelled: Annotated[str, DIGEST] = ""
    edits: tuple[Edit, ...] = ()
    at: Annotated[int, Number(0, LONGEST)] = 0
    draft: Annotated[str, RULES] = ""  # the rules as the sliders have them
    run: ModelRecipe | None = None
    expert: bool = False
    title: Annotated[str, NAME] = ""

    def to_json(self) -> str:
        """The text of the file."""
        return json.dumps({"kind": KIND, "version": VERSION, **asdict(self)}, ensure_ascii=False)

    @property
    def tables(self) -> set[str]:
        """The tables that belong to the user; a sample needs none."""
        return {self.table, self.test, self.unlabelled} - {""}


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What a session holds at one moment; nothing of it changes later."""

    work: SavedSession
    own: dict[str, Table] = field(default_factory=dict)  # by role: what is not a sample's


def snapshot(state: AppState) -> Snapshot:
    """The present session; there must be data."""
    loaded = state.loaded
    assert loaded is not None
    own = {} if loaded.sample else {"table": loaded.table}
    if loaded.test is not None and not loaded.recipe:
        own["test"] = loaded.test
    if loaded.unlabelled is not None:
        own["unlabelled"] = loaded.unlabelled
    work = SavedSession(
        session=session_of(state),
        edits=tuple(state.rules.edits),
        at=state.rules.at,
        draft=state.tuning.draft,
        run=run_of(state),
        expert=state.expert,
        title=title_of(state),
    )
    return Snapshot(work, own)


def run_of(state: AppState) -> ModelRecipe | None:
    """What makes the last run again, unless it failed; one under way begins anew."""
    failed = state.job is None or state.job.status is JobStatus.FAILED
    if failed or state.ran is None:
        return None
    own = state.model
    return state.ran if own is None else replace(state.ran, cutoff=own.oriented.threshold)


def title_of(state: AppState) -> str:
    """What a work is called where it is offered: the data."""
    loaded = state.loaded
    assert loaded is not None
    known = {card.key: card.title for card in CARDS}
    return known.get(loaded.sample, loaded.name)[: NAME.longest]


def read_saved_session(content: bytes) -> tuple[SavedSession, tuple[str, ...]]:
    """Return a kept work and the names of fields that only a later version knows.

    A field that an earlier version did not have takes its default. DataError says why a work cannot
    be read.
    """
    raw = read_json(content, "kept work", KIND, VERSION, most=4 * LARGEST)
    try:
        with of_any_version() as unknown:
            work: SavedSession = rebuild(SavedSession, raw)
    except ValueError as error:
        raise DataError(f"the kept work cannot be used: {error}") from error
    return work, tuple(dict.fromkeys(unknown))


def take_up(state: AppState, work: SavedSession, own: dict[str, Table]) -> None:
    """Put a kept work into a session: data, rules with their versions, models, the last run."""
    session = work.session
    if session.sample:
        loaded = draw_sample(session)
    elif "table" in own:
        loaded = Loaded(session.data_name, own["table"])
    else:
        raise DataError("expected the table of the kept work, it is not there: upload it again")
    if "test" in own:
        loaded = replace(loaded, test=own["test"])
    if "unlabelled" in own:
        name = session.unlabelled
        loaded = replace(loaded, unlabelled=own["unlabelled"], unlabelled_name=name)
    restore(state, session, loaded)
    if work.edits and work.at < len(work.edits):
        state.rules = TextHistory(list(work.edits), work.at)
    if work.draft and state.rules.text == session.rules:
        state.tuning.base, state.tuning.draft = session.rules, work.draft
    state.expert = work.expert
    if work.run is not None:
        run_again(state, work.run)


def run_again(state: AppState, recipe: ModelRecipe) -> None:
    """Start the run that a recipe makes: the same data and choices give the same model."""
    assert state.data is not None
    asked = recipe.request(state.data)
    state.job, state.ran = asked.job(), recipe
    state.job.launch()


def facts_of(work: SavedSession) -> dict[str, Any]:
    """How much there is in a work, for whoever chooses among some."""
    rules = work.edits[work.at].text if work.at < len(work.edits) else work.session.rules
    written = [line for line in rules.splitlines() if line.partition("#")[0].strip()]
    return {"rules": len(written), "models": len(work.session.models), "run": work.run is not None}
