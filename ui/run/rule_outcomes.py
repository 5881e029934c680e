"""What the rules did in a model, one row per rule."""

from __future__ import annotations

import math
from typing import Any, Final

import pandas as pd
import streamlit as st

from hipad.rules import RuleCounts, RuleRecord
from hipad.utils import number, percent, signed
from ui.dataset import Dataset
from ui.models import TrainedModel
from ui.text import plain, record_lines, trust_words

TRUST: Final = "trust"
TRUST_COLUMN: Final = st.column_config.ProgressColumn(
    "trust",
    help="The probability that the rule belongs in the model, given your labelled data. "
    "Empty where you wrote a weight: then that is used.",
    format="%.0f %%",
    min_value=0,
    max_value=100,
    width="small",
)
MOST_TOLD: Final = 6  # rules whose trust is told in a sentence at once


def show(model: TrainedModel, *, expert: bool, data: Dataset) -> None:
    """The table of rules, and each rule's record in sentences."""
    records: list[RuleRecord] = model.classifier.rule_report_
    stated = model.classifier.knowledge_report_
    if not records and not stated:
        st.caption("No rules took part in this run.")
    if records:
        rules(records, expert=expert, data=data)
    if stated:
        st.markdown("**Statements about single features**")
        for each in stated:
            st.markdown(f"**{plain(each.text, 300)}**")
            st.markdown("\n".join(f"- {plain(line, 400)}" for line in each.lines))


def rules(records: list[RuleRecord], *, expert: bool, data: Dataset) -> None:
    """The table, and what stands behind the trust in each rule."""
    row, line = data.row_word(1), data.line_word(1)
    st.markdown("**What the rules did**")
    st.dataframe(
        pd.DataFrame([cells(r, expert=expert) for r in records]),
        hide_index=True,
        alt="Rules",
        column_config={TRUST: TRUST_COLUMN},
    )
    _trust(records, row, line)
    st.caption(
        f"Typical margin: that of the most ordinary {row} the rule applies to; above 0 the model "
        f"agrees with the rule. Least margin: that of the least favourable {row} within the range "
        "of the data. Effect: what a fit without the rule says; outvoted means that the model says "
        "the opposite."
    )
    with st.expander("Each rule in sentences"):
        for record in records:
            st.markdown(f"**{plain(record.label)}** {plain(record.text, 300)}")
            lines = record_lines(record, expert=expert, row=row, line=line)
            st.markdown("\n".join(f"- {plain(line, 400)}" for line in lines))


def _trust(records: list[RuleRecord], row: str, line: str) -> None:
    """What stands behind each rule's trust, in a sentence."""
    trusted = [(record, words) for record in records if (words := trust_words(record, row, line))]
    for record, words in trusted[:MOST_TOLD]:
        icon = _icon(record)
        st.markdown(f"{icon} **{plain(record.label, 40)}**: {words}")
    if len(trusted) > MOST_TOLD:
        st.caption(f"And {len(trusted) - MOST_TOLD:,} more, in sentences below.")


def _icon(record: RuleRecord) -> str:
    if record.trust is None:
        return ":material/help:" if record.is_questioned else ":material/edit:"
    change = round(100 * record.trust.posterior) - round(100 * record.trust.prior)
    trend = "up" if change > 0 else "down" if change < 0 else "flat"
    return f":material/trending_{trend}:"


def _applies(train: RuleCounts) -> str:
    """To how many patients a rule applies, and of how many it cannot speak."""
    gaps = f"; {train.no_value}" if train.no_value else ""
    return f"{len(train.fired):,} of {train.n_rows:,}{gaps}"


def cells(record: RuleRecord, *, expert: bool = False) -> dict[str, Any]:
    """A rule's record in a clinician's words."""
    train, typical, worst = record.train, record.prototype, record.worst
    found = {
        "rule": record.label,
        "says": record.text,
        "applies to": "–" if train is None else _applies(train),
        "right": _share(float("nan") if train is None else train.precision),
        "typical margin": _margin(typical.margin if typical and typical.feasible else None),
        "least margin": _margin(worst.value if worst else None, "nobody in range"),
        "effect": "–" if record.effect is None else record.effect.word,
        TRUST: None if record.trust is None else 100 * record.trust.posterior,
        "weight": weight_words(record),
    }
    if expert:
        found["slack"] = "–" if record.slack is None else number(record.slack, 2)
    return found


def weight_words(record: RuleRecord) -> str:
    """Where a rule's weight comes from."""
    if record.written is not None:
        return f"{number(record.written)}, {'questioned' if record.is_questioned else 'written'}"
    if record.trust is not None:
        return "learnt"
    weights = record.weights
    return (
        "–"
        if weights is None
        else f"{number(weights.sigma * weights.n_samples, 3)}, by the settings"
    )


def _share(value: float) -> str:
    return "–" if math.isnan(value) else percent(value, 0)


def _margin(value: float | None, nobody: str = "–") -> str:
    """A margin with its sign; it is infinite where no patient meets the rule."""
    if value is None or math.isnan(value):
        return "–"
    return signed(value) if math.isfinite(value) else nobody
