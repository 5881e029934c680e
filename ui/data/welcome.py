"""The first screen: what this is, what one rule gains, and one button to see it."""

from __future__ import annotations

from typing import Final

import plotly.graph_objects as go
import streamlit as st

from hipad.utils import percent
from ui import charts, colours
from ui.data.cards import CARDS
from ui.data.choosing import begin
from ui.state import AppState

PROMISE: Final = "Write what you know as a rule. It counts like patients that you do not have."
SAMPLE: Final = "all-bcrabl"
RULES: Final = 'mean(ABL1) >= 9.5  =>  "BCR/ABL"\nmean(ABL1) <= 8    =>  NEG'
# Right answers on the other patients after learning from 16, as benchmarks/README.md has them; a
# test holds the two together.
GAINS: Final = {
    "no rules": ("HIPAD without rules", 0.769),
    "no rules, usual SVM": ("LIBSVM", 0.704),
    "with the 2 rules": ("HIPAD with rules", 0.843),
}


def show(state: AppState, *, primary: bool) -> None:
    """The promise, an example and its gain; `primary` where nothing else is more likely wanted."""
    st.subheader(PROMISE, anchor=False)
    words, picture = st.columns([1, 1], gap="large", vertical_alignment="center")
    with words:
        st.markdown(
            "Which leukaemias carry the BCR/ABL fusion? There are 12,625 gene probes and few "
            "patients to learn from. An expert knows that three probes of the gene ABL1 rise:"
        )
        st.code(RULES, language=None)
        st.button(
            "See it work",
            key="first_example",
            type="primary" if primary else "secondary",
            icon=":material/play_arrow:",
            on_click=begin,
            args=(state, next(card for card in CARDS if card.key == SAMPLE)),
            kwargs={"runs": True},
            help="Loads this sample with its two rules, trains at once and shows the result.",
        )
    with picture:
        chart, text = gain()
        charts.show(chart, key="first_gain", text=text)


def _whole(share: float) -> str:
    """A share as whole percents, a half rounded up."""
    return percent(share + 1e-9, 0)


def gain() -> tuple[go.Figure, str]:
    """Right answers with and without the rules."""
    chart = charts.figure("Right answers after learning from 16 patients", x="", y="", height=230)
    names, shares = list(GAINS), [share for _, share in GAINS.values()]
    shown = [colours.rest(), colours.rest(), colours.now()]
    chart.add_bar(
        x=shares,
        y=names,
        orientation="h",
        marker_color=shown,
        text=[_whole(share) for share in shares],
        textposition="inside",
        insidetextfont={"size": 16, "color": charts.theme_option("backgroundColor")},
    )
    chart.update_yaxes(autorange="reversed", tickfont_size=14)
    chart.update_xaxes(range=[0.5, 0.92], tickvals=[0.5, 0.6, 0.7, 0.8, 0.9])
    chart.update_xaxes(ticktext=["50 %", "60 %", "70 %", "80 %", "90 %"], title="50 % is guessing")
    without, _, with_rules = (_whole(share) for share in shares)
    return chart, (
        f"Two rules raise the share of right answers from {without} to {with_rules}: means over "
        "repeated draws of 16 patients, tested on the other 63."
    )
