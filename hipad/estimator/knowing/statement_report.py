"""What became of each statement about features: told by the weights, and by a fit without it.

A sign that the data would have chosen anyway is no news. Whether a statement changes the model, and
whether a feature would speak for the other class without it, is found by fitting the same problem
at the same lambda1 with all statements but this one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from hipad.designs.base import FloatArray
from hipad.estimator.heard import SAME, direction
from hipad.estimator.knowing.feature_prices import feature_prices
from hipad.estimator.run import Model
from hipad.rules import FeatureIndex
from hipad.rules.compiling.knowledge import CompiledStatement, known_features
from hipad.solver import Hipad, Solution
from hipad.wording import count, listed

MOST_FITS = 30  # for all statements of a report
FORBIDDEN = {"raised": -1.0, "lowered": 1.0}


@dataclass(frozen=True)
class StatementRecord:
    """A statement, the weights of its features, and what a fit without it says.

    `weights` are in the units of the data. `contrary` counts the features that would break the
    statement without it: the other sign, a weight for one that does not matter, or no weight for
    one that is certain. It is None, as is `felt`, where there were too many statements to fit.
    """

    text: str
    meaning: str
    kind: str
    columns: tuple[int, ...]
    features: tuple[str, ...]
    weights: tuple[float, ...]
    felt: bool | None = None
    contrary: int | None = None

    @property
    def inside(self) -> int:
        """How many of its features have a weight."""
        return sum(weight != 0 for weight in self.weights)

    @property
    def lines(self) -> list[str]:
        """What there is to say, in sentences."""
        return [self.meaning, *self._about_weights(), *self._about_the_fit()]

    def __str__(self) -> str:
        return "\n".join([self.text, *(f"  {line}" for line in self.lines)])

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for files and tables."""
        return {**asdict(self), "inside": self.inside}

    def _about_weights(self) -> Iterator[str]:
        if self.kind == "ignored":
            return
        pairs = zip(self.features, self.weights, strict=True)
        told = [f"{name} {weight:+.3g}" for name, weight in pairs if weight != 0]
        share = f"{self.inside} of {count(len(self.columns), 'feature')} in the model"
        yield f"{share}: {listed(told, limit=5)}" if told else share

    def _about_the_fit(self) -> Iterator[str]:
        if self.felt is None:
            return
        if not self.felt:
            yield "without it the model would be the same"
        elif self.contrary:
            would = {
                "ignored": "would have a weight",
                "certain": "would have none",
            }.get(self.kind, "would speak for the other class")
            yield f"without it {count(self.contrary, 'feature')} {would}"
        else:
            yield "without it the model would be another one"


def statement_report(model: Model, names: FeatureIndex) -> list[StatementRecord]:
    """One record a statement."""
    statements = model.plan.statements
    weights = np.zeros(model.problem.n_features)
    weights[model.features] = model.coef
    records = []
    for i, statement in enumerate(statements):
        own = weights[statement.columns]
        record = StatementRecord(
            text=statement.statement.text,
            meaning=statement.meaning,
            kind=statement.kind,
            columns=tuple(statement.columns.tolist()),
            features=tuple(names.name(int(j)) for j in statement.columns),
            weights=tuple(own.tolist()),
        )
        records.append(_refitted(record, model, names, i) if i < MOST_FITS else record)
    return records


def _refitted(
    record: StatementRecord, model: Model, names: FeatureIndex, i: int
) -> StatementRecord:
    """The record with what a fit without the statement says."""
    others = [other for k, other in enumerate(model.plan.statements) if k != i]
    prices = feature_prices(known_features(others, names))
    problem = model.problem.with_parameters(prices=prices)
    without = Hipad(problem, replace(model.plan.settings, quick=True)).run()
    size = problem.n_features
    now, then = _full_direction(model.solution, size), _full_direction(without, size)
    felt = not np.allclose(now, then, rtol=0.0, atol=SAME)
    broken = _broken(model.plan.statements[i], then)
    return replace(record, felt=felt, contrary=broken)


def _broken(statement: CompiledStatement, weights: FloatArray) -> int:
    """How many features break the statement in a model that was not told of it."""
    own = weights[statement.columns]
    if statement.kind in FORBIDDEN:
        return int(np.sum(own * FORBIDDEN[statement.kind] > SAME))
    return int(np.sum(own == 0) if statement.kind == "certain" else np.sum(own != 0))


def _full_direction(found: Solution, n_features: int) -> FloatArray:
    """The direction of the weights, with zero for every feature that is out."""
    w = np.zeros(n_features)
    w[found.features] = direction(found)
    return w
