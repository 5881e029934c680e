"""Comparisons: one condition as people write it, compared, in a range or set, or just named."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hipad.exceptions import RuleError
from hipad.rules.ast import (
    SET,
    All,
    Any,
    Condition,
    Name,
    Node,
    Side,
    Term,
    Written,
    negated,
    side_text,
)
from hipad.rules.expressions import (
    AbsoluteValue,
    MonotoneFunction,
    Operand,
    compare,
    constant,
    is_known,
    level_of,
    lone_feature,
    named_flag,
    one_feature,
    plain_text,
    read_deviations,
    read_name,
    read_operand,
    read_side,
    read_within,
    refuse_vague,
    refuse_vague_name,
    times,
)
from hipad.rules.lexer import (
    AFTER_NUMBER,
    COUNT_WORDS,
    MISSING,
    RELATION_KINDS,
    VERBS,
    Token,
    TokenStream,
    Vocabulary,
    added_up,
    format_number,
    is_number,
    quote_name,
    read_number,
    read_quantity,
    read_unit,
    rule_error,
    spoken,
)
from hipad.rules.units import convert, unit_of

# --------------------------------------------------------------------------------------------------
# Ranges of numbers: `between 3 and 5`, `18-25`, `5 ± 2`, `[1, 5)`, `30 or more`.


NumbersFound = tuple[str, Term, Term]


def read_two_numbers(tokens: TokenStream) -> NumbersFound | None:
    """Return the sign of `30 or more` with its number twice, or "range" with both limits; else
    None.
    """
    start = tokens.at
    number = read_signed(tokens)
    found = None
    if number is not None:
        found = _spread(tokens, number) or _or_more(tokens, number) or _up_to(tokens, number)
    if found is None:
        tokens.at = start
    return found


def _spread(tokens: TokenStream, middle: Term) -> NumbersFound | None:
    """5 ± 2."""
    if tokens.accept("PLUSMINUS") is None:
        return None
    spread = read_signed(tokens)
    if spread is None:
        raise tokens.error("write the spread after ±, as in 5 ± 2")
    unit, width = middle.unit or spread.unit, _width(tokens, middle, spread)
    low, high = sorted(_short(middle.coefficient + side * width) for side in (-1, 1))
    return "range", Term(low, unit=unit), Term(high, unit=unit)


def _width(tokens: TokenStream, middle: Term, spread: Term) -> float:
    """Return how far a range goes to each side, in the unit of its middle; ± 10 % is a part of
    that.
    """
    if spread.unit == "%":
        if middle.unit == "%":
            low, high = (_short(middle.coefficient + k * spread.coefficient) for k in (-1, 1))
            part = _short(abs(middle.coefficient) * spread.coefficient / 100)
            near = [_short(middle.coefficient + k * part) for k in (-1, 1)]
            raise tokens.error(
                f"± {spread} of {middle} can be read in two ways: write between "
                f"{format_number(low)} % and {format_number(high)} %, or between "
                f"{format_number(near[0])} % and {format_number(near[1])} %",
                tokens.words[tokens.at - 1],
            )
        return abs(middle.coefficient) * spread.coefficient / 100
    own, other = unit_of(middle.unit or spread.unit), unit_of(spread.unit or middle.unit)
    if own is None or other is None or own.text == other.text:
        return spread.coefficient
    width = convert(spread.coefficient, other, own, difference=True)
    if width is None:
        raise tokens.error(
            f"'{middle} ± {spread}' has units of different kinds: write both in that of the data",
            tokens.words[tokens.at - 1],
        )
    return width


def _or_more(tokens: TokenStream, number: Term) -> NumbersFound | None:
    """Read `30 or more`, `30+`."""
    word = tokens.peek()
    after = AFTER_NUMBER.get((word.low, tokens.peek(1).low)) if word.kind == "NAME" else None
    if after and not (tokens.is_name(2) or is_number(tokens, 2)) and tokens.phrase(1) != (after, 3):
        tokens.at += 2
        return after, number, number
    if word.kind == "PLUS" and _ends_condition(tokens, 1):
        tokens.take()
        return ">=", number, number
    return None


def _up_to(tokens: TokenStream, low: Term) -> NumbersFound | None:
    """18-25, 18..25, `18 to 25`."""
    if tokens.accept("MINUS", "DOTS") is None and not tokens.accept_words("to"):
        return None
    high = read_signed(tokens)
    if high is None or not _ends_condition(tokens, 0):
        return None
    unit = high.unit or low.unit
    return "range", replace(low, unit=unit), replace(high, unit=unit)


def _short(value: float) -> float:
    return float(f"{value:.15g}")


def _ends_condition(tokens: TokenStream, ahead: int) -> bool:
    word = tokens.peek(ahead)
    return word.kind not in ("PLUS", "MINUS", "TIMES", "DIVIDED", "NUMBER", "OPEN") and not (
        tokens.is_name(ahead) and word.low not in ("with", "plus", "as")
    )


def read_signed(tokens: TokenStream, *, listing: bool = False) -> Term | None:
    """Return a number with its sign and unit, or None."""
    minus = tokens.peek().kind == "MINUS"
    if tokens.peek().kind in ("MINUS", "PLUS"):
        if not is_number(tokens, 1):
            return None
        tokens.take()
    if not is_number(tokens):
        return None
    column = tokens.peek().column
    parts = read_quantity(tokens, listing=listing)
    value, unit = parts[0] if len(parts) == 1 else added_up(parts)
    return Term(-value if minus else value, column=column, unit=unit)


def between(left: Operand, low: Term, high: Term, word: Token) -> Node:
    """Return the condition low <= left <= high; RuleError where the limits are exchanged."""
    if isinstance(left, MonotoneFunction):
        low, high = (
            replace(each, coefficient=level_of(left.function, each.coefficient))
            for each in (low, high)
        )
        left = left.side
    if not isinstance(left, tuple):
        message = "a range needs a feature or a sum: write two conditions"
        raise rule_error(message, column=word.column)
    if high.unit and not low.unit:
        low = replace(low, unit=high.unit)
    if low.unit and not high.unit:
        high = replace(high, unit=low.unit)
    if is_above(low, high):
        remedy = f"{side_text(left)} between {high} and {low}"
        raise rule_error(
            f"the limits of the range are exchanged, it can never be met: write {remedy}",
            column=word.column,
            suggestion=remedy,
        )
    return Condition(((low,), left, (high,)), ("<=", "<="), "between")


def is_above(low: Term, high: Term) -> bool:
    """Return whether the first of two numbers is the larger one, their units counted."""
    first, second = unit_of(low.unit), unit_of(high.unit)
    if low.unit != high.unit and first is not None and second is not None:
        same = convert(high.coefficient, second, first)
        return same is not None and low.coefficient > same
    return low.coefficient > high.coefficient


def read_range(tokens: TokenStream, left: Operand, opened: Token) -> Node:
    """Return what follows `between` or `in`: two limits, or an interval between brackets."""
    for words in (("the", "range"), ("range",), ("the", "interval"), ("of",)):
        if tokens.accept_words(*words):
            break
    bracket = tokens.accept("OPEN")
    if bracket is not None:
        return read_interval(tokens, left, bracket)
    low = read_signed(tokens)
    if low is None:
        raise tokens.error("write the range as: a between 1 and 3")
    joined = (
        tokens.accept_words("and")
        or tokens.accept_words("to")
        or tokens.accept("AND", "MINUS", "DOTS", "COMMA")
    )
    high = read_signed(tokens) if joined else None
    if high is None:
        raise tokens.error("write the range as: a between 1 and 3")
    return between(left, low, high, opened)


def read_interval(tokens: TokenStream, left: Operand, bracket: Token) -> Node:
    """[1, 5], [1, 5) or (1, 5]."""
    low = read_signed(tokens, listing=True)
    comma = tokens.accept("COMMA", "SEMICOLON", "DOTS", "MINUS") or tokens.accept_words("to")
    high = read_signed(tokens, listing=True) if comma else None
    closing = tokens.accept("CLOSE")
    if low is None or high is None or closing is None:
        raise tokens.error("write the range as: a in [1, 3], or a between 1 and 3")
    node = between(left, low, high, bracket)
    assert isinstance(node, Condition)
    if bracket.text == "(" and closing.text == ")":
        shown = side_text(node.sides[1])
        raise rule_error(
            f"whether ({low}, {high}) is a range with its ends is not known: write {shown} between "
            f"{low} and {high}, or {low} < {shown} < {high}",
            column=bracket.column,
        )
    if bracket.text == "(" or closing.text == ")":
        relations = ("<" if bracket.text == "(" else "<=", "<" if closing.text == ")" else "<=")
        return Condition(node.sides, relations)
    return node


# --------------------------------------------------------------------------------------------------
# Top and bottom shares of a feature: `top 10 % of x`, `the lowest quartile`.


_SHARES: Final = {"decile": 10.0, "quartile": 25.0, "quintile": 20.0, "tertile": 100 / 3,
                  "tercile": 100 / 3, "percentile": 1.0, "half": 50.0}  # fmt: skip
_TOPS: Final = {"top": True, "highest": True, "upper": True, "bottom": False, "lowest": False,
                "lower": False}  # fmt: skip


def read_share(tokens: TokenStream) -> tuple[bool, float] | None:
    """Read `top 10 %`, `the lowest quartile`: whether it is the top, and the share in percent."""
    start = tokens.at
    if tokens.peek().low != "the" and tokens.peek().low not in _TOPS:
        return None
    tokens.accept_words("the")
    word = tokens.peek()
    if word.low not in _TOPS:
        tokens.at = start
        return None
    tokens.take()
    after = tokens.peek()
    if after.kind == "NAME" and after.low in _SHARES:
        tokens.take()
        return _TOPS[word.low], _SHARES[after.low]
    if is_number(tokens):
        share = read_number(tokens)
        if tokens.accept("PERCENT") or tokens.accept_words("percent"):
            if not 0 < share < 100:
                raise tokens.error("write a share between 0 and 100 %", after)
            return _TOPS[word.low], share
    tokens.at = start
    return None


def share_condition(term: Term, top: bool, share: float) -> Condition:
    """Return a feature beyond its own percentile: `top 10 % of x` is x >= p90(x)."""
    level = format_number(round(100 - share if top else share, 6))
    border = Term(1.0, term.names, f"p{level}", term.column)
    return Condition(((term,), (border,)), (">=" if top else "<=",))


# --------------------------------------------------------------------------------------------------
# What may follow in, between, outside, or a sign: a range, a set of values, or a top share.


_SUM: Final = ("PLUS", "MINUS", "TIMES", "DIVIDED")


def _is_whole(tokens: TokenStream, name: str) -> bool:
    return tokens.vocabulary is not None and tokens.vocabulary.is_whole(name)


def number_of(name: Name) -> float | None:
    """Return the number that a value is written as; None for a word."""
    try:
        return float(name) if isinstance(name, str) else None
    except ValueError:
        return None


def read_right_range(tokens: TokenStream, left: Operand, relation: str) -> Node | None:
    """18-25, 5 ± 2, `30 or more`, `top 10 %`, a missing value: what may follow = or is."""
    word = tokens.peek()
    if word.kind == "NAME" and word.low in MISSING and not is_known(tokens, word.text):
        raise tokens.error(
            f"'{word.text}' is no value to compare with, a patient without a value meets no "
            "condition: add a column of 0 and 1 that says where the value is missing"
        )
    if relation == "=" and (top := read_share(tokens)) is not None:
        return share_condition(one_feature(left, tokens), *top)
    start = tokens.at
    pair = read_two_numbers(tokens)
    if pair is None:
        return None
    kind, low, high = pair
    if kind != "range":
        if relation != "=":
            tokens.at = start
            return None
        return compare(left, kind, (low,))
    if relation != "=":
        raise tokens.error(
            f"'{tokens.text(start)}' is a range: write = before a range, as in "
            f"a = {low}-{high}, or one number after {relation}",
            tokens.words[start],
        )
    return between(left, low, high, tokens.words[start])


def read_ranged(tokens: TokenStream, left: Operand) -> Node | None:
    """between, in, from, within, outside: a range or a set after its word."""
    start = tokens.at
    if tokens.accept("NOTIN"):
        return negated(_set_or_range(tokens, left, tokens.peek()))
    opened = tokens.peek(1)
    if tokens.accept_words("outside"):
        tokens.accept_words("of")
        return negated(read_range(tokens, left, opened))
    if tokens.accept_words("out", "of"):
        tokens.accept_words("the")
        tokens.accept_words("range")
        return negated(read_range(tokens, left, opened))
    turned = tokens.accept_words("not")
    strict = tokens.accept_words("strictly")
    opened = tokens.peek()
    if tokens.matches("within") and (near := _near_mean(tokens, left)) is not None:
        node = near
    elif any(tokens.accept_words(word) for word in ("between", "from", "within", "inside")):
        if (near := _near(tokens, left, opened)) is not None:
            return negated(near) if turned else near
        node = read_range(tokens, left, opened)
        if tokens.accept_words("exclusive") or strict:
            assert isinstance(node, Condition)
            node = Condition(node.sides, ("<", "<"))
        else:
            tokens.accept_words("inclusive")
    elif tokens.accept("IN") or tokens.accept_words("in") or tokens.accept_words("one", "of"):
        node = _set_or_range(tokens, left, opened)
    else:
        tokens.at = start
        return None
    return negated(node) if turned else node


def _near_mean(tokens: TokenStream, left: Operand) -> Node | None:
    """Read `within 2 sd of the mean`; None, with nothing read, if something else comes."""
    word = tokens.take()
    if (node := read_within(tokens, left)) is None:
        tokens.at -= 1
        assert tokens.peek() is word
    return node


def _near(tokens: TokenStream, left: Operand, opened: Token) -> Node | None:
    """Read `within 5 of 100`, `within ±1 of 5`: at most so far from a number; `from 65 up`."""
    start = tokens.at
    both = tokens.accept("PLUSMINUS") is not None
    spread = read_signed(tokens)
    if spread is not None and opened.low == "from":
        if any(tokens.accept_words(word) for word in ("up", "upwards", "on", "onwards")):
            return compare(left, ">=", (spread,))
    elif spread is not None and tokens.accept_words("of"):
        middle = read_signed(tokens)
        if middle is not None and (not spread.unit or (spread.unit == "%" != middle.unit)):
            size = abs(spread.coefficient)
            size *= abs(middle.coefficient) / 100 if spread.unit else 1.0
            low, high = (
                replace(middle, coefficient=middle.coefficient + sign * size) for sign in (-1, 1)
            )
            return between(left, low, high, opened)
    elif spread is not None and both:  # within ±5
        size = abs(spread.coefficient)
        ends = (replace(spread, coefficient=sign * size) for sign in (-1, 1))
        return between(left, next(ends), next(ends), opened)
    tokens.at = start
    return None


def read_numbers(tokens: TokenStream, left: Operand) -> Node | None:
    """Read `ecog 0 or 1`, `ecog 3, 4`: several whole values of a column of whole numbers."""
    name, known, start = lone_feature(left), tokens.vocabulary, tokens.at
    if name is None or known is None or not known.is_whole(name):
        return None
    found: list[float] = []
    while is_number(tokens):
        found.append(read_number(tokens, listing=True))
        at = tokens.at
        if tokens.accept("COMMA", "OR"):
            tokens.accept_words("or")
        elif not tokens.accept_words("or"):
            break
        if not is_number(tokens) or tokens.peek(1).kind in ("MINUS", "DOTS") or tokens.is_name(1):
            tokens.at = at
            break
    if len(found) < 2 or tokens.relation() is not None or tokens.peek().kind in _SUM:
        tokens.at = start
        return None
    return one_of(left, found)


def one_of(left: Operand, values: list[float]) -> Node:
    """Return the condition for one of several numbers; a range where they are neighbours."""
    whole = sorted(set(values))
    if len(whole) > 1 and whole == [whole[0] + k for k in range(len(whole))] and whole[0] % 1 == 0:
        assert isinstance(left, tuple)
        return Condition(((Term(whole[0]),), left, (Term(whole[-1]),)), ("<=", "<="), "between")
    parts = tuple(compare(left, "=", (Term(value),)) for value in whole)
    return parts[0] if len(parts) == 1 else Any(parts)


def _set_or_range(tokens: TokenStream, left: Operand, opened: Token) -> Node:
    tokens.accept_words("the")
    if (top := read_share(tokens)) is not None:
        return share_condition(one_feature(left, tokens), *top)
    bracket = tokens.peek()
    if bracket.kind != "OPEN":
        return read_range(tokens, left, opened)
    numbers = is_number(tokens, 1) or (tokens.peek(1).kind in ("MINUS", "PLUS"))
    if numbers and bracket.text in "[(" and _count_commas(tokens) == 1:
        tokens.take()
        return read_interval(tokens, left, bracket)
    return _member(tokens, left)


def _count_commas(tokens: TokenStream) -> int:
    count, at = 0, tokens.at
    while at < len(tokens.words) and tokens.words[at].kind != "CLOSE":
        count += tokens.words[at].kind in ("COMMA", "SEMICOLON", "DOTS") or (
            tokens.words[at].low == "to"
        )
        at += 1
    return count


def _member(tokens: TokenStream, left: Operand) -> Node:
    """stage in {II, III}."""
    name = lone_feature(left)
    opening = tokens.take()
    if name is None:
        raise tokens.error("name one feature before 'in', as in stage in {II, III}", opening)
    items: list[Name] = []
    while True:
        if tokens.peek().kind == "NUMBER":
            items.append(format_number(read_number(tokens, listing=True)))
        elif tokens.is_name():
            items.append(read_name(tokens))
        else:
            raise tokens.error("write values with commas between them, as in stage in {II, III}")
        if tokens.accept("CLOSE"):
            break
        if not (tokens.accept("COMMA", "SEMICOLON") or tokens.accept_words("or")):
            raise tokens.error("write ',' between the values, as in stage in {II, III}")
    unique = tuple(dict.fromkeys(items))
    if all(number_of(item) is not None for item in unique) and _is_whole(tokens, name):
        return one_of(left, [number_of(item) or 0.0 for item in unique])
    return Condition(
        ((Term(1.0, (name,), column=opening.column),), (Term(1.0, unique, SET),)), ("=",), "member"
    )


# --------------------------------------------------------------------------------------------------
# Categories compared with their own values, as people say it: `stage II or III`, `mode is off`.
#
# A value of the category wins over a word of the language, so `purpose = n/a` and `sex = not
# stated` are comparisons. All this needs the data's vocabulary; without it, or where what follows
# is no value of the category, the usual reading goes on.


MOST_WORDS: Final = 5  # of a category's name
_NOUNS: Final = frozenset(
    spoken("class stage grade level type group category status value score functional")
)
_IS: Final = frozenset(spoken("is are was were equals being"))
_STOPS: Final = frozenset(
    spoken("and or but unless except with without while whilst plus to through xor if when nor as")
)
_ENDS: Final = frozenset(
    spoken("COMMA SEMICOLON CLOSE AND OR BAR ARROW PLUS MINUS DOTS DIVIDED END NOTE")
)
_PRESENT: Final = frozenset(spoken("present yes true on positive detected active confirmed"))
_ABSENT: Final = frozenset(spoken("absent no false off negative undetected inactive"))
_JUDGED: Final = {"worse": "worse", "better": "better"}


def read_levels(tokens: TokenStream) -> Node | None:
    """Return a category or a column of 0 and 1 compared with values of its own; None for anything
    else.
    """
    known = tokens.vocabulary
    if known is None or not tokens.is_name():
        return None
    start = tokens.at
    for n in range(_n_words(tokens), 0, -1):
        name = _name(tokens, n)
        tokens.at = start + n
        if (category := known.category(name)) is not None:
            node = _Comparison(tokens, known, category, start).read()
            if node is not None:
                tokens.subject = (Term(1.0, (category,), column=tokens.words[start].column),)
                tokens.asked = "="
                return node
        is_flag = category is None and known.is_zero_one_name(name)
        if is_flag and (node := _present_or_absent(tokens, name, start)) is not None:
            return node
        tokens.at = start
    return None


def _n_words(tokens: TokenStream) -> int:
    """Return how many words from here on may be a name together."""
    if tokens.peek().kind != "NAME":
        return 1
    n = 1
    while n < MOST_WORDS and tokens.peek(n).kind == "NAME" and tokens.is_name(n):
        n += 1
    return n


def _name(tokens: TokenStream, n: int) -> str:
    words = tokens.words[tokens.at : tokens.at + n]
    return plain_text(words[0].text) if n == 1 else " ".join(word.text for word in words)


def _present_or_absent(tokens: TokenStream, name: str, start: int) -> Node | None:
    """Read `diabetes present`, `alarm off`, `alarm is not active`."""
    if tokens.peek().low in _IS:
        tokens.take()
    turned = tokens.accept_words("not")
    word = tokens.peek().low
    if word not in _PRESENT | _ABSENT:
        return None
    tokens.take()
    if not _ends(tokens):
        return None
    flag = named_flag(name, tokens.words[start].column)
    return negated(flag) if (word in _ABSENT) != turned else flag


def _ends(tokens: TokenStream) -> bool:
    """Return whether a condition may end here."""
    word = tokens.peek()
    return tokens.is_over or word.kind in _ENDS or word.low in _STOPS


class _Comparison:
    """What follows the name of a category."""

    def __init__(self, tokens: TokenStream, known: Vocabulary, category: str, start: int) -> None:
        self.tokens, self.known, self.category = tokens, known, category
        self.column = tokens.words[start].column

    def read(self) -> Node | None:
        """Return the condition; None if no value of the category follows."""
        tokens = self.tokens
        self._skip_nouns()
        if (level := self._level()) is not None:
            return self._listed(level, False)
        turned = False
        if tokens.peek().low in _IS or tokens.accept("EQ", "COLON"):
            tokens.at += tokens.peek().low in _IS
            self._skip_nouns()
            if (level := self._level()) is not None:
                return self._listed(level, False)
        elif tokens.accept("NE") or tokens.accept_words("isn't"):
            turned = True
            if (level := self._level()) is not None:
                return self._listed(level, True)
        if tokens.accept_words("neither"):
            return self._neither()
        if tokens.accept("NOTIN") or tokens.accept("NOT") or tokens.accept_words("not"):
            turned = not turned
            if (level := self._level()) is not None:
                return self._listed(level, turned)
        if any(tokens.accept_words(word) for word in ("between", "from", "within")):
            return self._between(turned)
        if tokens.accept("IN") or tokens.accept_words("in") or tokens.accept_words("one", "of"):
            return self._set(turned)
        if tokens.accept_words("either") or tokens.accept("OPEN"):
            tokens.at -= tokens.words[tokens.at - 1].kind == "OPEN"
            return self._set(turned)
        return self._ranked(turned)

    def _skip_nouns(self) -> None:
        """Step over a word such as class, where it does not begin a value."""
        tokens = self.tokens
        while tokens.peek().low in _NOUNS and self._level(step=False) is None:
            tokens.take()
        if tokens.accept_words("of") and self._level(step=False) is None:
            tokens.at -= 1

    def _level(self, *, step: bool = True, strict: bool = False) -> str | None:
        """Return the value that comes next, as the data write it."""
        tokens, word = self.tokens, self.tokens.peek()
        if tokens.is_over:
            return None
        if word.kind in ("QUOTED", "STRING"):
            text = plain_text(word.text)
            found = self.known.level_at(self.category, text, 0)
            if found is None or found[1] != len(text):
                return None
            tokens.at += step
            return found[0]
        found = self.known.level_at(self.category, tokens.line, word.start)
        if found is None and not strict and word.kind in ("NAME", "NUMBER"):
            level = self.known.level_like(self.category, word.text)
            found = None if level is None else (level, word.end)
        if found is None:
            return None
        level, end = found
        at, cut = tokens.at, False
        while not tokens.is_over and tokens.peek().start < end:
            cut = tokens.take().end > end
        if cut or not step:
            tokens.at = at
        return None if cut else level

    def _listed(self, first: str, turned: bool) -> Node | None:
        """Return one value, several, a range of them, or one and those above it."""
        tokens = self.tokens
        if (beyond := self._beyond(first)) is not None:
            return negated(beyond) if turned else beyond
        at = tokens.at
        if (
            tokens.accept("MINUS", "DOTS")
            or tokens.accept_words("to")
            or tokens.accept_words("through")
        ):
            last = self._level(strict=True)
            if last is not None and _ends(tokens):
                return self._range(first, last, turned)
            tokens.at = at
        levels = [first, *self._more()]
        return self._among(levels, turned) if _ends(tokens) else None

    def _more(self) -> list[str]:
        """Return further values, with or, commas or a stroke before them."""
        tokens = self.tokens
        found: list[str] = []
        while True:
            at = tokens.at
            comma = tokens.accept("COMMA", "OR", "BAR", "DIVIDED") is not None
            joined = tokens.accept_words("or") or tokens.accept_words("and")
            if joined and tokens.accept("DIVIDED"):
                tokens.accept_words("or")
            if not (comma or joined):
                return found
            level = self._level(strict=True)
            if level is None or not _ends(tokens):
                tokens.at = at
                return found
            found.append(level)

    def _beyond(self, level: str) -> Node | None:
        """Read `II or higher`, `II+`, `II or worse`."""
        tokens, word = self.tokens, self.tokens.peek()
        if word.kind == "PLUS":
            tokens.take()
            if _ends(tokens):
                return self._compared(">=", level)
            tokens.at -= 1
            return None
        after = tokens.peek(1).low
        if word.low in ("or", "and") and after in _JUDGED and not tokens.is_name(2):
            tokens.at += 2
            return self._compared(self._judged(after, level) + "=", level)
        relation = AFTER_NUMBER.get((word.low, after))
        if relation is None or tokens.is_name(2):
            return None
        tokens.at += 2
        return self._compared(relation, level)

    def _neither(self) -> Node | None:
        tokens = self.tokens
        levels = []
        while (level := self._level()) is not None:
            levels.append(level)
            if not (tokens.accept_words("nor") or tokens.accept_words("or")
                    or tokens.accept("COMMA")):  # fmt: skip
                break
        return self._among(levels, True) if levels and _ends(tokens) else None

    def _between(self, turned: bool) -> Node | None:
        tokens = self.tokens
        low = self._level()
        joined = low is not None and (
            tokens.accept_words("and") or tokens.accept_words("to")
            or tokens.accept("AND", "MINUS", "DOTS") is not None
        )  # fmt: skip
        high = self._level() if joined else None
        if low is None or high is None or not _ends(tokens):
            return None
        return self._range(low, high, turned)

    def _range(self, low: str, high: str, turned: bool) -> Node:
        order = self.known.order(self.category)
        if order is None or not {low, high} <= set(order.levels):
            name = quote_name(self.category)
            both = f"{name} in {{{quote_name(low)}, {quote_name(high)}}}"
            raise rule_error(
                f"the order of the values of {self.category} is not known: write which are meant, "
                f"as in {both}",
                column=self.column,
            )
        first, last = sorted(map(order.levels.index, (low, high)))
        return self._among(list(order.levels[first : last + 1]), turned)

    def _set(self, turned: bool) -> Node | None:
        """Return values with commas between them, with or without brackets."""
        tokens = self.tokens
        opened = tokens.accept("OPEN")
        tokens.accept_words("either")
        level = self._level()
        if level is None:
            return None
        levels = [level, *self._more()]
        if opened is not None and tokens.accept("CLOSE") is None:
            return None
        return self._among(levels, turned) if _ends(tokens) else None

    def _ranked(self, turned: bool) -> Node | None:
        """Return a sign and a value: `stage >= II`, `worse than II`."""
        tokens = self.tokens
        if tokens.peek().low in _JUDGED and tokens.matches("than", ahead=1):
            word = tokens.take().low
            tokens.take()
            level = self._level()
            if level is None or not _ends(tokens):
                return None
            return self._compared(self._judged(word, level), level)
        found = tokens.relation()
        if found is None or found[0] in ("=", "!="):
            return None
        tokens.at += found[1]
        level = self._level()
        if level is None or not _ends(tokens):
            return None
        node = self._compared(found[0], level)
        return negated(node) if turned else node

    def _judged(self, word: str, level: str) -> str:
        """Return the sign of worse or better, where the data tell which end of the values
        is worse.
        """
        order = self.known.order(self.category)
        if order is None or not order.worse or level not in order.levels:
            name, quoted = quote_name(self.category), quote_name(level)
            both = (f"{name} >= {quoted}", f"{name} <= {quoted}")
            raise rule_error(
                f"which values of {self.category} are {word} is not known: write "
                f"{both[0]} or {both[1]}, or name the values",
                column=self.column,
                expected=both if order is not None and order.ranked else (),
            )
        return ">" if (word == "worse") == (order.worse == "up") else "<"

    def _compared(self, relation: str, level: str) -> Node:
        """Return the category on one side of a value; letters count from A, where worse is
        meant.
        """
        order = self.known.order(self.category)
        if order is not None and not order.ranked and level in order.levels and self._by_word:
            at = order.levels.index(level)
            up = relation[0] == ">"
            own = relation[1:] == "="
            chosen = order.levels[at + (not own) :] if up else order.levels[: at + own]
            if chosen:
                return self._among(list(chosen), False)
        return Condition((self._side, (_level_term(level),)), (relation,))

    @property
    def _by_word(self) -> bool:
        """Whether the words before say worse or better, so that letters have a direction."""
        before = self.tokens.words[max(self.tokens.at - 3, 0) : self.tokens.at]
        return any(word.low in _JUDGED for word in before)

    @property
    def _side(self) -> tuple[Term, ...]:
        return (Term(1.0, (self.category,), column=self.column),)

    def _among(self, levels: list[str], turned: bool) -> Condition:
        relation = "!=" if turned else "="
        unique = tuple(dict.fromkeys(levels))
        if len(unique) == 1:
            return Condition((self._side, (_level_term(unique[0]),)), (relation,))
        return Condition((self._side, (Term(1.0, unique, SET),)), (relation,), "member")


def _level_term(level: str) -> Term:
    """Return a value as a side: a number where it is one, else a name."""
    plain = level.isdecimal() and len(level) < 10 and str(int(level)) == level
    return Term(float(level)) if plain else Term(1.0, (level,))


# --------------------------------------------------------------------------------------------------
# What follows the first side of a condition: signs with further sides, a range, or nothing.


_RANGES: Final = frozenset(spoken("not outside out between strictly from within inside in one"))
_BE: Final = frozenset(("is", "are", *VERBS))
_EVERY: Final = ("both", "all", "each")
_LIMITS: Final = {"min": ">=", "minimum": ">=", "max": "<=", "maximum": "<="}


def read_comparison(tokens: TokenStream, left: Operand) -> Node:
    """Return what follows a side: a range, signs with further sides, a number, or nothing."""
    if tokens.matches("of") and (tokens.phrase(1) is not None or is_number(tokens, 1)):
        tokens.take()
    if tokens.peek().low in _EVERY:
        tokens.take()
        if tokens.relation() is None and tokens.peek().low not in _RANGES:
            tokens.at -= 1
    if tokens.peek().low in _LIMITS and is_number(tokens, 1) and lone_feature(left) is not None:
        return compare(left, _LIMITS[tokens.take().low], read_operand(tokens))
    start = tokens.at
    if tokens.peek().low in _BE:
        tokens.take()
    ranged = tokens.peek().low in _RANGES or tokens.peek().kind in ("IN", "NOTIN")
    if ranged and (node := read_ranged(tokens, left)) is not None:
        return node
    tokens.at = start
    found = tokens.relation()
    if found is None:
        return _uncompared(tokens, left)
    operands: list[Operand] = [left]
    relations: list[str] = []
    signs: list[Token] = []
    while (found := tokens.relation()) is not None:
        if tokens.peek().low in ("is", "are") and tokens.peek(1).kind in RELATION_KINDS:
            tokens.take()
            continue
        signs.append(tokens.peek())
        tokens.at += found[1]
        refuse_vague(tokens, left)
        relations.append(found[0])
        if len(relations) == 1 and (node := read_right_range(tokens, left, found[0])) is not None:
            return node
        tokens.implied = None
        operands.append(_right(tokens, left, found[0]))
        if (node := _further_than(tokens, operands, relations)) is not None:
            return node
        if tokens.implied is not None and tokens.relation() is not None:
            raise tokens.error(
                "write 'and' or 'or' between conditions, or * between a number and a feature",
                tokens.implied,
            )
    tokens.asked = relations[-1]
    return _chain(operands, relations, signs, tokens)


def _further_than(
    tokens: TokenStream, operands: list[Operand], relations: list[str]
) -> Node | None:
    """Read `a at least 40 more than b`: by how much two features differ."""
    left, amount = operands[0], operands[-1]
    if tokens.matches("by") and len(relations) == 1:
        return _by_how_much(tokens, left, amount, relations[0])
    phrase = tokens.phrase()
    if len(relations) > 1 or phrase is None or phrase[0] not in (">", "<"):
        return None
    if not isinstance(left, tuple) or not isinstance(amount, tuple) or constant(amount) is None:
        return None
    start = tokens.at
    tokens.at += phrase[1]
    if constant(left) is None and tokens.is_name():
        other = read_operand(tokens)
        if isinstance(other, tuple) and constant(other) is None:
            gap = (*left, *times(other, -1.0))
            return compare(gap if phrase[0] == ">" else times(gap, -1.0), relations[0], amount)
    tokens.at = start
    return None


def _by_how_much(tokens: TokenStream, left: Operand, right: Operand, relation: str) -> Node | None:
    """Read `a exceeds b by more than 10`, `a differs from b by at least 10`."""
    if not isinstance(left, tuple) or not isinstance(right, tuple) or relation == "=":
        return None
    start = tokens.at
    tokens.take()
    found = tokens.relation()
    sign = found[0] if found is not None else ">="
    tokens.at += found[1] if found is not None else 0
    if is_number(tokens) and sign not in ("=", "!="):
        amount = read_operand(tokens)
        gap = (*left, *times(right, -1.0))
        if relation == "!=":
            return compare(AbsoluteValue(gap), sign, amount)
        return compare(gap if relation[0] == ">" else times(gap, -1.0), sign, amount)
    tokens.at = start
    return None


def _right(tokens: TokenStream, left: Operand, relation: str) -> Operand:
    """Return the side after a sign; mean, median and sd alone are those of the left side's
    feature.
    """
    name = lone_feature(left)
    known = tokens.vocabulary
    if (border := _nth_percentile(tokens, name)) is not None:
        return border
    if (border := read_deviations(tokens, left, relation)) is not None:
        return border
    if (number := _number_word(tokens)) is not None:
        return number
    if tokens.is_name(1):
        tokens.accept_words("its")
    tokens.own = name if known is not None else None
    right = read_operand(tokens)
    tokens.own = None
    return right


def _number_word(tokens: TokenStream) -> Side | None:
    """Read `zero` to `ten`, where no feature is called so."""
    word, known = tokens.peek(), tokens.vocabulary
    value = 0 if word.low == "zero" else COUNT_WORDS.get(word.low)
    if value is None or tokens.is_name(1) or known is None or known.is_name(word.text):
        return None
    tokens.take()
    return (Term(float(value), column=word.column),)


def _nth_percentile(tokens: TokenStream, name: str | None) -> Side | None:
    """Read `the 90th percentile`, of the feature that is compared."""
    start = tokens.at
    if not tokens.accept_words("the"):
        tokens.accept_words("its")
    if name is not None and tokens.peek().kind == "NUMBER":
        number = tokens.take()
        ending = (
            tokens.accept_words("th")
            or tokens.accept_words("st")
            or (tokens.accept_words("nd") or tokens.accept_words("rd"))
        )
        if ending and number.text in ("1", "2", "3") and tokens.accept_words("quartile"):
            return (Term(1.0, (name,), f"p{25 * int(number.text)}", number.column),)
        if ending and tokens.accept_words("percentile") and float(number.text) <= 100:
            share = format_number(float(number.text))
            return (Term(1.0, (name,), f"p{share}", number.column),)
    tokens.at = start
    return None


def _chain(
    operands: list[Operand], relations: list[str], signs: list[Token], tokens: TokenStream
) -> Node:
    if len(relations) == 1:
        return _placed(lambda: compare(operands[0], relations[0], operands[1]), signs[0])
    directions = {relation[0] for relation in relations}
    if len(directions) > 1 or directions & {"!"}:
        message = "the signs of a chain must point the same way: write 3 <= x <= 5"
        raise rule_error(message, column=signs[-1].column)
    sides = [operand for operand in operands if isinstance(operand, tuple)]
    if len(sides) == len(operands) == 3 and "=" not in relations:
        chain = _placed(lambda: Condition(tuple(sides), tuple(relations)), signs[0])
        assert isinstance(chain, Condition)
        _check_limits(chain, signs[0].column)
        return chain
    pairs = zip(operands, relations, operands[1:], strict=False)
    return All(tuple(_placed(lambda p=pair: compare(*p), signs[0]) for pair in pairs))


def _placed(make, sign: Token) -> Node:  # type: ignore[no-untyped-def]
    """Return what `make` gives; its error stands at the sign."""
    try:
        node: Node = make()
    except RuleError as error:
        if error.column is not None:
            raise
        raise rule_error(str(error), column=sign.column, suggestion=error.suggestion) from None
    return node


def _check_limits(condition: Condition, column: int) -> None:
    first, last = constant(condition.sides[0]), constant(condition.sides[2])
    if first is None or last is None:
        return
    low, high = condition.sides[0][0], condition.sides[2][0]
    if is_above(low, high) if condition.relations[0][0] == "<" else is_above(high, low):
        low, high = (high, low) if is_above(low, high) else (low, high)
        remedy = f"{side_text(condition.sides[1])} between {low} and {high}"
        message = f"'{condition}' can never be met, its limits are exchanged: write {remedy}"
        raise rule_error(message, column=column, suggestion=remedy)


def _uncompared(tokens: TokenStream, left: Operand) -> Node:
    """Return a side without a sign: `Age 18-25`, `BMI 30 or more`, or a name alone."""
    word = tokens.peek()
    if not isinstance(left, tuple) or constant(left) is not None:
        raise tokens.error(
            "compare this with something, as in Glucose >= 126"
            if not tokens.is_over
            else "compare it, and end with the outcome, as in Glucose >= 126 => positive"
        )
    name = lone_feature(left)
    if (name is not None and is_number(tokens)) or (word.kind == "MINUS" and is_number(tokens, 1)):
        if (numbers := read_numbers(tokens, left)) is not None:
            return numbers
        if (node := read_right_range(tokens, left, "=")) is not None and _is_settled(node):
            tokens.asked = "="
            return node
        quoted = quote_name(name) if name else "the feature"
        raise tokens.error(f"write a sign before the number, as in {quoted} >= {word.text}", word)
    if len(left) == 1 and left[0].function == "" and left[0].coefficient == 1.0:
        refuse_vague_name(left[0], tokens)
        return named_flag(left[0].names[0], left[0].column or 1)
    if len(left) == 2 and left[0].names[:1] == ("non",):
        name = side_text(times(left[1:], -1.0))
        raise tokens.error(f"write not {name}, or the whole name between backticks")
    raise tokens.error(
        f"'{side_text(left)}' is not compared: write a sign and a number after it, as in "
        f"{side_text(left)} >= 2",
        None,
    )


def _is_settled(node: Node) -> bool:
    return not (isinstance(node, Condition) and node.form == "compare" and node.relations == ("=",))


# --------------------------------------------------------------------------------------------------
# One condition as people write it: compared, in a range, of a size without sign, or just named.
#
# This is where a condition begins; what follows its first side is read in `comparisons.py`.


def read_atom(tokens: TokenStream) -> Node:
    """Read one condition; it keeps how it was written until the data are known."""
    start, first = tokens.at, tokens.peek()
    tokens.unit = ""
    try:
        node = _in_unit(_atom(tokens), tokens.unit)
    except RuleError as error:
        if error.column is not None:
            raise
        raise rule_error(str(error), column=first.column, suggestion=error.suggestion) from None
    if isinstance(node, Condition) and tokens.vocabulary is None:
        return replace(node, written=Written(tokens.text(start), first.column, node.sides))
    return node


def _in_unit(node: Node, unit: str) -> Node:
    """Return the condition with a unit for its numbers, that stood after the feature's name."""
    if not unit:
        return node
    if not isinstance(node, Condition):
        return type(node)(tuple(_in_unit(part, unit) for part in node.parts))
    sides = tuple(
        tuple(replace(t, unit=unit) if t.is_number and not t.unit else t for t in side)
        for side in node.sides
    )
    return replace(node, sides=sides)


def _atom(tokens: TokenStream) -> Node:
    if (node := read_levels(tokens)) is not None:
        return node
    refuse_vague(tokens)
    if (top := read_share(tokens)) is not None:
        tokens.accept_words("of")
        return share_condition(one_feature(read_side(tokens), tokens), *top)
    given = tokens.relation()
    if given is not None and tokens.subject is not None and not tokens.matches("is", "not"):
        return read_comparison(tokens, tokens.subject)  # a >= 2 or <= -3
    if given is not None and tokens.subject is None:
        return _counted_things(tokens, given)
    goes_on = tokens.subject is not None and tokens.asked == "=" and is_number(tokens)
    if goes_on and (node := read_right_range(tokens, tokens.subject, "=")) is not None:
        return node  # a 12-24 or 36-48
    operand = read_operand(tokens)
    value = constant(operand) if isinstance(operand, tuple) else None
    if value is None:
        tokens.subject = operand
    elif tokens.subject is not None and tokens.relation() is None and tokens.asked == "=":
        return compare(tokens.subject, "=", operand)  # a = 2 or 3
    return read_comparison(tokens, operand)


def _counted_things(tokens: TokenStream, given: tuple[str, int]) -> Node:
    """Read `at least 3 lymph_nodes`: the sign and the number stand before the feature."""
    start = tokens.peek()
    said = tokens.text(tokens.at, tokens.at + given[1])
    tokens.at += given[1]
    known = tokens.vocabulary is None or is_known(tokens, tokens.peek(1).text.strip("`"))
    if is_number(tokens) and tokens.is_name(1) and known:
        value = Term(read_number(tokens), column=start.column)
        unit = read_unit(tokens)
        name = "" if unit else read_name(tokens)
        if name and tokens.relation() is None:
            return compare((Term(1.0, (name,), column=start.column),), given[0], (value,))
    raise tokens.error(
        f"it is not said what is '{said}': write the feature before it, as in Age >= 45", start
    )
