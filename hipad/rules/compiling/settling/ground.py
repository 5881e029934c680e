"""What the data say while conditions are settled: names, blocks, training rows, remarks."""

from __future__ import annotations

from dataclasses import dataclass, field

from hipad.errors import RuleError
from hipad.rules.compiling.naming.members import block_for_feature
from hipad.rules.compiling.naming.names import FeatureIndex
from hipad.rules.compiling.settling.lexicon import Lexicon
from hipad.rules.compiling.settling.values import ColumnValues
from hipad.rules.language.model import Condition
from hipad.rules.language.spelling import rule_error
from hipad.rules.language.terms import FeatureSpan, Name, Side, Term


@dataclass(frozen=True)
class Ground:
    """What the data say while the conditions of one rule are settled.

    `remarks` collects which numbers were found.
    """

    lexicon: Lexicon
    remarks: list[str] = field(default_factory=list)

    @property
    def index(self) -> FeatureIndex:
        return self.lexicon.index

    @property
    def values(self) -> ColumnValues | None:
        return self.lexicon.values


class RowsNeeded(RuleError):
    """A rule learns a number from training rows, and none are known."""


def place_of(condition: Condition) -> int | None:
    """The column of the text where a condition begins, if it is known."""
    return next((t.column for side in condition.sides for t in side if t.column), None)


def own_name(ground: Ground, name: str, column: int | None) -> str:
    """The feature's own name; RuleError if there is none, or if a block is called so."""
    j = ground.lexicon.feature(name)
    if j is not None:
        return ground.index.name(ground.index.find(ground.index.name(j), column))
    if (block := ground.lexicon.block(name)) is not None:
        raise block_for_feature(block, column)
    if name.lower() in ("nan", "inf", "infinity"):
        raise rule_error(f"'{name}' is no number to compare with: write another", column=column)
    raise ground.index.unknown(name, column, ground.lexicon.blocks)


def member_name(ground: Ground, name: Name, column: int | None) -> Name:
    """A name inside a function: a block, a feature or a range of features."""
    if isinstance(name, FeatureSpan):
        return FeatureSpan(
            own_name(ground, name.first, column), own_name(ground, name.last, column)
        )
    block = ground.lexicon.block(name)
    return block if block is not None else own_name(ground, name, column)


def is_feature(ground: Ground, names: tuple[Name, ...]) -> bool:
    """Whether a group is one feature and no block."""
    (first,) = names if len(names) == 1 else (None,)
    return isinstance(first, str) and ground.lexicon.block(first) is None


def members_of(ground: Ground, term: Term) -> list[str]:
    """The features of a group, each once."""
    found: dict[str, None] = {}
    for name in term.names:
        if isinstance(name, FeatureSpan):
            first, last = (ground.index.find(end) for end in (name.first, name.last))
            found |= dict.fromkeys(ground.index.name(j) for j in range(first, last + 1))
        elif name in ground.lexicon.blocks:
            found |= dict.fromkeys(ground.index.name(int(j)) for j in ground.lexicon.blocks[name])
        else:
            found[name] = None
    return list(found)


def lone_name(side: Side) -> str | None:
    """The feature that a side is, alone and as it is; else None."""
    if len(side) != 1 or side[0].function or side[0].coefficient != 1.0 or not side[0].names:
        return None
    name = side[0].names[0]
    return name if isinstance(name, str) else None
