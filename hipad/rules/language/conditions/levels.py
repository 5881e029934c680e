"""Categories compared with their own values, as people say it: `stage II or III`, `mode is off`.

A value of the category wins over a word of the language, so `purpose = n/a` and `sex = not stated`
are comparisons. All this needs the data's vocabulary; without it, or where what follows is no value
of the category, the usual reading goes on.
"""

from __future__ import annotations

from typing import Final

from hipad.rules.language.conditions.flags import named_flag
from hipad.rules.language.logic import Node, negated
from hipad.rules.language.model import Condition
from hipad.rules.language.sides.spelled_names import plain_text
from hipad.rules.language.spelling import quote_name, rule_error, spoken
from hipad.rules.language.terms import SET, Term
from hipad.rules.language.words.cursor import Cursor
from hipad.rules.language.words.lexing import Vocabulary
from hipad.rules.language.words.phrases import AFTER_NUMBER

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


def read_levels(cursor: Cursor) -> Node | None:
    """A category or a column of 0 and 1 compared with values of its own; None for anything else."""
    known = cursor.vocabulary
    if known is None or not cursor.is_name():
        return None
    start = cursor.at
    for n in range(_n_words(cursor), 0, -1):
        name = _name(cursor, n)
        cursor.at = start + n
        if (category := known.category(name)) is not None:
            node = _Comparison(cursor, known, category, start).read()
            if node is not None:
                cursor.subject = (Term(1.0, (category,), column=cursor.words[start].column),)
                cursor.asked = "="
                return node
        is_flag = category is None and known.is_zero_one_name(name)
        if is_flag and (node := _present_or_absent(cursor, name, start)) is not None:
            return node
        cursor.at = start
    return None


def _n_words(cursor: Cursor) -> int:
    """How many words from here on may be a name together."""
    if cursor.peek().kind != "NAME":
        return 1
    n = 1
    while n < MOST_WORDS and cursor.peek(n).kind == "NAME" and cursor.is_name(n):
        n += 1
    return n


def _name(cursor: Cursor, n: int) -> str:
    words = cursor.words[cursor.at : cursor.at + n]
    return plain_text(words[0].text) if n == 1 else " ".join(word.text for word in words)


def _present_or_absent(cursor: Cursor, name: str, start: int) -> Node | None:
    """`diabetes present`, `alarm off`, `alarm is not active`."""
    if cursor.peek().low in _IS:
        cursor.take()
    turned = cursor.accept_words("not")
    word = cursor.peek().low
    if word not in _PRESENT | _ABSENT:
        return None
    cursor.take()
    if not _ends(cursor):
        return None
    flag = named_flag(name, cursor.words[start].column)
    return negated(flag) if (word in _ABSENT) != turned else flag


def _ends(cursor: Cursor) -> bool:
    """Whether a condition may end here."""
    word = cursor.peek()
    return cursor.is_over or word.kind in _ENDS or word.low in _STOPS


class _Comparison:
    """What follows the name of a category."""

    def __init__(self, cursor: Cursor, known: Vocabulary, category: str, start: int) -> None:
        self.cursor, self.known, self.category = cursor, known, category
        self.column = cursor.words[start].column

    def read(self) -> Node | None:
        """The condition; None if no value of the category follows."""
        cursor = self.cursor
        self._skip_nouns()
        if (level := self._level()) is not None:
            return self._listed(level, False)
        turned = False
        if cursor.peek().low in _IS or cursor.accept("EQ", "COLON"):
            cursor.at += cursor.peek().low in _IS
            self._skip_nouns()
            if (level := self._level()) is not None:
                return self._listed(level, False)
        elif cursor.accept("NE") or cursor.accept_words("isn't"):
            turned = True
            if (level := self._level()) is not None:
                return self._listed(level, True)
        if cursor.accept_words("neither"):
            return self._neither()
        if cursor.accept("NOTIN") or cursor.accept("NOT") or cursor.accept_words("not"):
            turned = not turned
            if (level := self._level()) is not None:
                return self._listed(level, turned)
        if any(cursor.accept_words(word) for word in ("between", "from", "within")):
            return self._between(turned)
        if cursor.accept("IN") or cursor.accept_words("in") or cursor.accept_words("one", "of"):
            return self._set(turned)
        if cursor.accept_words("either") or cursor.accept("OPEN"):
            cursor.at -= cursor.words[cursor.at - 1].kind == "OPEN"
            return self._set(turned)
        return self._ranked(turned)

    def _skip_nouns(self) -> None:
        """Step over a word such as class, where it does not begin a value."""
        cursor = self.cursor
        while cursor.peek().low in _NOUNS and self._level(step=False) is None:
            cursor.take()
        if cursor.accept_words("of") and self._level(step=False) is None:
            cursor.at -= 1

    def _level(self, *, step: bool = True, strict: bool = False) -> str | None:
        """The value that comes next, as the data write it."""
        cursor, word = self.cursor, self.cursor.peek()
        if cursor.is_over:
            return None
        if word.kind in ("QUOTED", "STRING"):
            text = plain_text(word.text)
            found = self.known.level_at(self.category, text, 0)
            if found is None or found[1] != len(text):
                return None
            cursor.at += step
            return found[0]
        found = self.known.level_at(self.category, cursor.line, word.start)
        if found is None and not strict and word.kind in ("NAME", "NUMBER"):
            level = self.known.level_like(self.category, word.text)
            found = None if level is None else (level, word.end)
        if found is None:
            return None
        level, end = found
        at, cut = cursor.at, False
        while not cursor.is_over and cursor.peek().start < end:
            cut = cursor.take().end > end
        if cut or not step:
            cursor.at = at
        return None if cut else level

    def _listed(self, first: str, turned: bool) -> Node | None:
        """One value, several, a range of them, or one and those above it."""
        cursor = self.cursor
        if (beyond := self._beyond(first)) is not None:
            return negated(beyond) if turned else beyond
        at = cursor.at
        if (
            cursor.accept("MINUS", "DOTS")
            or cursor.accept_words("to")
            or cursor.accept_words("through")
        ):
            last = self._level(strict=True)
            if last is not None and _ends(cursor):
                return self._range(first, last, turned)
            cursor.at = at
        levels = [first, *self._more()]
        return self._among(levels, turned) if _ends(cursor) else None

    def _more(self) -> list[str]:
        """Further values, with or, commas or a stroke before them."""
        cursor = self.cursor
        found: list[str] = []
        while True:
            at = cursor.at
            comma = cursor.accept("COMMA", "OR", "BAR", "DIVIDED") is not None
            joined = cursor.accept_words("or") or cursor.accept_words("and")
            if joined and cursor.accept("DIVIDED"):
                cursor.accept_words("or")
            if not (comma or joined):
                return found
            level = self._level(strict=True)
            if level is None or not _ends(cursor):
                cursor.at = at
                return found
            found.append(level)

    def _beyond(self, level: str) -> Node | None:
        """`II or higher`, `II+`, `II or worse`."""
        cursor, word = self.cursor, self.cursor.peek()
        if word.kind == "PLUS":
            cursor.take()
            if _ends(cursor):
                return self._compared(">=", level)
            cursor.at -= 1
            return None
        after = cursor.peek(1).low
        if word.low in ("or", "and") and after in _JUDGED and not cursor.is_name(2):
            cursor.at += 2
            return self._compared(self._judged(after, level) + "=", level)
        relation = AFTER_NUMBER.get((word.low, after))
        if relation is None or cursor.is_name(2):
            return None
        cursor.at += 2
        return self._compared(relation, level)

    def _neither(self) -> Node | None:
        cursor = self.cursor
        levels = []
        while (level := self._level()) is not None:
            levels.append(level)
            if not (cursor.accept_words("nor") or cursor.accept_words("or")
                    or cursor.accept("COMMA")):  # fmt: skip
                break
        return self._among(levels, True) if levels and _ends(cursor) else None

    def _between(self, turned: bool) -> Node | None:
        cursor = self.cursor
        low = self._level()
        joined = low is not None and (
            cursor.accept_words("and") or cursor.accept_words("to")
            or cursor.accept("AND", "MINUS", "DOTS") is not None
        )  # fmt: skip
        high = self._level() if joined else None
        if low is None or high is None or not _ends(cursor):
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
        """Values with commas between them, with or without brackets."""
        cursor = self.cursor
        opened = cursor.accept("OPEN")
        cursor.accept_words("either")
        level = self._level()
        if level is None:
            return None
        levels = [level, *self._more()]
        if opened is not None and cursor.accept("CLOSE") is None:
            return None
        return self._among(levels, turned) if _ends(cursor) else None

    def _ranked(self, turned: bool) -> Node | None:
        """A sign and a value: `stage >= II`, `worse than II`."""
        cursor = self.cursor
        if cursor.peek().low in _JUDGED and cursor.says("than", ahead=1):
            word = cursor.take().low
            cursor.take()
            level = self._level()
            if level is None or not _ends(cursor):
                return None
            return self._compared(self._judged(word, level), level)
        found = cursor.relation()
        if found is None or found[0] in ("=", "!="):
            return None
        cursor.at += found[1]
        level = self._level()
        if level is None or not _ends(cursor):
            return None
        node = self._compared(found[0], level)
        return negated(node) if turned else node

    def _judged(self, word: str, level: str) -> str:
        """The sign of worse or better, where the data tell which end of the values is worse."""
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
        """The category on one side of a value; letters count from A, where worse is meant."""
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
        before = self.cursor.words[max(self.cursor.at - 3, 0) : self.cursor.at]
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
    """A value as a side: a number where it is one, else a name."""
    plain = level.isdecimal() and len(level) < 10 and str(int(level)) == level
    return Term(float(level)) if plain else Term(1.0, (level,))
