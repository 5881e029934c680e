"""Kept models: keep one, make it the reference, look at it, restore it and forget it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import pandas as pd
import streamlit as st

from hipad.evaluation.metrics import ClassificationReport
from hipad.rules import as_rule_set
from hipad.utils import number
from ui.models import TrainedModel
from ui.session.session_file import MOST_MODELS
from ui.settings import MODEL_NAME
from ui.state import AppState
from ui.text import plain
from ui.workbench import cross_validation, refit
from ui.workbench.comparison import Side, area_words

SLIDERS: Final = "the sliders' model"


def offer_to_keep(state: AppState, model: TrainedModel, *, key: str) -> None:
    """Draw a field and two buttons, side by side in the container around them."""
    usual = f"model {len(state.models) + 1}"
    name = st.text_input(
        "Name of this model",
        usual,
        max_chars=MODEL_NAME.longest,
        key=f"{key}_name_{len(state.models)}",
        help="Kept models can be compared and restored in the Workbench.",
        width=200,
    )
    full = is_full(state)
    for label, icon, pin, text in (
        ("Keep", ":material/bookmark_add:", False, "Keep this model under its name."),
        ("Keep as reference", ":material/keep:", True, "Keep it, and compare others with it."),
    ):
        if st.button(label, icon=icon, disabled=full, help=text, key=f"{key}_keep_{pin}"):
            named = model.named(" ".join(name.split())[: MODEL_NAME.longest] or usual)
            state.keep(named)
            state.pinned = named.name if pin else state.pinned
            st.toast(f"Kept as {plain(named.name)}")
            st.rerun()
    if full:
        st.caption(f"{MOST_MODELS} models are kept: forget one in the Workbench to keep another.")


def is_full(state: AppState) -> bool:
    """Whether a session holds as many models as it may."""
    return len(state.models) + len(state.waiting) >= MOST_MODELS


def choose_shown(state: AppState) -> TrainedModel | None:
    """Ask which model is compared with the reference model; None is the sliders'."""
    names = [model.name for model in state.models if model.name != state.pinned]
    if not names:
        state.tuning.shown = ""
        return None
    options = [SLIDERS, *names]
    now = state.tuning.shown if state.tuning.shown in names else SLIDERS
    key = f"bench_shown_{len(names)}_{now}_{state.pinned}"

    def chosen() -> None:
        picked = st.session_state[key]
        state.tuning.shown = "" if picked == SLIDERS else picked

    st.selectbox(
        f"Compare with {plain(state.pinned)} (reference model)",
        options,
        index=options.index(now),
        key=key,
        on_change=chosen,
        help="The model whose figures are compared with those of the reference model.",
    )
    return next((m for m in state.models if m.name == state.tuning.shown), None)


def show(state: AppState) -> None:
    """Draw the kept models as a table, and what can be done with one."""
    data = state.data
    assert data is not None
    st.subheader("Kept models", anchor=False)
    sides = [
        state.remember(f"kept {model.name}", (model, data), partial(Side.of, model, data))
        for model in state.models
    ]
    judged = [cross_validation.judgement_of(state, side.model) for side in sides]
    table = models_table(sides, state.pinned, judged)
    st.dataframe(table, hide_index=True, key="bench_kept", alt="Kept models")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(
            "Model",
            [model.name for model in state.models],
            key=f"bench_model_{len(state.models)}",
            help="The kept model that the buttons act on.",
            width=260,
        )
        model = next(model for model in state.models if model.name == name)
        is_reference = model.name == state.pinned
        if st.button("Use as reference", icon=":material/keep:", disabled=is_reference,
                     key="bench_pin", help="Compare the others with this model."):  # fmt: skip
            state.pinned = model.name
            st.rerun()
        if st.button("Restore", icon=":material/settings_backup_restore:", key="bench_restore",
                     help="Use its rules, blocks and settings again. Undo on the Rules page brings "
                     "the present rules back."):  # fmt: skip
            refit.restore(state, model)
            st.rerun()
        if st.button("Forget", icon=":material/delete:", disabled=is_reference, key="bench_forget",
                     help="Delete this model. The reference model cannot be deleted."):  # fmt: skip
            state.models = [other for other in state.models if other.name != model.name]
            state.memo.pop(f"kept {model.name}", None)
            st.rerun()
        run = refit.unkept_run(state)
        if run is not None and st.button("Keep the last run", icon=":material/bookmark_add:",
                                         key="bench_keep_run", disabled=is_full(state),
                                         help="Keep the model of the last run."):  # fmt: skip
            state.keep(run.named(f"run {len(state.models) + 1}"))
            st.rerun()
    if model.rules.strip():
        st.caption(f"Rules of {plain(model.name)}:")
        st.code(model.rules, language=None)


def models_table(
    sides: list[Side], reference: str, judged: Sequence[ClassificationReport | None]
) -> pd.DataFrame:
    """Return kept models, one per row; one that is not judged yet has no figures."""
    return pd.DataFrame(
        [
            {
                "model": side.model.name,
                "reference": "reference" if side.model.name == reference else "",
                "right answers": "–" if report is None else str(report.accuracy),
                "area under ROC": "–" if report is None else area_words(report.area.value),
                "features": len(side.model.support),
                "rules": thresholds(side.model),
            }
            for side, report in zip(sides, judged, strict=True)
        ]
    )


def thresholds(model: TrainedModel) -> str:
    """Return the rules a model was fitted with: thresholds, classes and weights."""
    if not model.settings.use_rules:
        return "none used"
    rules = [rule for rule in as_rule_set(model.classifier.rules or ()) if rule.enabled]
    usual = model.settings.patients
    words = [
        f"{rule.premise} ⇒ {rule.outcome}, "
        + (f"weight {number(float(worth), 3)}" if worth != "auto" else "weight learnt")
        for rule in rules
        for worth in [usual if rule.worth is None else rule.worth]
    ]
    return "; ".join(words) or "none"
