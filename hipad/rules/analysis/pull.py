"""How hard a rule pulls on its features at w = 0, and which knob holds it back.

With z the shortest patient that meets the premise (in scaled units, counted from the middle between
the classes), the multiplier that is best at w = 0 gives

    pull_j = min( sigma, rho / |z|^2 ) |z_j|

which for one condition is min( sigma |d| |B_j| / |B|^2, rho |B_j| / |d| ). A feature can enter only
if its pull exceeds lambda1. A premise that is met in the middle has z = 0: the rule does not pull.

The training patients pull as well, by X'(p y), and so do other rules: a rule that is too weak alone
may bring a feature in together with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from hipad.arrays import FloatArray, IntArray
from hipad.rules.analysis.points import least_norm
from hipad.rules.analysis.speaking import Heard
from hipad.rules.compiling.compiled import ScaledRule
from hipad.rules.compiling.rows import on_columns
from hipad.wording import listed

DataPull = Callable[[IntArray], FloatArray]
"""Columns -> X'(p y) on them, in scaled units: how hard the training patients pull at w = 0."""


@dataclass(frozen=True)
class Knobs:
    """What a rule counts for: sigma and rho in the objective, for n_samples training rows.

    `rho_follows` says that rho was set by sigma, so that there is one knob to turn; `heard` is what
    the training patients whom the rule covers say of it.
    """

    sigma: float
    rho: float
    n_samples: float
    rho_follows: bool = False
    heard: Heard | None = None


@dataclass(frozen=True)
class Pull:
    """The strongest pull of a rule, what it must exceed, and what it takes to exceed it.

    `limit` is "worth", "stiffness", "premise" (met in the middle between the classes) or "never"
    (no patient can meet it). The sigma and rho that are needed are inf where no value would do.
    `together` is the strongest pull on a feature of the rule, towards its outcome, of patients and
    all rules. After a fit `inside` counts the features of the rule in the model; before it, it is
    None. What a rule does to a model is told by a fit without it (`Effect`), not by its pull.
    """

    strongest: float
    lambda1: float
    limit: str
    sigma_needed: float
    rho_needed: float
    together: float | None = None
    inside: int | None = None

    @property
    def alone(self) -> bool:
        """True if the rule by itself pulls enough for a feature to enter, and nothing holds it."""
        held = self.inside == 0 or (self.together is not None and self.together <= self.lambda1)
        return self.strongest > self.lambda1 and not held

    @property
    def enters(self) -> bool:
        """True if a feature of the rule is in or, before a fit, can be expected to enter."""
        if self.limit == "never":
            return False
        if self.inside is not None:
            return self.inside > 0
        return self.alone or (self.together or 0.0) > self.lambda1

    @property
    def state(self) -> str:
        """Whether a feature of the rule is in or, before a fit, can be expected to enter."""
        if self.inside is not None:
            return "a feature of it is in" if self.enters else "no feature of it is in"
        if self.enters:
            return "enough for a feature" if self.alone else "enough for a feature with the data"
        return "too weak for a feature to enter"

    def __str__(self) -> str:
        return (
            f"pull {self.strongest:.3g} against lambda1 {self.lambda1:.3g}: {self.state}, "
            f"limited by its {self.limit}"
        )


def shortest_patient(B: sparse.csr_array, d: FloatArray) -> FloatArray | None:
    """z on the columns that B names, or None if no patient meets the premise."""
    return least_norm(on_columns(B, np.unique(B.indices)), d)


def rule_pull(
    B: sparse.csr_array, d: FloatArray, *, sigma: float, rho: float, lambda1: float
) -> Pull:
    """The pull of a rule in scaled units.

    >>> B, d = sparse.csr_array([[-0.5, -0.5]]), np.array([-4.0])
    >>> pull = rule_pull(B, d, sigma=0.25, rho=100.0, lambda1=0.1)
    >>> pull.strongest, pull.limit, pull.enters
    (1.0, 'worth', True)
    """
    return _pull(shortest_patient(B, d), sigma, rho, lambda1)


def _pull(z: FloatArray | None, sigma: float, rho: float, lambda1: float) -> Pull:
    if z is None:
        return Pull(0.0, lambda1, "never", np.inf, np.inf)
    square, largest = float(z @ z), float(np.abs(z).max(initial=0.0))
    if largest == 0.0:
        return Pull(0.0, lambda1, "premise", np.inf, np.inf)
    return Pull(
        strongest=min(sigma, rho / square) * largest,
        lambda1=lambda1,
        limit="worth" if sigma <= rho / square else "stiffness",
        sigma_needed=lambda1 / largest,
        rho_needed=lambda1 * square / largest,
    )


def rule_pulls(
    rules: Sequence[ScaledRule],
    knobs: Sequence[Knobs],
    lambda1: float,
    data_pull: DataPull | None = None,
) -> list[Pull]:
    """The pulls of rules in scaled units, each alone and, if the patients' is known, together."""
    shortest = [shortest_patient(rule.B, rule.d) for rule in rules]
    alone = [_pull(z, own.sigma, own.rho, lambda1) for z, own in zip(shortest, knobs, strict=True)]
    if data_pull is None or not rules:
        return alone
    named = np.unique(np.concatenate([rule.columns for rule in rules]))
    forces = list(map(_force, rules, shortest, knobs))
    places = [np.searchsorted(named, rule.columns) for rule in rules]
    total = np.array(data_pull(named), dtype=np.float64)
    for at, force in zip(places, forces, strict=True):
        total[at] += force
    return [
        _joined(pull, z, force, np.sign(force) * total[at])
        for pull, z, at, force in zip(alone, shortest, places, forces, strict=True)
    ]


def _joined(pull: Pull, z: FloatArray | None, force: FloatArray, towards: FloatArray) -> Pull:
    """The pull with what patients and other rules add to it, or take away."""
    pull = replace(pull, together=float(np.max(towards, initial=0.0)))
    if z is None or not z.any() or not force.any():
        return pull
    missing = pull.lambda1 - (towards - np.abs(force))  # what the rule itself must bring
    needed = np.min(missing[z != 0] / np.abs(z[z != 0]))
    return replace(pull, sigma_needed=max(float(needed), 0.0))


def _force(rule: ScaledRule, z: FloatArray | None, knobs: Knobs) -> FloatArray:
    """The pull of a rule on each feature that it names, with its sign."""
    if z is None or not z.any():
        return np.zeros(len(rule.columns))
    return rule.sign * min(knobs.sigma, knobs.rho / float(z @ z)) * z


def knob_advice(pull: Pull, knobs: Knobs) -> str:
    """Which knobs must turn, and how far, for a feature of the rule to enter."""
    if pull.sigma_needed == np.inf:
        return "lower lambda1: no worth of it brings a feature in"
    steps = []
    if knobs.sigma <= pull.sigma_needed:
        patients = pull.sigma_needed * knobs.n_samples
        steps.append(f"make it worth more than {patients:.3g} patients")
    if knobs.rho <= pull.rho_needed and not knobs.rho_follows:
        steps.append(f"raise its stiffness above {pull.rho_needed:.3g}")
    lowest = pull.strongest if pull.together is None else pull.together
    if lowest == 0.0:
        return listed(steps)
    return f"{listed(steps)}, or lower lambda1 below {lowest:.3g}"
