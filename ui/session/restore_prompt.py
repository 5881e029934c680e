"""The offer to take up saved work, and how far its models are."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import streamlit as st

from hipad.exceptions import HipadError
from hipad.utils import count
from ui.session import autosave
from ui.session.saved_session import facts_of
from ui.session.store import StoredSession, UnreadableSession
from ui.state import AppState, attempt
from ui.text import plain

# --------------------------------------------------------------------------------------------------
# Saved work: offered where there are no data yet. What cannot be kept or read is told in the open.

MOST_SHOWN: Final = 8
MOMENT: Final = 0.2  # seconds that a page waits to see whether its work is written
EVERY: Final = (2.0, 10.0)  # seconds between two looks: at what failed, at what takes long
FORGOTTEN: Final = "keep_forgotten"  # the work as it was when all that was kept was deleted


def show(state: AppState) -> bool:
    """The newest work in a frame, older ones behind a fold; False where there is none."""
    try:
        found, lost = autosave.offers(state), autosave.unreadable()
    except HipadError as error:
        st.warning(
            f"Saved work cannot be read: {plain(str(error), 300)}", icon=":material/warning:"
        )
        return False
    if found:
        newest, *older = found
        with st.container(border=True, key="continue_box"):
            st.markdown("**Continue where you were**")
            _saved_line(state, newest, first=True)
            if older:
                with st.expander(f"Earlier work ({len(older)})"):
                    for kept in older[:MOST_SHOWN]:
                        _saved_line(state, kept)
    if lost:
        with st.expander(f"Saved work that this version cannot open ({len(lost)})"):
            st.caption("It stays until you delete it. Another version may be able to open it.")
            for work in lost[:MOST_SHOWN]:
                with st.container(horizontal=True, vertical_alignment="center"):
                    _delete_button(work)
                    title = f"**{plain(work.title)}**" if work.title else "A work without a name"
                    st.markdown(
                        f"{title}, {ago(time.time() - work.saved)}: {plain(work.problem, 300)}"
                    )
    return bool(found)


def _delete_button(kept: StoredSession | UnreadableSession) -> None:
    if st.button(
        "Delete",
        key=f"forget_{kept.name}",
        icon=":material/delete:",
        help="Delete this work from this computer. This cannot be undone.",
    ) and _done(lambda: autosave.forget(kept)):
        st.rerun()


def _done(change: Callable[[], None]) -> bool:
    """Change what is kept; False where that cannot be done, which is told."""
    try:
        change()
    except HipadError as error:
        st.error(f"Saved work could not be changed: {plain(str(error), 300)}")
        return False
    return True


def warn(state: AppState) -> None:
    """Tell on every page that the present work cannot be kept, as long as that is so."""
    is_tried = autosave.settle(state, MOMENT)
    summary = autosave.trouble(state)

    def look() -> None:
        why = autosave.trouble(state)
        if summary and not why:
            st.rerun()
        if why:
            st.warning(
                f"This work could not be saved: {plain(why, 300)}. The program keeps trying. "
                "Save the session yourself before you leave (in the sidebar, under Session).",
                icon=":material/warning:",
            )

    every = EVERY[0] if summary else None if is_tried else EVERY[1]
    st.fragment(look, run_every=every)()


def _saved_line(state: AppState, kept: StoredSession, *, first: bool = False) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(
            "Continue",
            key=f"continue_{kept.name}",
            type="primary" if first else "secondary",
            icon=":material/history:",
            help="Opens data, rules with their versions, settings, models and the last run.",
        ):
            with st.spinner(f"Opening {plain(kept.work.title)}"):
                attempt(state, lambda: autosave.go_on(state, kept))
            st.rerun()
        _delete_button(kept)
        st.markdown(saved_label(kept, time.time()))


def saved_label(kept: StoredSession, now: float) -> str:
    """What a work is, how much there is in it, and when it was kept."""
    facts = facts_of(kept.work)
    parts = [count(facts["rules"], "rule")] if facts["rules"] else []
    parts += ["a run"] if facts["run"] else []
    parts += [count(facts["models"], "kept model")] if facts["models"] else []
    inside = f": {', '.join(parts)}" if parts else ""
    return f"**{plain(kept.work.title)}**{inside}, {ago(now - kept.saved)}"


def ago(seconds: float) -> str:
    """How long ago, in the largest unit that fits.

    >>> ago(20), ago(3 * 60), ago(3700), ago(3 * 24 * 3600)
    ('just now', '3 minutes ago', '1 hour ago', '3 days ago')
    """
    for unit, size in (("day", 24 * 3600), ("hour", 3600), ("minute", 60)):
        if seconds >= size:
            return f"{count(int(seconds // size), unit)} ago"
    return "just now"


def controls(state: AppState) -> None:
    """Whether work is kept, where, and a button to remove it."""
    store, whose = autosave.WRITER.store, autosave.owner()
    if not whose or not store.place.is_on:
        st.caption("Your work is not saved on this server: save the session before you leave.")
        return
    wanted = store.wants(whose)
    chosen = st.toggle(
        "Save my work on this computer",
        wanted,
        key="keep_on",
        help="Data, rules, settings and models are saved as you work, so that nothing is lost when "
        "you close the tab or restart. Off: nothing more is saved.",
    )
    if chosen != wanted and _done(lambda: store.want(whose, chosen)):
        state.kept = None
        st.rerun()
    if autosave.is_one_person():
        st.caption(f"Saved in {plain(store.place.folder, 200)}")
    if st.button(
        "Delete saved work",
        key="keep_forget",
        icon=":material/delete:",
        width="stretch",
        help="Delete everything that was saved for this browser. What is open stays open.",
    ) and _done(lambda: autosave.forget_all(state)):
        st.session_state[FORGOTTEN] = state.kept
    if state.kept is not None and st.session_state.get(FORGOTTEN) is state.kept:
        st.caption("Saved work was deleted. What is open is saved again when it changes.")


# --------------------------------------------------------------------------------------------------
# Models of a reopened session.

REFIT_SECONDS: Final = 1.0  # seconds between two looks
MOST_REFITS_SHOWN: Final = 3


def show_refitting(state: AppState) -> None:
    """A line and a button while models are fitted again; looking at them keeps the job alive."""
    refitting = state.refitting
    if refitting is None:
        return
    drawn = refitting.job.is_active

    def look() -> None:
        refitting.job.seen()
        state.take_refitted()
        if drawn and not refitting.job.is_active:
            st.rerun()
        _refitting_line(state)

    st.fragment(look, run_every=REFIT_SECONDS if drawn else None)()


def _refitting_line(state: AppState) -> None:
    refitting = state.refitting
    if refitting is None:
        return
    left, total = len(refitting.left), len(refitting.recipes)
    for name, why in list(refitting.failed.items())[:MOST_REFITS_SHOWN]:
        st.caption(f"{plain(name)} could not be fitted again: {plain(why, 300)}")
    if not left:
        return
    st.caption(f"Models of the session: {total - left} of {total} fitted again")
    if refitting.job.is_active:
        text = "You can go on later; models that are not fitted yet stay in the session."
        st.button("Stop fitting", key="refit_stop", on_click=refitting.job.stop, help=text)
    else:
        if refitting.job.error:
            st.caption(plain(refitting.job.error, 300))
        text = "Fit the remaining models."
        if st.button("Fit the others", key="refit_go_on", on_click=refitting.go_on, help=text):
            st.rerun()
