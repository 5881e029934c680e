"""What a pinned model has learnt of its rules' trust, for the same rules with numbers moved.

A refit at these shares needs no folds, so that a slider is answered at once, and with nothing moved
the model is the pinned one. Rules that are switched off, or whose weight is written now, are taken
out of the candidates; candidates that are alike then become one. Where that does not do (a rule
that the pinned model did not have, or whose weight it did not learn), trust is learnt anew.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hipad.estimator.parameters import MemberRecord
from hipad.evaluation.comparison import learnt_weight
from hipad.rules import Rule, RuleSet
from hipad.rules.ast import side_text
from ui.bench.dials import number_sides
from ui.dataset import Dataset
from ui.models import TrainedModel, Trust
from ui.settings import CHOSEN, FEWEST


def held_trust(base: TrainedModel, data: Dataset, now: RuleSet) -> Trust:
    """The trust to refit with; "auto" where it must be learnt anew."""
    columns = columns_of(base, data, now)
    if columns is None:
        return "auto"
    members = base.classifier.members_
    if members and all(
        member.weights == tuple(None if at is None else member.weights[at] for at in columns)
        for member in members
    ):
        return members
    merged: dict[tuple[object, ...], MemberRecord] = {}
    for member in members or single(base, data):
        if not member.share:
            continue
        weights = tuple(None if at is None else member.weights[at] for at in columns)
        on_rows = member.on_rows and any(weights)
        found = merged.get((weights, on_rows))
        heavier = member if found is None or member.share > found.share else found
        share = member.share + (0.0 if found is None else found.share)
        merged[weights, on_rows] = replace(heavier, weights=weights, on_rows=on_rows, share=share)
    return tuple(merged.values()) or "auto"


def columns_of(base: TrainedModel, data: Dataset, now: RuleSet) -> list[int | None] | None:
    """For each rule that is on, its place in the weights of the candidates.

    None stands for a weight that is written, or given by the settings. There is no answer where a
    rule is on whose weight the pinned model did not learn although it is to be learnt.
    """
    before = data.read(base.rules).rules if base.settings.use_rules else RuleSet()
    members = base.classifier.members_
    known = {position: at for at, position in enumerate(_on(before))}
    if members and len(members[0].weights) != len(known):
        return None  # a rule that stands for several
    found: list[int | None] = []
    for position in _on(now):
        rule = now[position]
        if rule.worth is not None or not is_learnt(base):
            found.append(None)
            continue
        was = before[position] if members and position in known else None
        if was is None or was.worth is not None or not _alike(was, rule):
            return None
        found.append(known[position])
    return found


def is_learnt(base: TrainedModel) -> bool:
    """Whether weights that nobody writes are learnt with the settings of a model."""
    return base.settings.patients == "auto" and base.settings.calibrate


def learnt_patients(base: TrainedModel, data: Dataset, now: RuleSet, position: int) -> float | None:
    """For how many patients a rule counts in the pinned model, on average; None if not learnt."""
    before = data.read(base.rules).rules if base.settings.use_rules else RuleSet()
    on = _on(before)
    if position not in on or not _alike(before[position], now[position]):
        return None
    members = base.classifier.members_
    if not members or len(members[0].weights) != len(on):
        return None
    return learnt_weight(members, on.index(position))


def single(base: TrainedModel, data: Dataset) -> tuple[MemberRecord, ...]:
    """The one candidate of a model without learnt trust, if its values were chosen by folds."""
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


def _on(rules: RuleSet) -> list[int]:
    """Positions of the rules that take part."""
    return [position for position, rule in enumerate(rules) if rule.enabled]


def _alike(one: Rule, other: Rule) -> bool:
    """Whether two rules differ in their numbers at most."""
    return _shape(one) == _shape(other)


def _shape(rule: Rule) -> tuple[object, ...]:
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
