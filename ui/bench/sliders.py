"""The sliders: one for each threshold, one for each worth, and what to do with their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st

from hipad.rules import RuleSet
from hipad.utils import number
from ui.bench import hearing, holding, tuning
from ui.bench.dials import Dial, WorthDial, dials_of, left_open, switched, worth_dials
from ui.bench.tuning import present_rules
from ui.dataset import Dataset
from ui.models import TrainedModel
from ui.rules.checks import study_rows
from ui.state import AppState
from ui.text import plain

PER_PAGE: Final = 6


def show(state: AppState, data: Dataset, base: TrainedModel) -> None:
    """Draw the rules with their sliders; a move changes the draft of the rules."""
    tuning, n_patients = state.tuning, data.n_patients
    rules = data.read(tuning.draft).rules
    if not rules:
        st.info("There is no rule to tune. Write one on the **Rules** page.")
        st.page_link("pages/rules.py", label="Go to Rules", icon=":material/arrow_forward:")
        return
    page, base_text = _page(len(rules)), tuning.base
    key = (data, base_text, page)
    dials = state.remember("dials", key, lambda: dials_of(base_text, data, page))
    worths = worth_dials(base_text, n_patients, data.read)
    compiled = {rule.label: rule for rule in present_rules(state)}
    seen = study_rows(data, base.settings)
    for position in page:
        with st.container(border=True):
            _rule(state, rules, position)
            for dial in dials:
                if dial.position == position:
                    _threshold(state, rules, dial)
            rule = compiled.get(rules.labels[position])
            learnt = holding.learnt_patients(base, data, rules, position)
            now = worths[position].value(rules, base.settings.patients, n_patients, learnt)
            _worth(state, rules, worths[position], now)
            if rules[position].worth is None and holding.is_learnt(base):
                st.caption(learnt_words(learnt))
            elif rule is not None:
                pull = hearing.pull_of(rule, base, seen)
                st.caption(hearing.words(pull, n_patients))
            if rules[position].worth is not None and holding.is_learnt(base):
                _learn(state, position)
            _doubt(state, position)
    _actions(state)


def _page(n: int) -> range:
    """The rules to show: all where there are few, a page of them otherwise."""
    if n <= PER_PAGE:
        return range(n)
    first = st.selectbox(
        "Rules",
        range(0, n, PER_PAGE),
        format_func=lambda at: f"{at + 1} to {min(at + PER_PAGE, n)} of {n}",
        key="bench_page",
        help="So many rules are shown at once.",
    )
    return range(first, min(first + PER_PAGE, n))


def _on_move(state: AppState, key: str, turned: Callable[..., str]) -> Callable[[], None]:
    def moved() -> None:
        assert state.data is not None
        now = st.session_state[key]
        state.tuning.draft = turned(state.tuning.draft, now, read=state.data.read)
        state.tuning.shown = ""

    return moved


def _rule(state: AppState, rules: RuleSet, position: int) -> None:
    rule, label = rules[position], rules.labels[position]
    key = f"bench_on_{position}_{state.tuning.turn}"
    st.toggle(
        f"**{plain(label, 40)}** ⇒ {plain(rule.outcome, 30)}",
        rule.enabled,
        key=key,
        on_change=_on_move(state, key, lambda text, on, read: switched(text, position, on, read)),
        help="Whether the rule takes part.",
    )


def learnt_words(patients: float | None) -> str:
    """That a weight is learnt, and what it is on average."""
    if patients is None:
        return "Its weight is learnt by the refit. Moving the slider writes one."
    return (
        f"Learnt: it counts for {number(patients, 2)} patients on average. Moving the slider "
        "writes a weight."
    )


def _learn(state: AppState, position: int) -> None:
    """The way back from a written weight to a learnt one."""

    def leave_open() -> None:
        assert state.data is not None
        state.tuning.draft = left_open(state.tuning.draft, position, state.data.read)
        state.tuning.turn += 1  # the slider goes to what is learnt
        state.tuning.shown = ""

    st.button(
        "Let the weight be learnt",
        key=f"bench_learn_{position}",
        type="tertiary",
        icon=":material/auto_awesome:",
        on_click=leave_open,
        help="Take the written weight away: held-out patients then say how far the rule is to be "
        "trusted.",
    )


def _doubt(state: AppState, position: int) -> None:
    if st.button(
        "What if it is wrong?",
        key=f"bench_doubt_{position}",
        type="tertiary",
        icon=":material/help:",
        help="Make this rule wrong step by step, and see from where on it harms.",
    ):
        state.lab.doubt(position)
        st.switch_page("pages/experiments.py")


def _threshold(state: AppState, rules: RuleSet, dial: Dial) -> None:
    key = f"bench_threshold_{dial.position}_{dial.condition}"
    _slider(state, rules, dial, dial.value(rules), key, "The threshold, in the units of the data.")


def _worth(state: AppState, rules: RuleSet, dial: WorthDial, now: float) -> None:
    text = "How many patients' evidence the rule counts for; 0: it takes no part."
    _slider(state, rules, dial, now, f"bench_worth_{dial.position}", text)


def _slider(
    state: AppState,
    rules: RuleSet,
    dial: Dial | WorthDial,
    now: float | tuple[float, float],
    name: str,
    text: str,
) -> None:
    key = f"{name}_{state.tuning.turn}"
    st.slider(
        dial.label if isinstance(dial, WorthDial) else plain(dial.label, 80),
        dial.low,
        dial.high,
        now,
        dial.step,
        format="%.3g" if isinstance(dial, WorthDial) else "%.6g",
        key=key,
        on_change=_on_move(state, key, dial.turned),
        disabled=not rules[dial.position].enabled,
        help=text,
    )


def _actions(state: AppState) -> None:
    moved = state.tuning.draft != state.tuning.base
    with st.container(horizontal=True):
        st.button(
            "Apply to the rules",
            type="primary" if moved else "secondary",
            icon=":material/check:",
            disabled=not moved,
            on_click=tuning.apply,
            args=(state,),
            key="bench_apply",
            help="Write these values to the rules. Undo on the Rules page takes it back.",
        )
        st.button(
            "Reset",
            icon=":material/restart_alt:",
            disabled=not moved,
            on_click=tuning.reset,
            args=(state,),
            key="bench_reset",
            help="Put the sliders back to the rules as they are.",
        )
