"""Kept models: pin, look at, restore and forget them."""

from __future__ import annotations

from functools import partial
from typing import Final

import pandas as pd
import streamlit as st

from hipad.rules import as_rule_set
from hipad.utils import number
from ui.bench import tuning
from ui.bench.headline import area_words
from ui.bench.keeping import is_full
from ui.bench.sides import Side
from ui.models import TrainedModel
from ui.state import AppState
from ui.text import plain

SLIDERS: Final = "what the sliders ask for"


def choose_shown(state: AppState) -> TrainedModel | None:
    """Which model is compared with the pinned one; None is the sliders'."""
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
        f"Compare with {plain(state.pinned)} (pinned)",
        options,
        index=options.index(now),
        key=key,
        on_change=chosen,
        help="The model whose figures are shown against the pinned one.",
    )
    return next((m for m in state.models if m.name == state.tuning.shown), None)


def refit(state: AppState) -> bool:
    """Ask before a refit that takes long."""
    st.info(f"A refit of these data takes about {state.tuning.seconds:.0f} seconds.")
    return st.button(
        "Refit", type="primary", key="bench_refit", help="Fit with the sliders where they are."
    )


def kept(state: AppState) -> None:
    """The kept models as a table, and what can be done with one."""
    st.subheader("Kept models", anchor=False)
    st.dataframe(
        sides_table(_sides(state), state.pinned),
        hide_index=True,
        key="bench_kept",
        alt="Kept models",
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(
            "Model",
            [model.name for model in state.models],
            key=f"bench_model_{len(state.models)}",
            help="The kept model that the buttons speak of.",
            width=260,
        )
        model = next(model for model in state.models if model.name == name)
        _buttons(state, model)
        _keep_last_run(state)
    if model.rules.strip():
        st.caption(f"The rules of {plain(model.name)}, as it was told them:")
        st.code(model.rules, language=None)


def _buttons(state: AppState, model: TrainedModel) -> None:
    """Pin, restore and forget a kept model."""
    pinned = model.name == state.pinned
    if st.button("Pin", icon=":material/keep:", disabled=pinned, key="bench_pin",
                 help="Compare the others with this model."):  # fmt: skip
        state.pinned = model.name
        st.rerun()
    if st.button("Restore", icon=":material/settings_backup_restore:", key="bench_restore",
                 help="Take up its rules, blocks and settings again; can be undone for the "
                 "rules."):  # fmt: skip
        tuning.restore(state, model)
        st.rerun()
    if st.button("Forget", icon=":material/delete:", disabled=pinned, key="bench_forget",
                 help="Drop this model. The pinned one stays."):  # fmt: skip
        state.models = [other for other in state.models if other.name != model.name]
        state.memo.pop(f"kept {model.name}", None)
        st.rerun()


def _keep_last_run(state: AppState) -> None:
    """Offer to keep the model of the last run, where it is not kept yet."""
    run = tuning.unkept_run(state)
    if run is not None and st.button("Keep the last run", icon=":material/bookmark_add:",
                                     key="bench_keep_run", disabled=is_full(state),
                                     help="The model of the last run."):  # fmt: skip
        state.keep(run.named(f"run {len(state.models) + 1}"))
        st.rerun()


def sides_table(sides: list[Side], pinned: str) -> pd.DataFrame:
    """Kept models, one per row."""
    return pd.DataFrame(
        [
            {
                "model": side.model.name,
                "pinned": "pinned" if side.model.name == pinned else "",
                "right answers": str(side.model.judgement.accuracy),
                "area under ROC": area_words(side.area.value),
                "features": len(side.model.support),
                "rules": thresholds(side.model),
            }
            for side in sides
        ]
    )


def thresholds(model: TrainedModel) -> str:
    """The rules that a model was told: thresholds, classes and weights."""
    if not model.settings.use_rules:
        return "none used"
    told = [rule for rule in as_rule_set(model.classifier.rules or ()) if rule.enabled]
    usual = model.settings.patients
    words = [
        f"{rule.premise} ⇒ {rule.outcome}, "
        + (f"weight {number(float(worth), 3)}" if worth != "auto" else "weight learnt")
        for rule in told
        for worth in [usual if rule.worth is None else rule.worth]
    ]
    return "; ".join(words) or "none"


def _sides(state: AppState) -> list[Side]:
    """Each kept model with its scores, found once."""
    data = state.data
    assert data is not None
    return [
        state.remember(f"kept {model.name}", (model, data), partial(Side.of, model, data))
        for model in state.models
    ]
