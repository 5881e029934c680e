"""From what the user says of a rule (worth in patients, stiffness) to the solver's sigma and rho.

One training sample weighs 1/N in the objective, so sigma = n/N says "this rule counts as n
patients". How hard a rule with one condition pulls on feature j at w = 0 is

    min( sigma |d| |B_j| / |B|^2,  rho |B_j| / |d| ),

and a feature enters only when its pull exceeds lambda1. The automatic stiffness makes the second
number STIFFNESS_FACTOR times lambda1: as soft as lets the rule speak clearly, since stiffness is
also a ridge on every feature.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from hipad.designs.base import FloatArray
from hipad.rules import CompiledRule, Knobs, rule_pull
from hipad.solver import RuleBlock

STIFFNESS_FACTOR = 20.0
PATIENTS_SHARE = 0.25  # a rule without a worth of its own counts as a quarter of the patients,
FEWEST_PATIENTS = (
    8.0  # but not as fewer than these (or than all): with few labels it is what there is
)


def default_patients(patients: float | str, total: float) -> float:
    """What a rule without a worth of its own counts for."""
    if not isinstance(patients, str):
        return float(patients)
    return max(PATIENTS_SHARE * total, min(total, FEWEST_PATIENTS))


def automatic_stiffness(B: csr_array, d: FloatArray, lambda1: float, lambda2: float) -> float:
    """Some times the stiffness at which the rule's strongest pull equals lambda1; at least lambda2.

    A rule that no stiffness can make heard (its premise is met by the average patient, or by none)
    gets lambda2.
    """
    needed = rule_pull(B, d, sigma=np.inf, rho=0.0, lambda1=lambda1).rho_needed
    return max(lambda2, STIFFNESS_FACTOR * needed) if np.isfinite(needed) else lambda2


def knobs_of(
    rule: CompiledRule,
    *,
    total: float,
    patients: float | str,
    stiffness: float | str,
    lambda1: float,
    lambda2: float,
) -> Knobs:
    """sigma and rho of a rule in the design's units; `total` is the number of patients."""
    rho = (
        automatic_stiffness(rule.B, rule.d, lambda1, lambda2)
        if isinstance(stiffness, str)
        else float(stiffness)
    )
    sigma = rule_weight(rule.rule.worth, patients, total, rho)
    return Knobs(sigma=sigma, rho=rho, n_samples=total)


def rule_blocks(rules: tuple[CompiledRule, ...], knobs: list[Knobs]) -> tuple[RuleBlock, ...]:
    """Solver rules. One that is worth nothing is left out: its residual would still shrink w."""
    return tuple(
        RuleBlock(rule.B, rule.d, rule.sign, own.sigma, own.rho)
        for rule, own in zip(rules, knobs, strict=True)
        if own.sigma > 0
    )


def rule_weight(worth: float | None, patients: float | str, total: float, rho: float) -> float:
    """sigma of a rule: its own worth in patients, or else what `patients` says."""
    if worth is None and patients == "equal":
        return rho
    return (default_patients(patients, total) if worth is None else worth) / total
