"""The lie detector: turn a rule into its opposite, see who notices, and heal it.

A rule that is flipped says the other outcome. The run after it finds the culprit by itself: the
rule without which clearly more test patients are right. *Heal* takes back what was flipped, and one
click switches a harmful rule off, whoever wrote it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import streamlit as st

from hipad.exceptions import RuleError
from hipad.rules import Rule, RuleSet
from hipad.utils import percent
from ui.models import TrainedModel
from ui.rules.rule_text import with_rules
from ui.run import run_controls
from ui.run.replay.run_animation import harm_words
from ui.state import AppState
from ui.text import plain

SLOT: Final = "flipped rule"
MOST: Final = 8  # rules with a button of their own


@dataclass(frozen=True)
class Flipped:
    """A rule that was flipped: its name, the text of the rules before, and that after."""

    label: str
    before: str
    after: str


def opposite(rule: Rule, classes: tuple[str, str]) -> Rule:
    """Return the rule with the other outcome.

    >>> from hipad.rules import parse_rules
    >>> print(opposite(parse_rules("x >= 2 => positive")[0], ("ill", "well")))
    x >= 2 => negative
    """
    word = rule.outcome.lower()
    if word in ("positive", "negative"):
        return replace(rule, outcome="negative" if word == "positive" else "positive")
    negative, positive = classes
    return replace(rule, outcome=negative if rule.outcome == positive else positive)


def rules_of(state: AppState) -> RuleSet:
    """Return the present rules; none where they cannot be used as they are."""
    try:
        return RuleSet() if state.data is None else state.data.parse(state.rules.text)
    except RuleError:
        return RuleSet()


def flipped(state: AppState) -> Flipped | None:
    """Return what was flipped, as long as the rules are as the flip left them."""
    kept = state.memo.get(SLOT)
    found: Flipped | None = None if kept is None else kept[1]
    return found if found is not None and found.after == state.rules.text else None


def flip(state: AppState, position: int) -> None:
    """Flip a rule and run again."""
    assert state.data is not None
    rules = rules_of(state)
    label, text = rules.labels[position], state.rules.text
    changed = {position: opposite(rules[position], state.data.classes)}
    after = with_rules(text, changed, state.data.read)
    state.rules.change(after, f"flipped {label}")
    state.memo[SLOT] = (None, Flipped(label, text, after))
    run_controls.begin(state)


def heal(state: AppState) -> None:
    """Take the flip back and run again."""
    found = flipped(state)
    if found is not None:
        state.memo.pop(SLOT)
        state.rules.change(found.before, f"healed {found.label}")
        run_controls.begin(state)


def switch_off(state: AppState, position: int) -> None:
    """Switch a harmful rule off and run again."""
    assert state.data is not None
    rules = rules_of(state)
    off = {position: replace(rules[position], enabled=False)}
    after = with_rules(state.rules.text, off, state.data.read)
    state.rules.change(after, f"{rules.labels[position]} switched off")
    run_controls.begin(state)


def blamed(state: AppState) -> int | None:
    """Return the rule that does harm, if the present rules still have it."""
    model = state.model
    if model is None or model.harm is None or model.rules != state.rules.text:
        return None
    return model.harm.rule


def actions(state: AppState) -> list[tuple[str, str]]:
    """Return what can be done now, with the words for it."""
    if state.job is None or state.job.is_active or not state.settings.use_rules:
        return []
    found: list[tuple[str, str]] = []
    if flipped(state) is not None:
        found.append(("heal", "Heal (H)"))
    elif rules := rules_of(state):
        on = [i for i, rule in enumerate(rules) if rule.enabled][:MOST]
        found += [(f"flip {i}", f"Flip {rules.labels[i]}") for i in on]
    if blamed(state) is not None:
        found.append(("off", "Switch the harmful rule off"))
    return found


def act(state: AppState, what: str) -> None:
    """Do one of the actions."""
    position = blamed(state)
    if what == "heal":
        heal(state)
    elif what == "off" and position is not None:
        switch_off(state, position)
    elif what.startswith("flip "):
        flip(state, int(what.removeprefix("flip ")))


def alarm(state: AppState) -> None:
    """Say before anything else that rules do clear harm, which one, and offer the way out."""
    model, job = state.model, state.job
    if model is None or model.harm is None or job is None or job.is_active:
        return
    low, high = (100 * abs(bound) for bound in reversed(model.harm.interval))
    rows = job.request.data.row_word()
    st.error(
        f"**{plain(harm_words(model.harm, rows), 600)}**{trust_of_culprit(model)} On the same test "
        f"{rows} that costs {low:.0f} to {high:.0f} percentage points (95 % interval).",
        icon=":material/dangerous:",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        if blamed(state) is not None and st.button(
            "Switch this rule off",
            icon=":material/toggle_off:",
            key="rule_off",
            help="The rule stays in the text, switched off; then the run begins again.",
        ):
            act(state, "off")
            st.rerun()
        _heal_button(state)
        st.page_link(
            "pages/experiments.py", label="What if a rule is wrong?", icon=":material/science:"
        )


def trust_of_culprit(model: TrainedModel) -> str:
    """Return how far the harmful rule is trusted, where that is known."""
    place = None if model.harm is None else model.harm.rule
    if place is None or not model.is_explained:
        return ""
    label = model.harm.cause.partition(":")[0] if model.harm is not None else ""
    record = next((one for one in model.classifier.rule_report_ if one.label == label), None)
    if record is None or record.trust is None:
        return " (Its weight is set, so no trust in it is learnt.)"
    return f" The trust in it is {percent(record.trust.posterior, 0)}."


def show(state: AppState) -> None:
    """Draw the button that flips a rule, and the one that heals it."""
    if any(name.startswith("flip ") for name, _ in actions(state)):
        _flip_menu(state)
    elif state.model is not None and state.model.harm is None:
        _heal_button(state)


def _flip_menu(state: AppState) -> None:
    with st.popover("Flip this rule ...", icon=":material/swap_vert:", help=FLIP_HELP):
        for name, words in actions(state):
            if name.startswith("flip "):
                position = int(name.removeprefix("flip "))
                rule = rules_of(state)[position]
                if st.button(
                    f"{plain(words, 60)}: {plain(rule.text, 80)}", key=name.replace(" ", "_")
                ):
                    act(state, name)
                    st.rerun()


FLIP_HELP: Final = (
    "For talks: turn a rule into its opposite and run again. The app does not know which rule it "
    "was, and finds it by itself."
)


def _heal_button(state: AppState) -> None:
    if flipped(state) is not None and st.button(
        "Heal",
        icon=":material/healing:",
        key="heal",
        help="Take the flip back and run again.",
    ):
        heal(state)
        st.rerun()
