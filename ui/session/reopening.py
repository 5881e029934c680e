"""Take up a saved session: its data if they can be had, then everything else."""

from __future__ import annotations

from dataclasses import replace

from hipad.exceptions import DataError
from hipad.utils import listed
from ui.data.cards import CARDS
from ui.dataset import Loaded
from ui.session.saving import Session, read_session
from ui.state import AppState


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
            f"The session had a file with {listed(lacking)}: give it again under Preparation."
        )
    state.load(replace(loaded, blocks=session.blocks, rules=session.rules), preparation)
    state.settings = session.settings
    state.awaiting = None
    state.refit(session.models, session.pinned)
