"""Text to rules: one rule per line, read by the grammar in `grammar.lark`.

Every mistake becomes a RuleError that names its line and column; `hints` finds the words for it,
`building` makes the rules.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Final, cast

from lark import Lark
from lark.exceptions import UnexpectedToken

from hipad.errors import RuleError
from hipad.rules.language.bounds import MOST_RULES, text_error, too_many_rules
from hipad.rules.language.building import Builder, LineDraft
from hipad.rules.language.hints import explain
from hipad.rules.language.lexing import UNKNOWN, LineLexer
from hipad.rules.language.model import Rule, RuleSet
from hipad.rules.language.spelling import on_line, rule_error
from hipad.rules.language.statements import Statement, read_statement

REMEMBERED: Final = 6  # texts: the page asks many times for the rules before and after an edit
_CLOSING = {"`": "`", '"': '"', "'": "'", "“": "”"}


@dataclass(frozen=True)
class RulesText:
    """The rules on the lines that can be read, and every mistake, at most one per line."""

    rules: RuleSet
    errors: tuple[RuleError, ...] = ()


def parse_rules(text: str) -> RuleSet:
    """Read rules, one per line; raise RuleError at the first mistake.

    >>> rules = parse_rules("high: mean(K1) >= 4 => positive  # seen in two trials")
    >>> rules[0].name, rules[0].outcome, rules[0].note
    ('high', 'positive', 'seen in two trials')
    >>> print(parse_rules("a > 1 or b <= 2 => 'not ill'"))
    a > 1 => "not ill"
    b <= 2 => "not ill"
    """
    found = read_rules(text)
    if found.errors:
        raise copy(found.errors[0])  # what is remembered must not collect tracebacks
    return found.rules


def rule_errors(text: str) -> list[RuleError]:
    """Every mistake in the text, at most one per line: what an editor underlines."""
    return list(read_rules(text).errors)


@lru_cache(maxsize=REMEMBERED)
def read_rules(text: str) -> RulesText:
    """Read whatever can be read. The last few texts are remembered, so each is parsed once.

    >>> found = read_rules("a >= => yes\\nb >= 2 => no")
    >>> found.rules.labels, [error.line for error in found.errors]
    (('rule 1',), [1])
    """
    if error := text_error(text):
        return RulesText(RuleSet(), (error,))
    lines = dict(enumerate(map(split_note, text.splitlines()), 1))
    bodies = {n: body for n, (body, _) in lines.items() if body.strip()}
    if len(bodies) > MOST_RULES:
        return RulesText(RuleSet(), (too_many_rules(len(bodies)),))
    statements, errors = _statements(bodies)
    drafts, wrong = _drafts({n: b for n, b in bodies.items() if n not in statements | errors})
    errors |= wrong
    rules: list[Rule] = []
    stated: list[Statement] = []
    comments: list[str] = []
    names: dict[str, int] = {}
    for number, (_, note) in lines.items():
        if number in drafts:
            try:
                found = _rules(drafts[number], number, note or "", tuple(comments))
                _claim_names(found, names, number)
                if len(rules) + len(found) > MOST_RULES:
                    raise too_many_rules(len(rules) + len(found), number)
            except RuleError as error:
                errors[number] = _placed(error, number)
            else:
                rules += found
                comments = []
        elif number in statements:
            stated.append(
                replace(
                    statements[number],
                    note=note or "",
                    preface=tuple(comments),
                    after=len(rules),
                    place=(number, 1),
                )
            )
            comments = []
        elif number not in errors and note is not None:
            comments.append(note.strip())
    mistakes = tuple(errors[number] for number in sorted(errors))
    return RulesText(RuleSet(tuple(rules), tuple(comments), tuple(stated)), mistakes)


def split_note(line: str) -> tuple[str, str | None]:
    """A line's rule and its note; None if no `#` stands outside quotes and backticks."""
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


def parse_line(body: str, number: int = 1, note: str = "") -> list[Rule]:
    """The rules of one line: several where conditions are joined by `or`."""
    return _rules(_draft(body, number), number, note)


def _rules(draft: LineDraft, number: int, note: str, preface: tuple[str, ...] = ()) -> list[Rule]:
    """The rules of a draft; the first bears the preface."""
    many = len(draft.conjunctions) > 1
    return [
        Rule(
            conditions,
            draft.outcome,
            f"{draft.name}_{position}" if draft.name and many else draft.name,
            draft.worth,
            note,
            draft.enabled,
            preface if position == 1 else (),
            place=(number, draft.column),
        )
        for position, conditions in enumerate(draft.conjunctions, 1)
    ]


def _statements(
    bodies: dict[int, str],
) -> tuple[dict[int, Statement], dict[int, RuleError]]:
    """The statements among the lines, and the lines that would be one but for a mistake."""
    statements: dict[int, Statement] = {}
    errors: dict[int, RuleError] = {}
    for number, body in bodies.items():
        try:
            found = read_statement(body)
        except RuleError as error:
            errors[number] = _placed(error, number)
        else:
            if found is not None:
                statements[number] = found
    return statements, errors


def _drafts(bodies: dict[int, str]) -> tuple[dict[int, LineDraft], dict[int, RuleError]]:
    """The draft of each line, or its mistake, by the line's number.

    All are read in one go, which spares the parser a new start on each; only if that fails is
    each read alone, to find which are at fault.
    """
    try:
        together = cast(list[LineDraft], _parser().parse(bodies.values(), start="rules"))
        return dict(zip(bodies, together, strict=True)), {}
    except (UnexpectedToken, RuleError):
        drafts: dict[int, LineDraft] = {}
        errors: dict[int, RuleError] = {}
    for number, body in bodies.items():
        try:
            drafts[number] = _draft(body, number)
        except RuleError as error:
            errors[number] = error
    return drafts, errors


def _draft(body: str, number: int) -> LineDraft:
    try:
        return cast(LineDraft, _parser().parse([body], start="rule"))
    except UnexpectedToken as error:
        found = error.token.type
        column = len(body.rstrip()) + 1 if found == "$END" else error.column
        expected = () if found == UNKNOWN else error.accepts
        raise explain(body, (number, column), found, expected) from None
    except RuleError as error:
        raise _placed(error, number) from None


def _placed(error: RuleError, number: int) -> RuleError:
    """The error with its line, at the line's beginning if no column is known."""
    placed = on_line(error, number)
    return placed if placed.line is not None else rule_error(str(error), (number, 1))


def _claim_names(found: list[Rule], names: dict[str, int], number: int) -> None:
    for rule in found:
        if rule.name and names.setdefault(rule.name, number) != number:
            raise rule_error(
                f"the rule name '{rule.name}' already stands on line {names[rule.name]}: "
                "give each rule a name of its own",
                (number, 1),
            )


@cache
def _parser() -> Lark:
    return Lark.open(
        "grammar.lark",
        rel_to=__file__,
        start=["rule", "rules"],
        parser="lalr",
        lexer=LineLexer,
        transformer=Builder(),
        maybe_placeholders=False,
    )
