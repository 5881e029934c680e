"""The rules as a form: one rule at a time, in fields, with a button that takes the changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import streamlit as st

from hipad.estimator.problem_factory import default_weight
from hipad.evaluation.rule_study import Study
from hipad.exceptions import HipadError
from hipad.rules import Rule, RuleSet
from hipad.rules.compiled_rule import outcome_sign
from ui.dataset import Dataset
from ui.rules.checking import fitting_rules
from ui.rules.drafting import KINDS, RELATIONS, ConditionFields, checked_name, drafted
from ui.rules.editing import with_new_rule, with_rule
from ui.rules.toolbar import change
from ui.state import AppState
from ui.words import listing, plain

NEW: Final = "＋ new rule"
MOST_CONDITIONS: Final = 6
FIRST: Final = Rule.simple("", {"x": 1.0}, 0.0, "any").conditions  # stands in until filled


def show(state: AppState, data: Dataset, checked: Study) -> None:
    """Choose a rule, show its fields."""
    labels = [*checked.rules.labels[:200], NEW]
    chosen = st.selectbox(
        "Rule", labels, key="form_rule", help="The rule to change, or a new one.", width=400
    )
    position = labels.index(chosen) if chosen in labels[:-1] else None
    rule = None if position is None else checked.rules[position]
    key = f"{position}_{state.rules.at}_{hash(state.rules.text)}"
    with st.form(f"form_{key}"):
        made = _fields(state, data, checked.rules, rule, position, key)
    if made is not None:
        text = state.rules.text
        change(
            state,
            with_new_rule(text, made)
            if position is None
            else with_rule(text, position, made, data.read),
        )
        st.rerun()
    if position is not None and st.button(
        "Delete this rule", icon=":material/delete:", key="form_delete", help="Undo brings it back."
    ):
        change(state, with_rule(state.rules.text, position, None, data.read))
        st.rerun()


def _fields(
    state: AppState,
    data: Dataset,
    rules: RuleSet,
    rule: Rule | None,
    position: int | None,
    key: str,
) -> Rule | None:
    """Draw the fields; the rule they make when the button was pressed and it can be used."""
    drafts = [ConditionFields.of_condition(c) for c in rule.conditions] if rule else []
    drafts += [ConditionFields()] if len(drafts) < MOST_CONDITIONS else []
    blocks = listing(list(data.blocks), 8) or "none yet"
    st.caption(f"A feature by its name, or a block ({blocks}); several with commas between.")
    filled = [_condition(draft, f"{key}_{n}", n) for n, draft in enumerate(drafts)]
    like, name = _outcome(state, data, rule, key)
    pressed = st.form_submit_button(
        "Add this rule" if rule is None else "Apply",
        type="primary",
        icon=":material/check:",
        help="Check the rule and write it to the rules.",
    )
    if not pressed:
        return None
    try:
        made = drafted(filled, like(checked_name(name, rules, position)), data)
        for error in fitting_rules(RuleSet((made,)), data)[1]:
            raise error
    except HipadError as error:
        st.error(plain(error, 500), icon=":material/error:")
        return None
    return made


def _condition(draft: ConditionFields, key: str, n: int) -> ConditionFields:
    """One condition as a row of fields; labels stand above the first row only."""
    visible: Literal["visible", "collapsed"] = "visible" if n == 0 else "collapsed"
    kind, of, relation, low, high = st.columns([5, 8, 4, 4, 4], vertical_alignment="bottom")
    return ConditionFields(
        kind.selectbox(
            "If" if n == 0 else "and if",
            list(KINDS),
            index=list(KINDS).index(draft.kind),
            format_func=lambda name: ("" if n == 0 else "and ") + KINDS[name],
            key=f"form_kind_{key}",
            label_visibility=visible,
            help="One feature's value, or one number made of several features.",
        ),
        of.text_input(
            "feature or block",
            draft.of,
            key=f"form_of_{key}",
            max_chars=2_000,
            label_visibility=visible,
            placeholder="" if n == 0 else "empty: no further condition",
            help="Empty the field to take the condition out.",
        ),
        relation.selectbox(
            "compares",
            list(RELATIONS),
            index=list(RELATIONS).index(draft.relation),
            format_func=lambda name: RELATIONS[name],
            key=f"form_relation_{key}",
            label_visibility=visible,
            help="How it is compared with the number.",
        ),
        low.number_input(
            "number",
            value=draft.low,
            format="%g",
            key=f"form_low_{key}",
            label_visibility=visible,
            help="The threshold, in the units of your data.",
        ),
        high.number_input(
            "and at most",
            value=draft.high,
            format="%g",
            key=f"form_high_{key}",
            label_visibility=visible,
            help="The upper end; only for: is between.",
        ),
    )


def _outcome(
    state: AppState, data: Dataset, rule: Rule | None, key: str
) -> tuple[Callable[[str], Rule], str]:
    """What follows, and what it counts for: a maker of the rule's frame, and the name typed."""
    outcome, own, worth, name, on = st.columns([6, 5, 4, 6, 3], vertical_alignment="bottom")
    positive = rule is None or outcome_is_positive(rule, data)
    then = outcome.selectbox(
        "Then",
        data.classes,
        index=int(positive),
        key=f"form_outcome_{key}",
        help="The class that follows.",
    )
    usual = float(f"{default_weight(state.settings.patients, data.n_patients):.3g}")
    has_own = own.toggle(
        "own worth",
        rule is not None and rule.worth is not None,
        key=f"form_own_{key}",
        help=f"Off: as the settings say, now {usual:g} patients.",
    )
    patients = worth.number_input(
        "worth (patients)",
        0.0,
        1e9,
        usual if rule is None or rule.worth is None else rule.worth,
        format="%g",
        key=f"form_worth_{key}",
        help="How many patients' evidence the rule counts for, if it has a worth of its own.",
    )
    typed = name.text_input(
        "name",
        rule.name if rule else "",
        max_chars=60,
        key=f"form_name_{key}",
        help="What to call the rule; may stay empty.",
    )
    enabled = on.toggle(
        "on", rule is None or rule.enabled, key=f"form_on_{key}", help="Whether it takes part."
    )
    note = st.text_input(
        "note",
        rule.note if rule else "",
        max_chars=500,
        key=f"form_note_{key}",
        help="Why you think so; kept with the rule.",
    )

    def frame(checked: str) -> Rule:
        old = rule.conditions if rule else FIRST
        return Rule(old, then, checked, patients if has_own else None, note, enabled)

    return frame, typed


def outcome_is_positive(rule: Rule, data: Dataset) -> bool:
    """Whether a rule speaks for the positive class; for one of other data, yes."""
    try:
        return outcome_sign(rule, data.classes, positive_chosen=True) > 0
    except HipadError:
        return True
