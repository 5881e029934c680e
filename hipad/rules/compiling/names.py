"""Names of features: found at once among millions, and the nearest ones when a name is unknown."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hipad.arrays import IntArray
from hipad.errors import RuleError
from hipad.rules.language.spelling import RESERVED, quote_name, rule_error
from hipad.wording import listed

Blocks = Mapping[str, Iterable[int] | Iterable[str]]

_PLAIN = re.compile(r"[^\W\d][\w]*")
_LETTER = re.compile(r"[^\W\d_]")
_CHUNK = re.compile(r"\w+|\W")
_JOINING = re.compile(r"[\s_.-]+")
_GENERATED = re.compile(r"x(0|[1-9][0-9]{0,17})")
_WIDTH = 48  # characters compared when looking for a similar name
_LONGEST = 200  # characters compared exactly
_CANDIDATES = 40  # names compared exactly after the rough search


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
        pool = dict.fromkeys([*also, *self._roughly_like(lowered)])
        scored = [(_likeness(lowered, other.lower()), other) for other in pool]
        scored.sort(key=lambda pair: -pair[0])
        return [other for score, other in scored[:n] if score >= 0.5]

    def _roughly_like(self, name: str) -> list[str]:
        """The names that share most pairs of neighbouring letters, found in one sweep."""
        if not self.names:
            return []
        wanted = np.zeros(1 << 16, dtype=bool)
        wanted[_letter_pairs([name])] = True
        wanted[0] = False
        common = wanted[self._pairs].sum(axis=1, dtype=np.int32)
        score = 2 * common / (self._lengths + len(name) + 2)
        best = np.argpartition(-score, min(_CANDIDATES, len(score)) - 1)[:_CANDIDATES]
        return [self.names[j] for j in best]

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
        """The only column whose name differs in case, blanks and joining signs alone, or None."""
        for known, key in ((self._by_case, name.lower()), (self._squashed, _squash(name))):
            found = known.get(key)
            if found is not None:
                return found if found >= 0 else None
        return None

    @cached_property
    def _by_case(self) -> dict[str, int]:
        return _once(name.lower() for name in self.names or [])

    @cached_property
    def _squashed(self) -> dict[str, int]:
        return _once(_squash(name) for name in self.names or [])

    @cached_property
    def odd_names(self) -> dict[str, OddNames]:
        """The names that a text cannot hold as one word, by how they begin."""
        groups = {name.partition("=")[0].strip() for name in self.names or [] if "=" in name}
        return odd_by_beginning([*(self.names or []), *groups])

    @cached_property
    def categories(self) -> dict[str, dict[str, int]]:
        """The levels and columns of each category, told by names such as sex=male."""
        found: dict[str, dict[str, int]] = {}
        for j, name in enumerate(self.names or []):
            group, sign, level = name.partition("=")
            if sign and group.strip() and level.strip():
                found.setdefault(group.strip().lower(), {})[level.strip().lower()] = j
        return found

    @cached_property
    def levels(self) -> dict[str, list[int]]:
        """The columns of each level, whatever its category."""
        found: dict[str, list[int]] = {}
        for columns in self.categories.values():
            for level, j in columns.items():
                found.setdefault(level, []).append(j)
        return found

    @cached_property
    def _pairs(self) -> npt.NDArray[np.uint16]:
        return _letter_pairs([name.lower() for name in self.names or []])

    @cached_property
    def _lengths(self) -> IntArray:
        return np.minimum([len(name) for name in self.names or []], _WIDTH)


class OddNames(NamedTuple):
    """Names in small letters that begin alike, and their lengths from the longest on."""

    names: set[str]
    lengths: list[int]


def odd_by_beginning(names: Iterable[str]) -> dict[str, OddNames]:
    """Names with blanks or signs, by their first word or sign; what is all digits is none."""
    found: dict[str, set[str]] = {}
    for name in names:
        if _PLAIN.fullmatch(name) or name.lower() in RESERVED or not _LETTER.search(name):
            continue
        first = _CHUNK.match(name)
        if first is not None and not name[0].isspace():
            found.setdefault(first[0].lower(), set()).add(name.lower())
    return {
        first: OddNames(alike, sorted({len(name) for name in alike}, reverse=True))
        for first, alike in found.items()
    }


def _once(keys: Iterable[str]) -> dict[str, int]:
    """The position of each key; -1 for one that occurs twice."""
    found: dict[str, int] = {}
    for j, key in enumerate(keys):
        found[key] = -1 if key in found else j
    return found


def _squash(name: str) -> str:
    return _JOINING.sub("", name.lower())


def as_index(
    feature_names: FeatureIndex | Sequence[object] | None, n_features: int | None = None
) -> FeatureIndex:
    """The index itself, or one made of names or a number of features."""
    if isinstance(feature_names, FeatureIndex):
        return feature_names
    return FeatureIndex(feature_names, n_features)


def resolve_blocks(blocks: Blocks | None, index: FeatureIndex) -> dict[str, IntArray]:
    """Each block as sorted column numbers, however its features are given."""
    return {
        str(name): block_columns(str(name), members, index)
        for name, members in (blocks or {}).items()
    }


def block_columns(block: str, members: Iterable[Any], index: FeatureIndex) -> IntArray:
    """The columns of a block: names, numbers that count from zero, or one true or false per column.

    >>> block_columns("K", ["a", "c"], FeatureIndex(["a", "b", "c"]))
    array([0, 2])
    >>> block_columns("K", np.array([True, False, True]), FeatureIndex(["a", "b", "c"]))
    array([0, 2])
    """
    if isinstance(members, str | Mapping) or not isinstance(members, Iterable):
        raise _wrong_members(block, f"{members!r:.40}")
    items: Any = members if isinstance(members, np.ndarray) else list(members)
    if not isinstance(items, np.ndarray) or items.dtype.kind not in "iub":
        items = _one_kind(block, list(items), index)
    columns = np.asarray(items)
    if columns.ndim != 1:
        raise _wrong_members(block, "a table")
    if columns.dtype.kind == "b":
        if len(columns) != len(index):
            raise rule_error(
                f"block {quote_name(block)} has {len(columns):,} true or false values for "
                f"{len(index):,} columns: give one per column, or column numbers"
            )
        return np.flatnonzero(columns)
    columns = each_once(columns.astype(np.int64))
    if len(columns) and not 0 <= columns[0] <= columns[-1] < len(index):
        raise rule_error(
            f"block {quote_name(block)} has a column outside 0 to {len(index) - 1:,}: "
            "give column numbers that count from zero"
        )
    return columns


def _one_kind(block: str, items: list[Any], index: FeatureIndex) -> IntArray | npt.NDArray[Any]:
    """Members of one kind as an array; RuleError for a mixture and for anything else."""
    if all(isinstance(item, str) for item in items):
        return np.array([index.find(name) for name in items], dtype=np.int64)
    if all(isinstance(item, bool | np.bool_) for item in items):
        return np.array(items, dtype=bool)
    for item in items:
        if isinstance(item, bool | np.bool_) or not isinstance(item, Real):
            raise _wrong_members(block, f"{item!r:.40} among others")
        if not _is_near(item, len(index)):
            raise _wrong_members(block, f"{item!r:.40}")
    return np.array([int(item) for item in items], dtype=np.int64)


def _is_near(number: Any, most: int) -> bool:
    """True for a whole number of about the size of a column's; others are told by their value."""
    return bool(-1 <= number <= most and number % 1 == 0)


def _wrong_members(block: str, found: str) -> RuleError:
    return rule_error(
        f"expected in block {quote_name(block)} the names of features or the numbers of columns, "
        f"got {found}: give names only, or whole numbers that count from zero"
    )


def each_once(columns: IntArray) -> IntArray:
    """Sorted columns without repeats; columns that are so already are given back as they are."""
    disorder = np.count_nonzero(columns[1:] <= columns[:-1])
    return np.unique(columns) if disorder else columns


def _letter_pairs(names: list[str]) -> npt.NDArray[np.uint16]:
    """A hash of each pair of neighbouring letters, one name per row, 0 beyond its end."""
    width = min(max(map(len, names), default=1), _WIDTH) + 2
    padded = np.array([" " + name[:_WIDTH] for name in names], dtype=f"U{width}")
    codes = padded.view(np.uint32).reshape(len(names), width)
    return (codes[:, :-1] * np.uint32(31) + codes[:, 1:]).astype(np.uint16)


def _likeness(name: str, other: str) -> float:
    """1 for equal texts, 0 for texts without a common letter; a shared beginning counts most."""
    if not name or not other:
        return 0.0
    name, other = name[:_LONGEST], other[:_LONGEST]
    ratio = difflib.SequenceMatcher(None, name, other).ratio()
    short, long = sorted((name, other), key=len)
    starts = long.startswith(short) and (len(short) > 2 or not long[len(short) :][:1].isalnum())
    return max(ratio, 0.7) if starts else ratio
