"""Two models side by side: everything the workbench shows of them, found once for each pair."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import pandas as pd

from hipad.evaluation.comparison import (
    FeatureChanges,
    Flips,
    block_totals,
    feature_changes,
    flips,
    largest_changes,
)
from hipad.evaluation.intervals import Estimate
from hipad.rules import CompiledRule, RuleRecord
from ui.dataset import NO_BLOCK, Dataset
from ui.models import TrainedModel, comparable_weights
from ui.rules.checks import study_rows

MOST_BLOCKS: Final = 12
MOST_FEATURES: Final = 30
MOST_PATIENTS: Final = 200


@dataclass(frozen=True, eq=False)
class Side:
    """A model and its scores on the patients it is judged by and on those it learnt from."""

    model: TrainedModel
    data: Dataset
    judged: np.ndarray
    learnt: np.ndarray

    @classmethod
    def of(cls, model: TrainedModel, data: Dataset) -> Side:
        """Ask a model about the patients, once."""
        learnt, judged = model.scores(data.X_train), data.judged
        alike = judged.part == "training"
        return cls(model, data, learnt if alike else model.scores(judged.X), learnt)

    @cached_property
    def weights(self) -> np.ndarray:
        """Per standard deviation where the features were scaled, else in the user's units."""
        return comparable_weights(self.model, self.data)

    @property
    def area(self) -> Estimate:
        return self.model.judgement.area

    def records(self, rules: list[CompiledRule]) -> list[RuleRecord]:
        """How the model stands to these rules, whether or not it was told them."""
        seen = study_rows(self.data, self.model.settings)
        return seen.report(rules, self.model.weights, self.model.intercept)


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
        groups = self.data.judged.groups
        return flips(self.old.judged, self.new.judged, truth(self.data), groups)

    @cached_property
    def learnt_flips(self) -> Flips:
        """Of the training patients; empty where models are judged by these."""
        if self.data.judged.part == "training":
            return flips(self.old.learnt[:0], self.new.learnt[:0])
        positive = self.data.y_train == self.data.classes[1]
        return flips(self.old.learnt, self.new.learnt, positive, self.data.groups_train)

    @cached_property
    def names(self) -> tuple[str, str]:
        """What to call the two, in tables and pictures."""
        old, new = (side.model.name for side in self.sides)
        return f"{old} (pinned)", new

    @property
    def columns(self) -> tuple[str, str]:
        """Columns of tables for the two, which no name of a model can make another's."""
        return f"by {self.names[0]}", f"by {self.names[1]}"

    @property
    def risk_columns(self) -> tuple[str, str]:
        """Columns of tables for the risks that the two give."""
        return f"risk by {self.names[0]}", f"risk by {self.names[1]}"

    @cached_property
    def blocks(self) -> pd.DataFrame:
        """Sums of weights by block, old and new.

        The order is that of the blocks, and which are shown depends on the pinned model first, so
        that rows stay where they are while a slider moves.
        """
        sums = [block_totals(side.weights, self.data.blocks, NO_BLOCK) for side in self.sides]
        table = pd.DataFrame(sums, index=["old", "new"]).T
        table = table[(table != 0).any(axis=1)]
        size = table.abs().to_numpy()
        shown = np.lexsort((-size[:, 1], -size[:, 0]))[:MOST_BLOCKS]
        return table.iloc[np.sort(shown)]

    @property
    def sides(self) -> tuple[Side, Side]:
        """The pinned model first."""
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
                self.columns[0]: before[columns],
                self.columns[1]: after[columns],
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
        named = zip(self.risk_columns, risks, strict=True)
        return {name: values for name, values in named if values is not None}

    def _part(self, found: Flips, old: np.ndarray, new: np.ndarray, which: int) -> pd.DataFrame:
        rows = found.rows
        y = self.data.y_test if which else self.data.y_train
        assert y is not None
        return pd.DataFrame(
            {
                "row": self.data.called(which, rows),
                "of": ["test" if which else "training"] * len(rows),
                self.columns[0]: old[rows],
                self.columns[1]: new[rows],
                **self._risks(old[rows], new[rows]),
                "truly": y[rows],
                "change": np.where(np.isin(rows, found.better), "became right", "became wrong"),
            }
        )


def _kind(before: float, after: float) -> str:
    if before == 0:
        return "gained"
    if after == 0:
        return "lost"
    return "turned" if before * after < 0 else "changed"
