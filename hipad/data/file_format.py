"""How a file may be read: within which limits, and what is known of the way it is written."""

from __future__ import annotations

import gzip
import io
import os
import re
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from hipad.exceptions import DataError
from hipad.utils import listed, some

# --------------------------------------------------------------------------------------------------
# What a file may cost: bytes, rows, columns, cells, memory and time.
#
# Readers keep these bounds while they read, so that a file beyond them ends in a sentence. The
# process that a file is read in (`hipad.data.process`) is held to `memory_bytes` and `seconds` by
# the operating system as well. Each bound can be set by an environment variable, for example
# `HIPAD_LIMIT_MEMORY_BYTES=8e9`.


PREFIX: Final = "HIPAD_LIMIT_"
FREE_CELLS: Final = 2_000_000  # that any file may have
CELLS_PER_CONTENT: Final = 1_000  # and more for each value or byte that it holds


@dataclass(frozen=True)
class Limits:
    """What a file may hold and cost at most."""

    file_bytes: int = 500 * 2**20
    unpacked_bytes: int = 2**30
    line_bytes: int = 128 * 2**20  # of a text file
    rows: int = 5_000_000
    columns: int = 2_000_000
    cells: int = 100_000_000
    text_characters: int = 1_000  # of one cell: a longer text is prose, and no category
    memory_bytes: int = 4 * 2**30
    seconds: int = 120

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Limits:
        """Return the usual limits, or those that environment variables state instead.

        >>> Limits.from_environment({"HIPAD_LIMIT_SECONDS": "30"}).seconds
        30
        """
        usual = asdict(cls())
        stated = {
            name: stated_number(PREFIX + name.upper(), value, environment)
            for name, value in usual.items()
        }
        return cls(**stated)

    def check_shape(self, rows: int, columns: int, *, cells: int | None = None) -> None:
        """Refuse a table that is too large; `cells` counts what is stored of it."""
        if rows > self.rows:
            raise DataError(
                f"expected at most {self.rows:,} rows, got {rows:,}: leave out rows, a model of "
                "this kind learns from far fewer"
            )
        if columns > self.columns:
            raise DataError(
                f"expected at most {self.columns:,} columns, got {columns:,}: "
                "leave out columns that cannot matter"
            )
        cells = rows * columns if cells is None else cells
        if cells > self.cells:
            raise DataError(
                f"expected at most {self.cells:,} cells, got {cells:,} ({rows:,} rows x "
                f"{columns:,} columns): leave out columns, or save mostly empty data as LIBSVM"
            )

    def check_content(self, cells: int, content: int) -> None:
        """Refuse a table of far more cells than its file has content, in values or bytes."""
        if cells > FREE_CELLS + CELLS_PER_CONTENT * content:
            raise DataError(
                f"expected a table that fits its file, got {cells:,} cells of {content:,} values "
                "or bytes: the file is damaged, or made to do harm; save it again"
            )


def stated_number(
    variable: str, usual: int, environment: Mapping[str, str] = os.environ, *, least: int = 1
) -> int:
    """Return the whole number that an environment variable states, or the usual one where it is not
    set.

    >>> stated_number("HIPAD_JOBS", 4, {"HIPAD_JOBS": "2e0"}), stated_number("HIPAD_JOBS", 4, {})
    (2, 4)
    """
    if variable not in environment:
        return usual
    text = environment[variable]
    try:
        value = int(float(text))
    except (ValueError, OverflowError):
        value = least - 1
    if value < least:
        above = "above zero" if least == 1 else f"of {least} or more"
        raise DataError(
            f"expected a number {above} in {variable}, got {text!r}: set it, for example, to "
            f"{usual}, or leave it out"
        )
    return value


LIMITS: Final = Limits.from_environment()


# --------------------------------------------------------------------------------------------------
# Packed files: what is in a ZIP archive, before it is unpacked, and what gzip packed.
#
# Python unpacks no more of a member than its header claims, so the claims bound the real size.


PIECE_BYTES: Final = 2**20
MOST_MEMBERS: Final = 10_000
ENTRY: Final = b"PK\x01\x02"  # begins each line of the archive's list of members
METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others unpack without a bound
ENCRYPTED: Final = 1


def check_archive(data: bytes, limits: Limits) -> list[str]:
    """Return names of a ZIP archive's members, after a look at how large they become."""
    if data.count(ENTRY) > MOST_MEMBERS:
        raise DataError(f"expected at most {MOST_MEMBERS:,} members in the archive, got more")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except Exception as error:  # zipfile lets errors of many kinds through
        raise DataError(f"the file is damaged ({error}): save it again") from error
    size = sum(member.file_size for member in members)
    if size > limits.unpacked_bytes:
        raise DataError(
            f"expected at most {limits.unpacked_bytes:,} bytes once unpacked, got {size:,}"
        )
    for member in members:
        if member.compress_type not in METHODS or member.flag_bits & ENCRYPTED:
            raise DataError(
                f"expected plain ZIP members, got {some([member.filename])} packed in another way "
                "or with a password: save it again"
            )
    names = [member.filename for member in members]
    if len(set(names)) < len(names):
        raise DataError("the file is damaged (two members share a name): save it again")
    return names


def unpacked(data: bytes, limits: Limits) -> bytes:
    """Return the bytes themselves, or what gzip packed into them, as long as it is not too much."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    content = io.BytesIO()  # gives its content away without a copy
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            while piece := file.read(PIECE_BYTES):
                content.write(piece)
                if content.tell() > limits.unpacked_bytes:
                    raise DataError(
                        f"expected at most {limits.unpacked_bytes:,} bytes once unpacked, got more"
                    )
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"the gzip file is damaged ({error}): pack it again") from error
    if not content.tell():
        raise DataError("expected a table, got an empty file")
    return content.getvalue()


# --------------------------------------------------------------------------------------------------
# How far reading has come, told by the readers to whoever listens.
#
# Readers call `report_rows` as often as they like; it costs nothing while nobody listens, and a
# listener hears of it a few times a second.


PAUSE: Final = 0.2  # seconds between two words to the listener

Listener = Callable[[float | None, str], None]  # the share done where it is known, and words

_listener: Listener | None = None
_next_time = 0.0


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Within it, this process's readers tell the listener."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


def report_rows(done: int, most: int) -> None:
    """So many rows are read of so many."""
    global _next_time
    if _listener is None or time.monotonic() < _next_time:
        return
    _next_time = time.monotonic() + PAUSE
    _listener(done / max(most, 1), f"{done:,} of {most:,} rows read")


# --------------------------------------------------------------------------------------------------
# How a file is understood: what is found in it, what the user states instead, what stays open.
#
# A `FileFormat` says how a file is written. Every field that is None is found from the content, so
# reading is a function of the bytes and of the format that is stated. A `Reading` is the account of
# one reading: the format that was used, why, and a `Question` for everything that the content
# leaves open. A question has an answer already, the one that the table was read with; the others
# are one change of the format each.


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
    "iso8859_7": "ISO 8859-7 (Greek)",
    "cp1254": "Windows (Turkish)",
    "cp932": "Shift-JIS (Japanese)",
    "gb18030": "GB 18030 (Chinese)",
    "cp949": "Windows (Korean)",
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
    >>> from hipad import read_table
    >>> from hipad.data import FileFormat
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
        """Return why a field has its value."""
        default: Any = getattr(FileFormat(), name)
        return "as stated" if getattr(self.stated, name) != default else self.reasons.get(name, "")

    def lines(self) -> list[str]:
        """Return the account as lines of text."""
        return [
            f"{name}: {value}" + (f" ({why})" if why else "") for name, value, why in self.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
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
