"""A condition settled on data of sixty patients: what tests of settling ask for."""

from __future__ import annotations

import numpy as np
import pytest

from hipad.exceptions import RuleError
from hipad.rules import FeatureIndex, parse_rules
from hipad.rules.ast import alternatives
from hipad.rules.context import ColumnValues, Context, NameTable
from hipad.rules.linearize import linearize

RNG = np.random.default_rng(4)
NAMES = ["a", "b", "income", "debt", "share", "hbc", "IL", "IL-6", "p", "q", "sex=male",
         "sex=female", "stage=I", "stage=II", "stage=III"]  # fmt: skip
X = np.column_stack(
    [
        RNG.normal(size=60),
        RNG.normal(size=60),
        RNG.uniform(1, 9, 60),
        RNG.uniform(0, 9, 60),
        RNG.uniform(0, 1, 60),
        RNG.uniform(4, 12, 60),
        RNG.uniform(0, 9, (60, 2)),
        RNG.integers(0, 2, (60, 7)),
    ]
)
BLOCKS = {"K": np.array([0, 1])}


def ground(*, known: bool = True) -> Context:
    """The data, with or without their rows."""
    return Context(NameTable(FeatureIndex(NAMES), BLOCKS, ColumnValues(X) if known else None))


def settled(text: str, *, known: bool = True) -> list[str]:
    """The condition as each rule has it after it was settled."""
    (rule,) = parse_rules(f"{text} => x")
    (condition,) = rule.conditions
    found = alternatives(linearize(ground(known=known), condition))
    return [" and ".join(map(str, each)) for each in found]


def refusal(text: str) -> str:
    """Why the data do not allow a condition."""
    with pytest.raises(RuleError) as caught:
        settled(text)
    return str(caught.value)
