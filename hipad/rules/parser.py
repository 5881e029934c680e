"""The parser: text to rules and feature priors, one per line; premise, outcome, weight and note."""

from __future__ import annotations

import re
from copy import copy
from dataclasses import dataclass, replace
from threading import RLock
from typing import Final
from weakref import WeakKeyDictionary

from hipad.exceptions import RuleError
from hipad.rules.ast import Condition, FeaturePrior, Rule, RuleSet, alternatives, read_statement
from hipad.rules.expressions import plain_text
from hipad.rules.lexer import (
    MOST_RULES,
    RELATION_KINDS,
    Token,
    TokenStream,
    Vocabulary,
    is_number,
    on_line,
    plain_line,
    read_number,
    rule_error,
    spoken,
    text_error,
    too_many_rules,
    words_of,
)
from hipad.rules.premises import read_premise

# --------------------------------------------------------------------------------------------------
# How a line ends: the class label, what the rule is worth, and a note.


_PATIENTS: Final = frozenset(spoken("patient patients cases samples rows people subjects"))
_WORTHS: Final = (("worth",), ("counts", "for"), ("counts", "as"), ("counting", "for"))
_SPOKEN: Final = re.compile(r"\s++")


def read_outcome(tokens: TokenStream) -> tuple[str, int, float | None, str]:
    """Return the class label, its column, the worth and a note after two dashes."""
    note = ""
    for at, word in enumerate(tokens.words):
        if word.kind == "NOTE" and at:
            note = tokens.line[word.end :].strip()
            tokens = tokens.part(0, at)
            break
    start = tokens.peek()
    worth_at = _worth_at(tokens)
    worth = _worth(tokens, worth_at) if worth_at is not None else None
    end = len(tokens.words) if worth_at is None else _before_worth(tokens, worth_at)
    label = _label(tokens.part(0, end))
    return label, start.column, worth, note


def _label(tokens: TokenStream) -> str:
    while len(tokens.words) > 1 and tokens.words[-1].text in (".", "!", ","):
        tokens = tokens.part(0, len(tokens.words) - 1)
    if len(tokens.words) > 1 and tokens.words[0].low in ("predict", "predicts", "expect"):
        tokens = tokens.part(1, len(tokens.words))
    if not tokens.words:
        raise tokens.error("write the class label after '=>', as in => diabetic")
    first = tokens.words[0]
    if first.kind in ("STRING", "QUOTED") and len(tokens.words) == 1:
        text = plain_text(first.text)
        if not text.strip():
            raise tokens.error("the outcome is empty: write a class label", first)
        return text
    for word in tokens.words:
        _check_label(tokens, word)
    return _SPOKEN.sub(" ", tokens.text(0, len(tokens.words))).replace("−", "-")


def _check_label(tokens: TokenStream, word: Token) -> None:
    text = word.low if word.kind == "NAME" else ""
    if word.kind in ("SEMICOLON", "COMMA"):
        raise tokens.error(
            "write one rule per line, a worth as in worth 20 patients, and a note after #", word
        )
    if text in ("otherwise", "else"):
        raise tokens.error(
            f"'{word.text}' is a second rule: write it on a line of its own, with the opposite "
            "condition",
            word,
        )
    if word is tokens.words[0]:
        return
    if word.kind in RELATION_KINDS or word.kind == "STRING":
        raise tokens.error('put a class label with signs between quotes, as in => "BCR/ABL"', word)
    if text in ("and", "or") or word.kind in ("AND", "OR"):
        raise tokens.error("a rule has one outcome: write a second rule on a line of its own", word)
    if text in ("weight", "weighted", "with", "probability", "count", "counts", "value"):
        raise tokens.error(
            "say what the rule counts for, as in worth 20 patients, or put the label in quotes",
            word,
        )


def _worth_at(tokens: TokenStream) -> int | None:
    for at in range(len(tokens.words)):
        tokens.at = at
        if any(tokens.matches(*words) for words in _WORTHS):
            tokens.at = 0
            return at
    tokens.at = 0
    return None


def _before_worth(tokens: TokenStream, at: int) -> int:
    """Return where the label ends, without commas, brackets and words that lead to the worth."""
    while at > 0:
        word = tokens.words[at - 1]
        lead = word.kind == "NAME" and word.low in ("with", "a", "and", "is", "at") and at > 1
        if not lead and word.kind not in ("COMMA", "OPEN", "SEMICOLON", "MINUS"):
            break
        at -= 1
    return at


def _worth(tokens: TokenStream, at: int) -> float:
    tokens.at = at
    word = tokens.take()
    if word.low != "worth":
        tokens.take()
    for filler in ("of", "about", "as", "much"):
        tokens.accept_words(filler)
    tokens.accept("COLON", "EQ")
    minus = tokens.accept("MINUS") is not None
    if not is_number(tokens):
        raise tokens.error("write the worth as a number of patients, as in worth 20 patients", word)
    number = read_number(tokens)
    if minus and number:
        raise tokens.error(
            f"a rule cannot be worth -{number:g} patients: write 0 or more, or the other outcome",
            word,
        )
    if tokens.peek().kind == "NAME" and tokens.peek().low in _PATIENTS:
        tokens.take()
    tokens.accept_words("each")
    tokens.accept("CLOSE")
    tokens.accept("DOT")
    if not tokens.is_over:
        raise tokens.error(
            "write the worth as a number of patients, as in worth 20 patients, and a note after #"
        )
    tokens.at = 0
    return number


# --------------------------------------------------------------------------------------------------
# Where a line falls into premise and outcome: at an arrow, a verb, if, a colon or a comma.


EXAMPLE: Final = "Glucose >= 126 => diabetic"
_VERBS: Final = (("implies",), ("means",), ("indicates",), ("predicts",), ("leads", "to"))
_WHEN: Final = (("if",), ("when",), ("whenever",), ("provided", "that"))
PEOPLE: Final = ("patients", "people", "subjects", "anyone", "everyone", "those")


def outside_brackets(tokens: TokenStream) -> list[int]:
    """Return where the words stand that are in no bracket."""
    found, depth = [], 0
    for at in range(tokens.at, len(tokens.words)):
        kind = tokens.words[at].kind
        if kind == "CLOSE":
            depth -= 1
        elif depth == 0:
            found.append(at)
        depth += kind == "OPEN"
    return found


def read_halves(tokens: TokenStream) -> tuple[TokenStream, TokenStream]:
    """Return the words of the premise and those of the outcome."""
    start, end = tokens.at, len(tokens.words)
    places = outside_brackets(tokens)
    arrows = [at for at in places if tokens.words[at].kind == "ARROW"]
    _check_arrows(tokens, places, arrows)
    if arrows:
        first = _after_if(tokens, start)
        return tokens.part(first, arrows[0]), tokens.part(arrows[0] + 1, end)
    for at in places:
        if tokens.words[at].kind == "BACK":
            return tokens.part(at + 1, end), tokens.part(start, at)
    for at in places:
        tokens.at = at
        if tokens.matches("then"):
            last = at - (tokens.words[at - 1].kind == "COMMA")
            return tokens.part(_after_if(tokens, start), last), tokens.part(at + 1, end)
        for words in _VERBS:
            if at > start and tokens.matches(*words):
                return tokens.part(_after_if(tokens, start), at), tokens.part(at + len(words), end)
    return _halves_without_arrow(tokens, start, end, places)


def _halves_without_arrow(
    tokens: TokenStream, start: int, end: int, places: list[int]
) -> tuple[TokenStream, TokenStream]:
    for at in places:
        tokens.at = at
        for words in _WHEN:
            if at > start and tokens.matches(*words) and not tokens.matches("unless", ahead=-1):
                return tokens.part(at + len(words), end), tokens.part(start, at)
    colons = [at for at in places if tokens.words[at].kind == "COLON" and at > start]
    first = _after_if(tokens, start)
    if colons:
        at = colons[-1]
        if _has_relation(tokens, at + 1, end) and not _has_relation(tokens, start, at):
            return tokens.part(at + 1, end), tokens.part(start, at)
        return tokens.part(first, at), tokens.part(at + 1, end)
    if (people := _people_are(tokens, start, end, places)) is not None:
        return people
    commas = [at for at in places if tokens.words[at].kind == "COMMA"]
    if first > start and commas and not _has_relation(tokens, commas[-1], end):
        return tokens.part(first, commas[-1]), tokens.part(commas[-1] + 1, end)
    tokens.at = end
    raise tokens.error(
        f"the rule has no outcome: write '=>' and a class at its end, as in {EXAMPLE}"
    )


def _people_are(
    tokens: TokenStream, start: int, end: int, places: list[int]
) -> tuple[TokenStream, TokenStream] | None:
    """Read `patients with Glucose >= 126 are diabetic`."""
    tokens.at = start
    tokens.accept_words("all")
    if not any(tokens.matches(word) for word in PEOPLE):
        return None
    verbs = [
        at for at in places if tokens.words[at].low in ("are", "is", "have") and at > start + 1
    ]
    if not verbs or _has_relation(tokens, verbs[-1] + 1, end):
        return None
    return tokens.part(start, verbs[-1]), tokens.part(verbs[-1] + 1, end)


def _after_if(tokens: TokenStream, start: int) -> int:
    at, tokens.at = tokens.at, start
    for words in _WHEN:
        if tokens.matches(*words):
            start += len(words)
            break
    tokens.at = at
    return start


def _has_relation(tokens: TokenStream, first: int, last: int) -> bool:
    part = tokens.part(first, last)
    while not part.is_over:
        if part.relation() is not None or part.matches("between") or part.matches("in"):
            return True
        part.take()
    return False


def _check_arrows(tokens: TokenStream, places: list[int], arrows: list[int]) -> None:
    for at in places:
        if tokens.words[at].kind == "IFF":
            raise tokens.error(
                "a rule speaks in one direction: write one rule with => for each, the second with "
                "the opposite condition and the other class",
                tokens.words[at],
            )
        if tokens.words[at].kind == "DEFINE":
            raise tokens.error("write '=>' before the outcome, in place of ':='", tokens.words[at])
    if len(arrows) < 2:
        return
    between = tokens.words[arrows[0] : arrows[1]]
    if any(word.kind in ("SEMICOLON", "COMMA") for word in between):
        raise tokens.error("write one rule per line", tokens.words[arrows[1]])
    raise tokens.error(
        "a rule has one '=>': to compare, write >= in place of =>", tokens.words[arrows[1]]
    )


# --------------------------------------------------------------------------------------------------
# How a line begins: the mark of a list, the word off, and the rule's name before a colon.


_SPLITS: Final = ("ARROW", "IFF", "BACK", "COMMA", "SEMICOLON")


def accept_off(tokens: TokenStream) -> bool:
    """Step over the word off, which switches a rule off; not where off is a feature's name."""
    if tokens.matches("off") and tokens.peek(1).kind not in (*RELATION_KINDS, "COLON", "ARROW"):
        tokens.take()
        return True
    return False


def skip_bullet(tokens: TokenStream) -> None:
    """Step over the mark of a list: 1) or 1. or (1) or * or a dash with a blank after it."""
    first, second, third = tokens.peek(), tokens.peek(1), tokens.peek(2)
    blank = second.start > first.end
    starts = second.kind in ("NAME", "QUOTED", "NUMBER", "OPEN", "STRING", "BAR", "NOT")
    if first.kind == "TIMES" and blank:
        tokens.at = 1
    elif (first.kind in ("NUMBER", "NAME") and second.kind == "CLOSE") or (
        re.fullmatch(r"(?:r|rule)\d{1,4}", first.low) and second.kind == "DOT"
    ):
        tokens.at = 2
    elif first.kind == "NUMBER" and first.text.endswith(".") and blank and starts:
        tokens.at = 1
    elif first.kind == "OPEN" and second.kind in ("NUMBER", "NAME") and third.kind == "CLOSE":
        if len(second.text) <= 3 and tokens.peek(3).kind in ("NAME", "QUOTED", "STRING"):
            tokens.at = 3
    elif first.kind in ("MINUS", "NOTE") and blank and starts:
        _check_dash(tokens)
        tokens.at = 1


def _check_dash(tokens: TokenStream) -> None:
    """A dash before a sum may be its sign: refuse to guess."""
    for word in tokens.words[1:]:
        if word.kind in RELATION_KINDS or word.kind == "ARROW" or word.low in ("and", "or", "if"):
            return
        if word.kind in ("PLUS", "MINUS", "TIMES", "DIVIDED"):
            raise tokens.error(
                "a dash before a sum may be its sign or the mark of a list: write * for a list, or "
                "the sign without a blank after it"
            )


def read_title(tokens: TokenStream) -> str:
    """Return the name before a colon, if what follows is a rule."""
    places = outside_brackets(tokens)
    colon = next((at for at in places if tokens.words[at].kind == "COLON"), None)
    if colon is None or colon == tokens.at:
        return ""
    before = tokens.words[tokens.at : colon]
    if any(word.kind in RELATION_KINDS or word.kind in _SPLITS for word in before):
        return ""
    if any(word.low in ("of", "if") and word.kind == "NAME" for word in before):
        return ""
    later = [at for at in places if at > colon]
    if not any(_splits(tokens, at) for at in later):
        return ""
    after = tokens.words[colon + 1] if colon + 1 < len(tokens.words) else None
    if after is not None and after.start == tokens.words[colon].end and not _is_label(before):
        name, other = tokens.text(tokens.at, colon), after.text
        raise tokens.error(
            f"'{name}:{other}' can be a rule's name or a ratio: write {name}/{other} for the "
            "ratio, or a blank after the colon of a rule's name",
            tokens.words[colon],
        )
    text = plain_text(tokens.text(tokens.at, colon).strip())
    if _is_compared(tokens, text, colon):
        del tokens.words[colon]  # SBP: 140-160
        return ""
    tokens.at = colon + 1
    return text


def _is_compared(tokens: TokenStream, name: str, colon: int) -> bool:
    """Return whether a feature stands before the colon, and what it is compared with after it."""
    known = tokens.vocabulary
    if known is None or not known.is_name(name):
        return False
    after = tokens.part(colon + 1, len(tokens.words))
    if after.peek().low in ("between", "from", "within", "outside") or after.relation() is not None:
        return True
    category = known.category(name)
    if category is not None:
        return known.level_at(category, tokens.line, after.peek().start) is not None
    return is_number(after) and (not after.is_name(1) or after.peek(1).low == "to")


def _is_label(before: list[Token]) -> bool:
    """Return whether a name is plainly one of a rule: R1, rule 2, or between backticks."""
    if len(before) > 1 or before[0].kind == "QUOTED":
        return True
    return bool(re.fullmatch(r"(?:r|rule)_?\d+", before[0].low))


def _splits(tokens: TokenStream, at: int) -> bool:
    word = tokens.words[at]
    if word.kind in ("ARROW", "IFF", "BACK", "COLON"):
        return True
    return word.kind == "NAME" and word.low in ("then", "implies", "if", "when", "means")


# --------------------------------------------------------------------------------------------------
# One line: a name, a premise, an outcome and a worth, in the orders that people use.
#
# high: Glucose >= 126 => diabetic worth 20 patients if Glucose >= 126 then diabetic diabetic if
# Glucose >= 126 1) Glucose >= 126: diabetic


@dataclass(frozen=True)
class LineDraft:
    """What one line says, taken apart where it makes several rules."""

    conjunctions: tuple[tuple[Condition, ...], ...]
    outcome: str
    column: int
    name: str = ""
    worth: float | None = None
    enabled: bool = True
    note: str = ""


def read_line(body: str, vocabulary: Vocabulary | None = None) -> LineDraft:
    """Read one line; RuleError with its column if it cannot be read.

    >>> draft = read_line("diabetic if Glucose >= 126")
    >>> draft.outcome, str(draft.conjunctions[0][0])
    ('diabetic', 'Glucose >= 126')
    """
    tokens = TokenStream(body, words_of(body, vocabulary), vocabulary)
    skip_bullet(tokens)
    enabled = not accept_off(tokens)
    name = read_title(tokens)
    premise, outcome = read_halves(tokens)
    _skip_people(premise)
    if premise.is_over:
        raise premise.error(f"write a condition first, as in {EXAMPLE}")
    column = premise.peek().column
    node = read_premise(premise)
    label, label_column, worth, note = read_outcome(outcome)
    conjunctions = tuple(alternatives(node, column))
    return LineDraft(conjunctions, label, label_column, name, worth, enabled, note)


def _skip_people(tokens: TokenStream) -> None:
    """Step over `patients with`."""
    start = tokens.at
    tokens.accept_words("all")
    if any(tokens.accept_words(word) for word in PEOPLE) and (
        tokens.accept_words("with")
        or tokens.accept_words("whose")
        or tokens.accept_words("who", "have")
        or tokens.accept_words("having")
    ):
        return
    tokens.at = start


# --------------------------------------------------------------------------------------------------
# Text to rules and statements: one per line, or over several where a line plainly goes on.
#
# Every mistake becomes a RuleError that names its line and column and says what to write.


REMEMBERED: Final = 6  # texts: the page asks many times for the rules before and after an edit
MOST_LINES: Final = 60  # of one rule
_ONE_AT_A_TIME: Final = RLock()
_CLOSING = {"`": "`", '"': '"', "'": "'", "“": "”"}
_GOES_ON = re.compile(
    r"(?:\b(?:and|or|not|unless|if|then|but|of|when|either|both|implies)|[-,+*/&|(\[{<>=≥≤→⇒⟹∧∨:])$",
    re.IGNORECASE,
)
_BEGINS_LATE = re.compile(
    r"\s*+(?:(?:and|or|but|unless|then|implies)\b(?!\s*+[<>=≥≤:])|=>|->|[→⇒⟹∧∨&|])", re.IGNORECASE
)
_WORTH = re.compile(r"\s*+[(,]?\s*+worth\b", re.IGNORECASE)
_HAS_ARROW = re.compile(r"={1,3}>|-{1,2}>|[⇒⟹→⟶]|\b(?:then|implies)\b|\S\s+(?:if|when)\s",
                        re.IGNORECASE)  # fmt: skip


@dataclass(frozen=True)
class RulesText:
    """The rules on the lines that can be read, and every mistake, at most one per line."""

    rules: RuleSet
    errors: tuple[RuleError, ...] = ()


@dataclass(frozen=True)
class _Lines:
    """Some lines that say one thing: their text without notes, and where each begins in it."""

    number: int
    body: str
    note: str | None
    starts: tuple[int, ...] = (0,)

    def placed(self, error: RuleError) -> RuleError:
        """Return the error with its line, at the beginning if no column is known."""
        if error.line is not None:
            return error
        column = (error.column or 1) - 1
        k = max(k for k, start in enumerate(self.starts) if start <= column or k == 0)
        place = (self.number + k, max(column - self.starts[k] + 1, 1))
        found = rule_error(str(error), place, expected=error.expected, suggestion=error.suggestion)
        return on_line(found, place[0])


def parse_rules(text: str, vocabulary: Vocabulary | None = None) -> RuleSet:
    """Read rules, one per line.

    Parameters
    ----------
    text : str
        Text in the rule language.
    vocabulary : Vocabulary, default=None
        Names and values of the data, where they are known: some lines can only be read with them.

    Returns
    -------
    RuleSet
        ``str`` of it reads back to the same rules.

    Raises
    ------
    RuleError
        At the first mistake, with its line and column and a suggestion.

    See Also
    --------
    compile_rules : Make rules linear for the columns of a table.

    Examples
    --------
    >>> from hipad import parse_rules
    >>> rules = parse_rules("high: mean(K1) >= 4 => positive  # seen in two trials")
    >>> rules[0].name, rules[0].outcome, rules[0].note
    ('high', 'positive', 'seen in two trials')
    >>> print(parse_rules("a > 1 or b <= 2 => 'not ill'"))
    a > 1 => "not ill"
    b <= 2 => "not ill"
    """
    found = read_rules(text, vocabulary)
    if found.errors:
        raise copy(found.errors[0])  # what is remembered must not collect tracebacks
    return found.rules


def rule_errors(text: str, vocabulary: Vocabulary | None = None) -> list[RuleError]:
    """Return every mistake in the text, at most one per line: what an editor underlines."""
    return list(read_rules(text, vocabulary).errors)


def read_rules(text: str, vocabulary: Vocabulary | None = None) -> RulesText:
    """Read whatever can be read. The last few texts are remembered: each is parsed once,
    also where two threads ask at the same moment. With a vocabulary, the names are known, and its
    texts are remembered as long as it lives, whatever is read with others meanwhile.

    >>> found = read_rules("a >= => yes\\nb >= 2 => no")
    >>> found.rules.labels, [error.line for error in found.errors]
    (('rule 2',), [1])
    """
    with _ONE_AT_A_TIME:
        known = _BY_ITSELF if vocabulary is None else _WITH_NAMES.setdefault(vocabulary, {})
        found = known.pop(text) if text in known else _read(text, vocabulary)
        known[text] = found  # the last one that was asked for stands last
        if len(known) > REMEMBERED:
            del known[next(iter(known))]
        return found


def _read(text: str, vocabulary: Vocabulary | None) -> RulesText:
    """Return what the text says."""
    if error := text_error(text):
        return RulesText(RuleSet(), (error,))
    lines = _joined(text)
    if (number := sum(bool(each.body.strip()) for each in lines)) > MOST_RULES:
        return RulesText(RuleSet(), (too_many_rules(number),))
    reading = _Reading(vocabulary)
    for each in lines:
        reading.read(each)
    return reading.result()


# By vocabulary, which may hold all training rows and is not kept alive: texts and what they say.
_WITH_NAMES: Final[WeakKeyDictionary[Vocabulary, dict[str, RulesText]]] = WeakKeyDictionary()
_BY_ITSELF: Final[dict[str, RulesText]] = {}


class _Reading:
    """What was read so far."""

    def __init__(self, vocabulary: Vocabulary | None) -> None:
        self.vocabulary = vocabulary
        self.rules: list[Rule] = []
        self.statements: list[FeaturePrior] = []
        self.errors: list[RuleError] = []
        self.comments: list[str] = []
        self.names: dict[str, int] = {}

    def read(self, lines: _Lines) -> None:
        """Take in one line, or a few that belong together."""
        if not lines.body.strip():
            if lines.note is not None:
                self.comments.append(lines.note.strip())
            return
        try:
            self._read(lines)
        except RuleError as error:
            self.errors.append(lines.placed(error))

    def _read(self, lines: _Lines) -> None:
        note, preface = lines.note or "", tuple(self.comments)
        statement = read_statement(lines.body)
        if statement is not None:
            after, place = len(self.rules), (lines.number, 1)
            self.statements.append(
                replace(statement, note=note, preface=preface, after=after, place=place)
            )
        else:
            draft = read_line(lines.body, self.vocabulary)
            found = _rules(draft, lines, preface)
            self._claim_names(found, lines.number)
            if len(self.rules) + len(found) > MOST_RULES:
                raise too_many_rules(len(self.rules) + len(found), lines.number)
            self.rules += found
        self.comments = []

    def _claim_names(self, found: list[Rule], number: int) -> None:
        for rule in found:
            if rule.name and self.names.setdefault(rule.name, number) != number:
                raise rule_error(
                    f"the rule name '{rule.name}' already stands on line {self.names[rule.name]}: "
                    "give each rule a name of its own",
                    column=1,
                )

    def result(self) -> RulesText:
        rules = RuleSet(
            tuple(self.rules), tuple(self.comments), tuple(self.statements), from_text=True
        )
        return RulesText(rules, tuple(self.errors))


def split_note(line: str) -> tuple[str, str | None]:
    """Return a line's rule and its note; None if no `#` stands outside quotes and backticks."""
    last = {mark: line.rfind(closing) for mark, closing in _CLOSING.items()}
    at = 0
    while at < len(line) and "#" in line:
        sign = line[at]
        if sign == "#":
            return line[:at], line[at + 1 :]
        if at < last.get(sign, -1):
            at = line.index(_CLOSING[sign], at + 1)
        at += 1
    return line, None


def _joined(text: str) -> list[_Lines]:
    """Return the lines of a text, those joined that say one thing together."""
    found: list[_Lines] = []
    for number, line in enumerate(text.splitlines(), 1):
        body, note = split_note(line)
        body = plain_line(body)
        before = found[-1] if found else None
        follows = before is not None and before.number + len(before.starts) == number
        if before is not None and follows and body.strip() and _continues(before, body):
            found[-1] = _longer(before, body, note)
        else:
            found.append(_Lines(number, body, note))
    return found


def _continues(before: _Lines, body: str) -> bool:
    """Return whether a line goes on with what the lines before it say."""
    start = before.body.rstrip()
    if not start or len(before.starts) >= MOST_LINES:
        return False
    has_arrow = bool(_HAS_ARROW.search(start))
    if _WORTH.match(body):
        return has_arrow and not re.search(r"\bworth\b", start, re.IGNORECASE)
    if has_arrow:
        return bool(re.search(r"(?:=>|->|[→⇒⟹]|\bthen|\bif|\bwhen)$", start, re.IGNORECASE))
    if _BEGINS_LATE.match(body) or _GOES_ON.search(start):
        return True
    return start.count("(") > start.count(")")


def _longer(before: _Lines, body: str, note: str | None) -> _Lines:
    notes = [each.strip() for each in (before.note, note) if each and each.strip()]
    start = len(before.body) + 1
    return _Lines(
        before.number,
        f"{before.body} {body}",
        "; ".join(notes) if notes else None,
        (*before.starts, start),
    )


def parse_line(
    body: str, number: int = 1, note: str = "", vocabulary: Vocabulary | None = None
) -> list[Rule]:
    """Return the rules of one line: several where conditions are joined by `or`."""
    body = plain_line(body)
    lines = _Lines(number, body, note)
    try:
        return _rules(read_line(body, vocabulary), lines, ())
    except RuleError as error:
        raise lines.placed(error) from None


def _rules(draft: LineDraft, lines: _Lines, preface: tuple[str, ...]) -> list[Rule]:
    """Return the rules of a draft; they share its worth, and the first bears the preface."""
    many = len(draft.conjunctions)
    worth = None if draft.worth is None else draft.worth / many
    note = "; ".join(filter(None, [draft.note, (lines.note or "").strip()]))
    return [
        Rule(
            conditions,
            draft.outcome,
            f"{draft.name}_{position}" if draft.name and many > 1 else draft.name,
            worth,
            note,
            draft.enabled,
            preface if position == 1 else (),
            place=(lines.number, draft.column),
            n_lines=len(lines.starts),
        )
        for position, conditions in enumerate(draft.conjunctions, 1)
    ]
