"""How a file is understood: what is found in it, what the user states instead, what stays open.

A `FileFormat` says how a file is written. Every field that is None is found from the content, so
reading is a function of the bytes and of the format that is stated. A `Reading` is the account of
one reading: the format that was used, why, and a `Question` for everything that the content leaves
open. A question has an answer already, the one that the table was read with; the others are one
change of the format each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from hipad.exceptions import DataError
from hipad.utils import listed

ThreeDigits: TypeAlias = Literal["decimal", "thousands"]

SEPARATORS: Final = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}
DECIMALS: Final = {".": "point (1.5)", ",": "comma (1,5)"}
ENCODINGS: Final = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "cp1252": "Windows Latin-1 (Western Europe)",
    "cp850": "DOS (Western Europe)",
    "mac_roman": "Mac (Western Europe)",
    "cp1250": "Windows (Central Europe)",
    "cp1251": "Windows (Cyrillic)",
    "iso8859_15": "ISO 8859-15",
}
HALF_LETTER: Final = re.compile("[\ud800-\udfff]")  # which no file can hold
MOST_WORDS: Final = 200
LONGEST_WORD: Final = 100
LONGEST_TEXT: Final = 1_000  # of a name
LONGEST_SENTENCE: Final = 100_000  # which may hold several names


@dataclass(frozen=True)
class FileFormat:
    """How a file is written; a field that is None is found from the content.

    Parameters
    ----------
    encoding : str, optional
        One of `ENCODINGS`.
    separator : str, optional
        What stands between two cells: one of `SEPARATORS`.
    decimal : str, optional
        "." or ",".
    three_digits : {"decimal", "thousands"}, optional
        What the sign in 1,234 or 1.234 is where nothing else in the table tells.
    header_row : int, optional
        The line of the file, counted from one, that holds the names of the columns; 0: there is
        none, and the columns are called x0, x1, ...
    footer_rows : int, optional
        Lines at the end that are no rows of the table, such as sums and sources.
    gap_words : tuple of str, optional
        Words that stand for a missing value, in every column and in any case of letters. An empty
        cell is one always.
    column_gaps : dict
        Words or numbers that stand for a missing value in single columns, such as 999.
    as_text, as_numbers : tuple of str
        Columns to read as text, or as numbers, whatever they seem to be.
    sheet : str, optional
        The sheet of a workbook.
    accepted : tuple of str
        Keys of questions that were answered with "as it was read".

    See Also
    --------
    read_table : Takes one as `stated`.

    Examples
    --------
    >>> from hipad import FileFormat, read_table
    >>> table = read_table(b"a;b\\n1,234;2\\n", stated=FileFormat(three_digits="thousands"))
    >>> table.numbers.tolist()
    [[1234.0, 2.0]]
    """

    encoding: str | None = None
    separator: str | None = None
    decimal: str | None = None
    three_digits: ThreeDigits | None = None
    header_row: int | None = None
    footer_rows: int | None = None
    gap_words: tuple[str, ...] | None = None
    column_gaps: dict[str, tuple[str, ...]] = field(default_factory=dict)
    as_text: tuple[str, ...] = ()
    as_numbers: tuple[str, ...] = ()
    sheet: str | None = None
    accepted: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, known in (
            ("encoding", ENCODINGS),
            ("separator", SEPARATORS),
            ("decimal", DECIMALS),
            ("three_digits", ("decimal", "thousands")),
        ):
            value = getattr(self, name)
            if value is not None and value not in known:
                raise DataError(
                    f"expected {name} to be {listed(list(map(repr, known)), 'or', 20)}, "
                    f"got {value!r}: name one of these"
                )
        for name in ("header_row", "footer_rows"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 0):
                raise DataError(f"expected {name} to be a whole number from 0 on, got {value!r}")
        words = [*(self.gap_words or ()), *(w for some in self.column_gaps.values() for w in some)]
        if len(words) > MOST_WORDS or any(len(word) > LONGEST_WORD for word in words):
            raise DataError(
                f"expected at most {MOST_WORDS} gap words of at most {LONGEST_WORD} letters each"
            )

    @property
    def is_stated(self) -> bool:
        """Whether anything differs from finding all of it out."""
        return self != FileFormat()

    def with_change(self, change: Mapping[str, Any]) -> FileFormat:
        """Return the format with other values; columns and words are added to those there are."""
        now: dict[str, Any] = {}
        for name, value in change.items():
            old = getattr(self, name)
            if name == "column_gaps":
                value = {**old, **{c: tuple({**dict.fromkeys(old.get(c, ())), **dict.fromkeys(w)})
                                   for c, w in value.items()}}  # fmt: skip
            elif name in ("as_text", "as_numbers", "accepted"):
                value = tuple({**dict.fromkeys(old), **dict.fromkeys(value)})
            elif name == "gap_words" and value is not None:
                value = tuple(value)
            now[name] = value
        if "as_text" in now:
            now["as_numbers"] = tuple(c for c in self.as_numbers if c not in now["as_text"])
        elif "as_numbers" in now:
            now["as_text"] = tuple(c for c in self.as_text if c not in now["as_numbers"])
        return replace(self, **now)

    def for_later_files(self) -> FileFormat:
        """Return what of it says what columns mean, and so holds for other files of the
        same table.
        """
        return FileFormat(
            three_digits=self.three_digits,
            gap_words=self.gap_words,
            column_gaps=self.column_gaps,
            as_text=self.as_text,
            as_numbers=self.as_numbers,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what is stated, as plain values for JSON."""
        usual = FileFormat()
        return {
            f.name: _plain(getattr(self, f.name))
            for f in fields(self)
            if getattr(self, f.name) != getattr(usual, f.name)
        }

    @classmethod
    def from_dict(cls, raw: object) -> FileFormat:
        """Return the format from plain values of an untrusted file; ValueError where they do not
        fit.
        """
        kinds: dict[str, Any] = {
            **dict.fromkeys(("encoding", "separator", "decimal", "three_digits", "sheet"), _text),
            **dict.fromkeys(("header_row", "footer_rows"), _whole),
            **dict.fromkeys(("gap_words", "as_text", "as_numbers"), _texts),
            "accepted": _sentences,
            "column_gaps": _texts_by_name,
        }
        if not isinstance(raw, dict) or not {*raw} <= {*kinds}:
            raise ValueError(f"expected fields of a file's format, got {str(raw)[:60]!r}")
        given = {name: value for name, value in raw.items() if value is not None}
        return cls(**{name: kinds[name](value) for name, value in given.items()})


FOUND_OUT: Final = FileFormat()  # nothing is stated


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: list(words) for name, words in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _text(value: object, longest: int = LONGEST_TEXT) -> str:
    if not isinstance(value, str) or len(value) > longest or HALF_LETTER.search(value):
        raise ValueError(f"expected a text, got {str(value)[:60]!r}")
    return value


def _sentence(value: object) -> str:
    return _text(value, LONGEST_SENTENCE)


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"expected a whole number, got {str(value)[:60]!r}")
    return value


def _texts(value: object, longest: int = LONGEST_TEXT) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or len(value) > 10_000:
        raise ValueError(f"expected a list of texts, got {str(value)[:60]!r}")
    return tuple(_text(each, longest) for each in value)


def _sentences(value: object) -> tuple[str, ...]:
    return _texts(value, LONGEST_SENTENCE)


def _texts_by_name(value: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict) or len(value) > 10_000:
        raise ValueError(f"expected lists of texts by column, got {str(value)[:60]!r}")
    return {_text(name): _texts(words) for name, words in value.items()}


class Answer(NamedTuple):
    """One other way to read the file: in words, and as a change of its format."""

    words: str
    change: dict[str, Any]


@dataclass(frozen=True)
class Question:
    """Something that the content leaves open: how it was read, and how else it could be."""

    key: str
    text: str  # a sentence that says how it was read
    answers: tuple[Answer, ...] = ()


@dataclass(frozen=True)
class Reading:
    """The account of one reading."""

    found: FileFormat = field(default_factory=FileFormat)  # the format that was used
    stated: FileFormat = field(default_factory=FileFormat)  # what of it the user stated
    reasons: dict[str, str] = field(default_factory=dict)  # why, by field of the format
    titles: tuple[str, ...] = ()  # lines above the header
    units: tuple[str, ...] = ()  # cells of a row of units below it
    footers: tuple[str, ...] = ()  # lines at the end that are no rows
    sheets: tuple[str, ...] = ()  # of a workbook
    gaps: dict[str, int] = field(default_factory=dict)  # words taken as gaps, and how often
    questions: tuple[Question, ...] = ()

    @property
    def later(self) -> FileFormat:
        """What holds for other files of the same table: what was stated, and what 1,234 was."""
        later = self.stated.for_later_files()
        return later if later.three_digits else replace(later, three_digits=self.found.three_digits)

    @property
    def open_questions(self) -> tuple[Question, ...]:
        """The questions that were not answered yet."""
        return tuple(q for q in self.questions if q.key not in self.stated.accepted)

    def items(self) -> Iterator[tuple[str, str, str]]:
        """Name, value and reason of everything that was found or stated, in words."""
        found = self.found
        if found.encoding is not None:
            yield "encoding", ENCODINGS[found.encoding], self.reason("encoding")
        if found.separator is not None:
            yield "separator", SEPARATORS[found.separator], self.reason("separator")
        if found.decimal is not None:
            yield "decimal sign", DECIMALS[found.decimal], self.reason("decimal")
        if found.sheet is not None:
            yield "sheet", found.sheet, self.reason("sheet")
        if found.header_row is not None:
            row = f"line {found.header_row:,}" if found.header_row else "none"
            yield "header row", row, self.reason("header_row")
        if found.footer_rows:
            yield "lines left out at the end", f"{found.footer_rows:,}", self.reason("footer_rows")
        words = [f"{word} ({n:,})" if n else word for word, n in self.gaps.items()]
        shown = listed(["empty cells", *words], limit=12)
        yield "gaps", shown, "as stated" if self.stated.gap_words is not None else ""

    def reason(self, name: str) -> str:
        """Why a field has its value."""
        default: Any = getattr(FileFormat(), name)
        return "as stated" if getattr(self.stated, name) != default else self.reasons.get(name, "")

    def lines(self) -> list[str]:
        """Return the account as lines of text."""
        return [
            f"{name}: {value}" + (f" ({why})" if why else "") for name, value, why in self.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "found": self.found.to_dict(),
            "stated": self.stated.to_dict(),
            "reasons": self.reasons,
            "gaps": self.gaps,
            **{n: list(getattr(self, n)) for n in ("titles", "units", "footers", "sheets")},
            "questions": [
                [q.key, q.text, [[a.words, {k: _plain(v) for k, v in a.change.items()}]
                                 for a in q.answers]]
                for q in self.questions
            ],
        }  # fmt: skip

    @classmethod
    def from_dict(cls, raw: object) -> Reading:
        """Return the account from plain values of a file that is not trusted; ValueError if
        damaged.
        """
        if not isinstance(raw, dict):
            raise ValueError("expected the account of a reading")
        if not raw:
            return cls()
        reasons, gaps = raw["reasons"], raw["gaps"]
        questions = []
        for key, text, answers in raw["questions"]:
            made = tuple(Answer(_sentence(words), _change(change)) for words, change in answers)
            questions.append(Question(_sentence(key), _sentence(text), made))
        return cls(
            found=FileFormat.from_dict(raw["found"]),
            stated=FileFormat.from_dict(raw["stated"]),
            reasons={_text(k): _sentence(v) for k, v in reasons.items()},
            gaps={_text(k): _whole(v) for k, v in gaps.items()},
            **{n: _sentences(raw[n]) for n in ("titles", "units", "footers", "sheets")},
            questions=tuple(questions),
        )


def _change(raw: object) -> dict[str, Any]:
    """Return a change of a format, held to what a format may hold."""
    made = FileFormat.from_dict(raw)
    return {name: getattr(made, name) for name in raw}  # type: ignore[attr-defined]
