"""How to prepare a table, and the account of what was done to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from hipad.data.roles import Role
from hipad.wording import some

Missing = Literal["median", "mean", "zero", "drop rows"]


@dataclass(frozen=True)
class PreparationStep:
    """Something that was done to the data: what, to how many, to which, and by which option."""

    what: str
    count: int
    names: tuple[str, ...]
    option: str

    def __str__(self) -> str:
        return f"{self.what}: {self.count:,}" + (f" ({some(self.names)})" if self.names else "")


Steps: TypeAlias = list[PreparationStep]


@dataclass(frozen=True)
class Options:
    """How to prepare a table; see `prepare`."""

    label: str
    positive: str | None = None
    missing: Missing = "median"
    one_hot: bool = True
    drop_constant: bool = True
    drop_duplicates: bool = False
    exclude: tuple[str, ...] = ()
    use_unlabelled: bool = True
    roles: dict[str, Role] = field(default_factory=dict)  # by the user; others are guessed

    @property
    def decided(self) -> dict[str, Role]:
        """The roles that the user decided, columns to exclude among them."""
        return {**dict.fromkeys(self.exclude, Role.LEFT_OUT), **self.roles}
