"""What a written cell means: a number, a gap, or a text.

A table has one list of gap words (`GapWords`): an empty cell is a gap everywhere, and so is a word
of the list, in columns of numbers and of text alike. Of the usual list some words may be a value as
well (`OPEN_WORDS`): among numbers they are gaps, in a text column with few levels `none` is a
level, `-` and `Na` are where they are frequent, and the user is asked. A list that the user states
is followed to the letter. What was taken as a gap in a text column stays known (`written` of a
table), so that a label column can have such a class, and a later table the levels that an earlier
one had.

Texts are Arrow arrays while they are worked on. NumPy's have one width for all, that of the longest
text, so one long text in many rows would take gigabytes; `fixed_width` of the readers bounds that.
"""

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

from hipad.arrays import BoolArray
from hipad.errors import DataError
from hipad.wording import count

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
        """Whether a word of the list may be a value as well."""
        return not self.is_stated and (word.lower() in OPEN_WORDS or word == "Na")

    def are_gaps(self, cells: Cells) -> Cells:
        """Which texts, without blanks around them, are gaps among numbers."""
        return pc.is_in(pc.utf8_lower(cells), self.array)


USUAL_GAPS: Final = GapWords()
MISSING: Final = USUAL_GAPS.words


def to_number(cell: str) -> float | None:
    """The cell as a number, NaN where it is a gap, None where it is something else.

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
    """Texts without blanks around them, and which of them are a gap among numbers."""
    levels = pc.utf8_trim_whitespace(levels)
    return levels, among(levels, byte_lengths(levels) <= words.longest, words.are_gaps)


def signs(levels: Cells) -> tuple[BoolArray, BoolArray]:
    """Which texts are `+`, and which `-`: where a column has the first, the other is no gap."""
    single = byte_lengths(levels) == 1
    plus, minus = (
        among(levels, single, lambda some, sign=sign: pc.equal(some, sign))  # type: ignore[misc]
        for sign in "+-"
    )
    return plus, minus


def are_numbers(cells: Cells) -> BoolArray:
    """Which texts are numbers: those that begin and end as a number may are looked at."""
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
    """The length of each text in bytes."""
    return np.diff(buffers(cells)[0])


def among(cells: Cells, chosen: BoolArray, test: Callable[[Cells], Cells]) -> BoolArray:
    """The outcome of a test for the chosen texts; False for the others, which are not looked at."""
    result = np.zeros(len(cells), dtype=bool)
    if chosen.all():
        return np.array(test(cells).to_numpy(zero_copy_only=False), dtype=bool)
    if chosen.any():
        result[chosen] = test(cells.filter(pa.array(chosen))).to_numpy(zero_copy_only=False)
    return result


def buffers(texts: Cells) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """How Arrow holds texts: where each begins and the last ends, in one run of letters."""
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
    """Which levels of a text column are gaps, of those that could be, and the words left open.

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
    """All levels as they were written; None unless they are few and a word is among the gaps."""
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
    """A column from its different texts, the one that each row has, and how often each comes."""
    texts, gaps = tidy_levels(pa.array(_sound(np.asarray(levels, dtype=str)), pa.string()), words)
    gaps, opened = text_gaps(texts, gaps, times, words)
    remark = "; ".join(map(str, opened))
    longest = int(pc.max(pc.utf8_length(texts)).as_py() or 0)
    written = as_written(texts, gaps, longest)
    return TextColumn(
        level_array(texts, gaps)[codes], None if written is None else written[codes], remark
    )


def tidy_cells(cells: npt.ArrayLike) -> TextColumn:
    """A column from its cells."""
    found, codes, times = np.unique(
        np.asarray(cells, dtype=str), return_inverse=True, return_counts=True
    )
    return tidy_column(found, codes, times)


def tidy_text(cells: npt.ArrayLike) -> Text:
    """Texts without blanks around them, and "" for gaps.

    >>> tidy_text(["a ", "n/a", "none"]).tolist(), tidy_text(["+", "-", "?"]).tolist()
    (['a', '', 'none'], ['+', '-', ''])
    """
    return tidy_cells(cells).cells


def gap_words(written: Text, cells: Text) -> dict[str, int]:
    """The words of a column that were taken as gaps, and how often each comes."""
    words, times = np.unique(written[(cells == "") & (written != "")], return_counts=True)
    return dict(zip(words.tolist(), times.tolist(), strict=True))


def _sound(texts: Text) -> list[str]:
    """Texts without halves of letters, which no file could hold."""
    letters = np.ascontiguousarray(texts).view(np.uint32) if texts.dtype.itemsize else np.zeros(1)
    if letters.max(initial=0) > sys.maxunicode:
        raise DataError("expected text, got numbers that no letter has: the file is damaged")
    return [text.encode("utf-8", "replace").decode() for text in texts.tolist()]


def level_array(levels: Cells, gaps: BoolArray) -> Text:
    """Levels as NumPy's texts, "" for gaps."""
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
    """Labels as text in full precision; whole numbers without a decimal point, a missing one as "".

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
