"""Autosave: whatever changes is written, for its owner, by a thread that no page waits for.

    autosave.note(state)      # at the end of every run of the app; the same again is not written

Only the newest state of a work is written, and one work at a time. What cannot be kept (no room, no
leave to write) is told on every page and tried again, and everything else goes on.
"""

from __future__ import annotations

import atexit
import hashlib
import logging
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import streamlit as st

from hipad.exceptions import HipadError
from hipad.utils import listed
from ui.jobs import SCHEDULER
from ui.server.middleware import COOKIE, NAME
from ui.server.streamlit_internals import config, is_active, session_id
from ui.session import login
from ui.session.saved_session import Snapshot, run_of, snapshot, take_up
from ui.session.store import StorageConfig, Store, StoredSession, UnreadableSession
from ui.state import AppState

# --------------------------------------------------------------------------------------------------
# Owners: where there is a login, an account. Else a browser, which has a name that nobody else
# knows (a cookie of `ui/server/middleware.py`). Each sees its own work only. On a server that only
# this computer can reach there is one person: a new browser may also take up work that no tab has
# open.

HERE: Final = ("127.0.0.1", "localhost", "::1", "[::1]")
FORWARDED: Final = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip")
HOLDERS: dict[str, str] = {}  # the session that has a work open, by the work's name


def owner() -> str:
    """A name for this account's or browser's works, which cannot be guessed; empty: none."""
    if login.is_required():
        who = login.account()
        return hashlib.sha256(f"account\n{who}".encode()).hexdigest()[:32] if who else ""
    cookie = st.context.cookies.get(COOKIE)
    known = isinstance(cookie, str) and NAME.fullmatch(cookie)
    return hashlib.sha256(str(cookie).encode()).hexdigest()[:32] if known else ""


def is_one_person() -> bool:
    """Whether only this computer can reach the server, and nobody stands between."""
    hosts = config.get_option("server.allowedHosts")
    asked = (st.context.headers.get("Host") or "").rpartition(":")[0]
    return (
        not login.is_required()
        and config.get_option("server.address") in HERE
        and bool(hosts)
        and set(hosts) <= set(HERE)
        and not config.get_option("server.corsAllowedOrigins")
        and asked in HERE
        and not any(name in st.context.headers for name in FORWARDED)
    )


def hold(name: str) -> None:
    """This session has a work open."""
    session = session_id()
    if session is not None:
        HOLDERS[name] = session


def is_held(name: str) -> bool:
    """Whether another tab has a work open now."""
    holder = HOLDERS.get(name)
    return holder is not None and holder != session_id() and is_active(holder)


# --------------------------------------------------------------------------------------------------
# Writing.

LOGGER: Final = logging.getLogger(__name__)
LAST_SECONDS: Final = 5.0  # that the end of the server waits for what is still to be written
PAUSES: Final = (2.0, 5.0, 10.0, 30.0)  # seconds before each new attempt; the last again and again
GIVE_UP: Final = 1800.0  # seconds after the first attempt, so that memory is not held for ever

Slot = tuple[str, str]  # owner and name of a work


@dataclass
class Due:
    """A state that is to be written, and what came of it so far."""

    taken: Snapshot
    holder: str
    at: float  # when to try, by the monotonic clock
    tries: int = 0
    since: float = 0.0  # when it was tried first


class Writer:
    """Writes the newest state of each work, one after the other, in a thread of its own."""

    def __init__(self, store: Store, pauses: tuple[float, ...] = PAUSES) -> None:
        self.store = store
        self.failed: dict[Slot, str] = {}  # why a work could not be kept
        self._pauses = pauses
        self._due: dict[Slot, Due] = {}
        self._moved: dict[Slot, str] = {}  # works that had to take a new name
        self._changed = threading.Condition()
        self._busy: Slot | None = None
        self._thread: threading.Thread | None = None

    def put(self, slot: Slot, taken: Snapshot, holder: str = "") -> None:
        """Have this written soon, in place of an older state that still waits."""
        with self._changed:
            self._due.pop(slot, None)
            self._due[slot] = Due(taken, holder, time.monotonic())
            self._changed.notify_all()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="hipad-keep", daemon=True)
                self._thread.start()

    def flush(self, seconds: float = 60.0) -> bool:
        """Wait until all that can be written is written; False when that took too long."""
        with self._changed:
            return self._changed.wait_for(self._is_settled, seconds)

    def is_pending(self, slot: Slot) -> bool:
        """Return whether a state of this work is still to be written, or to be tried again."""
        with self._changed:
            return slot in self._due or self._busy == slot

    def settle(self, slot: Slot, seconds: float) -> bool:
        """Wait for the first attempt to write a work; False when that took too long."""

        def is_tried() -> bool:
            return self._busy != slot and (slot not in self._due or self._due[slot].tries > 0)

        with SCHEDULER.resting(), self._changed:
            return self._changed.wait_for(is_tried, seconds)

    def name_of(self, slot: Slot) -> str:
        """Return the name that a work has now."""
        return self._moved.get(slot, slot[1])

    def forget(self, slot: Slot) -> None:
        """Write nothing more of this work that was noted until now."""
        with self._changed:
            self._due.pop(slot, None)
            self.failed.pop(slot, None)
            self._changed.wait_for(lambda: self._busy != slot, LAST_SECONDS)

    def _is_settled(self) -> bool:
        return self._busy is None and all(due.tries for due in self._due.values())

    def _work(self) -> None:
        while True:
            with self._changed:
                slot = self._next()
                due, self._busy = self._due.pop(slot), slot
            why = self._write(slot, due)
            with self._changed:
                self._busy = None
                self._note(slot, due, why)
                self._changed.notify_all()
            del due  # a table must not stay in memory until the next work comes

    def _next(self) -> Slot:
        """Wait for a state whose time has come; the lock is held."""
        while True:
            now = time.monotonic()
            if ready := [slot for slot, due in self._due.items() if due.at <= now]:
                return ready[0]
            soonest = min((due.at - now for due in self._due.values()), default=None)
            self._changed.wait(soonest)

    def _write(self, slot: Slot, due: Due) -> str:
        """Write one state; why it could not be done, or nothing."""
        try:
            name = self.store.put(slot[0], self.name_of(slot), due.taken, due.holder)
            if name != slot[1]:
                self._moved[slot] = name
        except HipadError as error:
            return str(error)
        except OSError as error:
            return error.strerror or type(error).__name__
        except Exception as error:
            LOGGER.exception("A work could not be kept")
            return f"inside the program ({type(error).__name__})"
        return ""

    def _note(self, slot: Slot, due: Due, why: str) -> None:
        """Note what came of an attempt; one that failed is made again, unless a newer waits.

        What failed stays told until the newest state is written, not an older one.
        """
        if not why:
            if slot not in self._due:
                self.failed.pop(slot, None)
            return
        self.failed[slot] = why
        now = time.monotonic()
        due.since = due.since or now
        if slot in self._due or now - due.since > GIVE_UP:
            return
        due.at = now + self._pauses[min(due.tries, len(self._pauses) - 1)]
        due.tries += 1
        self._due[slot] = due


WRITER: Final = Writer(Store(StorageConfig.from_environment()))
atexit.register(WRITER.flush, LAST_SECONDS)


def note(state: AppState) -> None:
    """Have the present work written, if it changed since the last time or could not be written."""
    whose = owner()
    if state.data is None or not whose:
        return
    state.keep_name = WRITER.name_of((whose, state.keep_name))
    slot = whose, state.keep_name
    hold(state.keep_name)
    present = _present(state)
    is_lost = slot in WRITER.failed and not WRITER.is_pending(slot)
    if (present == state.kept and not is_lost) or not WRITER.store.wants(whose):
        return
    state.kept = present
    WRITER.put(slot, snapshot(state), state.keep_holder)


def _present(state: AppState) -> tuple[object, ...]:
    """Whatever is kept of a session, to see whether it changed."""
    models = (*state.models, *state.waiting, state.pinned)
    rules = (state.rules.text, state.rules.at, len(state.rules.edits), state.tuning.draft)
    choices = (state.preparation, dict(state.blocks), state.settings, state.expert)
    looks = (state.edits, dict(state.seals))
    return state.keep_name, state.loaded, choices, rules, models, run_of(state), looks


def trouble(state: AppState) -> str:
    """Return why the present work is not kept although it should be; empty: it is."""
    return WRITER.failed.get((owner(), state.keep_name), "")


def settle(state: AppState, seconds: float) -> bool:
    """Wait until it is known whether the present work could be written; False: not yet."""
    return WRITER.settle((owner(), state.keep_name), seconds)


def offers(state: AppState) -> list[StoredSession]:
    """Return the works that this browser may take up, newest first, without the present one."""
    whose, store = owner(), WRITER.store
    if not whose or not store.place.is_on:
        return []
    found = store.works(whose)
    if is_one_person():
        for other in store.owners():
            if other != whose:
                found += [kept for kept in store.works(other) if not is_held(kept.name)]
    mine = [kept for kept in found if kept.name != state.keep_name or state.data is None]
    return sorted(mine, key=lambda kept: -kept.saved)


def unreadable() -> list[UnreadableSession]:
    """Return the works of this browser that this version cannot read, newest first."""
    whose, store = owner(), WRITER.store
    if not whose or not store.place.is_on:
        return []
    owners = [whose, *(store.owners() if is_one_person() else [])]
    found = [work for each in dict.fromkeys(owners) for work in store.unreadable(each)]
    return sorted(found, key=lambda work: -work.saved)


def go_on(state: AppState, kept: StoredSession) -> None:
    """Take up a kept work.

    One that another tab has open, another browser made or a later version wrote is taken up as a
    copy; so is one whose folder cannot be written.
    """
    take_up(state, kept.work, WRITER.store.tables(kept))
    if kept.unknown:
        state.notice = (
            f"A later version of this app kept this work; {listed(list(kept.unknown[:3]))} of it "
            "is not known here. This is a copy without it; the work itself stays as it is."
        )
        return
    if kept.owner == owner() and not is_held(kept.name):
        with suppress(HipadError):
            if WRITER.store.claim(kept, state.keep_holder):
                state.keep_name = kept.name


def forget(kept: StoredSession | UnreadableSession) -> None:
    """Remove a kept work."""
    WRITER.store.remove(kept.owner, kept.name)


def forget_all(state: AppState) -> None:
    """Remove everything that is offered here, and the present work as far as it was kept."""
    whose = owner()
    WRITER.forget((whose, state.keep_name))
    WRITER.flush()
    for kept in offers(state):
        forget(kept)
    WRITER.store.remove_all(whose)
    state.kept = _present(state)  # written again only when it changes
