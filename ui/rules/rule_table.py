"""The rules as a table: what each does on the patients, with worth, note and switch to edit."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Final

import pandas as pd
import streamlit as st

from hipad.evaluation.rule_study import RuleCheck, Study
from hipad.exceptions import HipadError
from hipad.rules import RuleCounts, read_rules
from hipad.utils import count, percent
from ui.rules.rule_text import Reader, with_rules
from ui.rules.text_view import change
from ui.state import AppState
from ui.text import brings_in, plain

MOST_ROWS: Final = 200  # rules in the table
LONGEST: Final = 300  # characters of a premise in it
EDITABLE: Final = ("on", "worth", "note")


def show(state: AppState, checked: Study) -> None:
    """The table, and the button that takes what was edited in it."""
    table = rows(checked)
    version = f"{state.rules.at}_{hash(state.rules.text)}_{state.version}"
    edited = st.data_editor(
        table,
        key=f"rules_table_{version}",
        hide_index=True,
        disabled=[name for name in table.columns if name not in EDITABLE],
        column_config=_columns(),
        height=min(38 + 35 * len(table), 420),
        placeholder="–",
    )
    changed = not edited[list(EDITABLE)].equals(table[list(EDITABLE)])
    with st.container(horizontal=True, vertical_alignment="center"):
        applied = st.button(
            "Apply",
            type="primary" if changed else "secondary",
            icon=":material/check:",
            disabled=not changed,
            key="rules_apply",
            help="Write what was changed in the table to the rules.",
        )
        st.caption(
            "Double-click **worth** or **note** to change it, tick **on** to use a rule, then "
            "**Apply**. A worth of – is learnt, or as the settings of the run say."
        )
    if applied:
        _apply(state, checked, edited)


def _apply(state: AppState, checked: Study, edited: pd.DataFrame) -> None:
    try:
        assert state.data is not None
        table = edited.to_dict("records")
        change(state, with_table(state.rules.text, checked, table, state.data.read))
    except HipadError as error:
        st.error(plain(error, 400))
        return
    st.rerun()


def with_table(
    text: str, checked: Study, edited: list[dict[str, Any]], read: Reader = read_rules
) -> str:
    """The text with switches, worths and notes as they stand in the table's rows."""
    changes = {}
    for check, row in zip(checked.checks[:MOST_ROWS], edited, strict=True):
        worth, note = row["worth"], row["note"]
        rule = replace(
            check.rule,
            enabled=bool(row["on"]),
            worth=None if worth is None or math.isnan(worth) else float(worth),
            note=str(note or "")[:500],
        )
        if rule != check.rule:
            changes[check.position] = rule
    return with_rules(text, changes, read) if changes else text


def rows(checked: Study) -> pd.DataFrame:
    """One row per rule that can be used."""
    table = pd.DataFrame([_row(check) for check in checked.checks[:MOST_ROWS]])
    return table.astype({"worth": "float64"})


def _row(check: RuleCheck) -> dict[str, Any]:
    rule = check.rule
    return {
        "on": rule.enabled,
        "rule": check.label[:80],
        "says": f"{rule.premise[:LONGEST]} => {rule.outcome[:80]}",
        "worth": rule.worth,
        "strong enough": strong_enough(check),
        "training": met(check.train),
        "test": "–" if check.test is None else met(check.test),
        "note": rule.note,
    }


def strong_enough(check: RuleCheck) -> str:
    """Whether a feature of the rule can come in, or which knob holds it back."""
    if not check.rule.enabled:
        return "off"
    if check.pull is None:
        return "after a run"
    reasons = {"premise": "no: met in the middle", "never": "no: nobody"}
    if not check.pull.enters:
        return reasons.get(check.pull.limit, f"no: {check.pull.limit}")
    return brings_in(check.pull)


def met(counts: RuleCounts) -> str:
    """Whom the rule speaks of, and how often it is right about them."""
    fired = len(counts.fired)
    right = f", {percent(counts.precision, 0)}" if fired else ""
    gaps = f"; {counts.no_value}" if counts.no_value else ""
    return f"{fired:,} of {counts.n_rows:,}{right}{gaps}"


def _columns() -> dict[str, Any]:
    column = st.column_config
    return {
        "on": column.CheckboxColumn("on", help="Whether the rule takes part.", width="small"),
        "says": column.TextColumn(
            "says", help="Whom it speaks of, and the class it gives them.", width="medium"
        ),
        "worth": column.NumberColumn(
            "worth",
            help="How many patients' evidence it counts for; –: learnt, or as the settings say.",
            min_value=0.0,
            format="%g",
        ),
        "strong enough": column.TextColumn(
            "strong enough",
            help="Whether the rule can be expected to bring in a feature: by itself (yes), or "
            "together with the patients and the other rules; and what holds it back if not. What "
            "it does to a model is said after a run.",
        ),
        "training": column.TextColumn(
            "training, right",
            help="To how many patients it applies, and which share of these has its class; of "
            "those without a value it does not speak.",
        ),
        "test": column.TextColumn(
            "test, right",
            help="To how many patients it applies, and which share of these has its class; of "
            "those without a value it does not speak.",
        ),
        "note": column.TextColumn("note", help="Kept with the rule.", max_chars=500),
    }


def words(checked: Study) -> str:
    """The table in a sentence, for those who do not see it."""
    on = [check for check in checked.checks if check.rule.enabled]
    assert checked.overlap is not None
    covered = count(checked.overlap.covered, "training patient")
    contested = len(checked.overlap.contested)
    text = ""
    if len(checked.checks) > MOST_ROWS:
        text += f"The table shows the first {MOST_ROWS} of {len(checked.checks):,} rules. "
    if checked.untried:
        text += f"{count(checked.untried, 'rule')} more could not be tried in the time there is. "
    text += f"{count(len(on), 'rule')} on, {len(checked.checks) - len(on)} off. "
    text += f"Together they speak of {covered}"
    return text + (f", {contested:,} of them with both outcomes." if contested else ".")
