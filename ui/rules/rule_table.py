"""The rules as a table: what each does on the data, with weight, note and switch to edit."""

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
from ui.dataset import Dataset
from ui.rules.rule_text import Reader, with_rules
from ui.rules.text_view import change
from ui.state import AppState
from ui.text import brings_in, plain

MOST_ROWS: Final = 200  # rules in the table
LONGEST: Final = 300  # characters of a premise in it
EDITABLE: Final = ("on", "weight", "note")


def show(state: AppState, checked: Study, data: Dataset) -> None:
    """The table, and the button that takes what was edited in it."""
    table = rows(checked)
    version = f"{state.rules.at}_{hash(state.rules.text)}_{state.version}"
    edited = st.data_editor(
        table,
        key=f"rules_table_{version}",
        hide_index=True,
        disabled=[name for name in table.columns if name not in EDITABLE],
        column_config=_columns(data.row_word(1)),
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
            help="Writes the changes of the table into the rules.",
        )
        st.caption(
            "Double-click **weight** or **note** to change it, tick **on** to use a rule, then "
            'click **Apply**. "–" means: the weight is learnt, or the default weight from '
            "Settings is used."
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
    """The text with switches, weights and notes as they stand in the table's rows."""
    changes = {}
    for check, row in zip(checked.checks[:MOST_ROWS], edited, strict=True):
        worth, note = row["weight"], row["note"]
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
    if all(check.test is None for check in checked.checks):
        table = table.drop(columns="test")
    return table.astype({"weight": "float64"})


def _row(check: RuleCheck) -> dict[str, Any]:
    rule = check.rule
    return {
        "on": rule.enabled,
        "rule": check.label[:80],
        "condition and outcome": f"{rule.premise[:LONGEST]} => {rule.outcome[:80]}",
        "weight": rule.worth,
        "effect": strong_enough(check),
        "training": met(check.train),
        "test": "–" if check.test is None else met(check.test),
        "note": rule.note,
    }


def strong_enough(check: RuleCheck) -> str:
    """Whether a feature of the rule can come in, or what holds it back."""
    if not check.rule.enabled:
        return "off"
    if check.gradient is None:
        return "after a run"
    reasons = {
        "premise": "no: threshold not strict enough",
        "never": "no: applies to nobody",
        "worth": "no: weight too small",
        "stiffness": "no: stiffness too low",
    }
    if not check.gradient.enters:
        return reasons.get(check.gradient.limit, f"no: {check.gradient.limit}")
    return brings_in(check.gradient)


def met(counts: RuleCounts) -> str:
    """How many rows the rule applies to, and how often it is right about them."""
    fired = len(counts.fired)
    right = f", {percent(counts.precision, 0)}" if fired else ""
    gaps = f"; {counts.no_value}" if counts.no_value else ""
    return f"{fired:,} of {counts.n_rows:,}{right}{gaps}"


def _columns(row: str) -> dict[str, Any]:
    column = st.column_config
    applies = (
        f"How many {row}s the rule applies to, and the share of these that have its outcome "
        f"(precision). It does not apply to {row}s without a value."
    )
    return {
        "on": column.CheckboxColumn("on", help="Whether the rule is used.", width="small"),
        "condition and outcome": column.TextColumn(
            "condition and outcome",
            help="When the rule applies, and the class that follows.",
            width="medium",
        ),
        "weight": column.NumberColumn(
            f"weight ({row}s)",
            help=f"How many labelled {row}s the rule counts for. –: learnt from the data, or the "
            "default weight from Settings.",
            min_value=0.0,
            format="%g",
        ),
        "effect": column.TextColumn(
            "effect",
            help="Whether the rule is strong enough to add features to the model: on its own "
            "(yes), or together with the data and the other rules. Otherwise: why not. Fit the "
            "model to see what the rule really changes.",
        ),
        "training": column.TextColumn("training: applies to, right", help=applies),
        "test": column.TextColumn("test: applies to, right", help=applies),
        "note": column.TextColumn("note", help="Kept with the rule.", max_chars=500),
    }


def words(checked: Study, row: str = "patient") -> str:
    """The table in a sentence, for those who do not see it; `row` is what a row is called."""
    on = [check for check in checked.checks if check.rule.enabled]
    assert checked.overlap is not None
    covered = checked.overlap.covered
    contested = len(checked.overlap.contested)
    text = ""
    if len(checked.checks) > MOST_ROWS:
        text += f"The table shows the first {MOST_ROWS} of {len(checked.checks):,} rules. "
    if checked.untried:
        text += f"{count(checked.untried, 'rule')} more were not tried: that would take too long. "
    text += f"{count(len(on), 'rule')} on, {len(checked.checks) - len(on)} off. "
    if not covered:
        return text + f"No training {row} meets any of these rules."
    text += f"Together they apply to {count(covered, f'training {row}')}"
    return text + (f", to {contested:,} of them with both outcomes." if contested else ".")
