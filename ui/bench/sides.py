"""Two models side by side: everything the workbench shows of them, found once for each pair."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import pandas as pd

from hipad.evaluation.comparing import (
    FeatureChanges,
    Flips,
    block_totals,
    feature_changes,
    flips,
    largest_changes,
)
from hipad.evaluation.metrics import Area
from hipad.rules import CompiledRule, RuleRecord, rule_report
from ui.dataset import NO_BLOCK, Dataset
from ui.exports import comparable_weights
from ui.models import TrainedModel
from ui.rules.checking import as_seen

MOST_FEATURES: Final = 30
MOST_PATIENTS: Final = 200
RISKS: Final = ("risk: pinned", "risk: now")


@dataclass(frozen=True, eq=False)
class Side:
    """A model and its scores on the patients it is judged by and on those it learnt from."""

    model: TrainedModel
    data: Dataset
    judged: np.ndarray
    learnt: np.ndarray

    @classmethod
    def of(cls, model: TrainedModel, data: Dataset) -> Side:
        learnt, judged = model.scores(data.X_train), data.judged
        alike = judged.part == "training"
        return cls(model, data, learnt if alike else model.scores(judged.X), learnt)

    @cached_property
    def weights(self) -> np.ndarray:
        """Per standard deviation where the features were scaled, else in the user's units."""
        return comparable_weights(self.model, self.data)

    @property
    def area(self) -> Area:
        return self.model.judgement.area

    def records(self, rules: list[CompiledRule]) -> list[RuleRecord]:
        """How the model stands to these rules, whether or not it was told them."""
        seen = as_seen(self.data, self.model.settings)
        return rule_report(
            rules,
            w=self.model.weights,
            b=self.model.intercept,
            lo=seen.lo,
            hi=seen.hi,
            mean=seen.mean,
            scale=seen.scale,
        )


def truth(data: Dataset) -> np.ndarray:
    """Which of the patients that models are judged by are positive."""
    return np.asarray(data.judged.y == data.classes[1])


@dataclass(frozen=True, eq=False)
class Comparison:
    """What changed from the pinned model to the other."""

    old: Side
    new: Side

    @property
    def data(self) -> Dataset:
        return self.new.data

    @cached_property
    def features(self) -> FeatureChanges:
        return feature_changes(self.old.model.weights, self.new.model.weights)

    @cached_property
    def flips(self) -> Flips:
        """Of the patients that models are judged by."""
        return flips(self.old.judged, self.new.judged, truth(self.data))

    @cached_property
    def learnt_flips(self) -> Flips:
        """Of the training patients; empty where models are judged by these."""
        if self.data.judged.part == "training":
            return flips(self.old.learnt[:0], self.new.learnt[:0])
        positive = self.data.y_train == self.data.classes[1]
        return flips(self.old.learnt, self.new.learnt, positive)

    @cached_property
    def blocks(self) -> pd.DataFrame:
        """Sums of weights by block, old and new, those that changed most first."""
        sums = [block_totals(side.weights, self.data.blocks, NO_BLOCK) for side in self.sides]
        table = pd.DataFrame(sums, index=["old", "new"]).T
        table = table[(table != 0).any(axis=1)]
        order = np.argsort(-(table["new"] - table["old"]).abs().to_numpy(), kind="stable")
        return table.iloc[order]

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.old, self.new

    @cached_property
    def largest(self) -> pd.DataFrame:
        """The features whose weight changed most."""
        before, after = self.old.weights, self.new.weights
        columns = largest_changes(before, after, MOST_FEATURES)
        return pd.DataFrame(
            {
                "feature": [self.data.index.name(int(j)) for j in columns],
                "block": self.data.block_of(columns),
                "change": [_kind(before[j], after[j]) for j in columns],
                "pinned": before[columns],
                "now": after[columns],
            }
        )

    @cached_property
    def patients(self) -> pd.DataFrame:
        """The patients whose answer changed, those judged by first."""
        has_test = self.data.judged.part == "test"
        parts = [self._part(self.flips, self.old.judged, self.new.judged, int(has_test))]
        parts += [self._part(self.learnt_flips, self.old.learnt, self.new.learnt, 0)]
        return pd.concat(parts, ignore_index=True).head(MOST_PATIENTS)

    def _risks(self, old: np.ndarray, new: np.ndarray) -> dict[str, np.ndarray]:
        """Risks beside the decision values, of the models that have them at hand."""
        risks = self.old.model.risks(old), self.new.model.risks(new)
        named = zip(RISKS, risks, strict=True)
        return {name: values for name, values in named if values is not None}

    def _part(self, found: Flips, old: np.ndarray, new: np.ndarray, which: int) -> pd.DataFrame:
        rows = found.rows
        y = self.data.y_test if which else self.data.y_train
        assert y is not None
        return pd.DataFrame(
            {
                "row": self.data.patients[which][rows],
                "of": ["test" if which else "training"] * len(rows),
                "pinned": old[rows],
                "now": new[rows],
                **self._risks(old[rows], new[rows]),
                "truly": y[rows],
                "change": np.where(np.isin(rows, found.better), "now right", "now wrong"),
            }
        )


def _kind(before: float, after: float) -> str:
    if before == 0:
        return "gained"
    if after == 0:
        return "lost"
    return "turned" if before * after < 0 else "changed"
