"""The lexer of the rule language: phrases, tokens, token stream, quantities with units."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Final, NamedTuple, Protocol

from hipad.exceptions import RuleError
from hipad.rules.units import SCALE_WORDS, convert, short, unit_at, unit_of

# --------------------------------------------------------------------------------------------------
# Phrases that stand for signs and numbers: `is at least`, `30 or more`, `two of`.


COUNT_WORDS: Final = dict(
    zip(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"],
        range(1, 11),
        strict=True,
    )
)
# Verbs that only lead to a comparison: falls below, stays above, lies between.
VERBS: Final = (
    "falls", "fall", "fell", "drops", "drop", "dropped", "rises", "rise", "rose", "goes", "go",
    "went", "stays", "stay", "stayed", "remains", "remain", "climbs", "lies", "lie", "gets",
    "becomes", "reads", "measures", "sits", "was", "were", "ranges",
)  # fmt: skip
_THAN: Final = {
    ">": "greater more higher larger bigger older above over later longer taller heavier faster",
    "<": "less lower smaller fewer younger below under earlier shorter lighter slower",
}
_FIXED: Final[dict[tuple[str, ...], str]] = {
    ("at", "least"): ">=",
    ("at", "most"): "<=",
    ("at", "or", "above"): ">=",
    ("at", "or", "below"): "<=",
    ("at", "or", "over"): ">=",
    ("at", "or", "under"): "<=",
    ("not", "below"): ">=",
    ("not", "under"): ">=",
    ("not", "above"): "<=",
    ("not", "over"): "<=",
    ("above",): ">",
    ("over",): ">",
    ("beyond",): ">",
    ("exceeds",): ">",
    ("exceed",): ">",
    ("exceeding",): ">",
    ("below",): "<",
    ("under",): "<",
    ("reaches",): ">=",
    ("reach",): ">=",
    ("hits",): ">=",
    ("surpasses",): ">",
    ("not", "exceeding"): "<=",
    ("never", "exceeds"): "<=",
    ("never", "above"): "<=",
    ("never", "below"): ">=",
    ("equal", "to", "or", "greater", "than"): ">=",
    ("equal", "to", "or", "more", "than"): ">=",
    ("equal", "to", "or", "above"): ">=",
    ("equal", "to", "or", "less", "than"): "<=",
    ("equal", "to", "or", "below"): "<=",
    ("equal", "or", "greater", "than"): ">=",
    ("equal", "or", "above"): ">=",
    ("equal", "or", "less", "than"): "<=",
    ("equal", "or", "below"): "<=",
    ("above", "or", "at"): ">=",
    ("below", "or", "at"): "<=",
    ("up", "to"): "<=",
    ("equals",): "=",
    ("equal",): "=",
    ("equal", "to"): "=",
    ("not", "equal", "to"): "!=",
    ("differs", "from"): "!=",
    ("does", "not", "exceed"): "<=",
    ("do", "not", "exceed"): "<=",
    ("doesn't", "exceed"): "<=",
    ("is",): "=",
    ("are",): "=",
    ("is", "not"): "!=",
    ("are", "not"): "!=",
    ("isn't",): "!=",
    ("aren't",): "!=",
}


def _phrases() -> dict[tuple[str, ...], str]:
    """Return every phrase that compares, with and without a leading is, and the sign it
    stands for.
    """
    found = dict(_FIXED)
    for sign, words in _THAN.items():
        for word in words.split():
            found[word, "than"] = sign
            found[word, "or", "equal"] = found[word, "or", "equal", "to"] = sign + "="
            found[word, "than", "or", "equal"] = sign + "="
            found[word, "than", "or", "equal", "to"] = sign + "="
            other = "<=" if sign == ">" else ">="
            found["no", word, "than"] = found["not", word, "than"] = other
    for phrase, sign in list(found.items()):
        if phrase[0] in ("above", "below", "over", "under", "beyond", "at", "up", "not"):
            for verb in VERBS:
                found[verb, *phrase] = sign
    for phrase, sign in list(found.items()):
        if phrase[0] == "not":
            found["isn't", *phrase[1:]] = found["aren't", *phrase[1:]] = sign
    for phrase, sign in list(found.items()):
        if phrase[0] in VERBS:
            continue
        if phrase[0] not in ("is", "are", "isn't", "aren't", "does", "do", "doesn't", "exceeds"):
            found["is", *phrase] = found["are", *phrase] = sign
    return found


PHRASES: Final = _phrases()
LONGEST_PHRASE: Final = max(map(len, PHRASES))
FIRST_WORDS: Final = frozenset(words[0] for words in PHRASES)
AFTER_NUMBER: Final = {
    (join, word): sign
    for join in ("or", "and")
    for sign, words in (
        (">=", "more higher above over greater older up larger"),
        ("<=", "less lower below under fewer younger down smaller"),
    )
    for word in words.split()
}


# --------------------------------------------------------------------------------------------------
# The words of the rule language: how numbers, names and class labels are written in a rule.


def spoken(words: str) -> tuple[str, ...]:
    """Return some words of the language, given as one text."""
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
MEANT = VAGUE | MISSING | _COMMANDS | _LINKS | _SIGNS
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
    """Return a RuleError whose message begins with the place where the mistake stands.

    With a column alone the line is not known yet: `on_line` adds it.
    """
    line, column = place or (None, column)
    where = f"line {line}, column {column}: " if place else ""
    return RuleError(
        where + message, line=line, column=column, expected=expected, suggestion=suggestion
    )


def on_line(error: RuleError, line: int | None) -> RuleError:
    """Return the error of a line's text, told which line that is."""
    if line is None or error.column is None or error.line is not None:
        return error
    place = (line, error.column)
    return rule_error(str(error), place, expected=error.expected, suggestion=error.suggestion)


def checked_number(value: float) -> float:
    """Return the value as a float; minus zero becomes zero, so that it prints as it reads.

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
    """Return the name, if a rule can hold it: not empty, and on one line."""
    if not isinstance(name, str) or not name.strip() or len(f"{name}.".splitlines()) > 1:
        raise rule_error(f"a name in a rule must be a text on one line, got {name!r}: rename it")
    return name


_ALIKE = str.maketrans(
    {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}  # full-width signs, letters, digits
    | {0x3000: " ", 0x2206: "Δ", 0x2126: "Ω", 0x00B5: "μ", 0x2010: "-", 0x2011: "-", 0x3001: ","}
)
_PIECES = re.compile(r"`[^`]*+`|\"[^\"]*+\"|'[^']*+'|[^`\"']++|.")


def plain_signs(text: str) -> str:
    """Return a text in composed letters, with the usual sign for each that looks like it.

    >>> plain_signs("age ＞＝ 70"), plain_signs("µ") == "μ"
    ('age >= 70', True)
    """
    return text if text.isascii() else unicodedata.normalize("NFC", text).translate(_ALIKE)


def plain_line(line: str) -> str:
    """Return a line with plain signs; what stands between quotes or backticks stays as it is."""
    if line.isascii():
        return line
    pieces = _PIECES.findall(line)
    return "".join(p if len(p) > 1 and p[0] in "`\"'" else plain_signs(p) for p in pieces)


def is_bare(name: str) -> bool:
    """Return True if the name can stand in a rule without backticks."""
    plain = bool(_BARE_NAME.fullmatch(name)) and name.lower() not in RESERVED
    return plain and plain_signs(name) == name


def quote_name(name: str) -> str:
    """Return a feature, block or rule name as the rule language writes it.

    >>> quote_name("Glucose"), quote_name("p-36=t"), quote_name("normal")
    ('Glucose', '`p-36=t`', '`normal`')
    """
    bare = is_bare(name) and name.lower() not in MEANT and not _COUNTING.match(name)
    return name if bare else "`" + name.replace("`", "``") + "`"


def quote_label(label: str) -> str:
    """Return a class label as the rule language writes it: bare where that is unambiguous.

    >>> quote_label("NEG"), quote_label("BCR/ABL"), quote_label("-1")
    ('NEG', '"BCR/ABL"', '-1')
    """
    meant = label.lower() in _COMMANDS | _LINKS  # of these some let the next line go on
    plain = is_bare(label) and not meant and not _COUNTING.match(label)
    bare = plain or _BARE_NUMBER.fullmatch(label)
    return label if bare else '"' + label.replace('"', '""') + '"'


def format_number(value: float) -> str:
    """Return the shortest text that reads back to the same float, without a needless '.0'.

    >>> format_number(4.0), format_number(0.1), format_number(1e30)
    ('4', '0.1', '1e+30')
    """
    return repr(float(value)).removesuffix(".0")


def patients_text(worth: float) -> str:
    """Return what a rule counts for, in words."""
    return f"{format_number(worth)} patient" + ("" if worth == 1 else "s")


def one_line(text: str) -> str:
    """Return a note without line breaks and without blanks at its ends."""
    return " ".join(text.splitlines()).strip()


def read_quoted(text: str) -> str:
    """Return the inside of a text between backticks or quotes; a doubled mark stands for one."""
    mark = text[0]
    return text[1:-1].replace(mark * 2, mark)


# --------------------------------------------------------------------------------------------------
# How much a text of rules may hold, in one place: more than any person writes, less than hurts.


MOST_RULES: Final = 2_000  # in one text, switched off ones included
LONGEST_TEXT: Final = 2**20  # characters of all rules
LONGEST_RULE: Final = 200_000  # characters of one rule
DEEPEST: Final = 20  # brackets inside brackets
DEEPEST_WORDS: Final = 60  # brackets, nots and the like inside each other
MOST_WORDS: Final = 60_000  # names, numbers and signs of one rule
MOST_SIGNS: Final = 5_000  # + - * / in one rule
MOST_WEIGHTS: Final = 20_000_000  # features that all rules name, counted for each condition


def text_error(text: str) -> RuleError | None:
    """Return what is wrong with a text that is too long to be read at all, or None."""
    if len(text) <= LONGEST_TEXT:
        return None
    return rule_error(
        f"expected rules of at most {LONGEST_TEXT:,} characters, got {len(text):,}: "
        "name blocks of features on the Data page or in a blocks file, and use these in the rules"
    )


def too_many_rules(number: int, line: int | None = None) -> RuleError:
    """Return the error for a text with too many rules, from this line on if it is known."""
    return rule_error(
        f"expected at most {MOST_RULES:,} rules, got {number:,}: leave out those that matter least",
        None if line is None else (line, 1),
    )


def rule_too_long(length: int) -> RuleError:
    """Return the error for a rule of too many characters."""
    return rule_error(
        f"expected a rule of at most {LONGEST_RULE:,} characters, got {length:,}: "
        "name a block of features, and write mean(block)",
        column=LONGEST_RULE,
    )


def too_many_weights(line: int | None) -> RuleError:
    """Return the error for rules that together name too many features."""
    return rule_error(
        f"expected conditions that name at most {MOST_WEIGHTS:,} features in all, got more: "
        "leave out rules from here on, or name fewer features in each",
        None if line is None else (line, 1),
    )


def too_deep(column: int) -> RuleError:
    """Return the error for brackets inside too many brackets."""
    return rule_error(
        f"expected at most {DEEPEST} brackets inside each other, got more: multiply them out",
        column=column,
    )


def too_many_signs(column: int) -> RuleError:
    """Return the error for a sum of too many parts."""
    return rule_error(
        f"expected at most {MOST_SIGNS:,} of the signs + - * / in a rule, got more: "
        "use sum(...) or mean(...) of a block, or add the sum to the data as a feature",
        column=column,
    )


def too_many_words(column: int) -> RuleError:
    """Return the error for a rule of too many words."""
    return rule_error(
        f"expected a rule of at most {MOST_WORDS:,} words and signs, got more: "
        "name a block of features, and write mean(block)",
        column=column,
    )


# --------------------------------------------------------------------------------------------------
# The words of one line, found in a single sweep.
#
# Signs that look different and mean the same become one kind here. A vocabulary, where it is known,
# finds names that hold blanks or signs (`blood pressure`, `IL-6`) before they fall apart.


class Token(NamedTuple):
    """One word: its kind, what it says, and where it begins and ends in the line."""

    kind: str
    text: str
    start: int
    end: int
    low: str = ""  # of a name, in small letters, as keywords are compared

    @property
    def column(self) -> int:
        """Where it begins in the line, counted from one, as editors do."""
        return self.start + 1


class Vocabulary(Protocol):
    """What is known of the data while a text is read."""

    def __hash__(self) -> int: ...

    @property
    def decimal(self) -> str:
        """The decimal mark of the table, a point or a comma; empty where it is not known."""

    @property
    def has_values(self) -> bool:
        """Whether the rows are known, which tell columns of 0 and 1."""

    def name_at(self, text: str, start: int) -> str | None:
        """Return the longest name with blanks or signs that stands in the text from `start` on."""

    def is_name(self, name: str) -> bool:
        """Return whether a feature or block is called so, in any case."""

    def is_measured(self, name: str) -> bool:
        """Return whether a feature or block is called so, which a number before it can multiply."""

    def is_flag(self, name: str) -> bool:
        """Return whether the name alone is a condition: a column of 0 and 1, or a category."""

    def is_zero_one_name(self, name: str) -> bool:
        """Return whether a feature of this name holds 0 and 1 only."""

    def is_whole(self, name: str) -> bool:
        """Return whether a feature of this name holds whole numbers only."""

    def category(self, name: str) -> str | None:
        """Return the category of this name, as the data write it; None where there is none."""

    def level_at(self, category: str, text: str, start: int) -> tuple[str, int] | None:
        """Return the longest value of a category that stands in the text from `start` on, and its
        end.
        """

    def level_like(self, category: str, text: str) -> str | None:
        """Return the value of a category that a word means: 2 for II, y for yes; None if
        none is.
        """

    def order(self, category: str) -> LevelOrder | None:
        """Return the order of a category's values where it is plain."""

    def members(self, block: str) -> tuple[str, ...]:
        """Return the features of a block; none where no block is called so."""


class LevelOrder(NamedTuple):
    """The values of a category from the lowest to the highest."""

    levels: tuple[str, ...]
    worse: str = ""  # "up" or "down" where it is known which end is worse
    ranked: bool = True  # False for letters: between is plain, above is not


_PAIRS = {"(": ")", "[": "]", "{": "}"}
_CLOSING = {closing: opening for opening, closing in _PAIRS.items()}
_SIGN_TOKENS = {"PLUS", "MINUS", "TIMES", "DIVIDED"}
_FRACTIONS, _POWERS = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞", "²³⁰¹⁴⁵⁶⁷⁸⁹"
_GLYPHS = _FRACTIONS + _POWERS  # letters to Python, none of a name
_PATTERNS = {
    "QUOTED": r"`(?:[^`]++|``)++`",
    "IFF": r"<={1,2}>|<-{1,2}>|[⇔⟺↔]",
    "ARROW": r"={1,3}>|-{1,2}>|[⇒⟹→⟶↦➔➜]",
    "BACK": r"[⇐⟸←⟵]|<-{2,}",
    "PLUSMINUS": r"±|\+/[-−]|\+[-−](?=\s*+[\d.])",
    "NOTE": r"(?<!-)--++(?=\s|$)|//",  # once for a run of dashes, so that long ones take no time
    "NE": r"!=|<>|=/=|≠|≢",
    "GE": r">\s*+=(?![>=])|≥|⩾|≧|!<|≮|=>(?=\s*+=)",
    "LE": r"<\s*+=(?![>=])|=<|≤|⩽|≦|!>|≯",
    "DEFINE": r":=",
    "EQ": r"={1,3}",
    "GT": r">",
    "LT": r"<",
    "CONTRACTED": r"(?:is|are|was|does|do)n['’]t\b",
    "STRING": r"\"(?:[^\"]++|\"\")++\"|'(?:[^']++|'')++'|“[^”]++”|«[^»]++»|„[^“”]++[“”]|‘[^’]++’",
    "HEX": r"0[xX][0-9a-fA-F]+",
    "FEET": r"\d{1,2}['’′]\s?\d{1,2}(?:\.\d)?\s?(?:[\"”″]|''|’’|in(?:ch(?:es)?)?\b|(?![\w'’]))",
    "NUMBER": r"(?:\d{1,3}(?:[_'’]\d{3})++(?![\w])|\d++(?:\.(?!\.)\d*+)?|\.\d++)(?:[eE][+-]?\d++)?+"
    r"(?!_\w)",
    "NAME": rf"(?:[^\W\d{_GLYPHS}]|\d++(?=_\w))[^\W{_GLYPHS}]*+(?:\.[^\W{_GLYPHS}]++)*+",
    "FRACTION": rf"[{_FRACTIONS}]",
    "POWER": rf"\^|\*\*|[{_POWERS}⁻]++",
    "DOTS": r"\.{2,3}|…",
    "PLUS": r"[+＋]",
    "MINUS": r"[-−–—‐‑]",
    "TIMES": r"[*×·∙⋅•]",
    "DIVIDED": r"[/÷]",
    "AND": r"&&?|∧|⋀",
    "OR": r"\|\||∨|⋁",
    "BAR": r"\|",
    "NOT": r"[¬~!](?!=)",
    "IN": r"∈",
    "NOTIN": r"∉",
    "PERCENT": r"%",
    "DEGREE": r"°|º|℃|℉",
    "MONEY": r"[$€£¥]",
    "OPEN": r"[(\[{]",
    "CLOSE": r"[)\]}]",
    "COMMA": r",",
    "SEMICOLON": r";",
    "COLON": r":",
    "DOT": r"\.",
    "UNKNOWN": r"\S",
}  # fmt: skip
_WORD = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _PATTERNS.items()))
_BLANKS = re.compile(r"\s*+")


def words_of(line: str, vocabulary: Vocabulary | None = None) -> list[Token]:
    """Return the words of a line; RuleError if there are too many signs or brackets, or one is
    open.

    >>> [word.kind for word in words_of("2*a ≥ 3 => ill")]
    ['NUMBER', 'TIMES', 'NAME', 'GE', 'NUMBER', 'ARROW', 'NAME']
    """
    line = line.rstrip()
    if len(line) > LONGEST_RULE:
        raise rule_too_long(len(line))
    words: list[Token] = []
    opened: list[Token] = []
    signs = 0
    at = _end(_BLANKS, line, 0)
    while at < len(line):
        word = _word(line, at, vocabulary, words)
        words.append(word)
        if len(words) > MOST_WORDS:
            raise too_many_words(word.column)
        if word.kind == "NOTE" and line[at - 1 : at].isspace():
            return words
        at = _end(_BLANKS, line, word.end)
        signs += word.kind in _SIGN_TOKENS
        if signs > MOST_SIGNS:
            raise too_many_signs(word.column)
        if word.kind == "OPEN":
            opened.append(word)
            if len(opened) > DEEPEST:
                raise too_deep(word.column)
        elif word.kind == "CLOSE" and not _is_bullet(words):
            _close(opened, word)
    if opened:
        closing = _PAIRS[opened[-1].text]
        message = f"the bracket '{opened[-1].text}' has no end: close it with '{closing}'"
        raise rule_error(message, column=opened[-1].column)
    return words


def _word(line: str, at: int, vocabulary: Vocabulary | None, before: list[Token]) -> Token:
    joined = at > 0 and bool(before) and before[-1].end == at and line[at - 1].isalnum()
    if vocabulary is not None and line[at] not in "`\"'" and not joined:
        name = vocabulary.name_at(line, at)
        if name is not None:
            return Token("QUOTED", f"`{name.replace('`', '``')}`", at, at + len(name))
    found = _WORD.match(line, at)
    assert found is not None  # the last kind fits anything
    kind = found.lastgroup or "UNKNOWN"
    if kind == "UNKNOWN" and found[0] in '`"“«':
        raise rule_error(
            f"the mark {found[0]} has no end: close it, or leave it out", column=at + 1
        )
    low = found[0].lower().replace("’", "'") if kind in ("NAME", "CONTRACTED") else ""
    return Token(kind, found[0], at, found.end(), low)


def _is_bullet(words: list[Token]) -> bool:
    """Return whether a lone ')' closes the number of a list: `1) a >= 2`."""
    return len(words) == 2 and words[0].kind in ("NUMBER", "NAME") and len(words[0].text) < 4


def _close(opened: list[Token], word: Token) -> None:
    if not opened:
        message = f"leave out this '{word.text}', or open its bracket before"
        raise rule_error(message, column=word.column)
    first = opened.pop()
    if {first.text, word.text} & {"{"} and first.text != _CLOSING[word.text]:
        message = (
            f"'{first.text}' does not go with '{word.text}': close it with {_PAIRS[first.text]}"
        )
        raise rule_error(message, column=word.column)


def _end(pattern: re.Pattern[str], line: str, at: int) -> int:
    found = pattern.match(line, at)
    return found.end() if found else at


# --------------------------------------------------------------------------------------------------
# A place in the words of a line: what comes next, and what stands there.


END: Final = "END"
RELATION_KINDS: Final = {"GE": ">=", "LE": "<=", "GT": ">", "LT": "<", "EQ": "=", "NE": "!="}


class TokenStream:
    """Walks over words; every mistake it reports has its column."""

    def __init__(self, line: str, words: list[Token], vocabulary: Vocabulary | None = None) -> None:
        self.line = line
        self.words = words
        self.at = 0
        self.vocabulary = vocabulary
        self.subject: Any = None  # the last side that was compared, for "a >= 2 or <= -3"
        self.asked = ""  # the sign it was compared with
        self.implied: Token | None = None  # the last name after a number, with a blank between them
        self.depth = 0  # of words and brackets inside each other
        self.unit = ""  # in brackets after the feature, for numbers without one
        self.own: str | None = None  # whose mean, median and sd are meant where nothing is said
        self._end = Token(END, "", len(line.rstrip()), len(line.rstrip()))

    def part(self, first: int, last: int) -> TokenStream:
        """Return a tokens over some of the words."""
        other = TokenStream(self.line, self.words[first:last], self.vocabulary)
        other.subject, other.asked, other.depth = self.subject, self.asked, self.depth
        if last < len(self.words):
            start = self.words[last].start
            other._end = Token(END, self.words[last].text, start, start)
        return other

    def peek(self, ahead: int = 0) -> Token:
        """Return the word so many places ahead; at the end a word of kind END."""
        at = self.at + ahead
        return self.words[at] if at < len(self.words) else self._end

    def take(self) -> Token:
        """Return the next word, which is stepped over."""
        word = self.peek()
        self.at += 1
        return word

    def accept(self, *kinds: str) -> Token | None:
        """Return the next word if it is of one of these kinds, else None."""
        return self.take() if self.peek().kind in kinds else None

    def matches(self, *texts: str, ahead: int = 0) -> bool:
        """Return whether the next words are these, in any case and not quoted."""
        return all(self.peek(k).low == text for k, text in enumerate(texts, ahead))

    def accept_words(self, *texts: str) -> bool:
        """Step over these words if they come next."""
        if self.peek().low != texts[0] or not self.matches(*texts):
            return False
        self.at += len(texts)
        return True

    def deeper(self) -> None:
        """One step further in; RuleError if it goes too deep to be meant."""
        self.depth += 1
        if self.depth > DEEPEST_WORDS:
            raise too_deep(self.peek().column)

    @property
    def is_over(self) -> bool:
        """Whether no word is left."""
        return self.at >= len(self.words)

    def text(self, first: int, last: int | None = None) -> str:
        """Return what the user wrote from one word up to another."""
        words = self.words[first : self.at if last is None else last]
        return self.line[words[0].start : words[-1].end] if words else ""

    def error(self, message: str, word: Token | None = None, *, remedy: str = "") -> RuleError:
        """Return an error at a word, or at the next one."""
        return rule_error(message, column=(word or self.peek()).column, suggestion=remedy or None)

    def is_name(self, ahead: int = 0) -> bool:
        """Return whether a word that may be part of a name comes next."""
        word = self.peek(ahead)
        return word.kind in ("QUOTED", "STRING") or (
            word.kind == "NAME" and word.low not in RESERVED
        )

    def relation(self) -> tuple[str, int] | None:
        """Return the sign that comes next, as such or in words, and how many words it takes."""
        word = self.peek()
        if word.kind in RELATION_KINDS:
            return RELATION_KINDS[word.kind], 1
        return self.phrase()

    def phrase(self, ahead: int = 0) -> tuple[str, int] | None:
        """Return the sign that the next words stand for, the longest phrase first."""
        first = self.peek(ahead)
        if first.low not in FIRST_WORDS:
            return None
        said = []
        for k in range(LONGEST_PHRASE):
            word = self.peek(ahead + k)
            if not word.low:
                break
            said.append(word.low)
        for n in range(len(said), 0, -1):
            if sign := PHRASES.get(tuple(said[:n])):
                return sign, n
        return None


# --------------------------------------------------------------------------------------------------
# Numbers as people write them: 6,5 and 50,000, 50k, 1½, 10^9, with a unit after them.
#
# Marks are taken only where they cannot be misread; what can be is refused, unless the table's own
# marks tell. A unit is kept with its number, until the column is known that it is compared with.


def read_number(tokens: TokenStream, *, listing: bool = False) -> float:
    """Return the number that comes next; in a list a comma ends it.

    >>> from hipad.rules.lexer import words_of
    >>> texts = ("6,5", "50,000", "50k", "1½", "1.5 x 10^9")
    >>> [read_number(TokenStream(t, words_of(t))) for t in texts]
    [6.5, 50000.0, 50000.0, 1.5, 1500000000.0]
    """
    first = tokens.peek()
    if first.kind == "HEX":
        raise tokens.error("write the number in decimal digits, as in 16")
    value = _digits(tokens, listing)
    if (half := tokens.peek()).kind == "FRACTION":
        value += unicodedata.numeric(tokens.take().text) if first is not half else 0.0
    value *= _thousand(tokens)
    value = _power_of_ten(tokens, value)
    try:
        return checked_number(value)
    except ValueError as error:
        raise rule_error(str(error), column=first.column) from None


Quantity = tuple[float, str]
"""A number and its unit, which may be empty."""


def read_quantity(tokens: TokenStream, *, listing: bool = False) -> list[Quantity]:
    """Return the number that comes next with its unit: 5 cm, $50k; two for 5'11" and 1 h 30 min.

    >>> from hipad.rules.lexer import words_of
    >>> [read_quantity(TokenStream(t, words_of(t))) for t in ("5 cm", "5'11''", "$2")]
    [[(5.0, 'cm')], [(5.0, 'ft'), (11.0, 'inches')], [(2.0, '$')]]
    """
    first = tokens.peek()
    if first.kind == "FEET":
        feet, inches = map(float, _FEET.findall(tokens.take().text))
        return [(feet, "ft"), (inches, "inches")]
    value = read_number(tokens, listing=listing)
    if first.kind == "MONEY":
        value *= _million(tokens)
    if tokens.own is not None and tokens.peek().low == tokens.own.lower():
        tokens.take()  # rpm > 3000 rpm
        return [(value, "")]
    unit = read_unit(tokens)
    if first.kind == "MONEY":
        return [(value, unit or first.text)]
    found = [(value, unit)]
    while unit and (part := _smaller_part(tokens, found[-1][1])) is not None:
        found.append(part)
    return found


def _smaller_part(tokens: TokenStream, unit: str) -> Quantity | None:
    """Return the rest of `5 ft 11 in`; None, with nothing read, if none follows."""
    if tokens.peek().kind != "NUMBER" or unit == "%":
        return None
    start, large = tokens.at, unit_of(unit)
    part = read_number(tokens)
    text = read_unit(tokens)
    small = unit_of(text) if text else None
    plain = large is not None and small is not None and large.kind == small.kind
    if not plain or large is None or small is None or large.offset or small.factor >= large.factor:
        tokens.at = start
        return None
    return part, text


def added_up(parts: list[Quantity]) -> Quantity:
    """Parts such as 5 ft and 11 in as one number of the last unit.

    >>> added_up([(5.0, "ft"), (11.0, "inches")])
    (71.0, 'inches')
    """
    last, total = unit_of(parts[-1][1]), 0.0
    for value, text in parts:
        unit = unit_of(text)
        if unit is not None and last is not None:  # both were read as units of one kind
            total += convert(value, unit, last) or 0.0
    return short(total), parts[-1][1]


def is_number(tokens: TokenStream, ahead: int = 0) -> bool:
    """Return whether a number without a sign comes next."""
    word = tokens.peek(ahead)
    if word.kind == "MONEY":
        word = tokens.peek(ahead + 1)
    return word.kind in ("NUMBER", "FRACTION", "HEX", "FEET")


def _digits(tokens: TokenStream, listing: bool) -> float:
    tokens.accept("MONEY")
    first = tokens.take()
    if first.kind == "FRACTION":
        return unicodedata.numeric(first.text)
    text, last = re.sub("[_'’]", "", first.text), first
    if listing:
        return float(text)
    decimal = "" if tokens.vocabulary is None else tokens.vocabulary.decimal
    if decimal == "," and (value := _with_comma(tokens, first)) is not None:
        return value
    groups = 0
    while _follows(tokens, last):
        mark = tokens.peek()
        digits = tokens.peek(1) if mark.kind == "COMMA" else mark
        if (mark.kind == "COMMA" and not _is_group(digits)) or first.text.startswith("0"):
            whole = mark.kind == "COMMA" and text.isdecimal() and digits.text.isdecimal()
            if groups or not whole:
                break
            tokens.at += 2
            _check_end(tokens, first, digits)
            return float(f"{text}.{digits.text}")
        if not text.isdecimal() or not _is_group(digits) or (not groups and len(first.text) > 3):
            break
        groups += 1
        tokens.at += 2 if mark.kind == "COMMA" else 1
        text, last = text + digits.text, digits
    if decimal != ".":
        _check_group(tokens, first, last, text, groups)
    _check_end(tokens, first, last, decimal)
    return float(text)


def _with_comma(tokens: TokenStream, first: Token) -> float | None:
    """Return a number as a table with decimal commas writes it: 1.234,5; None for any other."""
    end, text = first.end, first.text
    if _THOUSANDS.fullmatch(text):
        while (more := tokens.peek()).start == end and _GROUP.fullmatch(more.text):
            text, end = text + tokens.take().text, more.end
    comma, digits = tokens.peek(), tokens.peek(1)
    joined = comma.kind == "COMMA" and comma.start == end and digits.start == comma.end
    if joined and digits.text.isdecimal() and (text.isdecimal() or _GROUPED.fullmatch(text)):
        tokens.at += 2
        return float(f"{text.replace('.', '')}.{digits.text}")
    if not _GROUPED.fullmatch(text):
        return None
    whole = text.replace(".", "")
    if text.count(".") == 1 and not text.endswith("000"):
        raise tokens.error(
            f"'{text}' can be read in two ways, as the table has decimal commas: write {whole}, or "
            f"{text.replace('.', ',')}",
            first,
            remedy=whole,
        )
    return float(whole)


def _is_group(digits: Token) -> bool:
    """Return whether these are three digits, with or without decimals after them."""
    return len(digits.text.partition(".")[0]) == 3


def _check_group(tokens: TokenStream, first: Token, last: Token, text: str, groups: int) -> None:
    """Refuse 6,500 in the style of 6.5: one group after one digit, other than 000."""
    if groups == 1 and len(first.text) == 1 and last.end - first.start == 5 and text[-3:] != "000":
        raise tokens.error(
            f"'{first.text},{text[1:]}' can be read in two ways: write {text}, or "
            f"{first.text}.{text[1:]}",
            first,
        )


def _follows(tokens: TokenStream, last: Token) -> bool:
    """Return whether a comma with digits, or a group of three digits after a blank, comes next."""
    word, after = tokens.peek(), tokens.peek(1)
    if word.kind == "COMMA":
        joined = word.start == last.end and after.start == word.end
        return joined and after.kind == "NUMBER" and after.text[:1].isdecimal()
    blank = word.start == last.end + 1
    return word.kind == "NUMBER" and blank and len(word.text) == 3 and word.text.isdecimal()


def _check_end(tokens: TokenStream, first: Token, last: Token, decimal: str = "") -> None:
    """Refuse a number that can be read in two ways: 126.000,5 or 50.000."""
    money = first.start > 0 and tokens.line[first.start - 1] in "$€£¥"
    odd = _THOUSANDS.fullmatch(first.text) and (money or first.text.endswith(".000"))
    if odd and decimal != ".":
        whole = first.text.replace(".", "")
        raise tokens.error(
            f"'{first.text}' can be read in two ways: write {whole}, or "
            f"{float(first.text):g} without the zeros",
            first,
        )
    word, after = tokens.peek(), tokens.peek(1)
    more = word.kind == "COMMA" and after.start == word.end == last.end + 1
    if (more and after.kind == "NUMBER") or (word.kind == "NUMBER" and word.start == last.end):
        raise tokens.error(
            f"'{tokens.line[first.start : (after if more else word).end]}' can be read in two "
            "ways: write the number with a point and without marks between its digits, "
            "as in 126000.5",
            first,
        )


def _thousand(tokens: TokenStream) -> float:
    """1,000 if a k is written at the number."""
    word, before = tokens.peek(), tokens.words[tokens.at - 1]
    if word.kind == "NAME" and word.text in ("k", "K") and word.start == before.end:
        if tokens.vocabulary is not None and tokens.vocabulary.is_name(word.text):
            raise tokens.error(
                f"'{word.text}' is a feature and a thousand: write 1000 or 1*{word.text}"
            )
        tokens.take()
        return 1000.0
    if word.kind == "NAME" and word.low in SCALE_WORDS:  # 1.5 million
        if tokens.vocabulary is not None and tokens.vocabulary.is_name(word.text):
            return 1.0
        tokens.take()
        return SCALE_WORDS[word.low]
    return 1.0


def _million(tokens: TokenStream) -> float:
    """Return a million or a thousand million where a letter at a sum of money says so:
    $1.2M, €3bn.
    """
    word, before = tokens.peek(), tokens.words[tokens.at - 1]
    sizes = {"m": 1e6, "mn": 1e6, "mm": 1e6, "b": 1e9, "bn": 1e9, "tn": 1e12}
    if word.kind == "NAME" and word.start == before.end and word.low in sizes:
        tokens.take()
        return sizes[word.low]
    return 1.0


def _power_of_ten(tokens: TokenStream, value: float) -> float:
    """Return the number with a power of ten after it: 1.5 x 10^9, 10⁹."""
    before = tokens.words[tokens.at - 1]
    if tokens.peek().kind == "POWER" and before.kind == "NUMBER":
        exponent = _exponent(tokens)
        if exponent is None or abs(exponent) > 300:
            raise tokens.error("write the power as a number, as in 1e9")
        return value**exponent if value else 0.0
    word = tokens.peek()
    times = word.kind == "TIMES" or (word.kind == "NAME" and word.low == "x")
    if times and _TEN_PER.match(unit_at(tokens.line, word.start)):
        return value  # 12 x 10^9/L is 12 of a unit
    ten = tokens.peek(1)
    if times and ten.kind == "NUMBER" and ten.text == "10" and tokens.peek(2).kind == "POWER":
        tokens.at += 2
        exponent = _exponent(tokens)
        if exponent is not None and abs(exponent) <= 300:
            return value * 10.0**exponent
        raise tokens.error("write the power as a number, as in 1e9")
    return value


def _exponent(tokens: TokenStream) -> int | None:
    sign = tokens.take()
    if sign.text not in ("^", "**"):
        digits = "".join(_DIGITS.get(mark, "") for mark in sign.text)
        return int(digits) if digits.strip("-") else None
    minus = tokens.accept("MINUS") is not None
    number = tokens.accept("NUMBER")
    if number is None or not number.text.isdecimal() or len(number.text) > 3:
        return None
    return -int(number.text) if minus else int(number.text)


def read_unit(tokens: TokenStream) -> str:
    """Step over the unit that comes next and give it back, tidied; nothing if there is none."""
    word = tokens.peek()
    if _is_inches(tokens):
        tokens.take()
        return "inches"
    if tokens.is_over or word.low in RESERVED or word.low == "patients":
        return ""
    unit = unit_at(tokens.line, word.start)
    end = word.start + len(unit)
    if not unit or (unit == "%" and tokens.matches("of", ahead=1)):
        return ""
    last = max((one for one in tokens.words[tokens.at :] if one.start < end), key=lambda w: w.end)
    if tokens.line[end : last.end].strip("."):
        return ""  # a longer word that begins like a unit: mm.5
    if unit == "min" and tokens.peek(1).kind == "OPEN":
        return ""  # 2 min(a, b)
    before = tokens.words[tokens.at - 1] if tokens.at else word
    if unit in ("m", "M") and word.start == before.end:
        raise tokens.error("'m' can be a million or a metre: write the number in full, or a blank")
    if _is_own(tokens, unit):
        tokens.take()  # rpm > 3000 rpm
        return ""
    if tokens.vocabulary is not None and tokens.vocabulary.is_measured(unit):
        raise tokens.error(
            f"'{unit}' is a feature and looks like a unit: write * for the feature, "
            f"as in 2*{unit}, or leave the unit out"
        )
    while not tokens.is_over and tokens.peek().start < end:
        tokens.take()
    return "%" if unit in ("percent", "pct") else " ".join(unit.split())


def _is_own(tokens: TokenStream, unit: str) -> bool:
    """Return whether the feature that is compared is called like the unit after the number."""
    side = tokens.subject
    if not isinstance(side, tuple) or len(side) != 1 or not side[0].names:
        return False
    return bool(str(side[0].names[0]).lower() == unit.lower() == tokens.peek().low)


def _is_inches(tokens: TokenStream) -> bool:
    """Return whether `in` after a number is a unit: nothing follows that something could be in."""
    if not tokens.matches("in") or not tokens.at:
        return False
    after = tokens.peek(1)
    ends = after.low in ("and", "or", "unless", "but", "then", "worth", "to", "with", "plus")
    return ends or after.kind in ("END", "ARROW", "CLOSE", "COMMA", "AND", "OR", "PLUSMINUS")


_FEET: Final = re.compile(r"\d+(?:\.\d+)?")
_TEN_PER: Final = re.compile(r"(?:[x×*·⋅∙]\s*)?10.*/")
_GROUP: Final = re.compile(r"\.\d{3}")
_GROUPED: Final = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+")
_THOUSANDS: Final = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_DIGITS: Final = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True))
