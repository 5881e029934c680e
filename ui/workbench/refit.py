"""The models of the Workbench: the reference model, and the one that the sliders ask for.

A refit holds what the reference model has learnt: its sparsity, and how far each rule is trusted.
It needs no folds, so that a slider is answered at once, and with nothing moved it is the reference
model. Rules that are switched off, or whose weight is written now, are taken out of the candidates
of the average; candidates that are alike then become one. Where that does not do (a rule that the
reference model did not have, or whose weight it did not learn), everything is learnt anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from hipad.estimator.parameters import MemberRecord
from hipad.evaluation.comparison import learnt_weight
from hipad.rules import CompiledRule, Rule, RuleSet
from hipad.rules.ast import side_text
from ui.dataset import Dataset
from ui.models import Request, TrainedModel, Trust
from ui.rules.checks import fitting_rules
from ui.rules.rule_text import describe
from ui.settings import CHOSEN, EXACT, FEWEST
from ui.state import AppState
from ui.workbench.comparison import Comparison, Side
from ui.workbench.sliders import number_sides

PATIENCE: Final = 3.0  # seconds that a refit may take without being asked for


def follow_rules(state: AppState) -> None:
    """Begin anew with the sliders when the rules were changed elsewhere."""
    tuning = state.tuning
    if tuning.base != state.rules.text:
        tuning.base = tuning.draft = state.rules.text
        tuning.turn += 1


def reference_model(state: AppState) -> TrainedModel | None:
    """Return the reference model; without one, the last run is kept and becomes it.

    While the models of a kept work are fitted again, the one that was the reference is waited for.
    """
    run = unkept_run(state)
    if state.pinned_model is None and run is not None and not is_refitting(state):
        state.keep(run.named("first run"))
        state.pinned = "first run"
    return state.pinned_model


def is_refitting(state: AppState) -> bool:
    """Whether a reference model is on its way."""
    work = state.refitting
    return work is not None and work.job.is_active and bool(work.pinned) and bool(state.waiting)


def slider_request(state: AppState, base: TrainedModel) -> Request:
    """Return the fit that the sliders ask for now."""
    data, draft = state.data, state.tuning.draft
    assert data is not None
    return state.remember(
        "slider request",
        (base, data, draft),
        lambda: request_of_draft(data, base, draft, state.blocks),
    )


def request_of_draft(
    data: Dataset, base: TrainedModel, draft: str, blocks: Mapping[str, str]
) -> Request:
    """Return the fit of a draft: as the reference model, with its sparsity and its trust.

    Where the trust in a rule must be learnt anew, so is the sparsity.
    """
    trust = held_trust(base, data, data.read(draft).rules)
    settings, chosen_by = base.settings.changed(use_rules=True), None
    if trust != "auto" or not is_learnt(base):
        used = base.classifier
        chosen_by = base.own_settings.changed(use_rules=True)
        settings = settings.changed(
            fewness=EXACT, lambda1=float(used.lambda1_), lambda2=float(used.lambda2_)
        )
    return Request(data, draft, dict(blocks), settings, "sliders", trust, chosen_by)


def reselected_request(state: AppState, base: TrainedModel) -> Request:
    """Return the sliders' rules with everything chosen anew, so that fits compare fairly."""
    settings = base.own_settings.changed(use_rules=True)
    return state.request(rules=state.tuning.draft, settings=settings, name="sliders")


def must_ask(state: AppState, base: TrainedModel) -> bool:
    """Whether the sliders have moved and a refit takes so long that it should be asked for."""
    if is_at_rest(state, base) or state.tuning.seconds <= PATIENCE:
        return False
    return not state.tuning.is_fitted(slider_request(state, base))


def refitted(state: AppState, base: TrainedModel) -> TrainedModel:
    """Return the model that the sliders ask for, fitted from the last one when they have moved.

    Raises HipadError when the rules cannot be used.
    """
    if is_at_rest(state, base):
        return state.remember("at rest", base, lambda: base.named("sliders"))
    return state.tuning.fit(slider_request(state, base), base)


def is_at_rest(state: AppState, base: TrainedModel) -> bool:
    """Whether the sliders ask for the reference model itself."""
    same = state.request(rules=state.tuning.draft, settings=base.settings)
    return base.settings.use_rules and same.made(base)


def compared(state: AppState, base: TrainedModel, other: TrainedModel) -> Comparison:
    """Return the two side by side; each scores the patients once."""
    data = state.data
    assert data is not None
    old = state.remember("reference side", (base, data), lambda: Side.of(base, data))
    new = state.remember("other side", (other, data), lambda: Side.of(other, data))
    return state.remember("comparison", (old, new), lambda: Comparison(old, new))


def draft_rules(state: AppState) -> list[CompiledRule]:
    """Return the rules that are on, as the sliders have them, without those that do not fit."""
    data, draft = state.data, state.tuning.draft
    assert data is not None

    def compile_draft() -> list[CompiledRule]:
        found, _ = fitting_rules(data.read(draft).rules, data)
        return [rule for rule in found.values() if rule.rule.enabled]

    return state.remember("draft rules", (data, draft), compile_draft)


def unkept_run(state: AppState) -> TrainedModel | None:
    """Return the model of the last run, if it is final and not among the kept ones."""
    model = state.model
    if model is None or state.job is None or not state.job.is_final:
        return None
    known = any(model.classifier is other.classifier for other in state.models)
    return None if known else model


def apply(state: AppState) -> None:
    """Write the sliders' values to the rules; Undo on the Rules page takes it back."""
    tuning = state.tuning
    assert state.data is not None
    done = describe(tuning.base, tuning.draft, state.data.read)
    state.rules.change(tuning.draft, f"workbench: {done}")
    tuning.base = tuning.draft


def reset(state: AppState) -> None:
    """Put the sliders back to the rules."""
    state.tuning.draft = state.tuning.base
    state.tuning.turn += 1


def restore(state: AppState, model: TrainedModel) -> None:
    """Take up rules, blocks and settings of a kept model, and look at it."""
    state.rules.change(model.rules, f"rules of {model.name}")
    state.set_blocks(model.blocks)
    state.settings = model.settings
    state.tuning.shown = ""
    state.version += 1  # widgets that show settings are drawn anew
    follow_rules(state)


# --------------------------------------------------------------------------------------------------
# What the reference model has learnt of its rules' trust, for the same rules with numbers moved.


def held_trust(base: TrainedModel, data: Dataset, now: RuleSet) -> Trust:
    """Return the trust to refit with; "auto" where it must be learnt anew."""
    columns = weight_columns(base, data, now)
    if columns is None:
        return "auto"
    members = base.classifier.members_
    if members and all(member.weights == _weights(member, columns) for member in members):
        return members
    merged: dict[tuple[object, ...], MemberRecord] = {}
    for member in members or _single_member(base, data):
        if not member.share:
            continue
        weights = _weights(member, columns)
        on_rows = member.on_rows and any(weights)
        found = merged.get((weights, on_rows))
        heavier = member if found is None or member.share > found.share else found
        share = member.share + (0.0 if found is None else found.share)
        merged[weights, on_rows] = replace(heavier, weights=weights, on_rows=on_rows, share=share)
    return tuple(merged.values()) or "auto"


def _weights(member: MemberRecord, columns: list[int | None]) -> tuple[float | None, ...]:
    return tuple(None if at is None else member.weights[at] for at in columns)


def weight_columns(base: TrainedModel, data: Dataset, now: RuleSet) -> list[int | None] | None:
    """Return for each rule that is on its place in the weights of the candidates.

    None stands for a weight that is written, or given by the settings. There is no answer where a
    rule is on whose weight the reference model did not learn although it is to be learnt.
    """
    before, on = _rules_before(base, data)
    members = base.classifier.members_
    if members and len(members[0].weights) != len(on):
        return None  # a rule that stands for several
    found: list[int | None] = []
    for position in _on(now):
        rule = now[position]
        if rule.worth is not None or not is_learnt(base):
            found.append(None)
            continue
        was = before[position] if members and position in on else None
        if was is None or was.worth is not None or _shape(was) != _shape(rule):
            return None
        found.append(on.index(position))
    return found


def is_learnt(base: TrainedModel) -> bool:
    """Whether weights that nobody writes are learnt with the settings of a model."""
    return base.settings.patients == "auto" and base.settings.calibrate


def learnt_patients(base: TrainedModel, data: Dataset, now: RuleSet, position: int) -> float | None:
    """Return for how many patients a rule counts in the reference model; None if not learnt."""
    before, on = _rules_before(base, data)
    members = base.classifier.members_
    if position not in on or _shape(before[position]) != _shape(now[position]):
        return None
    if not members or len(members[0].weights) != len(on):
        return None
    return learnt_weight(members, on.index(position))


def _single_member(base: TrainedModel, data: Dataset) -> tuple[MemberRecord, ...]:
    """Return the one candidate of a model without learnt trust, if folds chose its values."""
    if base.settings.fewness not in CHOSEN or not base.settings.calibrate:
        return ()
    scores, y = base.classifier.decision_function(data.X_train), data.y_train
    means = [float(scores[y == name].mean()) for name in np.unique(y)]
    return (
        MemberRecord(
            weights=(),
            prior=1.0,
            posterior=1.0,
            share=1.0,
            loss=0.0,
            lambda1=float(base.classifier.lambda1_),
            lambda2=float(base.classifier.lambda2_),
            support_size=len(base.support),
            certificate=None,
            cut=-0.5 * sum(means),
            among=tuple(map(int, base.support)) if base.settings.fewness == FEWEST else None,
        ),
    )


def _rules_before(base: TrainedModel, data: Dataset) -> tuple[RuleSet, list[int]]:
    """Return the rules of the reference model, and the positions of those that were on."""
    before = data.read(base.rules).rules if base.settings.use_rules else RuleSet()
    return before, _on(before)


def _on(rules: RuleSet) -> list[int]:
    return [position for position, rule in enumerate(rules) if rule.enabled]


def _shape(rule: Rule) -> tuple[object, ...]:
    """Return what two rules have in common that differ in their numbers at most."""
    conditions = [
        (
            condition.relations,
            tuple(
                "" if i in number_sides(condition) else side_text(side)
                for i, side in enumerate(condition.sides)
            ),
        )
        for condition in rule.conditions
    ]
    return rule.outcome, tuple(conditions)
