"""How the rules fare in a model, one row per rule."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from hipad.rules import Pull, RuleRecord
from hipad.wording import number, percent, signed
from ui.models import TrainedModel
from ui.words import plain


def show(model: TrainedModel) -> None:
    """The table of rules, and each rule's record in sentences."""
    records: list[RuleRecord] = model.classifier.rule_report_
    if not records:
        st.caption("No rules took part in this run.")
        return
    st.markdown("**How the rules fare**")
    st.dataframe(pd.DataFrame([row(r) for r in records]), hide_index=True, alt="Rules")
    st.caption(
        "Typical patient: the least unusual one whom the rule speaks of; above 0 the model agrees "
        "with the rule. Worst case: the least favourable one within the range of the data."
    )
    with st.expander("Each rule in sentences"):
        for record in records:
            st.markdown(f"**{plain(record.label)}** {plain(record.text, 300)}")
            st.markdown("\n".join(f"- {plain(line, 400)}" for line in record.lines))


def row(record: RuleRecord) -> dict[str, str]:
    """A rule's record in a clinician's words."""
    train, typical, worst = record.train, record.prototype, record.worst
    return {
        "rule": record.label,
        "says": record.text,
        "applies to": "–" if train is None else f"{len(train.fired):,} of {train.n_rows:,}",
        "right": _share(float("nan") if train is None else train.precision),
        "typical patient": _margin(typical.margin if typical and typical.feasible else None),
        "worst case": _margin(worst.value if worst else None, "nobody in range"),
        "heard": _heard(record.pull),
        "slack": "–" if record.slack is None else number(record.slack, 2),
    }


def _heard(pull: Pull | None) -> str:
    if pull is None:
        return "–"
    if pull.heard:
        return "yes" if pull.alone else "with the data"
    return "no" if pull.silenced else "no, but felt"


def _share(value: float) -> str:
    return "–" if math.isnan(value) else percent(value, 0)


def _margin(value: float | None, nobody: str = "–") -> str:
    """A margin with its sign; it is infinite where no patient meets the rule."""
    if value is None or math.isnan(value):
        return "–"
    return signed(value) if math.isfinite(value) else nobody
