"""What moves the rules: plain sliders, two buttons, and how strong each rule is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

import streamlit as st

from hipad.estimator.problem_factory import rule_weights
from hipad.evaluation.rule_study import StudyRows, scaled_rules
from hipad.rules import CompiledRule, RuleGradient, RuleSet, needed_worth, rule_gradient
from hipad.utils import number
from ui.dataset import Dataset
from ui.models import TrainedModel
from ui.rules.checks import study_rows
from ui.state import AppState
from ui.text import plain
from ui.workbench import refit
from ui.workbench.sliders import (
    Slider,
    Value,
    WeightSlider,
    switched,
    threshold_sliders,
    weight_sliders,
    without_weight,
)

PER_PAGE: Final = 6  # rules


def sliders_in_sight(
    state: AppState, data: Dataset, base: TrainedModel, rules: RuleSet
) -> dict[str, tuple[Slider, Value]]:
    """Return the sliders of the rules in sight by name, each with where it stands."""
    tuning, page = state.tuning, _page(len(rules))
    thresholds = state.remember(
        "sliders", (data, tuning.base, page), lambda: threshold_sliders(tuning.base, data, page)
    )
    weights = weight_sliders(tuning.base, data.n_patients, data.read)
    found: dict[str, tuple[Slider, Value]] = {}
    for position in page:
        found |= {
            each.name: (each, each.value(rules)) for each in thresholds if each.position == position
        }
        learnt = refit.learnt_patients(base, data, rules, position)
        now = weights[position].value(rules, base.settings.patients, data.n_patients, learnt)
        found[weights[position].name] = weights[position], now
    return found


def notes(
    state: AppState, data: Dataset, base: TrainedModel, rules: RuleSet, page: Iterable[int]
) -> dict[int, str]:
    """Return what there is to say of each rule's weight."""
    compiled = {rule.label: rule for rule in refit.draft_rules(state)}
    seen = study_rows(data, base.settings)
    found = {}
    for position in page:
        rule = compiled.get(rules.labels[position])
        if rules[position].worth is None and refit.is_learnt(base):
            found[position] = learnt_words(refit.learnt_patients(base, data, rules, position))
        elif rule is not None:
            found[position] = strength_words(gradient_at_zero(rule, base, seen), data.n_patients)
    return found


def show_plain(
    state: AppState,
    base: TrainedModel,
    rules: RuleSet,
    sliders: dict[str, tuple[Slider, Value]],
    said: dict[int, str],
) -> None:
    """Draw the same sliders without pictures, and what else can be done with each rule."""
    for position in sorted({slider.position for slider, _ in sliders.values()}):
        with st.container(border=True):
            key = widget_key(state, f"on_{position}")
            st.toggle(
                f"**{plain(rules.labels[position], 40)}** ⇒ {plain(rules[position].outcome, 30)}",
                rules[position].enabled,
                key=key,
                on_change=_on_move(
                    state, key, lambda text, on, read, at=position: switched(text, at, on, read)
                ),
                help="Whether the rule is used.",
            )
            for slider, now in sliders.values():
                if slider.position == position:
                    _slider(state, rules, slider, now)
            st.caption(said.get(position, ""))
            if rules[position].worth is not None and refit.is_learnt(base):
                st.button(
                    "Learn the weight",
                    key=f"bench_learn_{position}",
                    type="tertiary",
                    icon=":material/auto_awesome:",
                    on_click=partial(_leave_open, state, position),
                    help="Removes the written weight: held-out patients then decide how much the "
                    "rule counts.",
                )
            if st.button(
                "What if it is wrong?",
                key=f"bench_doubt_{position}",
                type="tertiary",
                icon=":material/help:",
                help="Make this rule wrong step by step, and see when it begins to do harm.",
            ):
                state.lab.doubt(position)
                st.switch_page("pages/experiments.py")


def widget_key(state: AppState, name: str) -> str:
    """Return the key of a plain widget: another after each move of its counterpart in the view."""
    tuning = state.tuning
    moved = f"_{tuning.moved[name]}" if name in tuning.moved else ""
    return f"bench_{name}_{tuning.turn}{moved}"


def _page(n: int) -> range:
    """Return the rules to show: all where there are few, a page of them otherwise."""
    if n <= PER_PAGE:
        return range(n)
    first = st.selectbox(
        "Rules",
        range(0, n, PER_PAGE),
        format_func=lambda at: f"{at + 1} to {min(at + PER_PAGE, n)} of {n}",
        key="bench_page",
        help=f"{PER_PAGE} rules are shown at once.",
    )
    return range(first, min(first + PER_PAGE, n))


def _on_move(state: AppState, key: str, write: Callable[..., str]) -> Callable[[], None]:
    def moved() -> None:
        assert state.data is not None
        now = st.session_state[key]
        state.tuning.draft = write(state.tuning.draft, now, read=state.data.read)
        state.tuning.shown = ""

    return moved


def _leave_open(state: AppState, position: int) -> None:
    """Take a written weight away, so that it is learnt."""
    assert state.data is not None
    state.tuning.draft = without_weight(state.tuning.draft, position, state.data.read)
    state.tuning.turn += 1  # the slider goes to what is learnt
    state.tuning.shown = ""


def _slider(state: AppState, rules: RuleSet, slider: Slider, now: Value) -> None:
    is_weight = isinstance(slider, WeightSlider)
    key = widget_key(state, slider.name)
    st.slider(
        plain(slider.label, 80),
        slider.low,
        slider.high,
        now,
        slider.step,
        format="%.3g" if is_weight else "%.6g",
        key=key,
        on_change=_on_move(state, key, slider.write),
        disabled=not rules[slider.position].enabled,
        help="How many patients the rule counts for; 0: it is not used."
        if is_weight
        else "The threshold, in the units of the data.",
    )


def learnt_words(patients: float | None) -> str:
    """Say that a weight is learnt, and what it is on average."""
    if patients is None:
        return "Its weight is learnt by the refit. Moving the slider writes a weight instead."
    return (
        f"Learnt: it counts for {number(patients, 2)} patients on average. Moving the slider "
        "writes a weight instead."
    )


def actions(state: AppState) -> None:
    """Draw the buttons that write the sliders' values to the rules, or take them back."""
    moved = state.tuning.draft != state.tuning.base
    st.button(
        "Apply to the rules",
        type="primary" if moved else "secondary",
        icon=":material/check:",
        disabled=not moved,
        on_click=refit.apply,
        args=(state,),
        key="bench_apply",
        help="Write these values to the rules. Undo on the Rules page takes it back.",
    )
    st.button(
        "Reset",
        icon=":material/restart_alt:",
        disabled=not moved,
        on_click=refit.reset,
        args=(state,),
        key="bench_reset",
        help="Put the sliders back to the rules as they are.",
    )


# --------------------------------------------------------------------------------------------------
# Whether a rule is strong enough to add features without support from the data.


def gradient_at_zero(rule: CompiledRule, base: TrainedModel, seen: StudyRows) -> RuleGradient:
    """Return the gradient of one rule at zero, with the sparsity and the settings of a model."""
    settings = base.settings
    (scaled,), (evidence,) = scaled_rules([rule], seen)
    weights = rule_weights(
        scaled,
        total=len(seen.p),
        rule_weight=settings.patients,
        rho=settings.stiffness,
        evidence=evidence,
    )
    return rule_gradient(
        scaled.B,
        scaled.d,
        sigma=weights.sigma,
        rho=weights.rho,
        lambda1=float(base.classifier.lambda1_),
    )


def strength_words(gradient: RuleGradient, n_patients: int) -> str:
    """Say how strong a rule is."""
    if gradient.alone:
        return "Strong enough to add features without support from the data."
    if gradient.limit == "never":
        return "No patient can meet this rule."
    if gradient.limit == "premise":
        return "The midpoint between the classes already meets this rule: it adds no features."
    patients = needed_worth(gradient, n_patients)
    if gradient.limit == "worth" and math.isfinite(patients):
        return f"Needs a weight of at least {patients:.3g} patients to act on its own."
    return "Adds features only together with the data or other rules."
