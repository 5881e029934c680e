"""The editor on the page, and the plain text area one switch away; both show the same text."""

from __future__ import annotations

import json
from typing import Any, Final

import streamlit as st

from hipad.evaluation.rule_study import Study
from hipad.exceptions import DataError
from ui.dataset import Dataset
from ui.rules.editor import mounting
from ui.rules.editor.answering import said_of
from ui.rules.editor.known_names import FUNCTIONS, KIND, WORDS, known_names
from ui.rules.editor.linking import EditorLink
from ui.state import AppState

LABEL: Final = "Rules, one per line"
LINE: Final = "line"  # of a link to this page: the line at which to begin
MOST_DIGITS: Final = 6
LARGEST: Final = 400_000  # bytes of a text as it is sent; above, there is the text area only


def link_of(state: AppState) -> EditorLink:
    """What this session knows of its editor."""
    return state.remember("rules editor", None, EditorLink)


def is_plain(state: AppState) -> bool:
    """Whether the text area is to be drawn: by choice, for a vast text, or with no editor yet."""
    link = link_of(state)
    return link.is_plain or not link.is_ready or _is_vast(state.rules.text)


def switch(state: AppState) -> None:
    """The switch between the editor and the text area."""
    link = link_of(state)

    def turn() -> None:
        link.is_plain = bool(st.session_state["rules_plain"])

    st.toggle(
        "Plain text",
        link.is_plain,
        key="rules_plain",
        on_change=turn,
        help="A simple text area in place of the editor, for screen readers or if the editor does "
        "not work. In the editor, Ctrl+Space completes a name, F8 goes to the next mistake, "
        "Alt+Enter mends it, Ctrl+Z undoes, and Escape, then Tab, leaves it.",
    )


def show(state: AppState, data: Dataset, checked: Study | None, example: str) -> None:
    """Draw the editor, unless the user wants the text area."""
    link = link_of(state)
    if link.is_plain or _is_vast(state.rules.text):
        return

    def ready() -> None:
        link.is_ready = True

    mounting.mount(
        _told(state, data, checked, link, example),
        on_edit_change=lambda: take_edit(state, data),
        on_ready_change=ready,
    )


def take_edit(state: AppState, data: Dataset) -> None:
    """Take over what the browser has just sent, unless that is done."""
    if (value := mounting.answer("edit")) is None:
        return
    try:
        link_of(state).take(value, state.rules, data.read)
    except DataError as error:
        state.error = str(error)


def _told(
    state: AppState, data: Dataset, checked: Study | None, link: EditorLink, example: str
) -> dict[str, Any]:
    text = state.rules.text
    names = state.remember("names", data, lambda: known_names(data))
    has_names = link.names == names.key
    address = "" if has_names else mounting.keep_file(names.content, KIND)
    said = state.remember("said", (text, checked, data), lambda: said_of(text, checked, data))
    return {
        "text": text,
        "seen": link.last_seen,
        "ready": link.is_ready,
        "line": line_of(st.query_params.get(LINE, "")),
        "label": LABEL,
        "example": example,
        "names": {"key": names.key, "address": address},
        "functions": FUNCTIONS,
        "words": WORDS,
        **said,
    }


def line_of(text: str) -> int | None:
    """The line that a link names, if it is one.

    >>> line_of("12"), line_of("0"), line_of("two")
    (12, None, None)
    """
    is_number = text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS
    return int(text) or None if is_number else None


def _is_vast(text: str) -> bool:
    return len(text) > LARGEST // 6 and len(json.dumps(text)) > LARGEST
