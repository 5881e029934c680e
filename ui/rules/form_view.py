"""The rules as a form: one rule at a time, in fields, with a button that takes the changes.

What is written into the fields becomes text, and is read by the rule language itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

import streamlit as st

from hipad.estimator.problem_factory import default_weight
from hipad.evaluation.rule_study import Study
from hipad.exceptions import HipadError, RuleError
from hipad.rules import Condition, Rule, RuleSet, Term
from hipad.rules.compiled_rule import outcome_sign
from hipad.rules.functions import RULE_FUNCTIONS
from hipad.rules.lexer import format_number, quote_label, quote_name
from hipad.rules.parser import parse_line
from ui.dataset import Dataset
from ui.rules.checks import fitting_rules
from ui.rules.rule_text import with_new_rule, with_rule
from ui.rules.text_view import change
from ui.state import AppState
from ui.text import listing, plain

# --------------------------------------------------------------------------------------------------
# A rule as the fields of a form, and back.

BETWEEN: Final = "between"
AS_WRITTEN: Final = "as written"
KINDS: Final = {
    "": "the value of",
    **{
        name: function.phrase
        for name, function in RULE_FUNCTIONS.items()
        if not function.statistic or function.takes_group
    },
    AS_WRITTEN: "as written:",
}
RELATIONS: Final = {
    ">=": "is at least",
    "<=": "is at most",
    ">": "is above",
    "<": "is below",
    "=": "equals",
    BETWEEN: "is between",
}


@dataclass(frozen=True)
class ConditionFields:
    """One condition in fields; an `as written` one stands in `of` whole."""

    kind: str = ""
    of: str = ""
    relation: str = ">="
    low: float | None = None
    high: float | None = None

    @classmethod
    def of_condition(cls, condition: Condition) -> ConditionFields:
        """The fields of a condition; one that the fields cannot hold is kept as it is written."""
        whole = cls(AS_WRITTEN, str(condition))
        if condition.form == "count":
            return whole
        if len(condition.sides) == 3 and set(condition.relations) == {"<="}:
            (side, low, high), relation = (condition.sides[i] for i in (1, 0, 2)), BETWEEN
        elif len(condition.sides) == 2:
            (side, low), high = condition.sides, condition.sides[1]
            relation = condition.relations[0]
        else:
            return whole
        alone = len(side) == 1 and side[0].coefficient == 1 and not side[0].is_number
        known = alone and side[0].function in KINDS
        if not known or not _is_number(low) or not _is_number(high):
            return whole
        upper = high[0].coefficient if relation == BETWEEN else None
        return cls(side[0].function, _names(side[0]), relation, low[0].coefficient, upper)

    def text(self, data: Dataset) -> str:
        """The condition in the rule language."""
        if self.kind == AS_WRITTEN:
            return self.of
        names = ", ".join(quoted(name, data) for name in self.of.split(","))
        left = f"{self.kind}({names})" if self.kind else names
        if self.low is None or (self.relation == BETWEEN and self.high is None):
            raise RuleError(f"expected a number to compare {left} with, got none: fill it in")
        right = format_number(self.low)
        if self.relation == BETWEEN:
            assert self.high is not None
            right += f" and {format_number(self.high)}"
        return f"{left} {self.relation} {right}"


def _is_number(side: tuple[Term, ...]) -> bool:
    """Whether a field can hold it; a number with a unit would lose the unit there."""
    return len(side) == 1 and side[0].is_number and not side[0].unit


def _names(term: Term) -> str:
    return ", ".join(quote_name(n) if isinstance(n, str) else str(n) for n in term.names)


def quoted(name: str, data: Dataset) -> str:
    """A name of the data as a rule writes it, whether or not the user put it in backticks."""
    name = name.strip()
    known = name in data.blocks or data.index.position(name) is not None
    return quote_name(name) if known else name


def drafted(drafts: list[ConditionFields], like: Rule, data: Dataset) -> Rule:
    """The rule that the fields make; `like` has its outcome, name, weight, note and switch."""
    texts = [draft.text(data) for draft in drafts if draft.of.strip()]
    if not texts:
        raise RuleError("expected at least one condition, got none: name a feature or a block")
    line = f"{' and '.join(texts)} => {quote_label(like.outcome)}"
    found = parse_line(line)
    if len(found) > 1:
        raise RuleError("expected one rule, got several joined by 'or': write them as text")
    return replace(like, conditions=found[0].conditions)


def checked_name(name: str, rules: RuleSet, position: int | None) -> str:
    """The name of a rule, if no other has it."""
    name = " ".join(name.split())
    others = [rule.name for at, rule in enumerate(rules) if at != position]
    if name and name in others:
        raise RuleError(f"expected a name of its own, got {name!r} again: choose another")
    return name


# --------------------------------------------------------------------------------------------------
# The form on the page.

NEW: Final = "＋ new rule"
MOST_CONDITIONS: Final = 6
FIRST: Final = Rule.simple("", {"x": 1.0}, 0.0, "any").conditions  # stands in until filled


def show(state: AppState, data: Dataset, checked: Study) -> None:
    """Choose a rule, show its fields."""
    labels = [*checked.rules.labels[:200], NEW]
    chosen = st.selectbox(
        "Rule", labels, key="form_rule", help="Choose a rule to change, or a new one.", width=400
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
    st.caption(f"Enter the name of a feature or a block ({blocks}). Separate several by commas.")
    filled = [_condition(draft, f"{key}_{n}", n) for n, draft in enumerate(drafts)]
    like, name = _outcome(state, data, rule, key)
    pressed = st.form_submit_button(
        "Add this rule" if rule is None else "Apply",
        type="primary",
        icon=":material/check:",
        help="Checks the rule and adds it to the text of the rules.",
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
            help="The value of one feature, or one number computed from several features.",
        ),
        of.text_input(
            "feature or block",
            draft.of,
            key=f"form_of_{key}",
            max_chars=2_000,
            label_visibility=visible,
            placeholder="" if n == 0 else "empty: no further condition",
            help="Empty the field to remove the condition.",
        ),
        relation.selectbox(
            "compares",
            list(RELATIONS),
            index=list(RELATIONS).index(draft.relation),
            format_func=lambda name: RELATIONS[name],
            key=f"form_relation_{key}",
            label_visibility=visible,
            help="How the value is compared with the number.",
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
            help="The upper limit, only for *is between*.",
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
        "own weight",
        rule is not None and rule.worth is not None,
        key=f"form_own_{key}",
        help="Off: learnt from the data, or the default weight from Settings.",
    )
    patients = worth.number_input(
        f"weight ({data.row_word()})",
        0.0,
        1e9,
        usual if rule is None or rule.worth is None else rule.worth,
        format="%g",
        key=f"form_worth_{key}",
        help=f"How many labelled {data.row_word()} the rule counts for, if *own weight* is on.",
    )
    typed = name.text_input(
        "name",
        rule.name if rule else "",
        max_chars=60,
        key=f"form_name_{key}",
        help="A name for the rule, if you like.",
    )
    enabled = on.toggle(
        "on", rule is None or rule.enabled, key=f"form_on_{key}", help="Whether the rule is used."
    )
    note = st.text_input(
        "note",
        rule.note if rule else "",
        max_chars=500,
        key=f"form_note_{key}",
        help="Why you think so. Saved with the rule.",
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
