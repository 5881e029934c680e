"""What a rule is: terms in sides, sides in conditions, conditions in rules, rules in a rule set."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Final, NamedTuple, overload

from hipad.exceptions import RuleError
from hipad.rules.functions import GROUP_FUNCTIONS, is_learnt
from hipad.rules.lexer import (
    Place,
    checked_name,
    checked_number,
    format_number,
    one_line,
    patients_text,
    quote_label,
    quote_name,
    read_quoted,
    rule_error,
)

# --------------------------------------------------------------------------------------------------
# Terms, of which the sides of a condition are sums: `2*Glucose`, `mean(K1)`, `4`.


RATIO, SET = "ratio", "set"  # terms that no function makes: a/b, {I, II}


@dataclass(frozen=True)
class FeatureSpan:
    """Neighbouring features, written `x101:x150` inside a function."""

    first: str
    last: str

    def __str__(self) -> str:
        return f"{quote_name(self.first)}:{quote_name(self.last)}"


Name = str | FeatureSpan


@dataclass(frozen=True)
class Term:
    """A coefficient times one feature, a function of features, or nothing (a plain number).

    >>> print(Term(2.0, ("p-36=t",)), Term(-1.0, ("K1", "K2"), "mean"), Term(4.0))
    2*`p-36=t` -mean(K1, K2) 4
    """

    coefficient: float = 1.0
    names: tuple[Name, ...] = ()
    function: str = ""
    column: int | None = field(default=None, compare=False, repr=False)
    unit: str = ""  # of a plain number, as the user wrote it
    converted: str = field(default="", compare=False, repr=False)  # "5 cm = 50 mm"

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficient", checked_number(self.coefficient))
        for name in self.names:
            for text in (name,) if isinstance(name, str) else (name.first, name.last):
                checked_name(text)
        lone = not self.names or (len(self.names) == 1 and isinstance(self.names[0], str))
        if not lone if not self.function else not self._fits():
            raise rule_error(
                f"a term needs one of the functions {GROUP_FUNCTIONS}", column=self.column
            )

    def _fits(self) -> bool:
        """Return whether the function takes so many names."""
        if self.function in (*GROUP_FUNCTIONS, SET):
            return bool(self.names)
        if self.function == RATIO:
            return len(self.names) == 2
        return len(self.names) == 1 and is_learnt(self.function)

    @property
    def is_number(self) -> bool:
        """True for a plain number."""
        return not self.names

    @property
    def body(self) -> str:
        """The term without its coefficient."""
        if self.function == RATIO:
            return "/".join(map(name_text, self.names))
        if self.function == SET:
            return f"{{{', '.join(map(name_text, self.names))}}}"
        if self.function:
            return f"{self.function}({', '.join(map(name_text, self.names))})"
        return "".join(map(name_text, self.names))

    def __str__(self) -> str:
        if self.is_number:
            return f"{format_number(self.coefficient)} {self.unit}".strip()
        factor = {1.0: "", -1.0: "-"}.get(self.coefficient)
        return (f"{format_number(self.coefficient)}*" if factor is None else factor) + self.body


Side = tuple[Term, ...]


def side_text(side: Iterable[Term]) -> str:
    """Return one side of a condition as text, its terms joined by + and -."""
    text = ""
    for term in side:
        piece = str(term)
        if text:
            piece = f" - {piece[1:]}" if piece.startswith("-") else f" + {piece}"
        text += piece
    return text


def name_text(name: Name) -> str:
    """Return a name or a range of names as the rule language writes it."""
    return quote_name(name) if isinstance(name, str) else str(name)


# --------------------------------------------------------------------------------------------------
# Statements about single features: what an expert knows that is not an implication.
#
#     ABL1 is raised in "BCR/ABL"            its weight cannot speak against BCR/ABL
#     Glucose, BMI and Age raise the risk    the same, for the positive class
#     Insulin does not matter                it has no weight
#     Glucose is certain                     it pays no lambda1
#
# They stand in the same text as the rules, one per line.


KINDS: Final = ("raised", "lowered", "ignored", "certain")

_UP = r"raised|elevated|increased|higher|high|up|up-?regulated|over-?expressed|greater|larger"
_DOWN = r"lowered|reduced|decreased|lower|low|down|down-?regulated|under-?expressed|smaller"
_IS = r"(?:(?:is|are|was|were|tends?\s+to\s+be)\s++)?(?:(?:usually|typically|often|always)\s++)?"
_RISK = r"\s++(?:the\s++)?(?:risk|chance|odds|probability|likelihood)(?:\s++(?:of|for)\s++(.+))?"
_NOT = r"(?:does\s++not|do\s++not|doesn['’]t|don['’]t)"
_BLANK = r"(?<!\s)\s++"
_PREDICATES: Final = tuple(
    (kind, re.compile(_BLANK + pattern + r"$", re.IGNORECASE))
    for kind, pattern in (
        ("ignored", _NOT + r"\s++(?:matter|count)"),
        ("ignored", r"(?:is|are)\s++(?:irrelevant|unimportant|noise|(?:not|un)\s?+(?:relevant|"
         r"important))"),
        ("ignored", r"(?:is|are|should\s++be|must\s++be)\s++(?:ignored|left\s++out|excluded)"),
        ("ignored", r"(?:has|have)\s++no\s++(?:effect|influence)"),
        ("certain", r"(?:is|are)\s++(?:certain|sure)"),
        ("certain", r"matters?"),
        ("certain", r"(?:must|should)\s++(?:be\s++(?:in|included|kept|in\s++the\s++model)|stay)"),
        ("raised", _IS + rf"(?:{_UP})\s++(?:in|among|for|with)\s++(.+)"),
        ("lowered", _IS + rf"(?:{_DOWN})\s++(?:in|among|for|with)\s++(.+)"),
        ("raised", rf"(?:raises?|increases?)(?:{_RISK})"),
        ("lowered", rf"(?:lowers?|reduces?|decreases?)(?:{_RISK})"),
        ("raised", r"(?:is\s++a|are)\s++risk\s++factors?(?:\s++(?:of|for)\s++(.+))?"),
        ("lowered", r"(?:protects?\s++(?:against|from)|(?:is|are)\s++protective\s++(?:against|of))"
         r"\s++(.+)"),
    )
)  # fmt: skip
_COMMANDS: Final = (
    ("ignored", re.compile(r"(?:ignore|exclude|leave\s++out)\s++(.+)", re.IGNORECASE)),
    ("certain", re.compile(r"(?:always\s++)?(?:keep|include)\s++(.+)", re.IGNORECASE)),
)
_NAMES = re.compile(
    r"\s*+(`(?:[^`]++|``)++`|\"[^\"]++\"|(?:(?!\s*+(?:,|\band\b|&))[^`\"])++)\s*+(?:,\s*+and\b|,|and\b|&|$)",
    re.IGNORECASE,
)
_SPAN = re.compile(r"(`(?:[^`]++|``)++`|[^`:\s]++)\s*+:\s*+(`(?:[^`]++|``)++`|[^`:\s]++)")
_QUOTED = re.compile(r"`(?:[^`]++|``)++`|\"[^\"]*+\"|“[^”]*+”|'[^']*+'")
_RULE_SIGNS = re.compile(r"[<>=≤≥→⇒⟹⟶]|\b(?:then|implies|if)\b", re.IGNORECASE)
_WORDS: Final = {"raised": "raised in", "lowered": "lowered in"}
_LONGEST: Final = 20_000  # characters of a statement


@dataclass(frozen=True)
class FeaturePrior:
    """What is known of some features or blocks; an empty outcome stands for the positive class.

    `after` is the number of rules that stand before it in the text.

    >>> print(FeaturePrior("raised", ("ABL1",), "BCR/ABL"))
    ABL1 is raised in "BCR/ABL"
    >>> print(FeaturePrior("raised", ("Glucose", "BMI")))
    Glucose and BMI raise the risk
    """

    kind: str
    names: tuple[Name, ...]
    outcome: str = ""
    note: str = ""
    enabled: bool = True
    preface: tuple[str, ...] = ()
    after: int = 0
    place: Place | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.kind not in KINDS or not self.names:
            raise rule_error(f"a statement is one of {', '.join(KINDS)}, of some features")
        for name in self.names:
            for text in (name,) if isinstance(name, str) else (name.first, name.last):
                checked_name(text)
        if self.outcome:
            checked_name(self.outcome)
        object.__setattr__(self, "note", one_line(self.note))
        object.__setattr__(self, "preface", tuple(map(one_line, self.preface)))

    @property
    def text(self) -> str:
        """The statement on one line, without its note and preface."""
        *first, last = map(_name_text, self.names)
        names = f"{', '.join(first)} and {last}" if first else last
        one = len(self.names) == 1
        if self.kind == "ignored":
            return f"{names} {'does' if one else 'do'} not matter"
        if self.kind == "certain":
            return f"{names} {'is' if one else 'are'} certain"
        if self.outcome:
            label = quote_label(self.outcome)
            return f"{names} {'is' if one else 'are'} {_WORDS[self.kind]} {label}"
        verb = {"raised": "raise", "lowered": "lower"}[self.kind] + "s" * one
        return f"{names} {verb} the risk"

    def __str__(self) -> str:
        note = f"  # {self.note}" if self.note else ""
        preface = [f"# {line}".rstrip() for line in self.preface]
        return "\n".join([*preface, ("" if self.enabled else "off ") + self.text + note])


def read_statement(body: str) -> FeaturePrior | None:
    """Return the statement that a line makes, or None if it is a rule or something else.

    >>> read_statement("Glucose, BMI and Age raise the risk of diabetic")
    FeaturePrior(kind='raised', names=('Glucose', 'BMI', 'Age'), outcome='diabetic', ...)
    """
    text = body.strip()
    enabled = not re.match(r"off\s", text, re.IGNORECASE)
    text = (text if enabled else text[3:]).strip().rstrip(".")
    if len(text) > _LONGEST or _RULE_SIGNS.search(_QUOTED.sub("x", text)):
        return None
    for kind, pattern in _COMMANDS:
        if found := pattern.fullmatch(text):
            return FeaturePrior(kind, _names(found[1]), enabled=enabled)
    shadow = _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), text)
    for kind, pattern in _PREDICATES:
        found = pattern.search(shadow)
        if found and text[: found.start()].strip():
            label = text[found.start(1) :] if found.lastindex else ""
            return FeaturePrior(
                kind, _names(text[: found.start()]), _statement_label(label), enabled=enabled
            )
    return None


def _names(text: str) -> tuple[Name, ...]:
    """Return the names of a list; a range of columns is written with a colon."""
    found: list[Name] = []
    at = 0
    while at < len(text):
        part = _NAMES.match(text, at)
        if part is None or not part[1].strip():
            raise rule_error(
                f"expected names of features or blocks, got '{text[:40]}': separate them by commas",
                column=1,
            )
        found.append(_name(part[1].strip()))
        at = part.end()
    return tuple(dict.fromkeys(found))


def _name(part: str) -> Name:
    if ends := _SPAN.fullmatch(part):
        return FeatureSpan(_plain(ends[1]), _plain(ends[2]))
    return _plain(part)


def _plain(part: str) -> str:
    return read_quoted(part) if len(part) > 2 and part[0] in '`"' and part[-1] == part[0] else part


def _statement_label(text: str) -> str:
    text = text.strip()
    if len(text) > 2 and text[0] + text[-1] in ('""', "''", "``", "“”"):
        return read_quoted(text) if text[0] != "“" else text[1:-1]
    return text


def _name_text(name: Name) -> str:
    """Return a name as a list of a statement writes it: other words than a bare one stand in
    backticks.
    """
    return name_text(name) if not isinstance(name, str) else quote_name(name)


# --------------------------------------------------------------------------------------------------
# What a rule is: sides in conditions, conditions in a rule, rules in a rule set.
#
# These objects hold the rule as the user wrote it (`mean(K1)`, `between`, a chain), never its
# matrices, so that printing gives back the same rule: `parse_rules(str(rules)) == rules`.
#
# Comment lines above a rule are its `preface`, text after `#` on its line is its `note`, and a rule
# that is switched off is written with a leading `off`.


COUNTS = {">=": "at least", "<=": "at most", "=": "exactly"}
RELATIONS = (">=", "<=", ">", "<", "=", "!=")


class Written(NamedTuple):
    """How a condition stood in the text, and what was made of it without knowing the data."""

    text: str
    column: int
    sides: tuple[Side, ...]


def _folded(side: Side) -> Side:
    """Return a side of plain numbers as one number, so that `18 - 25` is not printed like a
    range.
    """
    if len(side) < 2 or any(term.names or term.unit for term in side):
        return tuple(side)
    total = sum(term.coefficient for term in side)
    return (Term(total, converted=_converted(side, total)),)


def _converted(side: Side, total: float) -> str:
    """Return how numbers that are added up were written: 5 ft 11 in = 180.34 cm."""
    parts = [term.converted.rpartition(" = ") for term in side if term.converted]
    if not parts:
        return ""
    if len(parts) < len(side):
        return f"{total:.6g} ({', '.join(term.converted for term in side if term.converted)})"
    unit = parts[0][2].partition(" ")[2]
    return f"{' '.join(part[0] for part in parts)} = {total:.6g} {unit}"


@dataclass(frozen=True)
class Condition:
    """Two or three sides and the relations between them; `form` is how the user wrote it.

    A range is held as a chain (`low <= expression <= high`), a count as a sum, so whoever reads
    only `sides` and `relations` understands every form.
    """

    sides: tuple[Side, ...]
    relations: tuple[str, ...]
    form: str = "compare"
    written: Written | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sides", tuple(map(_folded, self.sides)))
        if not 2 <= len(self.sides) == len(self.relations) + 1 <= 3 or not all(self.sides):
            raise rule_error("a condition compares two sides, or three in a chain")
        if not set(self.relations).issubset(RELATIONS):
            raise rule_error(f"a condition compares with one of {', '.join(RELATIONS)}")
        if not any(term.names for side in self.sides for term in side):
            raise rule_error(f"'{self}' names no feature: compare a feature with a number")

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:  # kept, since each of a thousand rows may ask for it
        if self.form == "flag":
            return ("" if self.sides[1][0].coefficient else "not ") + side_text(self.sides[0])
        if self.form == "member":
            word = "in" if self.relations[0] == "=" else "not in"
            return f"{side_text(self.sides[0])} {word} {side_text(self.sides[1])}"
        if self.form == "between":
            low, middle, high = map(side_text, self.sides)
            return f"{middle} between {low} and {high}"
        if self.form == "count":
            (counted,), (number,) = self.sides
            names = ", ".join(map(name_text, counted.names))
            return f"{COUNTS[self.relations[0]]} {number} of ({names})"
        text = side_text(self.sides[0])
        for relation, side in zip(self.relations, self.sides[1:], strict=True):
            text += f" {relation} {side_text(side)}"
        return text


@dataclass(frozen=True)
class Rule:
    """Conditions that must all be met, and the outcome that then follows.

    Parameters
    ----------
    conditions : tuple of Condition
        One or more.
    outcome : str
        The class that follows, or ``positive`` and ``negative``.
    name : str, default=""
        What the rule is called.
    worth : float, default=None
        For how many patients it counts; None leaves that to the fit.
    note : str, default=""
        What stands after the hash.
    enabled : bool, default=True
        Whether the rule is switched on.
    preface : tuple of str, default=()
        Comments on the lines before it.
    place : Place, default=None
        Where it was read.
    n_lines : int, default=1
        Lines of the text that it was read from.

    Raises
    ------
    RuleError
        There is no condition, or a name or number cannot be one.

    See Also
    --------
    RuleSet : Several rules.
    parse_rules : Read rules from text.

    Examples
    --------
    >>> from hipad import Rule
    >>> print(Rule.simple("sweet", {"Glucose": 1}, 126, "diabetic", worth=20))
    sweet: Glucose >= 126 => diabetic worth 20 patients
    """

    conditions: tuple[Condition, ...]
    outcome: str
    name: str = ""
    worth: float | None = None
    note: str = ""
    enabled: bool = True
    preface: tuple[str, ...] = ()
    place: Place | None = field(default=None, compare=False, repr=False)
    n_lines: int = field(default=1, compare=False, repr=False)  # of the text it was read from

    def __post_init__(self) -> None:
        if not self.conditions:
            raise rule_error("a rule needs at least one condition", self.place)
        checked_name(self.outcome)
        if self.name:
            checked_name(self.name)
        if self.worth is not None and checked_number(self.worth) < 0:
            raise rule_error("a rule is worth 0 patients or more", self.place)
        object.__setattr__(self, "note", one_line(self.note))
        object.__setattr__(self, "preface", tuple(map(one_line, self.preface)))

    @classmethod
    def simple(
        cls,
        name: str,
        weights: Mapping[str, float],
        threshold: float,
        outcome: object,
        worth: float | None = None,
        at_least: bool = True,
    ) -> Rule:
        """Return the rule `sum of weight * feature >= threshold => outcome` (or `<=`)."""
        terms = tuple(Term(weight, (feature,)) for feature, weight in weights.items())
        relation = ">=" if at_least else "<="
        condition = Condition((terms, (Term(threshold),)), (relation,))
        return cls((condition,), str(outcome), name, worth)

    @property
    def premise(self) -> str:
        """What must be met, as text."""
        return " and ".join(map(str, self.conditions))

    @property
    def text(self) -> str:
        """The rule on one line, without its name, note and preface."""
        worth = "" if self.worth is None else f" worth {patients_text(self.worth)}"
        return f"{self.premise} => {quote_label(self.outcome)}{worth}"

    def __str__(self) -> str:
        head = "" if self.enabled else "off "
        head += f"{quote_name(self.name)}: " if self.name else ""
        note = f"  # {self.note}" if self.note else ""
        preface = [f"# {line}".rstrip() for line in self.preface]
        return "\n".join([*preface, head + self.text + note])


@dataclass(frozen=True)
class RuleSet(Sequence[Rule]):
    """An immutable sequence of rules whose names differ.

    Parameters
    ----------
    rules : tuple of Rule, default=()
        The rules in their order.
    ending : tuple of str, default=()
        Comments after the last rule.
    statements : tuple of FeaturePrior, default=()
        What is said of single features; they stand among the rules and are none.
    from_text : bool, default=False
        Whether they were read from a text, so that a rule's number is its line.

    Raises
    ------
    RuleError
        Two rules have the same name.

    See Also
    --------
    parse_rules : Read rules from text.
    compile_rules : Make them linear for the columns of a table.

    Examples
    --------
    >>> from hipad import Rule, RuleSet
    >>> rules = RuleSet((Rule.simple("a", {"x": 1}, 2, 1), Rule.simple("", {"y": 1}, 3, 0)))
    >>> rules.labels
    ('a', 'rule 2')
    """

    rules: tuple[Rule, ...] = ()
    ending: tuple[str, ...] = ()
    statements: tuple[FeaturePrior, ...] = ()
    from_text: bool = field(default=False, compare=False, repr=False)  # places are its lines

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))
        object.__setattr__(self, "ending", tuple(map(one_line, self.ending)))
        object.__setattr__(self, "statements", tuple(self.statements))
        seen: set[str] = set()
        for rule in self.rules:
            if rule.name and rule.name in seen:
                advice = "give each rule a name of its own"
                raise rule_error(f"two rules are called '{rule.name}': {advice}", rule.place)
            seen.add(rule.name)

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> RuleSet: ...
    def __getitem__(self, index: int | slice) -> Rule | RuleSet:
        if isinstance(index, slice):
            return RuleSet(self.rules[index], from_text=self.from_text)
        return self.rules[index]

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    @property
    def labels(self) -> tuple[str, ...]:
        """What to call each rule: its name, or else its number; no two are the same."""
        taken = {rule.name for rule in self.rules}
        numbered = zip(self.rules, self.numbers, strict=True)
        return tuple([rule.name or _free(f"rule {number}", taken) for rule, number in numbered])

    @property
    def numbers(self) -> tuple[str, ...]:
        """The line of each rule: 3, or 3.1 and 3.2 for rules of one line.

        Rules that come from no text are counted.
        """
        lines = [rule.place[0] if self.from_text and rule.place else 0 for rule in self.rules]
        if not all(lines):
            lines = list(range(1, len(self.rules) + 1))
        shared, given = Counter(lines), Counter[int]()
        found = []
        for line in lines:
            given[line] += 1
            found.append(f"{line}.{given[line]}" if shared[line] > 1 else f"{line}")
        return tuple(found)

    def without(self, position: int) -> RuleSet:
        """Return the same rules with the one at `position` switched off."""
        rules = list(self.rules)
        rules[position] = replace(rules[position], enabled=False)
        return replace(self, rules=tuple(rules))

    def __str__(self) -> str:
        texts = [str(rule) for rule in self.rules]
        for statement in reversed(self.statements):
            texts.insert(min(statement.after, len(self.rules)), str(statement))
        return "\n".join([*texts, *(f"# {line}".rstrip() for line in self.ending)])


def _free(label: str, taken: set[str]) -> str:
    """Return the label, with a mark if a rule is called so."""
    while label in taken:
        label += "*"
    return label


# --------------------------------------------------------------------------------------------------
# Conditions joined by and and or, turned round, and taken apart into rules.


MOST_ALTERNATIVES: Final = 64  # rules that one line may make
MOST_LEAVES: Final = 20_000  # conditions of one line, after it is taken apart

MIRRORED: Final = {">=": "<=", "<=": ">=", ">": "<", "<": ">", "=": "=", "!=": "!="}
_TURNED: Final = {">=": "<", ">": "<=", "<=": ">", "<": ">=", "=": "!=", "!=": "="}


@dataclass(frozen=True)
class All:
    """Every part must hold."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Any:
    """One part is enough."""

    parts: tuple[Node, ...]


Node = Condition | All | Any


def negated(node: Node) -> Node:
    """Return the opposite.

    >>> a, three = (Term(1.0, ("a",)),), (Term(3.0),)
    >>> print(negated(Condition((a, three), (">=",))))
    a < 3
    """
    if isinstance(node, All):
        return Any(tuple(map(negated, node.parts)))
    if isinstance(node, Any):
        return All(tuple(map(negated, node.parts)))
    if node.form == "flag":
        value = 1.0 - node.sides[1][0].coefficient
        return replace(node, sides=(node.sides[0], (Term(value),)), written=None)
    if node.form == "count":
        return _not_counted(node)
    if len(node.sides) == 3:
        low, middle, high = node.sides
        first, second = node.relations
        return Any(
            (
                Condition((middle, low), (_TURNED[MIRRORED[first]],)),
                Condition((middle, high), (_TURNED[second],)),
            )
        )
    relations = tuple(_TURNED[relation] for relation in node.relations)
    return replace(node, relations=relations, written=None)


def _not_counted(node: Condition) -> Node:
    counted, number = node.sides[0], node.sides[1][0]
    below = replace(number, coefficient=number.coefficient - 1)
    above = replace(number, coefficient=number.coefficient + 1)
    fewer = Condition((counted, (below,)), ("<=",), "count")
    more = Condition((counted, (above,)), (">=",), "count")
    turned: dict[str, Node] = {">=": fewer, "<=": more, "=": Any((fewer, more))}
    return turned[node.relations[0]]


def alternatives(node: Node, column: int = 1) -> list[tuple[Condition, ...]]:
    """Return the conditions of each rule that the premise makes."""
    found = _alternatives(node, column)
    if sum(map(len, found)) > MOST_LEAVES:
        raise too_many(column)
    if len(found) == 1:
        return found
    return _needed([tuple(dict.fromkeys(conditions)) for conditions in dict.fromkeys(found)])


def _needed(found: list[tuple[Condition, ...]]) -> list[tuple[Condition, ...]]:
    """Without those that ask for all that another one asks for, and more."""
    asked = [frozenset(conditions) for conditions in found]

    def is_needless(k: int) -> bool:
        return any(one < asked[k] or (one == asked[k] and i < k) for i, one in enumerate(asked))

    return [conditions for k, conditions in enumerate(found) if not is_needless(k)]


def _alternatives(node: Node, column: int) -> list[tuple[Condition, ...]]:
    if isinstance(node, Condition):
        return [(node,)]
    parts = [_alternatives(part, column) for part in node.parts]
    if isinstance(node, Any):
        number, found = sum(map(len, parts)), [each for part in parts for each in part]
    else:
        number = math.prod(map(len, parts))
        found = []
        if number <= MOST_ALTERNATIVES:
            found = [tuple(c for group in chosen for c in group) for chosen in product(*parts)]
    if number > MOST_ALTERNATIVES:
        raise too_many(column)
    return found


def too_many(column: int) -> RuleError:
    """Return the error for a premise that makes too many rules."""
    return rule_error(
        f"this makes more than {MOST_ALTERNATIVES} rules when it is taken apart: write fewer "
        "conditions with 'or', or several lines",
        column=column,
    )
