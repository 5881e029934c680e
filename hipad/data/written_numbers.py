"""What a written cell means: a number in any usual style, a missing value, or a text."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hipad.exceptions import DataError
from hipad.utils import BoolArray, FloatArray, count

# --------------------------------------------------------------------------------------------------
# What a written cell means: a number, a gap, or a text.
#
# A table has one list of gap words (`GapWords`): an empty cell is a gap everywhere, and so is a
# word of the list, in columns of numbers and of text alike. Of the usual list some words may be a
# value as well (`OPEN_WORDS`): among numbers they are gaps, in a text column with few levels `none`
# is a level, `-` and `Na` are where they are frequent, and the user is asked. A list that the user
# states is followed to the letter. What was taken as a gap in a text column stays known (`written`
# of a table), so that a label column can have such a class, and a later table the levels that an
# earlier one had.
#
# Texts are Arrow arrays while they are worked on. NumPy's have one width for all, that of the
# longest text, so one long text in many rows would take gigabytes; `fixed_width` of the readers
# bounds that.


Cells: TypeAlias = Any  # an Arrow array of strings (Arrow has no types)
Text = npt.NDArray[np.str_]

SURE_WORDS: Final = frozenset(
    [
        "", "na", "n/a", "#n/a", "n.a.", "n.a", "n. a.", "nan", "<na>", "#na", "null", "(null)",
        "\\n", "missing", "?", "??", "???", ".", "..", "k.a.", "k. a.", "k.a", "k/a", "#nv",
        "keine angabe", "keine angaben", "nicht erhoben", "nicht bekannt", "fehlt", "fehlend",
        "not available", "not recorded", "not known", "no data", "missing value",
        "non renseigné", "non disponible", "donnée manquante", "manquant", "sin datos",
        "sin dato", "no disponible", "non disponibile", "mancante", "n.v.t.", "onbekend",
        "ikke oppgitt", "saknas", "puuttuu", "brak danych", "нет данных", "欠損", "缺失", "._",
        *(f".{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"),  # of SAS
        "#null!", "#value!", "#wert!", "#div/0!", "#ref!", "#bezug!", "#name?", "#num!", "#zahl!",
    ]
)  # fmt: skip
OPEN_WORDS: Final = frozenset(
    [
        "none", "-", "--", "---", "\u2013", "\u2014", "unknown", "unbekannt", "inconnu",
        "desconocido", "sconosciuto", "entfällt", "not done", "nicht durchgeführt", "unk",
    ]
)  # fmt: skip
RARE_GAPS: Final = frozenset(["-", "--", "---", "\u2013", "\u2014", "Na"])  # gaps in text where few
FREQUENT: Final = 0.1  # share of the filled cells
FEW_LEVELS: Final = 20  # columns with more are neither labels nor features
LONGEST_LEVEL: Final = 100
NUMBER: Final = (
    r"[-+]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?"
    r"|(?i:inf(inity)?|nan(\([a-z0-9_]*\))?))"
)
IS_NUMBER: Final = f"^{NUMBER}$"  # in Arrow's own engine, where $ is the very end
WRITTEN_NUMBER: Final = re.compile(NUMBER)
NUMBER_STARTS: Final = list(b"+-.0123456789")
WORD_STARTS: Final = list(b"iInN")  # of infinity, and of nan
WORD_ENDS: Final = list(b"fFyYnN)")
MANY: Final = 1_000  # texts that are worth the faster way to NumPy


class GapWords:
    """The words that stand for a missing value, in small letters."""

    def __init__(self, stated: Iterable[str] | None = None) -> None:
        self.is_stated = stated is not None
        words = SURE_WORDS | OPEN_WORDS if stated is None else {w.strip().lower() for w in stated}
        self.words: frozenset[str] = frozenset({"", *words})
        self.array = pa.array(sorted(self.words))
        self.longest = max(len(word.encode()) for word in self.words)

    def is_open(self, word: str) -> bool:
        """Return whether a word of the list may be a value as well."""
        return not self.is_stated and (word.lower() in OPEN_WORDS or word == "Na")

    def are_gaps(self, cells: Cells) -> Cells:
        """Return which texts, without blanks around them, are gaps among numbers."""
        return pc.is_in(pc.utf8_lower(cells), self.array)


USUAL_GAPS: Final = GapWords()
MISSING: Final = USUAL_GAPS.words


def to_number(cell: str) -> float | None:
    """Return the cell as a number, NaN where it is a gap, None where it is something else.

    >>> to_number(" 1e3 "), to_number("n/a"), to_number("1_000")
    (1000.0, nan, None)
    """
    plain = cell.strip()
    if plain.lower() in MISSING:
        return np.nan
    if WRITTEN_NUMBER.fullmatch(plain):
        return float(plain.partition("(")[0])
    return None


def tidy_levels(levels: Cells, words: GapWords = USUAL_GAPS) -> tuple[Cells, BoolArray]:
    """Return texts without blanks around them, and which of them are a gap among numbers."""
    levels = pc.utf8_trim_whitespace(levels)
    return levels, among(levels, byte_lengths(levels) <= words.longest, words.are_gaps)


def signs(levels: Cells) -> tuple[BoolArray, BoolArray]:
    """Return which texts are `+`, and which `-`: where a column has the first, the other is
    no gap.
    """
    single = byte_lengths(levels) == 1
    plus, minus = (
        among(levels, single, lambda some, sign=sign: pc.equal(some, sign))  # type: ignore[misc]
        for sign in "+-"
    )
    return plus, minus


def are_numbers(cells: Cells) -> BoolArray:
    """Return which texts are numbers: those that begin and end as a number may are looked at."""
    starts, letters = buffers(cells)
    if not len(letters):
        return np.zeros(len(cells), dtype=bool)
    first = letters[np.minimum(starts[:-1], len(letters) - 1)]
    last = letters[starts[1:] - 1]
    worded = np.isin(first, WORD_STARTS)
    may_be = np.where(worded, np.isin(last, WORD_ENDS), np.isin(first, NUMBER_STARTS))
    may_be &= starts[1:] > starts[:-1]
    return among(cells, may_be, lambda some: pc.match_substring_regex(some, IS_NUMBER))


def byte_lengths(cells: Cells) -> npt.NDArray[np.int32]:
    """Return the length of each text in bytes."""
    return np.diff(buffers(cells)[0])


def among(cells: Cells, chosen: BoolArray, test: Callable[[Cells], Cells]) -> BoolArray:
    """Return the outcome of a test for the chosen texts; False for the others, which are not looked
    at.
    """
    result = np.zeros(len(cells), dtype=bool)
    if chosen.all():
        return np.array(test(cells).to_numpy(zero_copy_only=False), dtype=bool)
    if chosen.any():
        result[chosen] = test(cells.filter(pa.array(chosen))).to_numpy(zero_copy_only=False)
    return result


def buffers(texts: Cells) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """Return how Arrow holds texts: where each begins and the last ends, in one run of letters."""
    _, starts, letters = texts.buffers()
    ends = np.frombuffer(starts, np.int32) if starts else np.zeros(1, np.int32)
    here = ends[texts.offset : texts.offset + len(texts) + 1]
    return here, np.frombuffer(letters or b"", np.uint8)


class TextColumn(NamedTuple):
    """A column of texts, "" for gaps; as it was written, where words were taken as gaps."""

    cells: Text
    written: Text | None
    remark: str


class OpenWord(NamedTuple):
    """A word of a text column that may be a gap or a level, and what it was taken for."""

    word: str
    times: int
    is_level: bool

    def __str__(self) -> str:
        cells = f"{count(self.times, 'cell')} {self.word!r}"
        if self.is_level:
            return f"{cells} kept as a level of its own: empty these cells if they are gaps"
        return f"{cells} taken as missing: write another word if it is a level"


def text_gaps(
    levels: Cells, gaps: BoolArray, times: npt.NDArray[Any], words: GapWords = USUAL_GAPS
) -> tuple[BoolArray, list[OpenWord]]:
    """Return which levels of a text column are gaps, of those that could be, and the words left
    open.

    `times` says how often each level comes.
    """
    if words.is_stated:
        return gaps, []
    plus, minus = signs(levels)
    gaps = gaps & ~(minus & plus.any())
    if np.count_nonzero(~gaps) > FEW_LEVELS:
        return gaps, []
    places = np.flatnonzero(gaps).tolist()
    found = {at: word for at in places if words.is_open(word := levels[at].as_py())}
    if not found:
        return gaps, []
    filled = int(times[~gaps].sum()) + int(sum(times[at] for at in found))
    often: Counter[str] = Counter()
    for at, word in found.items():
        often[word] += int(times[at])
    least = max(2, FREQUENT * filled)
    kept = {word for word, n in often.items() if word not in RARE_GAPS or n >= least}
    gaps[[at for at, word in found.items() if word in kept]] = False
    return gaps, [OpenWord(word, often[word], word in kept) for word in sorted(often)]


def as_written(levels: Cells, gaps: BoolArray, longest: int) -> Text | None:
    """Return all levels as they were written; None unless they are few and a word is among the
    gaps.
    """
    if np.count_nonzero(~gaps) > FEW_LEVELS or longest > LONGEST_LEVEL:
        return None
    if not (byte_lengths(levels)[gaps] > 0).any():
        return None
    return _fixed(levels)


def tidy_column(
    levels: npt.ArrayLike,
    codes: npt.NDArray[Any],
    times: npt.NDArray[Any],
    words: GapWords = USUAL_GAPS,
) -> TextColumn:
    """Return a column from its different texts, the one that each row has, and how often each
    comes.
    """
    texts, gaps = tidy_levels(pa.array(_sound(np.asarray(levels, dtype=str)), pa.string()), words)
    gaps, opened = text_gaps(texts, gaps, times, words)
    remark = "; ".join(map(str, opened))
    longest = int(pc.max(pc.utf8_length(texts)).as_py() or 0)
    written = as_written(texts, gaps, longest)
    return TextColumn(
        level_array(texts, gaps)[codes], None if written is None else written[codes], remark
    )


def tidy_cells(cells: npt.ArrayLike) -> TextColumn:
    """Return a column from its cells."""
    found, codes, times = np.unique(
        np.asarray(cells, dtype=str), return_inverse=True, return_counts=True
    )
    return tidy_column(found, codes, times)


def tidy_text(cells: npt.ArrayLike) -> Text:
    """Return texts without blanks around them, and "" for gaps.

    >>> tidy_text(["a ", "n/a", "none"]).tolist(), tidy_text(["+", "-", "?"]).tolist()
    (['a', '', 'none'], ['+', '-', ''])
    """
    return tidy_cells(cells).cells


def gap_words(written: Text, cells: Text) -> dict[str, int]:
    """Return the words of a column that were taken as gaps, and how often each comes."""
    words, times = np.unique(written[(cells == "") & (written != "")], return_counts=True)
    return dict(zip(words.tolist(), times.tolist(), strict=True))


def _sound(texts: Text) -> list[str]:
    """Return texts without halves of letters, which no file could hold."""
    letters = np.ascontiguousarray(texts).view(np.uint32) if texts.dtype.itemsize else np.zeros(1)
    if letters.max(initial=0) > sys.maxunicode:
        raise DataError("expected text, got numbers that no letter has: the file is damaged")
    return [text.encode("utf-8", "replace").decode() for text in texts.tolist()]


def level_array(levels: Cells, gaps: BoolArray) -> Text:
    """Return levels as NumPy's texts, "" for gaps."""
    written = _fixed(levels)
    written[gaps] = ""
    return written


def _fixed(texts: Cells) -> Text:
    """NumPy's texts, in which every letter takes four bytes and every text as many letters."""
    if len(texts) < MANY:
        return np.array(texts.to_pylist(), dtype=str)
    ends, letters = buffers(texts)
    written = letters[ends[0] : ends[-1]]
    if written.max(initial=0) > 127:
        return np.array(texts.to_pylist(), dtype=str)
    lengths = np.diff(ends)
    result = np.zeros((len(texts), max(1, lengths.max())), dtype=np.uint32)
    result[np.arange(result.shape[1]) < lengths[:, None]] = written
    return result.view(f"U{result.shape[1]}").ravel()


def label_text(y: npt.NDArray[Any]) -> Text:
    """Return labels as text in full precision; whole numbers without a decimal point, a missing one
    as "".

    >>> label_text(np.array([73211009.0, 0.1, np.nan])).tolist()
    ['73211009', '0.1', '']
    """
    if y.dtype.kind == "f":
        found, codes = np.unique(y, return_inverse=True)
        return np.array([_number_text(value) for value in found], dtype=str)[codes]
    if y.dtype.kind not in "biuSUOMm":
        raise DataError(f"expected labels that are numbers or texts, got {y.dtype}")
    if y.dtype.kind == "S":
        y = np.char.decode(y, "utf-8", "replace")
    return tidy_text(y.astype(str))


def _number_text(value: np.floating[Any]) -> str:
    if np.isnan(value):
        return ""
    whole = abs(value) < 1e16 and float(value).is_integer()
    return str(int(value)) if whole else str(value)  # the shortest text that gives it back


# --------------------------------------------------------------------------------------------------
# Numbers as people write them: decimal commas, thousands marks, percent signs, units, limits.
#
# A sign between digits is a decimal sign or a thousands mark. Most texts tell which (`1,5`,
# `0.123`, `1.234.567`, `1.234,5`); `1,234` and `1.234` do not, and are read as the other numbers of
# the column are, then as those of the table, and if nothing tells the user is asked.


FloatColumn = npt.NDArray[np.float64]

LEAD: Final = "[-+]?[1-9][0-9]{0,2}"  # digits before the first mark
EXPONENT: Final = "(?:[eE][-+]?[0-9]+)?"
MARKS: Final = " '\u2019"  # between thousands, and nowhere else in a number
POWER: Final = r"[x×*·] ?10(?:\^|\*\*|e|E)?[0-9]{1,2}"
UNIT: Final = (
    rf"{POWER}(?: ?/ ?[a-zA-Zµμ]{{1,3}}3?)?|"
    r"%|‰|°|°? ?[CFK]|[€$£¥]|EUR|USD|CHF|GBP|mmHg|bpm|ppm|ppb|min|hrs?|h|[dwy]|days?|weeks?|"
    r"months?|years?|yrs?|Jahren?|Jahre|Monate?n?|Tagen?|Tage|Wochen?|Stunden?|ans|mois|jours|"
    r"años|meses|dias|anni|units?|Stk|pg|kcal|"
    r"(?:10\^?[0-9]|G|T|M|k|m|µ|μ|u|n|p|f|d|c|h)?"
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
BOOKED: Final = r"^\([^()]*[0-9]\)$|^[0-9].*[0-9]-$"  # below zero, as bookkeepers write it
STARTS: Final = list(b"'(+-.,0123456789<>=~$c\xc2\xe2")
SURE_POINT: Final = (
    r"^[-+]?(?:[0-9]*\.(?:[0-9]{0,2}|[0-9]{4,})|0*\.[0-9]{3}|[0-9]{4,}\.[0-9]{3}|0[0-9]*\.[0-9]{3}|"
    rf"[0-9]{{1,3}}(?:[,{MARKS}][0-9]{{3}})+\.[0-9]+|[0-9]{{1,3}}(?:,[0-9]{{3}}){{2,}}|"
    r"[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]*)?|"  # 12,50,000, as in India
    rf"[0-9]+\.[0-9]+[eE][-+]?[0-9]+){EXPONENT}$"
)
INDIAN: Final = r"^[-+]?[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]*)?$"
OPEN_POINT: Final = r"^[-+]?[1-9][0-9]{0,2}\.[0-9]{3}$"
SURE_COMMA: Final = (
    r"^[-+]?(?:[0-9]*,(?:[0-9]{0,2}|[0-9]{4,})|0*,[0-9]{3}|[0-9]{4,},[0-9]{3}|0[0-9]*,[0-9]{3}|"
    rf"[0-9]{{1,3}}(?:[.{MARKS}][0-9]{{3}})+,[0-9]+|[0-9]{{1,3}}(?:\.[0-9]{{3}}){{2,}}|"
    rf"[0-9]+,[0-9]+[eE][-+]?[0-9]+){EXPONENT}$"
)
OPEN_COMMA: Final = r"^[-+]?[1-9][0-9]{0,2},[0-9]{3}$"


class DecimalSigns(NamedTuple):
    """How many texts tell a decimal point, tell a decimal comma, or could be either."""

    point: int = 0
    comma: int = 0
    open_point: int = 0  # such as 1.234
    open_comma: int = 0  # such as 1,234

    def __add__(self, other: object) -> DecimalSigns:
        assert isinstance(other, DecimalSigns)
        return DecimalSigns(*(a + b for a, b in zip(self, other, strict=True)))

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
        """Return some of them."""
        parts: list[Any] = [each[here] for each in self]
        return WrittenNumbers(*parts)

    def evidence(self, times: npt.NDArray[np.int64]) -> DecimalSigns:
        """Return what the texts tell, each as often as it comes."""
        flags = (self.sure_point, self.sure_comma, self.open_point, self.open_comma)
        return DecimalSigns(*(int(times[flag].sum()) for flag in flags))


OTHER_DIGITS: Final = tuple(  # full-width ones, and those of Arabic and Persian
    str.maketrans({first + k: str(k) for k in range(10)} | {0x66B: ".", 0x66C: None})
    for first in (0xFF10, 0x660, 0x6F0)
)
HAS_OTHER_DIGITS: Final = "^[-+\u2212\uff0b\uff0d]?[\uff10-\uff19\u0660-\u0669\u06f0-\u06f9]"
WIDE_SIGNS: Final = str.maketrans("\uff0b\uff0d\uff0e\uff0c\uff05", "+-.,%")


def latin_digits(texts: Cells) -> Cells:
    """Return texts with the digits 0 to 9 where they begin with those of another script."""
    if not (others := matches(texts, HAS_OTHER_DIGITS)).any():
        return texts
    found = texts.to_pylist()
    for at in np.flatnonzero(others).tolist():
        text = found[at].translate(WIDE_SIGNS)
        for table in OTHER_DIGITS:
            text = text.translate(table)
        found[at] = text
    return pa.array(found, pa.string())


def written_numbers(texts: Cells) -> WrittenNumbers:
    """Read texts without blanks around them."""
    texts = latin_digits(texts)
    n = len(texts)
    plain = are_numbers(texts)
    by_point = np.full(n, np.nan)
    if plain.any():
        by_point[plain] = _cast_styled(texts.filter(pa.array(plain)))
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
            by_comma[open_point] = _cast_styled(pc.replace_substring(taken, ".", ""))
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
        flag[places] = either & matches(core, pattern)
    found.limited[places] = either & matches(pc.struct_field(parts, "limit"), ".")
    found.marked[places] = either & matches(core, rf"[0-9][{MARKS}][0-9]")
    found.unit[places] = np.where(either, np.array(unit.to_pylist(), dtype="U12"), "")


def plain_signs(texts: Cells) -> Cells:
    """Return texts with plain minus signs and blanks, and without the cover of Excel's ="1.5".

    Bookkeepers write (1.50) or 1.50- for -1.50.
    """
    texts = pc.replace_substring_regex(texts, "^(?:\u2212|\u2013|\u2010|\u2011|\u2012)", "-")
    texts = pc.replace_substring_regex(texts, "[\u00a0\u202f\u2009\u2007]", " ")
    texts = pc.replace_substring_regex(texts, '^="?([^"]*)"?$', r"\1")
    texts = pc.replace_substring_regex(texts, "^'([^']*)'?$", r"\1")
    money = r"((?:[$€£] ?)?)"
    texts = pc.replace_substring_regex(texts, rf"^\({money}([0-9][0-9.,{MARKS}]*)\)$", r"\1-\2")
    texts = pc.replace_substring_regex(texts, rf"^-{money}([0-9])", r"\1-\2")
    return pc.replace_substring_regex(texts, rf"^([0-9][0-9.,{MARKS}]*)-$", r"-\1")


def _read(core: Cells, decimal: str) -> tuple[FloatColumn, BoolArray]:
    """Return numbers with this decimal sign, with marks between thousands or without."""
    other = "," if decimal == "." else "."
    d = f"\\{decimal}"
    plain = matches(core, rf"^[-+]?(?:[0-9]+{d}?[0-9]*|{d}[0-9]+){EXPONENT}$")
    grouped = ~plain & (
        matches(core, rf"^[-+]?[1-9][0-9]{{0,2}}(?:\{other}[0-9]{{3}})+(?:{d}[0-9]*)?{EXPONENT}$")
        | (decimal == ".") & matches(core, INDIAN)
        | matches(
            core, rf"^[-+]?[1-9][0-9]{{0,2}}(?:[{MARKS}][0-9]{{3}})+(?:{d}[0-9]*)?{EXPONENT}$"
        )
    )
    values = np.full(len(core), np.nan)
    if (sound := plain | grouped).any():
        digits = pc.replace_substring_regex(core.filter(pa.array(sound)), rf"[{MARKS}\{other}]", "")
        values[sound] = _cast_styled(pc.replace_substring(digits, decimal, "."))
    return values, sound


def matches(texts: Cells, pattern: str) -> BoolArray:
    """Return which texts match a pattern."""
    found = pc.fill_null(pc.match_substring_regex(texts, pattern), False)
    return np.array(found.to_numpy(zero_copy_only=False), dtype=bool)


def _cast_styled(texts: Cells) -> FloatColumn:
    values: FloatColumn = pc.cast(texts, pa.float64()).to_numpy(zero_copy_only=False)
    return values


# --------------------------------------------------------------------------------------------------
# Whole numbers too large for floating point, which would make two neighbours one.
#
# Such numbers are mostly IDs. A column of them is kept as text, so that two different IDs stay two.


EXACT: Final = 2**53  # floating point holds every whole number up to here
IS_WHOLE: Final = r"^[-+]?[0-9]+$"  # in Arrow's own engine, where $ is the very end
KEPT_AS_TEXT: Final = "of whole numbers above 2^53 kept as text"
ROUNDED: Final = "whole numbers above 2^53 were rounded: keep codes out of the matrix"


def reach_beyond_exact(values: npt.NDArray[Any], limit: int = EXACT) -> bool:
    """Return whether a number among these is as large as the limit; gaps do not count."""
    if not values.size:
        return False
    with np.errstate(invalid="ignore"):
        low, high = np.fmin.reduce(values, axis=None), np.fmax.reduce(values, axis=None)
    return bool(high >= limit or low <= -limit)


def large_wholes(cells: Cells, values: npt.NDArray[np.float64]) -> BoolArray:
    """Return which cells are written as whole numbers, and are too large for floating point."""
    result = np.zeros(len(values), dtype=bool)
    if reach_beyond_exact(values):
        large = np.abs(values) >= EXACT
        written = cells.filter(pa.array(large))
        whole = pc.fill_null(pc.match_substring_regex(written, IS_WHOLE), False)
        result[large] = whole.to_numpy(zero_copy_only=False)
    return result


def plain_wholes(cells: Cells) -> Cells:
    """Whole numbers written in one way: without a plus sign and without zeros before them."""
    return pc.replace_substring_regex(cells, r"^\+?(-?)0*([0-9])", r"\1\2")


# --------------------------------------------------------------------------------------------------
# Written cells as numbers, by the cheapest way that works.


QUICK_GAPS: Final = ("", "NA", "?")  # cheap to find, and enough for most tables that have gaps


class NumberReader:
    """Reads block after block; each begins with the converter that the blocks before it needed.

    A cast that fails costs far more than one that works, so the first block, which is small, is
    looked at before it is cast. `gaps` counts the words that were taken as gaps.
    """

    def __init__(self, words: GapWords = USUAL_GAPS) -> None:
        self.words = words
        self.quick = pa.array([word for word in QUICK_GAPS if word.lower() in words.words])
        self.converters = (_as_written, self._without_quick_gaps, self._without_gaps)
        self.level = 0
        self.is_first = True
        self.gaps: Counter[str] = Counter()

    def _without_quick_gaps(self, cells: Cells) -> Cells:
        return pc.if_else(pc.is_in(cells, self.quick), None, cells)

    def _without_gaps(self, cells: Cells) -> Cells:
        plain = pc.utf8_trim_whitespace(cells)
        return pc.if_else(self.words.are_gaps(plain), None, plain)

    def _cast(self, level: int, cells: Cells, odd: BoolArray) -> FloatArray:
        """Return numbers of cells that a converter leaves as such; the words it took as gaps are
        counted.
        """
        left = self.converters[level](cells)
        numbers = _cast(left, odd)
        if level and left.null_count:
            found = pc.value_counts(pc.utf8_trim_whitespace(cells.filter(left.is_null())))
            for pair in found.to_pylist():
                self.gaps[pair["values"]] += pair["counts"]
        return numbers

    def read(self, cells: Cells, odd: BoolArray) -> FloatArray:
        """Return rows of numbers in the columns that are not `odd`.

        Columns newly found to hold something else are marked there, and left out.
        """
        if self.is_first:
            self.is_first = False
            _mark(self._without_gaps(cells), odd)
            cells = _even(cells, odd)
            self.level = next(
                i for i, convert in enumerate(self.converters) if _all_numbers(convert(cells))
            )
            return self._cast(self.level, cells, odd)
        kept = _even(cells, odd)
        for level in range(self.level, len(self.converters)):
            try:
                numbers = self._cast(level, kept, odd)
            except pa.ArrowInvalid:
                continue
            self.level = level
            return numbers
        _mark(self._without_gaps(cells), odd)
        return self._cast(len(self.converters) - 1, _even(cells, odd), odd)


def _as_written(cells: Cells) -> Cells:
    return cells


def _even(cells: Cells, odd: BoolArray) -> Cells:
    """Return the cells of columns that are not odd."""
    if not odd.any():
        return cells
    rows = np.arange(0, len(cells), len(odd), dtype=np.int32)
    places = np.add.outer(rows, np.flatnonzero(~odd).astype(np.int32)).ravel()
    return pc.take(cells, pa.array(places), boundscheck=False)


def _mark(cells: Cells, odd: BoolArray) -> None:
    """Mark the columns in which a cell is no number."""
    is_number = pc.fill_null(pc.match_substring_regex(cells, IS_NUMBER), True)
    other = ~is_number.to_numpy(zero_copy_only=False)
    odd |= other.reshape(-1, len(odd)).any(axis=0)


def _all_numbers(cells: Cells) -> bool:
    return bool(pc.all(pc.match_substring_regex(cells, IS_NUMBER), min_count=0).as_py())


def _cast(cells: Cells, odd: BoolArray) -> FloatArray:
    """Return rows of numbers; columns of whole numbers too large for floating point are marked as
    odd.
    """
    numbers: FloatArray = pc.cast(cells, pa.float64()).to_numpy(zero_copy_only=False)
    n_columns = len(odd) - int(np.count_nonzero(odd))
    if not n_columns:
        return np.empty((0, 0))
    large = large_wholes(cells, numbers) if reach_beyond_exact(numbers) else None
    numbers = numbers.reshape(-1, n_columns)
    if large is None or not large.any():
        return numbers
    marked = large.reshape(-1, n_columns).any(axis=0)
    odd[np.flatnonzero(~odd)[marked]] = True
    return numbers[:, ~marked]
