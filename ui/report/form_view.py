"""The form of the Report page: question, notes, who said each rule, and items of TRIPOD+AI."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, get_args

import streamlit as st

from hipad.reporting.guidelines import TRIPOD, Item
from hipad.reporting.sources import LONGEST_ANSWER
from hipad.reporting.study import RuleProvenance, SawData
from ui.state import AppState
from ui.text import plain

MOST_RULES: Final = 30  # that the form asks about
SEEN: Final[dict[SawData, str]] = {
    "": "not stated",
    "before": "before seeing these data",
    "after": "after seeing these data",
}


def show(state: AppState, rules: list[tuple[str, str]]) -> None:
    """Draw the form; every answer is kept with the session at once.

    Parameters
    ----------
    state : AppState
        The session, whose notes are written.
    rules : list of (label, text)
        The rules of the model, as its report names them.
    """
    notes = state.notes
    for name, label, help in (
        ("title", "Title", "Of the report. Empty: the classes."),
        ("question", "Question", "What is the model for, and for whom?"),
        ("remarks", "Notes", "Whatever else a reader should know."),
    ):
        widget = st.text_input if name == "title" else st.text_area
        text = widget(
            label,
            getattr(notes, name),
            key=f"report_{name}_{state.version}",
            help=help,
            max_chars=LONGEST_ANSWER,
        )
        notes = replace(notes, **{name: text or ""})  # type: ignore[arg-type]
    state.notes = notes
    if rules:
        with st.expander("Who said each rule"):
            _provenance(state, rules)
    asked = [item for item in TRIPOD if item.kind == "asked"]
    drafted = [item for item in TRIPOD if item.kind == "draft"]
    with st.expander(f"TRIPOD+AI: {len(asked)} questions that only you can answer"):
        _items(state, asked)
    with st.expander(f"TRIPOD+AI: {len(drafted)} drafts to confirm or complete"):
        st.caption("What the run says of these stands in the report; add what it cannot know.")
        _items(state, drafted)


def _items(state: AppState, items: list[Item]) -> None:
    for item in items:
        text = st.text_area(
            f"{item.number} {item.topic}: {item.question}",
            state.notes.answers.get(item.number, ""),
            key=f"report_item_{item.number}_{state.version}",
            height=68,
            max_chars=LONGEST_ANSWER,
        )
        state.notes = state.notes.with_answer(item.number, text or "")


def _provenance(state: AppState, rules: list[tuple[str, str]]) -> None:
    for k, (label, text) in enumerate(rules[:MOST_RULES]):
        own = state.notes.of_rule(text)
        st.markdown(f"**{plain(label)}** {plain(text, 200)}")
        columns = st.columns(4)
        key = f"{k}_{state.version}"
        who = columns[0].text_input("Who", own.who, key=f"report_who_{key}", max_chars=500)
        when = columns[1].text_input("When", own.when, key=f"report_when_{key}", max_chars=500)
        seen = columns[2].selectbox(
            "Written",
            list(get_args(SawData)),
            index=list(get_args(SawData)).index(own.saw_data),
            format_func=SEEN.__getitem__,
            key=f"report_seen_{key}",
        )
        source = columns[3].text_input(
            "Source", own.source, key=f"report_source_{key}", max_chars=2_000,
            help="A publication, a guideline, or experience.",
        )  # fmt: skip
        stated = RuleProvenance(text, who or "", when or "", seen or "", source or "")
        state.notes = state.notes.with_rule(stated)
    if len(rules) > MOST_RULES:
        st.caption(f"{len(rules) - MOST_RULES:,} further rules are not asked about.")
