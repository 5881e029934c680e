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
from hipad.rules import CompiledRule
from hipad.solver import RuleBlock

STIFFNESS_FACTOR = 20.0
PATIENTS_SHARE = 0.25  # a rule without a worth of its own counts as a quarter of the patients


def default_patients(patients: float | str, total: float) -> float:
    """What a rule without a worth of its own counts for."""
    return PATIENTS_SHARE * total if isinstance(patients, str) else float(patients)


def automatic_stiffness(B: csr_array, d: FloatArray, lambda1: float, lambda2: float) -> float:
    """A few times lambda1 |d| / |B_j| over the conditions that can pull, not below lambda2."""
    demanding = np.flatnonzero(d < 0)
    if demanding.size == 0:
        return lambda2
    sizes = np.array(
        [np.abs(B[[row]].data).mean() if B[[row]].nnz else np.inf for row in demanding]
    )
    return max(lambda2, STIFFNESS_FACTOR * lambda1 * float(np.max(-d[demanding] / sizes)))


def rule_blocks(
    rules: tuple[CompiledRule, ...],
    *,
    total: float,
    patients: float | str,
    stiffness: float | str,
    lambda1: float,
    lambda2: float,
) -> tuple[RuleBlock, ...]:
    """Solver rules from rules in the design's units; `total` is the number of patients.

    A rule that is worth nothing is left out: its residual alone would still shrink the weights.
    """
    blocks = []
    for rule in rules:
        rho = (
            automatic_stiffness(rule.B, rule.d, lambda1, lambda2)
            if isinstance(stiffness, str)
            else float(stiffness)
        )
        sigma = rule_weight(rule.rule.worth, patients, total, rho)
        if sigma > 0:
            blocks.append(RuleBlock(rule.B, rule.d, rule.sign, sigma, rho))
    return tuple(blocks)


def rule_weight(worth: float | None, patients: float | str, total: float, rho: float) -> float:
    """sigma of a rule: its own worth in patients, or else what `patients` says."""
    if worth is None and patients == "equal":
        return rho
    return (default_patients(patients, total) if worth is None else worth) / total
