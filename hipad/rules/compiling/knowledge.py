"""What an expert knows of single features, beside the rules: a direction, certainty, or nothing.

"ABL1 is raised in BCR/ABL" fixes the sign of a weight. "x does not matter" keeps a feature out.
"x is certain" lets a feature in without paying lambda1. None of these is an implication, so none is
a row of (B, d).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hipad.arrays import IntArray
from hipad.rules.compiling.compile import CompiledRule, compile_rules
from hipad.rules.language.model import Rule


def _no_features() -> IntArray:
    return np.zeros(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class FeatureKnowledge:
    """Columns, sorted, whose weights are known to be >= 0, <= 0, exactly 0, or free of lambda1.

    A column may be certain and raised (or lowered) at once; every other pair contradicts itself.
    """

    raised: IntArray = field(default_factory=_no_features)
    lowered: IntArray = field(default_factory=_no_features)
    ignored: IntArray = field(default_factory=_no_features)
    certain: IntArray = field(default_factory=_no_features)

    def __bool__(self) -> bool:
        return any(part.size for part in (self.raised, self.lowered, self.ignored, self.certain))


@dataclass(frozen=True, eq=False)
class Knowledge:
    """All that was written: rules, and what is known of single features."""

    rules: tuple[CompiledRule, ...] = ()
    features: FeatureKnowledge = field(default_factory=FeatureKnowledge)


def compile_knowledge(rules: str | Iterable[Rule | str], **context: Any) -> Knowledge:
    """Compile rules and statements about features; `context` is that of `compile_rules`."""
    return Knowledge(compile_rules(rules, **context))
