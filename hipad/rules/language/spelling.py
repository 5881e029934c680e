"""The words of the rule language: how numbers, names and class labels are written in a rule."""

from __future__ import annotations

import re
import unicodedata

from hipad.errors import RuleError
from hipad.rules.language.words.phrases import PHRASES


def spoken(words: str) -> tuple[str, ...]:
    """Some words of the language, given as one text."""
    return tuple(words.split())


RESERVED = frozenset(
    spoken(
        "and or not between worth off if then unless but is are in implies nor neither either "
        "both otherwise else xor outside within"
    )
)
VAGUE = frozenset(
    spoken(
        "high low elevated raised increased decreased reduced normal abnormal overexpressed "
        "underexpressed upregulated downregulated large small old young big increases "
        "decreases rises falls"
    )
)
MISSING = frozenset(spoken("na nan missing null none unknown undefined"))
# Words that mean something where they stand bare: a name that is one of them is quoted.
_COMMANDS = frozenset(spoken("exclude ignore include keep matter matters"))
_LINKS = frozenset(
    spoken("its of plus minus when whenever with without while whilst whereas except excluding")
)
_SIGNS = frozenset(phrase[0] for phrase in PHRASES if len(phrase) == 1)
_MEANT = VAGUE | MISSING | _COMMANDS | _LINKS | _SIGNS
LARGEST = 1e100  # number in a rule; the smallest is one part in this

_MARKS = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞²³⁰¹⁴⁵⁶⁷⁸⁹"  # fractions and powers, letters to Python
_BARE_NAME = re.compile(rf"[^\W\d{_MARKS}][^\W{_MARKS}]*(?:\.[^\W{_MARKS}]+)*")
_BARE_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_COUNTING = re.compile(r"(?:at\s+(?:least|most)|exactly)\b", re.IGNORECASE)

Place = tuple[int, int]
"""Line and column in the text, both counted from one."""


def rule_error(
    message: str,
    place: Place | None = None,
    *,
    column: int | None = None,
    expected: tuple[str, ...] = (),
    suggestion: str | None = None,
) -> RuleError:
    """A RuleError whose message begins with the place where the mistake stands.

    With a column alone the line is not known yet: `on_line` adds it.
    """
    line, column = place or (None, column)
    where = f"line {line}, column {column}: " if place else ""
    return RuleError(
        where + message, line=line, column=column, expected=expected, suggestion=suggestion
    )


def on_line(error: RuleError, line: int | None) -> RuleError:
    """The error of a line's text, told which line that is."""
    if line is None or error.column is None or error.line is not None:
        return error
    place = (line, error.column)
    return rule_error(str(error), place, expected=error.expected, suggestion=error.suggestion)


def checked_number(value: float) -> float:
    """The value as a float; minus zero becomes zero, so that it prints as it reads.

    Lengths of rows are sums of squares: what overflows or vanishes there cannot be computed with.
    """
    number = float(value)
    if number and not 1 / LARGEST <= abs(number) <= LARGEST:
        raise rule_error(
            f"a number in a rule must be 0 or between {1 / LARGEST:g} and {LARGEST:g} in size, "
            f"got {number:g}: write it in another unit"
        )
    return number + 0.0


def checked_name(name: str) -> str:
    """The name, if a rule can hold it: not empty, and on one line."""
    if not isinstance(name, str) or not name.strip() or len(f"{name}.".splitlines()) > 1:
        raise rule_error(f"a name in a rule must be a text on one line, got {name!r}: rename it")
    return name


_ALIKE = str.maketrans(
    {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}  # full-width signs, letters, digits
    | {0x3000: " ", 0x2206: "Δ", 0x2126: "Ω", 0x00B5: "μ", 0x2010: "-", 0x2011: "-", 0x3001: ","}
)
_PIECES = re.compile(r"`[^`]*+`|\"[^\"]*+\"|'[^']*+'|[^`\"']++|.")


def plain_signs(text: str) -> str:
    """A text in composed letters, with the usual sign for each that looks like it.

    >>> plain_signs("age ＞＝ 70"), plain_signs("µ") == "μ"
    ('age >= 70', True)
    """
    return text if text.isascii() else unicodedata.normalize("NFC", text).translate(_ALIKE)


def plain_line(line: str) -> str:
    """A line with plain signs; what stands between quotes or backticks stays as it is."""
    if line.isascii():
        return line
    pieces = _PIECES.findall(line)
    return "".join(p if len(p) > 1 and p[0] in "`\"'" else plain_signs(p) for p in pieces)


def is_bare(name: str) -> bool:
    """True if the name can stand in a rule without backticks."""
    plain = bool(_BARE_NAME.fullmatch(name)) and name.lower() not in RESERVED
    return plain and plain_signs(name) == name


def quote_name(name: str) -> str:
    """A feature, block or rule name as the rule language writes it.

    >>> quote_name("Glucose"), quote_name("p-36=t"), quote_name("normal")
    ('Glucose', '`p-36=t`', '`normal`')
    """
    bare = is_bare(name) and name.lower() not in _MEANT and not _COUNTING.match(name)
    return name if bare else "`" + name.replace("`", "``") + "`"


def quote_label(label: str) -> str:
    """A class label as the rule language writes it: bare where that is unambiguous.

    >>> quote_label("NEG"), quote_label("BCR/ABL"), quote_label("-1")
    ('NEG', '"BCR/ABL"', '-1')
    """
    meant = label.lower() in _COMMANDS | _LINKS  # of these some let the next line go on
    plain = is_bare(label) and not meant and not _COUNTING.match(label)
    bare = plain or _BARE_NUMBER.fullmatch(label)
    return label if bare else '"' + label.replace('"', '""') + '"'


def format_number(value: float) -> str:
    """The shortest text that reads back to the same float, without a needless '.0'.

    >>> format_number(4.0), format_number(0.1), format_number(1e30)
    ('4', '0.1', '1e+30')
    """
    return repr(float(value)).removesuffix(".0")


def patients_text(worth: float) -> str:
    """What a rule counts for, in words."""
    return f"{format_number(worth)} patient" + ("" if worth == 1 else "s")


def one_line(text: str) -> str:
    """A note without line breaks and without blanks at its ends."""
    return " ".join(text.splitlines()).strip()


def read_quoted(text: str) -> str:
    """The inside of a text between backticks or quotes; a doubled mark stands for one."""
    mark = text[0]
    return text[1:-1].replace(mark * 2, mark)
