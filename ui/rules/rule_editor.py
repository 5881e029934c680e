"""The rule editor: a component in the browser, and what the server tells it.

Streamlit serves the files of components that stand in an installed package's manifest. The app also
runs from a folder that nobody installed, so the manifest is given to the running server here.
`web/editor` holds the sources and builds the files.

Every edit in the browser has a number. The server answers with the number of the last edit that it
has seen, and the browser takes the server's text only when that is the newest: what somebody is
typing is never overwritten by an answer that does not know it yet.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

import streamlit as st

from hipad.evaluation.rule_study import Study
from hipad.exceptions import DataError, RuleError
from hipad.rules import read_rules
from hipad.rules.compiled_rule import meaning
from hipad.rules.functions import RULE_FUNCTIONS
from hipad.rules.lexer import RESERVED, Place, format_number, quote_label, quote_name
from hipad.rules.suggestions import remedies
from hipad.utils import one_line
from ui.dataset import Dataset
from ui.rules.rule_text import Reader, TextHistory, describe
from ui.server import streamlit_internals
from ui.server.streamlit_internals import register_component
from ui.settings import RULES
from ui.state import AppState

# --------------------------------------------------------------------------------------------------
# The component.

PACKAGE: Final = "hipad"
PART: Final = "rule_editor"
NAME: Final = f"{PACKAGE}.{PART}"
FOLDER: Final = Path(__file__).parent
HTML: Final = '<div class="hipad-place"></div>'
KEY: Final = "rules_editor"


def mount(data: Mapping[str, Any], **on_change: Callable[[], None]) -> None:
    """Draw the editor with what the server knows; `on_change` has what to do with its answers."""
    register_component(PACKAGE, PART, FOLDER)
    _component()(key=KEY, data=dict(data), **on_change)


def answer(name: str) -> Any:
    """What the editor said last under a name, or None."""
    said = st.session_state.get(KEY)
    return said.get(name) if said is not None else None


def keep_file(content: bytes, kind: str) -> str:
    """The address at which the browser may fetch this content while the page is shown."""
    return streamlit_internals.keep_file(content, kind, f"{KEY}.names")


@cache
def _component() -> Any:
    return st.components.v2.component(NAME, html=HTML, css="editor.css", js="editor.js")


# --------------------------------------------------------------------------------------------------
# Edits in the browser, and versions of the text.

LONGEST_ID: Final = 64


@dataclass(frozen=True)
class ClientEdit:
    """A text as the browser sent it: by which editor, its number, and in which burst of typing."""

    client: str
    edit: int
    burst: int
    text: str
    names: str = ""  # key of the names that the browser has

    @classmethod
    def read(cls, value: Any) -> ClientEdit:
        """The edit that came from the browser; DataError if it is none."""
        fields = value if isinstance(value, dict) else {}
        client, edit, burst = (fields.get(name, "") for name in ("client", "edit", "burst"))
        names = str(fields.get("names", ""))[:LONGEST_ID]
        whole = isinstance(edit, int) and isinstance(burst, int)
        if not isinstance(client, str) or len(client) > LONGEST_ID or not whole:
            raise DataError("expected an edit of the rules, got something else: reload the page")
        try:
            text = RULES.read(fields.get("text"))
        except ValueError as error:
            raise DataError(f"the rules cannot be used: {error}: remove some") from error
        return cls(client, int(edit), int(burst), text, names)


@dataclass
class EditorLink:
    """What one session knows of its editor."""

    is_ready: bool = False  # it has been seen in the browser; until then there is a text area
    is_plain: bool = False  # the user wants the text area
    seen: ClientEdit | None = None
    before: str = ""  # the text before the present burst of typing
    version: tuple[int, int] | None = None  # of the history, that this burst has made

    def take(self, value: Any, history: TextHistory, read: Reader = read_rules) -> None:
        """Take an edit over, if it is new; a burst of typing makes one version."""
        new, old = ClientEdit.read(value), self.seen
        if old is not None and old.client == new.client and new.edit <= old.edit:
            return
        goes_on = old is not None and (old.client, old.burst) == (new.client, new.burst)
        self.seen = new
        if goes_on and self.version == history.version:
            history.amend(new.text, describe(self.before, new.text, read))
        else:
            self.before = history.text
            history.change(new.text, describe(self.before, new.text, read))
        is_own = goes_on or history.text != self.before
        self.version = history.version if is_own else None

    @property
    def names(self) -> str:
        """The key of the names that the browser has."""
        return "" if self.seen is None else self.seen.names

    @property
    def last_seen(self) -> dict[str, object] | None:
        """The last edit that was seen, for the browser."""
        return None if self.seen is None else {"client": self.seen.client, "edit": self.seen.edit}


# --------------------------------------------------------------------------------------------------
# Names that a rule may use in these data. The browser fetches the list once for each set of data,
# as a file under an address made of its content: with 50,000 names it is too much for every rerun.

KIND: Final = "application/json"
FUNCTIONS: Final = tuple(RULE_FUNCTIONS)
WORDS: Final = (
    *sorted(RESERVED - {"off"}),
    "at least",
    "at most",
    "exactly",
    "any of",
    "all of",
    "none of",
    "unless",
    "is raised in",
    "is lowered in",
    "is certain",
    "does not matter",
    "worth 20 patients",
)


@dataclass(frozen=True)
class KnownNames:
    """Names as a rule writes them, in JSON, and a key made of that."""

    key: str
    content: bytes


def known_names(data: Dataset) -> KnownNames:
    """All names of the data: features, blocks with their sizes, outcomes, categories."""
    lists = {
        "features": [quote_name(data.index.name(j)) for j in range(data.n_features)],
        "blocks": [[quote_name(name), len(columns)] for name, columns in data.blocks.items()],
        "classes": [quote_label(name) for name in data.classes],
        "categories": _categories(data),
    }
    content = json.dumps(lists, ensure_ascii=False, separators=(",", ":")).encode()
    return KnownNames(sha256(content).hexdigest()[:32], content)


def _categories(data: Dataset) -> list[tuple[str, list[str]]]:
    """Each category with its levels, in the case in which the data have them."""
    found: dict[str, tuple[str, list[str]]] = {}
    for levels in data.index.categories.values():
        for j in levels.values():
            group, _, level = (part.strip() for part in data.index.name(j).partition("="))
            found.setdefault(group.lower(), (quote_name(group), []))[1].append(_level(level))
    return list(found.values())


def _level(level: str) -> str:
    """A level as a rule writes it after `=`: a number only where it is read back as the same."""
    try:
        is_number = level == format_number(float(level)) and level[-1:].isdecimal()
    except ValueError:
        is_number = False
    return level if is_number else quote_name(level)


# --------------------------------------------------------------------------------------------------
# Remedies that one click writes: each is compiled on the data before it is offered.

LONGEST_FIX: Final = 70  # characters of a remedy on its button


@dataclass(frozen=True)
class Fix:
    """What the button says, and the line after it."""

    label: str
    line: str


def fixes_of(error: RuleError, line: str, data: Dataset) -> list[Fix]:
    """Up to three remedies of a mistake in a line."""
    found = remedies(line, error, data.name_table, data.classes)
    return [Fix(one_line(remedy.label, LONGEST_FIX), remedy.text) for remedy in found]


# --------------------------------------------------------------------------------------------------
# Meanings and mistakes of lines. Positions are UTF-16 units from the start of the text, as in the
# browser.

MOST_WORDS: Final = 200_000  # characters of all meanings, and of all mistakes
LONGEST_MESSAGE: Final = 400  # characters of one meaning or mistake
MOST_MENDED: Final = 10  # mistakes for which remedies are tried
_PLACE: Final = re.compile(r"^line \d+(?:, column \d+)?: ")
_WORD: Final = re.compile(r"`[^`]*`?|\"[^\"]*\"?|[\w.]+|[<>=!]+|\S")


class Places:
    """Where lines and columns of a text lie for the browser."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines(keepends=True)
        self._starts = [0, *accumulate(map(units, self.lines))]

    def line(self, number: int) -> str:
        """A line without its end; lines count from one."""
        return "".join(self.lines[number - 1 : number][0].splitlines())

    def at(self, number: int, column: int = 1) -> int:
        """A place by its line and column, both counted from one."""
        return self._starts[number - 1] + units(self.lines[number - 1][: column - 1])

    def has(self, number: int | None) -> bool:
        return number is not None and 1 <= number <= len(self.lines)


def units(text: str) -> int:
    """How long a text is for a browser.

    >>> units("ab"), units("a😀")
    (2, 3)
    """
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def line_messages(text: str, checked: Study | None, data: Dataset) -> dict[str, list[Any]]:
    """The meaning of every line that has one, and every mistake with its remedies."""
    if checked is None:
        return {"meanings": [], "problems": []}
    places = Places(text)
    return {
        "meanings": list(_meanings(places, checked)),
        "problems": list(_problems(places, checked.errors, data)),
    }


def _meanings(places: Places, checked: Study) -> Iterator[tuple[int, str]]:
    """Where each line begins and what it means; several where `or` joins conditions."""
    by_line: dict[int, list[str]] = {}
    left = MOST_WORDS
    for place, is_on, text in _rule_meanings(checked):
        if place is None or not places.has(place[0]) or left < 0:
            continue
        words = one_line(text if is_on else f"switched off: {text}", LONGEST_MESSAGE)
        by_line.setdefault(place[0], []).append(words)
        left -= len(words)
    for number, several in by_line.items():
        yield places.at(number), "; or ".join(several)[: 2 * LONGEST_MESSAGE]


def _rule_meanings(checked: Study) -> Iterator[tuple[Place | None, bool, str]]:
    """Every rule and statement: where it stands, whether it is on, and what it means."""
    for check in checked.checks:
        remark = check.train.no_value if check.train else ""
        gaps = f" ({remark})" if remark else ""
        yield check.rule.place, check.rule.enabled, meaning(check.compiled) + gaps
    for each in checked.stated:
        yield each.statement.place, each.statement.enabled, each.meaning


def _problems(
    places: Places, errors: tuple[RuleError, ...], data: Dataset
) -> Iterator[dict[str, Any]]:
    left = MOST_WORDS
    for n, error in enumerate(errors):
        if left < 0 or not places.lines:
            return
        number = error.line if error.line is not None and places.has(error.line) else 1
        line = places.line(number)
        fixes = fixes_of(error, line, data) if n < MOST_MENDED and error.line is not None else []
        words = one_line(sentence(error), LONGEST_MESSAGE)
        left -= len(words)
        start, end = span(line, error.column)
        yield {
            "line": places.at(number),
            "from": places.at(number, start + 1),
            "to": places.at(number, end + 1),
            "words": words,
            "fixes": [{"label": fix.label, "before": line, "after": fix.line} for fix in fixes],
        }


def span(line: str, column: int | None) -> tuple[int, int]:
    """The word at a column, to be underlined; the last sign where the line ends too early.

    >>> span("Glukose >= 1", 1), span("a >=", 5), span("a >= 1", None)
    ((0, 7), (3, 4), (0, 6))
    """
    if column is None:
        return 0, len(line)
    at = min(max(column - 1, 0), len(line))
    word = _WORD.search(line, at)
    if word is not None:
        return word.span()
    last = len(line.rstrip())
    return max(last - 1, 0), last


def sentence(error: RuleError) -> str:
    """The message without its place, which the editor shows by itself."""
    text = _PLACE.sub("", str(error))
    return text[:1].upper() + text[1:]


# --------------------------------------------------------------------------------------------------
# The editor on the page, or a plain text area; both show the same text.

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
        help="A simple text field instead of the editor, for screen readers or if the editor does "
        "not work. Keys in the editor: Ctrl+Space completes a name, F8 goes to the next mistake, "
        "Alt+Enter corrects it, Ctrl+Z undoes, and Escape followed by Tab leaves the editor.",
    )


def show(state: AppState, data: Dataset, checked: Study | None, example: str) -> None:
    """Draw the editor, unless the user wants the text area."""
    link = link_of(state)
    if link.is_plain or _is_vast(state.rules.text):
        return

    def ready() -> None:
        link.is_ready = True

    mount(
        _editor_data(state, data, checked, link, example),
        on_edit_change=lambda: take_edit(state, data),
        on_ready_change=ready,
    )


def take_edit(state: AppState, data: Dataset) -> None:
    """Take over what the browser has just sent, unless that is done."""
    if (value := answer("edit")) is None:
        return
    try:
        link_of(state).take(value, state.rules, data.read)
    except DataError as error:
        state.error = str(error)


def _editor_data(
    state: AppState, data: Dataset, checked: Study | None, link: EditorLink, example: str
) -> dict[str, Any]:
    text = state.rules.text
    names = state.remember("names", data, lambda: known_names(data))
    has_names = link.names == names.key
    address = "" if has_names else keep_file(names.content, KIND)
    said = state.remember("said", (text, checked, data), lambda: line_messages(text, checked, data))
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
