"""Numbers as people write them: decimal commas, thousands marks, percent signs, units, limits.

A sign between digits is a decimal sign or a thousands mark. Most texts tell which (`1,5`, `0.123`,
`1.234.567`, `1.234,5`); `1,234` and `1.234` do not, and are read as the other numbers of the column
are, then as those of the table, and if nothing tells the user is asked.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hipad.arrays import BoolArray
from hipad.data.texts import Cells, among, are_numbers, buffers, byte_lengths

FloatColumn = npt.NDArray[np.float64]

LEAD: Final = "[-+]?[1-9][0-9]{0,2}"  # digits before the first mark
EXPONENT: Final = "(?:[eE][-+]?[0-9]+)?"
MARKS: Final = " '\u2019"  # between thousands, and nowhere else in a number
UNIT: Final = (
    r"%|‰|°|°? ?[CFK]|[€$£¥]|EUR|USD|CHF|GBP|mmHg|bpm|ppm|ppb|min|hrs?|h|[dwy]|days?|weeks?|"
    r"months?|years?|yrs?|Jahren?|Jahre|Monate?n?|Tagen?|Tage|Wochen?|Stunden?|ans|mois|jours|"
    r"años|meses|dias|anni|units?|Stk|pg|kcal|"
    r"(?:10\^?[0-9]|x10\^?[0-9]|G|T|M|k|m|µ|μ|u|n|p|f|d|c|h)?"
    r"(?:g|l|L|mol|U|IU|IE|Pa|Hz|s|V|A|J|W|m|cal|eq|Eq|val|Osm|osm|Da|Gy|Sv|Bq)[²³23]?"
    r"(?: ?[/·*] ?[0-9.]*[a-zA-Zµμ]{1,6}[²³23]?)*|/[a-zA-Zµμ]{1,4}"
)
IS_UNIT: Final = rf"^[\[(]? ?(?:{UNIT}) ?[\])]?$"
LIMIT: Final = "<=|>=|=<|=>|<|>|≤|≥|~|ca\\. ?"
WRITTEN: Final = (
    rf"^(?P<limit>(?:{LIMIT}) ?)?(?P<money>[€$£] ?)?"
    rf"(?P<number>[-+]?[0-9.,{MARKS}]*[0-9][.,]?{EXPONENT})"
    rf"(?P<unit> ?(?:{UNIT}))?$"
)
STARTS: Final = list(b"'+-.,0123456789<>=~$c\xc2\xe2")
SURE_POINT: Final = (
    r"^[-+]?(?:[0-9]*\.(?:[0-9]{0,2}|[0-9]{4,})|0*\.[0-9]{3}|[0-9]{4,}\.[0-9]{3}|0[0-9]*\.[0-9]{3}|"
    rf"[0-9]{{1,3}}(?:[,{MARKS}][0-9]{{3}})+\.[0-9]+|[0-9]{{1,3}}(?:,[0-9]{{3}}){{2,}}|"
    rf"[0-9]+\.[0-9]+[eE][-+]?[0-9]+){EXPONENT}$"
)
OPEN_POINT: Final = r"^[-+]?[1-9][0-9]{0,2}\.[0-9]{3}$"
SURE_COMMA: Final = (
    r"^[-+]?(?:[0-9]*,(?:[0-9]{0,2}|[0-9]{4,})|0*,[0-9]{3}|[0-9]{4,},[0-9]{3}|0[0-9]*,[0-9]{3}|"
    rf"[0-9]{{1,3}}(?:[.{MARKS}][0-9]{{3}})+,[0-9]+|[0-9]{{1,3}}(?:\.[0-9]{{3}}){{2,}}|"
    rf"[0-9]+,[0-9]+[eE][-+]?[0-9]+){EXPONENT}$"
)
OPEN_COMMA: Final = r"^[-+]?[1-9][0-9]{0,2},[0-9]{3}$"


class Evidence(NamedTuple):
    """How many texts tell a decimal point, tell a decimal comma, or could be either."""

    point: int = 0
    comma: int = 0
    open_point: int = 0  # such as 1.234
    open_comma: int = 0  # such as 1,234

    def __add__(self, other: object) -> Evidence:
        assert isinstance(other, Evidence)
        return Evidence(*(a + b for a, b in zip(self, other, strict=True)))

    @property
    def decimal(self) -> str:
        """The decimal sign that most tell; "" where none does."""
        if self.point == self.comma:
            return ""
        return "." if self.point > self.comma else ","

    @property
    def is_open(self) -> bool:
        """Whether there are texts such as 1.234, and nothing that tells what they are."""
        return not self.decimal and bool(self.open_point or self.open_comma)


class WrittenNumbers(NamedTuple):
    """Texts as numbers, by a decimal point and by a decimal comma; NaN where a text is none."""

    by_point: FloatColumn
    by_comma: FloatColumn
    sure_point: BoolArray
    sure_comma: BoolArray
    open_point: BoolArray
    open_comma: BoolArray
    limited: BoolArray  # such as `<5`
    marked: BoolArray  # with marks between thousands, whatever they are
    unit: npt.NDArray[np.str_]  # such as "%" and "mg/dl"

    def part(self, here: slice) -> WrittenNumbers:
        """Some of them."""
        parts: list[Any] = [each[here] for each in self]
        return WrittenNumbers(*parts)

    def evidence(self, times: npt.NDArray[np.int64]) -> Evidence:
        """What the texts tell, each as often as it comes."""
        flags = (self.sure_point, self.sure_comma, self.open_point, self.open_comma)
        return Evidence(*(int(times[flag].sum()) for flag in flags))


def written_numbers(texts: Cells) -> WrittenNumbers:
    """Read texts without blanks around them."""
    n = len(texts)
    plain = are_numbers(texts)
    by_point = np.full(n, np.nan)
    if plain.any():
        by_point[plain] = _cast(texts.filter(pa.array(plain)))
    by_comma = by_point.copy()
    flags = [np.zeros(n, dtype=bool) for _ in range(6)]
    parts: list[Any] = [by_point, by_comma, *flags, np.zeros(n, dtype="U12")]
    found = WrittenNumbers(*parts)
    starts, letters = buffers(texts)
    if not len(letters):
        return found
    first = letters[np.minimum(starts[:-1], len(letters) - 1)]
    others = ~plain & np.isin(first, STARTS) & (byte_lengths(texts) > 1)
    if plain.any():
        pointed = plain & among(texts, plain, lambda some: pc.match_substring(some, "."))
        open_point = found.open_point
        for flag, pattern in ((found.sure_point, SURE_POINT), (open_point, OPEN_POINT)):
            flag |= among(texts, pointed, lambda t, p=pattern: pc.match_substring_regex(t, p))  # type: ignore[misc]
        if open_point.any():
            taken = texts.filter(pa.array(open_point))
            by_comma[open_point] = _cast(pc.replace_substring(taken, ".", ""))
    if others.any():
        _others(texts, np.flatnonzero(others), found)
    return found


def _others(texts: Cells, places: npt.NDArray[np.int64], found: WrittenNumbers) -> None:
    """Fill in the numbers at these places, which are not written plainly."""
    parts = pc.extract_regex(plain_signs(texts.take(pa.array(places))), WRITTEN)
    sound = parts.is_valid().to_numpy(zero_copy_only=False)
    if not sound.any():
        return
    places, parts = places[sound], parts.filter(pa.array(sound))
    core = pc.struct_field(parts, "number")
    unit = pc.utf8_trim_whitespace(
        pc.binary_join_element_wise(
            pc.struct_field(parts, "money"), pc.struct_field(parts, "unit"), ""
        )
    )
    by_point, is_point = _read(core, ".")
    by_comma, is_comma = _read(core, ",")
    # What is no number with one sign may be one with the other: 1,5 beside 2.5.
    found.by_point[places] = np.where(is_point, by_point, by_comma)
    found.by_comma[places] = np.where(is_comma, by_comma, by_point)
    either = is_point | is_comma
    for flag, pattern in (
        (found.sure_point, SURE_POINT),
        (found.sure_comma, SURE_COMMA),
        (found.open_point, OPEN_POINT),
        (found.open_comma, OPEN_COMMA),
    ):
        flag[places] = either & _matches(core, pattern)
    found.limited[places] = either & _matches(pc.struct_field(parts, "limit"), ".")
    found.marked[places] = either & _matches(core, rf"[0-9][{MARKS}][0-9]")
    found.unit[places] = np.where(either, np.array(unit.to_pylist(), dtype="U12"), "")


def plain_signs(texts: Cells) -> Cells:
    """Texts with plain minus signs and blanks, and without the cover of Excel's ="1.5"."""
    texts = pc.replace_substring_regex(texts, "^(?:\u2212|\u2013|\u2010|\u2011|\u2012)", "-")
    texts = pc.replace_substring_regex(texts, "[\u00a0\u202f\u2009\u2007]", " ")
    texts = pc.replace_substring_regex(texts, '^="?([^"]*)"?$', r"\1")
    return pc.replace_substring_regex(texts, "^'([^']*)'$", r"\1")


def _read(core: Cells, decimal: str) -> tuple[FloatColumn, BoolArray]:
    """Numbers with this decimal sign, with marks between thousands or without."""
    other = "," if decimal == "." else "."
    d = f"\\{decimal}"
    plain = _matches(core, rf"^[-+]?(?:[0-9]+{d}?[0-9]*|{d}[0-9]+){EXPONENT}$")
    grouped = ~plain & (
        _matches(core, rf"^[-+]?[1-9][0-9]{{0,2}}(?:\{other}[0-9]{{3}})+(?:{d}[0-9]*)?{EXPONENT}$")
        | _matches(
            core, rf"^[-+]?[1-9][0-9]{{0,2}}(?:[{MARKS}][0-9]{{3}})+(?:{d}[0-9]*)?{EXPONENT}$"
        )
    )
    values = np.full(len(core), np.nan)
    if (sound := plain | grouped).any():
        digits = pc.replace_substring_regex(core.filter(pa.array(sound)), rf"[{MARKS}\{other}]", "")
        values[sound] = _cast(pc.replace_substring(digits, decimal, "."))
    return values, sound


def _matches(texts: Cells, pattern: str) -> BoolArray:
    found = pc.fill_null(pc.match_substring_regex(texts, pattern), False)
    return np.array(found.to_numpy(zero_copy_only=False), dtype=bool)


def _cast(texts: Cells) -> FloatColumn:
    values: FloatColumn = pc.cast(texts, pa.float64()).to_numpy(zero_copy_only=False)
    return values
