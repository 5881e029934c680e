"""Names of features: found at once among millions, whatever their case and blanks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from copy import copy
from functools import cached_property

from hipad.rules.compiling.naming.nearest import NearNames, likeness
from hipad.rules.compiling.naming.odd_names import OddNames, odd_by_beginning
from hipad.rules.language.spelling import plain_signs, quote_name, rule_error
from hipad.wording import listed

_JOINING = re.compile(r"[\s_.-]+")
_UNIT = re.compile(r"\s*[(\[][^()\[\]]*[)\]]$")  # "(mg/dl)" at the end of a name
_GENERATED = re.compile(r"x(0|[1-9][0-9]{0,17})")


class FeatureIndex:
    """The names of the columns, in order; without names the columns are x0, x1, ...

    >>> index = FeatureIndex(["Glucose", "BMI", "Age"])
    >>> index.position("BMI"), index.nearest("glucos")
    (1, ['Glucose'])
    >>> FeatureIndex(n_features=1_000_000).position("x17")
    17
    """

    def __init__(
        self, names: Sequence[object] | None = None, n_features: int | None = None
    ) -> None:
        if names is None and n_features is None:
            raise rule_error("give the feature names, or how many features there are")
        self._suggests = True
        self.names = None if names is None else [str(name) for name in names]
        self.n_features = len(self.names) if self.names is not None else int(n_features or 0)
        if n_features is not None and self.n_features != n_features:
            raise rule_error(
                f"expected {n_features:,} feature names, one per column, got {self.n_features:,}: "
                "pass the names of the columns in order"
            )

    def __len__(self) -> int:
        return self.n_features

    def name(self, position: int) -> str:
        """The name of a column."""
        return f"x{position}" if self.names is None else self.names[position]

    def position(self, name: str) -> int | None:
        """The column of a name, or None."""
        if self.names is not None:
            return self._positions.get(name)
        match = _GENERATED.fullmatch(name)
        return int(name[1:]) if match and int(name[1:]) < self.n_features else None

    def find(self, name: str, column: int | None = None, also: Iterable[str] = ()) -> int:
        """The column of a name; RuleError with the nearest names if there is none or two."""
        found = self.position(name)
        if found is None:
            raise self.unknown(name, column, also)
        if name in self._repeated:
            remedy = "rename the columns so that each name is used once"
            raise rule_error(f"two columns are called {quote_name(name)}: {remedy}", column=column)
        return found

    def unknown(
        self, name: str, column: int | None = None, blocks: Iterable[str] = ()
    ) -> Exception:
        """The error for a name that is neither a feature nor a block."""
        near = [quote_name(other) for other in self.nearest(name, also=blocks)]
        if near:
            remedy = f"did you mean {listed(near, 'or')}? Check the name"
        elif self.names is None:
            remedy = f"the features are x0 to x{self.n_features - 1}"
        else:
            first = [quote_name(n) for n in self.names[:4]]  # not of all: they may be millions
            others = [""] * (len(self.names) - len(first))
            remedy = f"the features are {listed([*first, *others], limit=4)}"
        return rule_error(
            f"no feature or block is called {quote_name(name)}: {remedy}",
            column=column,
            expected=tuple(near),
            suggestion=near[0] if near else None,
        )

    def without_suggestions(self) -> FeatureIndex:
        """The same names, for errors without near names: finding these takes time."""
        other = copy(self)
        other._suggests = False
        return other

    def nearest(self, name: str, n: int = 3, also: Iterable[str] = ()) -> list[str]:
        """Up to n known names that look most like this one, best first."""
        if not self._suggests:
            return []
        lowered = name.lower()
        pool = dict.fromkeys([*also, *self._near.roughly_like(lowered)])
        scored = [(likeness(lowered, other.lower()), other) for other in pool]
        scored.sort(key=lambda pair: -pair[0])
        return [other for score, other in scored[:n] if score >= 0.5]

    @cached_property
    def _positions(self) -> dict[str, int]:
        names = self.names or []
        return dict(zip(names, range(len(names)), strict=True))

    @cached_property
    def _repeated(self) -> frozenset[str]:
        names = self.names or []
        if len(self._positions) == len(names):
            return frozenset()
        return frozenset(name for j, name in enumerate(names) if self._positions[name] != j)

    def loosely(self, name: str) -> int | None:
        """The only column whose name differs in case, blanks and joining signs alone, or None.

        A name may also be written without the unit that stands in brackets at its end.
        """
        for known, key in (
            (self._by_case, folded(name)),
            (self._squashed, squashed(name)),
            (self._without_unit, folded(name)),
        ):
            found = known.get(key)
            if found is not None:
                return found if found >= 0 else None
        return None

    @cached_property
    def _by_case(self) -> dict[str, int]:
        return _once(map(folded, self.names or []))

    @cached_property
    def _squashed(self) -> dict[str, int]:
        return _once(squashed(name) for name in self.names or [])

    @cached_property
    def _without_unit(self) -> dict[str, int]:
        known = enumerate(self.names or [])
        short = {j: _UNIT.sub("", folded(name)) for j, name in known if name[-1:] in (")", "]")}
        once = _once(short.values())
        places = list(short)
        return {key: places[at] if at >= 0 else -1 for key, at in once.items() if key}

    @cached_property
    def odd_names(self) -> dict[str, OddNames]:
        """The names that a text cannot hold as one word, by how they begin."""
        groups = {name.partition("=")[0].strip() for name in self.names or [] if "=" in name}
        return odd_by_beginning([*(self.names or []), *groups, *self.levels])

    @cached_property
    def categories(self) -> dict[str, dict[str, int]]:
        """The levels and columns of each category, told by names such as sex=male."""
        found: dict[str, dict[str, int]] = {}
        for j, name in enumerate(self.names or []):
            group, sign, level = name.partition("=")
            if sign and group.strip() and level.strip():
                found.setdefault(folded(group.strip()), {})[folded(level.strip())] = j
        return found

    @cached_property
    def squashed_categories(self) -> dict[str, str | None]:
        """The category of each name without blanks and joining signs; None where it is of two."""
        found: dict[str, str | None] = {}
        for group in self.categories:
            key = squashed(group)
            found[key] = None if key in found else group
        return found

    def level_name(self, position: int) -> str:
        """The value of a category that a column of 0 and 1 stands for, as the data write it."""
        return self.name(position).partition("=")[2].strip()

    @cached_property
    def levels(self) -> dict[str, list[int]]:
        """The columns of each level, whatever its category."""
        found: dict[str, list[int]] = {}
        for columns in self.categories.values():
            for level, j in columns.items():
                found.setdefault(level, []).append(j)
        return found

    @cached_property
    def _near(self) -> NearNames:
        return NearNames(self.names or [])


def _once(keys: Iterable[str]) -> dict[str, int]:
    """The position of each key; -1 for one that occurs twice."""
    found: dict[str, int] = {}
    for j, key in enumerate(keys):
        found[key] = -1 if key in found else j
    return found


_DASHES = str.maketrans("–—−", "---")


def folded(name: str) -> str:
    """A name in small composed letters with plain dashes, as names are compared."""
    return name.lower() if name.isascii() else plain_signs(name).translate(_DASHES).lower()


def squashed(name: str) -> str:
    """A name without blanks and joining signs, in small letters."""
    return _JOINING.sub("", folded(name))


def as_index(
    feature_names: FeatureIndex | Sequence[object] | None, n_features: int | None = None
) -> FeatureIndex:
    """The index itself, or one made of names or a number of features."""
    if isinstance(feature_names, FeatureIndex):
        return feature_names
    return FeatureIndex(feature_names, n_features)
