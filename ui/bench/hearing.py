"""Whether a rule is strong enough to bring in a feature by itself, as its slider stands."""

from __future__ import annotations

import math

from hipad.estimator.problem_factory import rule_weights
from hipad.evaluation.rule_study import StudyRows, as_told
from hipad.rules import CompiledRule, RuleGradient, needed_worth, rule_pull
from ui.models import TrainedModel


def pull_of(rule: CompiledRule, base: TrainedModel, seen: StudyRows) -> RuleGradient:
    """The pull of one of the rules alone, with the sparsity and the settings of a model."""
    settings = base.settings
    (told,), (heard,) = as_told([rule], seen)
    knobs = rule_weights(
        told,
        total=len(seen.p),
        rule_weight=settings.patients,
        rho=settings.stiffness,
        evidence=heard,
    )
    return rule_pull(
        told.B,
        told.d,
        sigma=knobs.sigma,
        rho=knobs.rho,
        lambda1=float(base.classifier.lambda1_),
    )


def words(pull: RuleGradient, n_patients: int) -> str:
    """The pull of a rule in a clinician's words."""
    if pull.alone:
        return "Strong enough to bring in a feature by itself."
    if pull.limit == "never":
        return "No patient can meet this rule."
    if pull.limit == "premise":
        return "The middle between the classes already meets this rule: it pulls on no feature."
    patients = needed_worth(pull, n_patients)
    if pull.limit == "worth" and math.isfinite(patients):
        return f"Brings in a feature by itself from a worth of {patients:.3g} patients on."
    return "Brings in a feature only together with the patients or other rules."
