"""The functions of the rule language: one table that parser, compiler, documents and app follow.

Each entry of `RULE_FUNCTIONS` says how its function becomes linear, in one of four ways:

1. `divisor`: the sum over the features of a group, divided by a number that depends on how many
   they are, as in mean(K1).
2. `extreme`: the smallest or largest feature of a group. min(K1) >= c is one row per feature, and
   max(K1) >= c one rule per feature.
3. `statistic`: a number learnt from one feature's values in the training rows, as in p90(x).
4. `scaling`: one feature less its centre over its step, both learnt from the training rows: z(x).

A function with both a divisor and a statistic is learnt where it is taken of one feature alone:
mean(x) is the mean of the training rows, mean(K1) that of a sample's own values.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Final, Literal

import numpy as np

from hipad.utils import FloatArray


@dataclass(frozen=True)
class RuleFunction:
    """One function of the rule language.

    Parameters
    ----------
    name : str
        As it is written before the bracket, in small letters.
    example : str
        A premise that uses it on the data of the manual's examples; it stands in docs/rules.md.
    phrase : str
        What the form writes before the features: "the mean of".
    noun : str
        What it is called in the sentence that explains a rule: "mean".
    synonyms : tuple of str
        Other words for the same function.
    divisor, extreme, statistic, scaling
        How it becomes linear; see the top of the module. `divisor` takes the number of features,
        `statistic` the known values of a column, `scaling` too and returns centre and step.
    learns : str
        What `scaling` learns, in words: "the mean and sd".

    Examples
    --------
    >>> find_function("average").name, find_function("p90").statistic(np.arange(11.0))
    ('mean', 9.0)
    """

    name: str
    example: str
    phrase: str
    noun: str
    synonyms: tuple[str, ...] = ()
    divisor: Callable[[int], float] | None = None
    extreme: Literal["", "smallest", "largest"] = ""
    statistic: Callable[[FloatArray], float] | None = None
    scaling: Callable[[FloatArray], tuple[float, float]] | None = None
    learns: str = ""

    @property
    def takes_group(self) -> bool:
        """Return whether the function is taken of several features of one sample."""
        return self.divisor is not None or bool(self.extreme)

    @property
    def is_learnt(self) -> bool:
        """Return whether the function is always worked out from the training rows."""
        return not self.takes_group

    def shift(self, n_features: int) -> float:
        """Return by how much the value moves where all values move by one: 0 for a difference."""
        if self.divisor is not None:
            return n_features / self.divisor(n_features)
        return 1.0 if self.statistic is None else float(self.statistic(np.ones(1)))


_TABLE: Final = (
    RuleFunction(
        "mean", "mean(metabolic) >= 110", "the mean of", "mean", ("avg", "average"),
        divisor=float, statistic=lambda values: float(values.mean()),
    ),
    RuleFunction(
        "sum", "sum(Glucose, Insulin) >= 300", "the sum of", "sum", ("total",),
        divisor=lambda n: 1.0,
    ),
    RuleFunction(
        "min", "min(body) >= 30", "the smallest of", "every one", ("minimum",),
        extreme="smallest",
    ),
    RuleFunction(
        "max", "max(metabolic) >= 150", "the largest of", "every one", ("maximum",),
        extreme="largest",
    ),
    RuleFunction(
        "median", "Age >= median(Age)", "the training rows' median of", "median",
        statistic=lambda values: float(np.percentile(values, 50.0)),
    ),
    RuleFunction(
        "sd", "BMI > mean(BMI) + 2*sd(BMI)", "the training rows' sd of", "sd",
        ("std", "stdev", "stddev"), statistic=lambda values: float(values.std()),
    ),
    RuleFunction(
        "z", "z(Glucose) > 2", "the z-score of", "z-score", ("zscore",),
        scaling=lambda values: (float(values.mean()), float(values.std())),
        learns="the mean and sd",
    ),
    RuleFunction(
        "p90", "Glucose > p90(Glucose)", "the training rows' 90th percentile of", "p90",
        statistic=lambda values: float(np.percentile(values, 90.0)),
    ),
)  # fmt: skip
RULE_FUNCTIONS: Final = {each.name: each for each in _TABLE}

GROUP_FUNCTIONS: Final = tuple(each.name for each in _TABLE if each.takes_group)
EXTREMES: Final = {each.name: each.extreme for each in _TABLE if each.extreme}
SYNONYMS: Final = {word: each.name for each in _TABLE for word in each.synonyms}
QUANTILES: Final = {"quantile": 100.0, "percentile": 1.0}  # quantile(x, 0.9) is p90(x)

_PERCENTILE: Final = re.compile(r"p(\d{1,2}(?:\.\d+)?|100)")


def percentile(function: str) -> float | None:
    """Return the percentage of rows below, for p90 and the like; else None."""
    found = _PERCENTILE.fullmatch(function)
    return float(found[1]) if found else None


@lru_cache(maxsize=1_000)
def find_function(name: str) -> RuleFunction | None:
    """Return the function of a name or synonym in small letters; every p<number> is one."""
    known = RULE_FUNCTIONS.get(SYNONYMS.get(name, name))
    share = percentile(name)
    if known is not None or share is None:
        return known
    statistic = partial(_percentile_of, share=share)
    return replace(
        RULE_FUNCTIONS["p90"],
        name=name,
        phrase=f"the training rows' {name} of",
        noun=name,
        statistic=statistic,
    )


def _percentile_of(values: FloatArray, share: float) -> float:
    return float(np.percentile(values, share))


def is_function(name: str) -> bool:
    """Return whether a name, in small letters, is that of a function: mean, p90, quantile, ..."""
    return name in QUANTILES or find_function(name) is not None


def is_learnt(name: str) -> bool:
    """Return whether a function is worked out from the training rows."""
    function = find_function(name)
    return function is not None and function.is_learnt
