"""From what the user says of a rule (worth in patients, stiffness) to the solver's sigma and rho.

One training sample weighs 1/N in the objective, so sigma = n/N says "this rule counts as n
patients". With z the shortest patient who meets the premise, a rule pulls on feature j at w = 0 by

    min( sigma, rho / |z|^2 ) |z_j|,

and a feature enters only when its pull exceeds lambda1. Stiffness beyond sigma |z|^2 adds no pull.
It adds a ridge on every feature that the rule does not name, so a rule of hardly any worth would
still favour its own. The automatic stiffness is therefore a small multiple of sigma |z|^2: the pull
is whole until most of the way is gone, and a rule vanishes with its worth. A stiffness of the
user's own is held within reach of it for the same reason.
"""

from __future__ import annotations

from scipy.sparse import csr_array

from hipad.designs.base import FloatArray
from hipad.rules import Heard, Knobs, ScaledRule, shortest_patient
from hipad.solver import RuleBlock

STIFFNESS_FACTOR = 3.0
STIFFEST = 100.0  # times the automatic stiffness: beyond it a rule is a ridge and nothing else
NEAREST = 1.0  # a premise next to the average patient is taken to be one deviation away
RULE_SHARE = 0.15  # of the rows: what a rule counts for where no weight is written or learnt


def default_patients(patients: float | str, total: float) -> float:
    """For how many of `total` rows a rule counts where no weight is written or learnt.

    >>> default_patients("auto", 200), default_patients(5, 200)
    (30.0, 5.0)
    """
    return RULE_SHARE * total if isinstance(patients, str) else float(patients)


def automatic_stiffness(B: csr_array, d: FloatArray, sigma: float) -> float:
    """Three times the stiffness from which on the worth alone limits the pull: sigma |z|^2."""
    z = shortest_patient(B, d)
    square = 0.0 if z is None else float(z @ z)
    return STIFFNESS_FACTOR * sigma * max(square, NEAREST)


def knobs_of(
    rule: ScaledRule,
    *,
    total: float,
    patients: float | str,
    stiffness: float | str,
    heard: Heard | None = None,
) -> Knobs:
    """sigma and rho of a rule in the design's units; `total` is the number of patients.

    `heard` is what the patients whom it covers say of the rule.
    """
    worth = rule.rule.worth
    sigma = (default_patients(patients, total) if worth is None else worth) / total
    follows = isinstance(stiffness, str)
    softest = automatic_stiffness(rule.B, rule.d, sigma)
    rho = softest if follows else min(float(stiffness), STIFFEST * softest)
    if worth is None and patients == "equal":
        sigma = rho = softest if follows else float(stiffness)
    return Knobs(sigma, rho, total, rho_follows=follows, heard=heard)


def rule_blocks(
    rules: tuple[ScaledRule, ...], knobs: list[Knobs], *, anchored: bool = False
) -> tuple[RuleBlock, ...]:
    """Solver rules. One that is worth nothing is left out: its residual would still shrink w."""
    return tuple(
        RuleBlock(rule.B, rule.d, rule.sign, own.sigma, own.rho, anchored)
        for rule, own in zip(rules, knobs, strict=True)
        if own.sigma > 0
    )
