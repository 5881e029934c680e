"""Work is kept as it goes: whatever changes is written, by a thread that no page waits for.

    autosave.note(state)      # at the end of every run of the app; the same again is not written

Only the newest state of a work is written, and one work at a time. What cannot be kept (no room, no
leave to write) is told beside every page, and everything else goes on.
"""

from __future__ import annotations

import atexit
import logging
import threading
from typing import Final

from hipad.errors import HipadError
from ui.session import owner
from ui.session.place import Place
from ui.session.shelf import Kept, Shelf
from ui.session.work import Snapshot, run_of, snapshot, take_up
from ui.state import AppState

LOGGER: Final = logging.getLogger(__name__)
LAST_SECONDS: Final = 5.0  # that the end of the server waits for what is still to be written

Slot = tuple[str, str]  # owner and name of a work


class Writer:
    """Writes the newest state of each work, one after the other, in a thread of its own."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.failed: dict[Slot, str] = {}  # why a work could not be kept
        self._due: dict[Slot, Snapshot] = {}
        self._changed = threading.Condition()
        self._busy = False
        self._thread: threading.Thread | None = None

    def put(self, slot: Slot, taken: Snapshot) -> None:
        """Have this written soon, in place of an older state that still waits."""
        with self._changed:
            self._due.pop(slot, None)
            self._due[slot] = taken
            self._changed.notify_all()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="hipad-keep", daemon=True)
                self._thread.start()

    def flush(self, seconds: float = 60.0) -> bool:
        """Wait until everything is written; False when that took too long."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._due and not self._busy, seconds)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._due))
                slot = next(iter(self._due))
                taken, self._busy = self._due.pop(slot), True
            self._write(slot, taken)
            with self._changed:
                self._busy = False
                self._changed.notify_all()

    def _write(self, slot: Slot, taken: Snapshot) -> None:
        try:
            self.shelf.put(*slot, taken)
            self.failed.pop(slot, None)
        except HipadError as error:
            self.failed[slot] = str(error)
        except OSError as error:
            self.failed[slot] = error.strerror or type(error).__name__
        except Exception as error:
            LOGGER.exception("A work could not be kept")
            self.failed[slot] = f"inside the program ({type(error).__name__})"


WRITER: Final = Writer(Shelf(Place.from_environment()))
atexit.register(WRITER.flush, LAST_SECONDS)


def note(state: AppState) -> None:
    """Have the present work written, if it changed since the last time."""
    whose = owner.owner()
    if state.data is None or not whose:
        return
    owner.hold(state.keep_name)
    present = _present(state)
    if present == state.kept or not WRITER.shelf.wants(whose):
        return
    state.kept = present
    WRITER.put((whose, state.keep_name), snapshot(state))


def _present(state: AppState) -> tuple[object, ...]:
    """Whatever is kept of a session, to see whether it changed."""
    models = (*state.models, *state.waiting, state.pinned)
    rules = (state.rules.text, state.rules.at, len(state.rules.edits), state.tuning.draft)
    choices = (state.preparation, dict(state.blocks), state.settings, state.expert)
    return state.keep_name, state.loaded, choices, rules, models, run_of(state)


def trouble(state: AppState) -> str:
    """Why the present work is not kept although it should be; empty: it is."""
    return WRITER.failed.get((owner.owner(), state.keep_name), "")


def offers(state: AppState) -> list[Kept]:
    """The works that this browser may take up, newest first, without the present one."""
    whose, shelf = owner.owner(), WRITER.shelf
    if not whose or not shelf.place.is_on:
        return []
    found = shelf.works(whose)
    if owner.is_one_person():
        for other in shelf.owners():
            if other != whose:
                found += [kept for kept in shelf.works(other) if not owner.is_held(kept.name)]
    mine = [kept for kept in found if kept.name != state.keep_name or state.data is None]
    return sorted(mine, key=lambda kept: -kept.saved)


def go_on(state: AppState, kept: Kept) -> None:
    """Take up a kept work; one that another tab has open, or another browser made, as a copy."""
    take_up(state, kept.work, WRITER.shelf.tables(kept))
    if kept.owner == owner.owner() and not owner.is_held(kept.name):
        state.keep_name = kept.name


def forget(kept: Kept) -> None:
    """Remove a kept work."""
    WRITER.shelf.remove(kept.owner, kept.name)


def forget_all(state: AppState) -> None:
    """Remove everything that is offered here, and the present work as far as it was kept."""
    WRITER.flush()
    for kept in offers(state):
        forget(kept)
    WRITER.shelf.remove_all(owner.owner())
    state.kept = _present(state)  # written again only when it changes
