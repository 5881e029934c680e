"""Which rules a fitted model hears, and what the others would take: told by fits, not by formulas.

A rule is heard when a feature that it names is in the model. One that is not heard may still be
felt: its stiffness is a ridge on all features. Only where leaving it out changes nothing is it
silenced. How many patients it must be worth to be heard is found by fits at the same lambda1: from
what it pulls by itself upwards until a feature enters, then between the last two values.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hipad.estimator.run import Model
from hipad.estimator.strength import knobs_of, rule_blocks
from hipad.estimator.training import TrainingData
from hipad.rules import Knobs, Pull, rule_pulls
from hipad.solver import Hipad, Problem, Solution

MOST_FITS = 60  # for all rules of a report
HALVINGS = 5
MOST_SIGMA = 100.0  # a rule worth more than a hundred times all patients is no advice
SAME = 1e-6  # relative change of the weights that is none


def model_pulls(data: TrainingData, model: Model) -> list[Pull]:
    """How each rule pulls, whether it is heard in this model, and what it would take."""
    pulls = rule_pulls(
        model.told,
        model.knobs,
        model.lambda1,
        lambda columns: data.design.columns(columns).T @ (data.p * data.y),
    )
    refits = WorthRefits(model)
    return [refits.told(i, pull) for i, pull in enumerate(pulls)]


class WorthRefits:
    """The problem of one model, solved again with one of its rules worth more, less or nothing.

    Rules are named by their position i among those of the model.
    """

    def __init__(self, model: Model) -> None:
        self.model, self.fits = model, 0
        self.now = model.solution

    def told(self, i: int, pull: Pull) -> Pull:
        """The pull of rule i with what refits say: whether it is felt, and what it would take."""
        inside = self.inside(i, self.now)
        if inside or pull.limit == "never":
            return replace(pull, inside=inside, felt=False)
        pull = replace(pull, inside=0, felt=self.felt(i))
        if pull.limit != "worth" or pull.lambda1 == 0:
            return pull
        return replace(pull, sigma_needed=self.needed(i, pull.sigma_needed))

    def inside(self, i: int, found: Solution) -> int:
        """How many features of rule i have a weight in a solution."""
        return int(np.isin(self.model.told[i].columns, found.features).sum())

    def felt(self, i: int) -> bool:
        """Whether the model would be another one without the rule."""
        if self.model.knobs[i].sigma <= 0:
            return False
        if self.fits >= MOST_FITS:
            return True
        without = self.fitted(i, replace(self.model.knobs[i], sigma=0.0))
        if not np.array_equal(without.features, self.now.features):
            return True
        return not np.allclose(direction(without), direction(self.now), rtol=0.0, atol=SAME)

    def needed(self, i: int, least: float) -> float:
        """The sigma from which on a feature of rule i enters; inf where none does."""
        low, high = 0.0, max(least, self.model.knobs[i].sigma)
        while high <= MOST_SIGMA and self.fits < MOST_FITS and not self.enters(i, high):
            low, high = high, 2.0 * high
        if high > MOST_SIGMA:
            return float("inf")
        low = low or 0.5 * high
        for _ in range(HALVINGS):
            middle = float(np.sqrt(low * high))
            if self.fits >= MOST_FITS or high < 1.02 * low:
                break
            low, high = (low, middle) if self.enters(i, middle) else (middle, high)
        return high

    def enters(self, i: int, sigma: float) -> bool:
        """Whether a feature of rule i enters where the rule counts that much."""
        return self.inside(i, self.fitted(i, self.worth(i, sigma))) > 0

    def worth(self, i: int, sigma: float) -> Knobs:
        """The knobs of rule i as if this worth had been written for it."""
        own, rule, plan = self.model.knobs[i], self.model.told[i], self.model.plan
        written = replace(rule, rule=replace(rule.rule, worth=sigma * own.n_samples))
        return knobs_of(
            written, total=own.n_samples, patients=plan.patients, stiffness=plan.stiffness
        )

    def fitted(self, i: int, knobs: Knobs) -> Solution:
        """The solution with other knobs of rule i."""
        self.fits += 1
        model = self.model
        changed = [knobs if k == i else own for k, own in enumerate(model.knobs)]
        blocks = rule_blocks(model.told, changed, anchored=model.plan.anchored)
        problem: Problem = model.problem.with_parameters(rules=blocks)
        return Hipad(problem, replace(model.plan.settings, quick=True)).run()


def direction(found: Solution) -> np.ndarray:
    """The weights at length one: calibration sets their scale, so it tells nothing of a rule."""
    return found.w / max(float(np.linalg.norm(found.w)), 1e-300)
