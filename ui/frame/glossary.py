"""The words of this app, each explained once; within reach from every page."""

from __future__ import annotations

from typing import Final

import streamlit as st

TERMS: Final = {
    "Rule": "What you know, written as a condition and the class that follows from it: "
    "*mean(ABL1) >= 9.5 => BCR/ABL*.",
    "Worth": "How many patients' evidence a rule counts for. A rule worth 5 patients weighs as "
    "much as 5 patients who agree with it. Left open, it is learnt: see Trust.",
    "Trust": "The probability that a rule belongs into the model. It begins at about one half (all "
    "rules together) and is raised or lowered by how much better, or worse, models with the rule "
    "predict labelled patients whom they have not seen. The model is an average of models with and "
    "without the rules, by these probabilities. A weight that you write is used as written.",
    "Effect of a rule": "What a fit without the rule says. The rule *changes the model* if that "
    "fit is another one, and *adds nothing* if it is the same. It is *outvoted* if the model says "
    "the opposite of the rule about most patients whom it covers.",
    "Typical patient": "Of all patients that a rule speaks of, the one who is least unusual "
    "otherwise. Above 0 the model agrees with the rule about this patient.",
    "Worst case": "Of all patients that a rule speaks of, within the range of the data, "
    "the one about whom the model agrees least. Above 0 the rule holds for everybody.",
    "Block": "A named group of features that rules can speak of, such as all probes of one gene.",
    "Right answers": "The share of patients who are put in their own class, with an interval that "
    "holds the true share in 95 of 100 such samples.",
    "Area under ROC": "The chance that a patient of the positive class gets a higher score than "
    "one of the negative class; a half is guessing.",
    "Positive class": "The class that a score above 0 stands for. It has the same colour on every "
    "page, and weights that speak for it have that colour too.",
    "Training patients, crosswise": "Each training patient is judged by a model that has not seen "
    "them or anybody of their group. Unlike figures on test patients, these do not flatter whoever "
    "tunes by looking at test patients.",
    "Pinned": "The kept model that all others are compared with.",
    "Flip": "A patient whose answer differs from that of the pinned model.",
}


def show() -> None:
    """A button that opens the list."""
    with st.popover(
        "Words", type="tertiary", icon=":material/menu_book:", help="What the words here mean."
    ):
        for word, meaning in TERMS.items():
            st.markdown(f"**{word}.** {meaning}")
