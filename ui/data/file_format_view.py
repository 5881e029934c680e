"""How the file was understood: one strip after each upload, every item one click to change.

What the reader found, and why, stands in the table's `reading`. A change states one thing about the
file and reads it again from the bytes that came; rules, blocks and models stay. Questions stand
below the strip until they are answered. Bytes of a large file are not kept: then the change waits
for the file to be uploaded again.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

import streamlit as st

from hipad.data import FileFormat, Question, Table, Turn
from hipad.data.file_format import DECIMALS, ENCODINGS, SEPARATORS
from hipad.data.written_numbers import SURE_WORDS
from hipad.utils import count, listed
from ui.data import upload
from ui.data.loading import ReadingJob, first_preparation, label_candidates
from ui.data.upload import loaded_of
from ui.dataset import MOST_CLASSES, ROW, Loaded
from ui.state import AppState, attempt
from ui.text import plain

REREADING: Final = "reread_table"  # the reading that a change starts
MOST_SHOWN: Final = 5  # questions at once
MOST_OFFERED: Final = 30  # columns that may hold the classes
LAST_HEADER: Final = 60  # the last line that can be the header

Change = Mapping[str, Any]


def show(state: AppState, loaded: Loaded) -> None:
    """Draw the strip for a table of the user's own; samples are known."""
    if loaded.sample:
        return
    table = loaded.table
    key = _reading_key(state, loaded)
    with st.container(border=True, key=key.replace(REREADING, "understanding")):
        st.markdown("**How this file was read** (click an item to change it)")
        with st.container():  # keeps its place, so that nothing below it moves
            upload.progress(state, key, lambda read, name: take_again(state, loaded, read, name))
        with st.container(horizontal=True, gap="small"):
            for draw in (_header, _choices, _gaps, _lies, _ids):
                draw(state, loaded)
            if loaded is state.loaded:
                _outcome(state, loaded)
                _positive(state, loaded)
        if about := lines_left_out(table):
            st.caption(plain(about, 600))
        asked = loaded.table.reading.open_questions
        for n, question in enumerate(asked[:MOST_SHOWN]):
            _question(state, loaded, question, n)
        if len(asked) > MOST_SHOWN:
            st.caption(f"{count(len(asked) - MOST_SHOWN, 'more question')} will follow.")


def lines_left_out(table: Table) -> str:
    """Return a sentence on the lines of a file that are no rows; empty where there are none."""
    reading = table.reading
    kinds = [
        (f"{count(len(reading.titles), 'line')} above the header", reading.titles),
        ("a row of units", [unit for unit in reading.units if unit]),
        (f"{count(len(reading.footers), 'line')} at the end", reading.footers),
    ]
    parts = [f"{what} ({listed(list(cells), limit=3)})" for what, cells in kinds if cells]
    return f"Not read as rows: {'; '.join(parts)}." if parts else ""


def _reading_key(state: AppState, loaded: Loaded) -> str:
    """Under which a table is read again: the one in use, or one that waits for an answer."""
    return f"{REREADING}_pending" if loaded is state.pending else REREADING


def _item(
    state: AppState,
    loaded: Loaded,
    name: str,
    value: str,
    field: str,
    draw: Callable[[str], Change | None],
) -> None:
    """One item: its value on a button, and the way to change it behind that."""
    reading = loaded.table.reading
    why = reading.reason(field) if field else ""
    key = f"understood_{field or name}_{_drawn(state, loaded)}"
    with st.popover(f"{name}: **{plain(value, 40)}**"):
        if why:
            st.caption(f"{plain(why[:1].upper() + why[1:], 200)}.")
        change = draw(key)
        if change is not None:
            _apply(state, loaded, change)


def _drawn(state: AppState, loaded: Loaded) -> str:
    """What tells the widgets of one reading of one table from all others."""
    text = "_".join(f"{value}" for value in loaded.table.reading.stated.to_dict().values())
    digest = zlib.crc32(f"{text}{loaded.table.turned}".encode())
    where = _reading_key(state, loaded)
    return f"{where}_{loaded.key[:12]}_{digest}_{state.version}_{state.returns}"


def _choice(
    label: str, options: Mapping[Any, str], now: Any, field: str, key: str
) -> Change | None:
    names = list(options)
    picked = st.radio(
        label,
        names,
        index=names.index(now) if now in names else None,
        format_func=options.__getitem__,
        key=key,
    )
    return None if picked == now or picked is None else {field: picked}


def _header(state: AppState, loaded: Loaded) -> None:
    now = loaded.table.reading.found.header_row
    if now is None:
        return

    def draw(key: str) -> Change | None:
        line = st.number_input(
            "The line with the names of the columns",
            0,
            LAST_HEADER,
            min(now, LAST_HEADER),
            key=key,
            help="Counted from 1. Enter 0 if the file has no such line.",
        )
        return None if line == min(now, LAST_HEADER) else {"header_row": int(line)}

    _item(state, loaded, "Header row", f"line {now}" if now else "none", "header_row", draw)


def _choices(state: AppState, loaded: Loaded) -> None:
    """Draw the items that are one choice of a few, where the file has them."""
    reading = loaded.table.reading
    sheets = {name: plain(name, 40) for name in reading.sheets[:50]}
    offered: tuple[tuple[str, str, str, Mapping[str, str]], ...] = (
        ("separator", "Separator", "Between two cells", SEPARATORS),
        ("decimal", "Decimal sign", "Decimal sign", DECIMALS),
        ("encoding", "Encoding", "Encoding of letters", ENCODINGS),
        ("sheet", "Sheet", "Sheet of the workbook", sheets if len(sheets) > 1 else {}),
    )
    for field, name, question, options in offered:
        now = getattr(reading.found, field)
        if now is not None and options:
            draw = partial(_choice, question, options, now, field)
            _item(state, loaded, name, options.get(now, now), field, draw)


def _gaps(state: AppState, loaded: Loaded) -> None:
    reading = loaded.table.reading
    own = {word for some in reading.stated.column_gaps.values() for word in some}
    words = [word for word in reading.gaps if word not in own]
    if reading.stated.gap_words is not None:
        words = list(reading.stated.gap_words)
    every = [*words, *(word for word in reading.gaps if word not in words)]
    shown = ", ".join(every[:3]) + (f" and {len(every) - 3} more" if len(every) > 3 else "")

    def draw(key: str) -> Change | None:
        now = ", ".join(words)
        with st.form(f"{key}_form", border=False):
            written = st.text_input(
                "Words for a missing value, separated by commas",
                now,
                key=key,
                help="They count as missing in every column. An empty cell always does.",
            )
            used = st.form_submit_button(
                "Use these words", help="Reads the file again with these words."
            )
        for word, n in list(reading.gaps.items())[:10]:
            if n:
                st.caption(plain(f"{word}: {count(n, 'cell')}", 100))
        if reading.stated.gap_words is None:
            known = listed(sorted(word for word in SURE_WORDS if word)[:12], limit=12)
            st.caption(plain(f"Recognised as well: {known} and the like.", 400))
        if not used or written == now:
            return None
        return {"gap_words": tuple(w for part in written.split(",") if (w := part.strip()))}

    _item(state, loaded, "Missing values", shown or "empty cells", "gap_words", draw)


def _lies(state: AppState, loaded: Loaded) -> None:
    table = loaded.table
    if (table.ids and not table.turned) or table.is_sparse:
        return  # the format tells it
    one = loaded.row_word or (state.data.row_word(1) if state.data is not None else "patient")
    words = {
        False: "as in the file" if one in (ROW, "group") else f"one row per {one}",
        True: "one row per gene",
    }

    def draw(key: str) -> Change | None:
        return _choice("Rows of the file", words, table.turned, "turn", key)

    _item(state, loaded, "Orientation", words[table.turned], "", draw)


def _ids(state: AppState, loaded: Loaded) -> None:
    """The IDs of the rows; which column holds them is a matter of the columns' roles."""
    ids = loaded.table.row_ids
    if ids:
        st.button(
            f"IDs: **{plain(', '.join(ids[:2]), 30)}** ...",
            key=f"understood_ids_{_drawn(state, loaded)}",
            disabled=True,
            help="The names of the rows. They are not used as a feature.",
        )


def _outcome(state: AppState, loaded: Loaded) -> None:
    chosen = state.preparation
    if state.data is None or chosen is None:
        return
    found = state.remember("label candidates", (loaded,), lambda: label_candidates(loaded))
    names = list(dict.fromkeys([chosen.label, *found]))[:MOST_OFFERED]

    def draw(key: str) -> Change | None:
        options = {name: plain(name, 40) for name in names}
        return _choice("The column that holds the classes", options, chosen.label, "label", key)

    _item(state, loaded, "Outcome", chosen.label, "", draw)


def _positive(state: AppState, loaded: Loaded) -> None:
    data, chosen = state.data, state.preparation
    if data is None or chosen is None:
        return
    labels = loaded.labels(chosen.label)
    if not 2 <= len(labels) <= MOST_CLASSES:
        return

    def draw(key: str) -> Change | None:
        options = {label: plain(label, 40) for label in labels}
        name = f"The class of {plain(chosen.label, 40)} that you are looking for"
        return _choice(name, options, data.classes[1], "positive", key)

    _item(state, loaded, "Positive class", data.classes[1], "", draw)


def _question(state: AppState, loaded: Loaded, question: Question, n: int) -> None:
    key = f"asked_{n}_{_drawn(state, loaded)}"
    text = question.text[:1].upper() + question.text[1:]
    words, buttons = st.columns([3, 2], vertical_alignment="center")
    words.markdown(f":material/help: {plain(text, 600)}")
    with buttons, st.container(horizontal=True, gap="small", horizontal_alignment="right"):
        for i, answer in enumerate(question.answers):
            other = answer.words[:1].upper() + answer.words[1:]
            if st.button(plain(other, 60), key=f"{key}_{i}", help="Reads the file again."):
                _apply(state, loaded, answer.change)
        if st.button("Correct as read", key=f"{key}_as_read", help="Do not ask again."):
            reading = loaded.table.reading
            stated = reading.stated.with_change({"accepted": (question.key,)})
            table = replace(loaded.table, reading=replace(reading, stated=stated))
            new = replace(loaded, table=table)
            if loaded is state.pending:
                state.pending = new
            else:
                state.loaded = new
            st.rerun()


def _apply(state: AppState, loaded: Loaded, change: Change) -> None:
    """Take a change: outcome and positive class at once, all others by reading the file again."""
    if "positive" in change or "label" in change:
        assert state.preparation is not None
        wanted = replace(state.preparation, **{"positive": None, **change})
        if attempt(state, lambda: state.prepare(wanted)):
            st.rerun()
        return
    table = loaded.table
    turn: Turn = change.get("turn", table.turned)
    rest = {name: value for name, value in change.items() if name != "turn"}
    if attempt(state, lambda: begin(state, loaded, table.reading.stated.with_change(rest), turn)):
        st.rerun()


def begin(state: AppState, loaded: Loaded, stated: FileFormat, turn: Turn) -> None:
    """Read the file again with what is stated, or ask for the file where its bytes are gone."""
    packed = state.sources.get(loaded.table.sha256)
    if packed is None:
        state.stated = (loaded.table.sha256, stated, turn)
        state.notice = (
            f"{loaded.name} is no longer in memory. Upload it again under Load other data, and it "
            "will be read with your change."
        )
        return
    key = _reading_key(state, loaded)
    before = state.readings.get(key)
    if before is not None:
        before.stop()
    reading = ReadingJob(loaded.name, zlib.decompress(packed), turn=turn, stated=stated)
    state.readings[key] = reading
    reading.launch()


def take_again(state: AppState, before: Loaded, table: Table, name: str) -> None:
    """Use the table as it was read anew; whatever was made with it goes along."""
    if before is not state.loaded or state.preparation is None:
        if state.pending is not None:
            state.pending = loaded_of(name, table)
        return
    loaded = replace(before, table=table)
    wanted = state.preparation
    if wanted.label not in table.names:
        wanted = replace(wanted, label=first_preparation(loaded).label, positive=None)
    elif wanted.positive is not None and wanted.positive not in loaded.labels(wanted.label):
        wanted = replace(wanted, positive=None)
    known = {*table.names}
    wanted = replace(wanted, exclude=tuple(name for name in wanted.exclude if name in known))
    state.prepare(wanted, loaded)
