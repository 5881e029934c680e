"""Names of features and blocks: found among millions, by pattern, by range, or nearly right."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from numbers import Real
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from hipad.exceptions import DataError, HipadError, RuleError
from hipad.rules.lexer import (
    MEANT,
    RESERVED,
    on_line,
    plain_signs,
    quote_name,
    read_quoted,
    rule_error,
)
from hipad.rules.parser import split_note
from hipad.rules.units import without_unit
from hipad.utils import Budget, IntArray, count, listed, require

# --------------------------------------------------------------------------------------------------
# The names that look most like an unknown one, for the error that asks whether they were meant.


_WIDTH = 48  # characters compared when looking for a similar name
_LONGEST = 200  # characters compared exactly
_CANDIDATES = 40  # names compared exactly after the rough search


class NameSuggestions:
    """Names, searched for those that look like another one.

    >>> NameSuggestions(["Glucose", "BMI"]).roughly_like("glucos")[0]
    'Glucose'
    """

    def __init__(self, names: list[str]) -> None:
        self._names = names

    def roughly_like(self, name: str) -> list[str]:
        """Return the names that share most pairs of neighbouring letters, found in one sweep."""
        if not self._names:
            return []
        wanted = np.zeros(1 << 16, dtype=bool)
        wanted[_letter_pairs([name])] = True
        wanted[0] = False
        common = wanted[self._pairs].sum(axis=1, dtype=np.int32)
        score = 2 * common / (self._lengths + len(name) + 2)
        best = np.argpartition(-score, min(_CANDIDATES, len(score)) - 1)[:_CANDIDATES]
        return [self._names[j] for j in best]

    @cached_property
    def _pairs(self) -> npt.NDArray[np.uint16]:
        return _letter_pairs([name.lower() for name in self._names])

    @cached_property
    def _lengths(self) -> IntArray:
        return np.minimum([len(name) for name in self._names], _WIDTH)


def _letter_pairs(names: list[str]) -> npt.NDArray[np.uint16]:
    """Return a hash of each pair of neighbouring letters, one name per row, 0 beyond its end."""
    width = min(max(map(len, names), default=1), _WIDTH) + 2
    padded = np.array([" " + name[:_WIDTH] for name in names], dtype=f"U{width}")
    codes = padded.view(np.uint32).reshape(len(names), width)
    return (codes[:, :-1] * np.uint32(31) + codes[:, 1:]).astype(np.uint16)


def likeness(name: str, other: str) -> float:
    """1 for equal texts, 0 for texts without a common letter; a shared beginning counts most."""
    if not name or not other:
        return 0.0
    name, other = name[:_LONGEST], other[:_LONGEST]
    ratio = difflib.SequenceMatcher(None, name, other).ratio()
    short, long = sorted((name, other), key=len)
    starts = long.startswith(short) and (len(short) > 2 or not long[len(short) :][:1].isalnum())
    return max(ratio, 0.7) if starts else ratio


# --------------------------------------------------------------------------------------------------
# Names that a text cannot hold as one word, such as IL-6, told by how they begin.


_PLAIN = re.compile(r"[^\W\d][\w]*")
_LETTER = re.compile(r"[^\W\d_]")
_DASHES = str.maketrans("–—−", "---")
_CHUNK = re.compile(r"\w+|\W")


class PunctuatedNames(NamedTuple):
    """Names in small letters that begin alike, and their lengths from the longest on."""

    names: set[str]
    lengths: list[int]


def by_beginning(names: Iterable[str]) -> dict[str, PunctuatedNames]:
    """Return names with blanks or signs, by their first word or sign; what is all digits is
    none.
    """
    found: dict[str, set[str]] = {}
    for name in names:
        name = name if name.isascii() else plain_signs(name).translate(_DASHES)
        if _PLAIN.fullmatch(name) or name.lower() in RESERVED or not _LETTER.search(name):
            continue
        first = _CHUNK.match(name)
        if first is not None and not name[0].isspace():
            found.setdefault(first[0].lower(), set()).add(name.lower())
    return {
        first: PunctuatedNames(alike, sorted({len(name) for name in alike}, reverse=True))
        for first, alike in found.items()
    }


# --------------------------------------------------------------------------------------------------
# Names of features: found at once among millions, whatever their case and blanks.


_JOINING = re.compile(r"[\s_.-]+")
_UNIT = re.compile(r"\s*[(\[][^()\[\]]*[)\]]$")  # "(mg/dl)" at the end of a name
_COUNTS = re.compile(r"(?:n|num|nb|no|nr|count|number)(?:[_ ]of)?[_ ]([^=]{3,})", re.IGNORECASE)
_GENERATED = re.compile(r"x(0|[1-9][0-9]{0,17})")


class FeatureIndex:
    """The names of the columns, in order; without names the columns are x0, x1, ...

    >>> index = FeatureIndex(["Glucose", "BMI", "Age"])
    >>> index.position("BMI"), index.similar_names("glucos")
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
        """Return the name of a column."""
        return f"x{position}" if self.names is None else self.names[position]

    def position(self, name: str) -> int | None:
        """Return the column of a name, or None."""
        if self.names is not None:
            return self._positions.get(name)
        match = _GENERATED.fullmatch(name)
        return int(name[1:]) if match and int(name[1:]) < self.n_features else None

    def find(self, name: str, column: int | None = None, also: Iterable[str] = ()) -> int:
        """Return the column of a name; RuleError with the nearest names if there is none or two."""
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
        """Return the error for a name that is neither a feature nor a block."""
        near = [quote_name(other) for other in self.similar_names(name, also=blocks)]
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
        """Return the same names, for errors without near names: finding these takes time."""
        other = copy(self)
        other._suggests = False
        return other

    def similar_names(self, name: str, n: int = 3, also: Iterable[str] = ()) -> list[str]:
        """Return up to n known names that look most like this one, best first."""
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
        """Return the only column whose name differs in case, blanks and joining signs alone, or
        None.

        A name may also be written without the unit at its end (lactate for lactate_mmol_l), or
        without the n that says that it counts (n_inquiries).
        """
        for known, key in (
            (self._by_case, folded(name)),
            (self._squashed, squashed(name)),
            (self._without_unit, squashed(name)),
            (self._without_number, squashed(name)),
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
        short: dict[int, str] = {}
        for j, name in enumerate(self.names or []):
            if name[-1:] in (")", "]"):
                short[j] = squashed(_UNIT.sub("", folded(name)))
            elif (rest := without_unit(name)) is not None:
                short[j] = squashed(rest)
        return _placed(short)

    @cached_property
    def _without_number(self) -> dict[str, int]:
        known = enumerate(self.names or [])
        return _placed({j: squashed(m[1]) for j, name in known if (m := _COUNTS.fullmatch(name))})

    @cached_property
    def punctuated_names(self) -> dict[str, PunctuatedNames]:
        """The names that a text cannot hold as one word, by how they begin."""
        groups = {name.partition("=")[0].strip() for name in self.names or [] if "=" in name}
        short = [_UNIT.sub("", name) for name in self.names or [] if name[-1:] in (")", "]")]
        spoken = [text for name in self.names or [] for text in _spoken(name)]
        return by_beginning([*(self.names or []), *groups, *self.levels, *short, *spoken])

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
        """Return the value of a category that a column of 0 and 1 stands for, as the data
        write it.
        """
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
    def _near(self) -> NameSuggestions:
        return NameSuggestions(self.names or [])


def _spoken(name: str) -> Iterator[str]:
    """Yield how a name in which a word of the language stands is written with blanks:
    length of stay.
    """
    words = set(name.lower().split("_")[1:]) if "=" not in name else set()
    if not words & RESERVED and not words & MEANT:
        return
    yield name.replace("_", " ")
    if (rest := without_unit(name)) is not None and "_" in rest:
        yield rest.replace("_", " ")


def _once(keys: Iterable[str]) -> dict[str, int]:
    """Return the position of each key; -1 for one that occurs twice."""
    found: dict[str, int] = {}
    for j, key in enumerate(keys):
        found[key] = -1 if key in found else j
    return found


def _placed(short: dict[int, str]) -> dict[str, int]:
    """Return the column of each short name; -1 for one that two columns share."""
    places = list(short)
    return {key: places[at] if at >= 0 else -1 for key, at in _once(short.values()).items() if key}


def folded(name: str) -> str:
    """Return a name in small composed letters with plain dashes, as names are compared."""
    return name.lower() if name.isascii() else plain_signs(name).translate(_DASHES).lower()


def squashed(name: str) -> str:
    """Return a name without blanks and joining signs, in small letters."""
    return _JOINING.sub("", folded(name))


def as_index(
    feature_names: FeatureIndex | Sequence[object] | None, n_features: int | None = None
) -> FeatureIndex:
    """Return the index itself, or one made of names or a number of features."""
    if isinstance(feature_names, FeatureIndex):
        return feature_names
    return FeatureIndex(feature_names, n_features)


# --------------------------------------------------------------------------------------------------
# The columns of blocks, whether given as names, numbers or one true or false per column.


Blocks = Mapping[str, Iterable[int] | Iterable[str]]


def resolve_blocks(blocks: Blocks | None, index: FeatureIndex) -> dict[str, IntArray]:
    """Return each block as sorted column numbers, however its features are given."""
    return {
        str(name): block_columns(str(name), members, index)
        for name, members in (blocks or {}).items()
    }


def block_columns(block: str, members: Iterable[Any], index: FeatureIndex) -> IntArray:
    """Return the columns of a block: names, numbers that count from zero, or one true or false per
    column.

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


def block_for_feature(block: str, column: int | None) -> RuleError:
    """Return what is said where a block stands in the place of one feature."""
    quoted = quote_name(block)
    return rule_error(
        f"{quoted} is a block of features: write mean({quoted}), sum({quoted}), "
        f"min({quoted}) or max({quoted})",
        column=column,
        suggestion=f"mean({quoted})",
    )


def each_once(columns: IntArray) -> IntArray:
    """Sorted columns without repeats; columns that are so already are given back as they are."""
    disorder = np.count_nonzero(columns[1:] <= columns[:-1])
    return np.unique(columns) if disorder else columns


# --------------------------------------------------------------------------------------------------
# Patterns that users write for names: regular expressions and globs, in time that cannot explode.
#
# RE2 reads each name once, whatever the pattern, so `/(a+)+$/` is as quick as any other. What needs
# backtracking (look-ahead, look-behind, back references) is refused in a sentence. Everything else
# means what Python's `re.search` makes of it; `\d`, `\w` and `\s` know all alphabets, while `\b`
# knows ASCII letters only.


LONGEST: Final = 2_000  # characters of a pattern
MEMORY: Final = 2**20  # bytes that one pattern may take
PATIENCE: Final = 20.0  # seconds for all patterns of one text

_WORDS: Final = {"d": r"\p{Nd}", "w": r"\p{L}\p{N}_", "s": r"\s\v\x1c-\x1f\x85\p{Z}"}
_OTHERS: Final = {  # the same turned round, for use inside a class
    "D": r"\P{Nd}",
    "W": r"\p{M}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}\p{S}\p{Z}\p{C}"
    r"\x{203F}\x{2040}\x{2054}\x{FE33}\x{FE34}\x{FE4D}-\x{FE4F}\x{FF3F}",
}
_TOKEN: Final = re.compile(r"\\u([0-9a-fA-F]{4})|\\(.)|\{,(\d+)\}|(.)", re.DOTALL)
_RANGE: Final = re.compile(r"(.)-(.)|(.)", re.DOTALL)
_REFUSALS: Final = {
    "(?=": "look-ahead",
    "(?!": "look-ahead",
    "(?<": "look-behind",
    "(?P=": "back references",
    "(?(": "conditions on a group",
    "(?>": "atomic groups",
    "(?#": "notes in a pattern",
}


def regex_columns(expression: str, index: FeatureIndex, budget: Budget | None = None) -> IntArray:
    """Return the columns in whose names the expression is found.

    >>> regex_columns("^AB+L", FeatureIndex(["ABL1", "JAK1", "ABBL2"]))
    array([0, 2])
    """
    return _columns(_in_re2(expression), f"/{expression}/", index, budget)


def glob_columns(glob: str, index: FeatureIndex, budget: Budget | None = None) -> IntArray:
    """Return the columns whose whole names fit a glob with `*`, `?` and `[...]`, case included."""
    return _columns(glob_expression(glob), glob, index, budget)


def _re2() -> Any:
    """Return RE2, the one matcher whose time is bounded whatever the pattern.

    Python's own `re` is no substitute: a pattern such as (a+)+$ can hold it up for years.
    """
    try:
        require(["re2"], "a pattern of names, as JAK* or /^AB/,", extra="patterns")
    except DataError as error:
        raise rule_error(f"{error}, or name the features one by one") from None
    return import_module("re2")


def _columns(expression: str, shown: str, index: FeatureIndex, budget: Budget | None) -> IntArray:
    pattern = _compiled(expression, shown)
    names: Iterable[str] = index.names or (index.name(j) for j in range(len(index)))
    budget = budget or Budget(PATIENCE)
    found = []
    for j, name in enumerate(names):
        if pattern.search(name.encode("utf-8", "replace")) is not None:
            found.append(j)
        if j % 256 == 0 and budget.is_spent:
            raise rule_error(
                f"the patterns up to {_cut(shown)} took too long on {len(index):,} names: "
                "write fewer or simpler ones"
            )
    if not found:
        raise rule_error(f"no feature fits {_cut(shown)}: widen it, or check upper and lower case")
    return np.array(found, dtype=np.int64)


def _compiled(expression: str, shown: str) -> Any:
    re2 = _re2()
    if len(shown) > LONGEST:
        raise rule_error(
            f"expected a pattern of at most {LONGEST:,} characters, got {len(shown):,}: shorten it"
        )
    options = re2.Options()
    options.max_mem = MEMORY
    options.log_errors = False
    options.never_capture = True
    try:
        return re2.compile(expression.encode("utf-8", "replace"), options)
    except re2.error as error:
        raise rule_error(_refusal(error, shown)) from None


def _refusal(error: Exception, shown: str) -> str:
    reason = error.args[0]
    reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    for sign, what in _REFUSALS.items():
        if sign in shown and "(?" in reason:
            return f"{_cut(shown)} is not supported: {what} cannot be used, write it without"
    if re.search(r"escape sequence: \\[1-9]", reason):
        return f"{_cut(shown)} is not supported: back references cannot be used, write it without"
    if "too large" in reason or "repetition size" in reason:
        return f"{_cut(shown)} is too large a pattern: repeat fewer times"
    advice = "correct it, or write a glob: AB*"
    return f"{_cut(shown)} is not a regular expression ({_cut(reason)}): {advice}"


def _in_re2(expression: str) -> str:
    r"""Return the expression as RE2 writes it: `\w`, `\u00e9`, `{,3}` and `\Z` have
    other forms there.
    """
    parts = []
    opened = -1  # where the present class [...] was opened
    for token in _TOKEN.finditer(expression):
        code, escaped, most, sign = token.groups()
        in_class = opened >= 0
        if code:
            parts.append(rf"\x{{{code}}}")
        elif escaped:
            parts.append(_escape(escaped, in_class))
        elif most:
            parts.append(token[0] if in_class else f"{{0,{most}}}")
        elif sign == "[" and in_class:
            parts.append(r"\[")
        else:
            if sign == "[":
                opened = token.end()
            elif sign == "]" and token.start() > opened + (expression[opened] == "^"):
                opened = -1
            parts.append(sign)
    return "".join(parts)


def _escape(letter: str, in_class: bool) -> str:
    if in_class:
        return _WORDS.get(letter) or _OTHERS.get(letter) or "\\" + letter
    kind = _WORDS.get(letter.lower())
    if kind is None:
        return r"\z" if letter == "Z" else "\\" + letter
    return f"[{'^' if letter.isupper() else ''}{kind}]"


def glob_expression(glob: str) -> str:
    r"""Return a glob as an expression for the whole name.

    >>> glob_expression("AB?_[!0-9]*")
    '\\A(?s:AB._[^0-9].*)\\z'
    """
    escape = _re2().escape
    parts, at = [], 0
    while at < len(glob):
        sign, at = glob[at], at + 1
        if sign == "[" and (end := glob.find("]", at + 1 + (glob[at : at + 1] == "!"))) > 0:
            parts.append(_class(glob[at:end], escape))
            at = end + 1
        elif sign in "*?":
            parts.append({"*": ".*", "?": "."}[sign])
        else:
            parts.append(escape(sign))
    return rf"\A(?s:{''.join(parts)})\z"


def _class(inside: str, escape: Callable[[str], str]) -> str:
    negated = inside.startswith("!")
    members = []
    for first, last, single in _RANGE.findall(inside[negated:]):
        if single:
            members.append(escape(single))
        elif first <= last:
            members.append(f"{escape(first)}-{escape(last)}")
    if not members:
        return "." if negated else r"[^\x00-\x{10FFFF}]"
    return f"[{'^' if negated else ''}{''.join(members)}]"


def _cut(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:80]}..."


# --------------------------------------------------------------------------------------------------
# The parts of a list of names: separated by commas, with names in backticks and /expressions/.
#
# Every function here reads its text once: no pattern in it can be made to go back over what it has
# read, whatever a user writes.


_EXPRESSION = re.compile(r"/(?:\\.|[^/\\])++/(?=\s*+(?:[,;]|$))")
_PIECE = re.compile(r"`(?:[^`]++|``)++`|[^,;`]++")
_ENDS = re.compile(r"(`(?:[^`]++|``)++`|[^`:]++)\s*+:\s*+(`(?:[^`]++|``)++`|[^`:]++)")


def split_parts(line: str) -> list[str]:
    """Return the parts of a line, without the commas or semicolons between them.

    >>> split_parts("JAK*, `a,b`; /^x{2,3}$/, ,")
    ['JAK*', '`a,b`', '/^x{2,3}$/']
    """
    parts, at = [], 0
    while at < len(line):
        start = at = _past_blanks(line, at)
        if expression := _EXPRESSION.match(line, at):
            at = _past_blanks(line, expression.end())
        while piece := _PIECE.match(line, at):
            at = piece.end()
        if line[at : at + 1] == "`":
            raise rule_error(f"the name {line[at : at + 20]} has no end: close it with a backtick")
        if part := line[start:at].strip():
            parts.append(part)
        at += 1
    return parts


def _past_blanks(line: str, at: int) -> int:
    while at < len(line) and line[at].isspace():
        at += 1
    return at


def range_ends(part: str) -> tuple[str, str] | None:
    """Return the two names of a range such as x101:x150, or None."""
    ends = _ENDS.fullmatch(part)
    return None if ends is None else (plain_name(ends[1]), plain_name(ends[2]))


def plain_name(part: str) -> str:
    """Return a name without the backticks that it may stand in."""
    part = part.strip()
    return read_quoted(part) if len(part) > 2 and part[0] == part[-1] == "`" else part


# --------------------------------------------------------------------------------------------------
# What a block's definition means: text such as `x101:x150, GENE_*` and the columns it stands for.
#
# A definition lists names, ranges, patterns with * and ?, and regular expressions between slashes,
# separated by commas or lines. It is kept as text, so that it can be read anew when the data
# change.


MOST_BLOCKS: Final = 10_000  # more than there are gene sets in the usual collections
LONGEST_NAME: Final = 200  # characters; gene sets have names of more than a hundred


def select_features(text: str, index: FeatureIndex, budget: Budget | None = None) -> IntArray:
    """Return the columns that a text describes: names, ranges, globs and /expressions/, each once.

    RuleError if the patterns take longer than the budget, or `PATIENCE` without one.

    >>> index = FeatureIndex(["ABL1", "ABL2", "JAK1", "p-1=a"])
    >>> select_features("JAK*, ABL1:ABL2", index)
    array([0, 1, 2])
    >>> select_features("/^ABL/, `p-1=a`", index)
    array([0, 1, 3])
    """
    parts = dict.fromkeys(part for line in text.splitlines() for part in split_parts(line))
    budget = budget or Budget(PATIENCE)
    chosen = np.zeros(len(index), dtype=bool)
    for part in parts:
        chosen[_select_part(part, index, budget)] = True
    return np.flatnonzero(chosen)


def _select_part(part: str, index: FeatureIndex, budget: Budget) -> IntArray | slice:
    if len(part) > 2 and part[0] == part[-1] == "/":
        return regex_columns(part[1:-1], index, budget)
    name = plain_name(part)
    if index.position(name) is not None:
        return np.array([index.find(name)])
    if part[0] != "`" and set(part) & set("*?["):
        return glob_columns(part, index, budget)
    if ends := range_ends(part):
        first, last = map(index.find, ends)
        if first > last:
            raise rule_error(f"the range {part} runs backwards: exchange its ends")
        return slice(first, last + 1)
    return np.array([index.find(name)])


def block_members(definition: str, index: FeatureIndex, budget: Budget | None = None) -> IntArray:
    """Return the columns that a definition means; RuleError when it means none."""
    columns = select_features(definition, index, budget)
    if not len(columns):
        raise rule_error("expected features, got none: write a range, a pattern or names")
    return columns


def resolve_definitions(
    definitions: Mapping[str, str], index: FeatureIndex
) -> tuple[dict[str, IntArray], dict[str, str]]:
    """Return each block's columns, and for the blocks that do not fit these data the reason."""
    check_number(len(definitions))
    found: dict[str, IntArray] = {}
    failed: dict[str, str] = {}
    budget = Budget(PATIENCE)
    for name, definition in definitions.items():
        try:
            found[name] = block_members(definition, index, budget)
        except HipadError as error:
            failed[name] = str(error)
    return found, failed


def resolve_kept(
    definitions: Mapping[str, str], every: FeatureIndex, kept: IntArray
) -> tuple[dict[str, IntArray], dict[str, str]]:
    """Return the same where only some of the columns were kept, by their places among these.

    >>> resolve_kept({"K": "x0:x2", "L": "x0"}, FeatureIndex(n_features=4), np.array([1, 2, 3]))
    ({'K': array([0, 1])}, {'L': 'all its features were left out in preparation'})
    """
    found, failed = resolve_definitions(definitions, every)
    place = np.full(len(every), -1)
    place[kept] = np.arange(len(kept))
    blocks = {name: (at := place[columns])[at >= 0] for name, columns in found.items()}
    for name in [name for name, columns in blocks.items() if not columns.size]:
        failed[name] = "all its features were left out in preparation"
        del blocks[name]
    return blocks, failed


def check_number(number: int) -> None:
    """DataError if there are more blocks than can be held."""
    if number > MOST_BLOCKS:
        raise DataError(f"expected at most {MOST_BLOCKS:,} blocks, got {number:,}: name fewer")


def block_name(name: str) -> str:
    """Return a block's name, tidied; DataError when it is empty or too long.

    >>> block_name("  my  `block` ")
    'my block'
    """
    name = " ".join(name.replace("`", "").split())
    if not 1 <= len(name) <= LONGEST_NAME:
        raise DataError(
            f"expected a name of 1 to {LONGEST_NAME} letters for the block, got {len(name)}: "
            "choose another"
        )
    return name


def define_columns(columns: Iterable[int], index: FeatureIndex) -> str:
    """Return the shortest definition of some columns: ranges where they are neighbours.

    >>> define_columns([0, 1, 2, 5], FeatureIndex(n_features=9))
    'x0:x2, x5'
    """
    return ", ".join(_runs(sorted(map(int, columns)), index))


def blocks_text(blocks: Mapping[str, Iterable[int]], index: FeatureIndex) -> str:
    """Return blocks as the text of a blocks file, with neighbouring columns as ranges."""
    return "\n".join(
        f"{quote_name(name)} = {define_columns(columns, index)}" for name, columns in blocks.items()
    )


def _runs(columns: list[int], index: FeatureIndex) -> list[str]:
    runs: list[list[int]] = []
    for column in columns:
        if runs and column == runs[-1][-1] + 1:
            runs[-1].append(column)
        else:
            runs.append([column])
    return [text for run in runs for text in _run_text([quote_name(index.name(j)) for j in run])]


def _run_text(names: list[str]) -> list[str]:
    return [f"{names[0]}:{names[-1]}"] if len(names) > 2 else names


# --------------------------------------------------------------------------------------------------
# Files with blocks (named groups of features), read by the app and by the command line alike.
#
# Three kinds are told apart by how they begin. Lines:
#
#     K1 = x101:x150                 # neighbouring columns
#     kinases = ABL1, ABL2, JAK*     # names and a pattern
#     probes = /^1\d{3}_at$/        # a regular expression
#
# JSON, with the names or the numbers of columns, counted from zero:
#
#     {"kinases": ["ABL1", "ABL2"], "K1": [101, 102, 103]}
#
# Gene sets (GMT): name, description and genes, separated by tabs, one set per line.


SHOWN = 5  # unknown genes that are named
_LINE = re.compile(r"(\s*+(?:`(?:[^`]++|``)++`\s*+|[^=`]*+))=")


@dataclass(frozen=True)
class BlockFile:
    """Blocks that were read, as columns and as text, and the genes that the data do not have.

    `missing` holds the unknown genes of each gene set, also of a set that is left out because all
    its genes are unknown.
    """

    columns: dict[str, IntArray] = field(default_factory=dict)
    definitions: dict[str, str] = field(default_factory=dict)
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def remarks(self) -> list[str]:
        """What of the file could not be used, in sentences."""
        if not self.missing:
            return []
        genes = list(dict.fromkeys(gene for absent in self.missing.values() for gene in absent))
        shown = listed(tuple(genes), limit=SHOWN)
        few = count(len(genes), "gene")
        found = [f"{few} of {count(len(self.missing), 'set')} not in the data: {shown}"]
        left = len(set(self.missing) - set(self.columns))
        if left:
            found.append(f"{count(left, 'set')} without any gene in the data left out")
        return found


def read_blocks(text: str, index: FeatureIndex) -> BlockFile:
    """Read a file with blocks; HipadError says what is wrong with it, and on which line.

    >>> file = read_blocks("K1 = x2:x4, x7  # a note", FeatureIndex(n_features=9))
    >>> file.columns, file.definitions
    ({'K1': array([2, 3, 4, 7])}, {'K1': 'x2:x4, x7'})
    >>> read_blocks("SET\\tabout\\tABL1\\tTP53", FeatureIndex(["ABL1"])).remarks
    ['1 gene of 1 set not in the data: TP53']
    """
    found = _reader(text)(text.removeprefix("\ufeff"), index)
    check_number(len(found.columns))
    if not found.columns:
        raise rule_error(_nothing(found))
    return found


def _nothing(found: BlockFile) -> str:
    if found.missing:
        return (
            f"none of the genes in {count(len(found.missing), 'set')} is a feature of the data: "
            "name the columns as the gene sets name genes"
        )
    return "expected blocks, such as K1 = x101:x150, got none: write one per line"


def _reader(text: str) -> Callable[[str, FeatureIndex], BlockFile]:
    """Return the reader for a text that begins like this."""
    if text.lstrip("\ufeff \t\r\n")[:1] in ("{", "["):
        return _read_json
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    name, *rest = next(lines, "").split("\t")
    is_gmt = len(rest) > 1 and "=" not in name and not rest[0].lstrip().startswith("=")
    return _read_gmt if is_gmt else _read_lines


def _read_lines(text: str, index: FeatureIndex) -> BlockFile:
    found = BlockFile()
    budget = Budget(PATIENCE)
    for number, line in enumerate(text.splitlines(), 1):
        body, _ = split_note(line)
        if not body.strip():
            continue
        head = _LINE.match(body)
        if head is None or not head[1].strip():
            raise rule_error("expected a block such as K1 = x101:x150", (number, 1))
        name = _new_name(plain_name(head[1]), found, number)
        definition = body[head.end() :].strip()
        try:
            found.columns[name] = block_members(definition, index, budget)
        except RuleError as error:
            raise on_line(rule_error(str(error), column=head.end() + 1), number) from None
        found.definitions[name] = definition
    return found


def _new_name(text: str, found: BlockFile, line: int | None = None) -> str:
    """Return the tidied name of a block; RuleError if it cannot be used or another block has it."""
    place = None if line is None else (line, 1)
    try:
        name = block_name(text)
    except DataError as error:
        raise rule_error(str(error), place) from None
    if name in found.columns or name in found.missing:
        raise rule_error(f"the block {name} is given twice: rename one", place)
    return name


def _read_gmt(text: str, index: FeatureIndex) -> BlockFile:
    """Return gene sets; genes that are not in the data are counted, not refused."""
    found = BlockFile()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, *rest = line.split("\t")
        if len(rest) < 2:
            message = "expected a gene set: name, description and genes, separated by tabs"
            raise rule_error(message, (number, 1))
        name = _new_name(name, found, number)
        genes = [gene.strip() for gene in rest[1:] if gene.strip()]
        columns, absent = _known(genes, index)
        if len(columns):
            _take(found, name, columns, index)
        if absent:
            found.missing[name] = absent
    return found


def _known(names: Iterable[str], index: FeatureIndex) -> tuple[IntArray, tuple[str, ...]]:
    """Return the columns of the names that are features, and the other names."""
    columns = {name: index.position(name) for name in dict.fromkeys(names)}
    found = np.unique([j for j in columns.values() if j is not None]).astype(np.int64)
    return found, tuple(name for name, j in columns.items() if j is None)


def _read_json(text: str, index: FeatureIndex) -> BlockFile:
    try:
        content = json.loads(text, object_pairs_hook=list)
    except (ValueError, RecursionError) as error:
        raise rule_error(
            f"expected blocks as JSON, got a text that is not whole JSON ({error}): correct it"
        ) from None
    if not text.lstrip().startswith("{") or not all(isinstance(m, list) for _, m in content):
        raise rule_error('expected blocks as {"name": [features, ...]}, got something else')
    found = BlockFile()
    for key, members in content:
        name = _new_name(key, found)
        columns = block_columns(name, members, index)
        if not len(columns):
            raise rule_error(f"the block {name} has no features: name some, or leave it out")
        _take(found, name, columns, index)
    return found


def _take(found: BlockFile, name: str, columns: IntArray, index: FeatureIndex) -> None:
    found.columns[name] = columns
    found.definitions[name] = define_columns(columns, index)
