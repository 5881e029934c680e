"""Statements about single features: what an expert knows that is not an implication.

    ABL1 is raised in "BCR/ABL"            its weight cannot speak against BCR/ABL
    Glucose, BMI and Age raise the risk    the same, for the positive class
    Insulin does not matter                it has no weight
    Glucose is certain                     it pays no lambda1

They stand in the same text as the rules, one per line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from hipad.rules.language.spelling import (
    Place,
    checked_name,
    one_line,
    quote_label,
    quote_name,
    read_quoted,
    rule_error,
)
from hipad.rules.language.terms import FeatureSpan, Name, name_text

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
class Statement:
    """What is known of some features or blocks; an empty outcome stands for the positive class.

    `after` is the number of rules that stand before it in the text.

    >>> print(Statement("raised", ("ABL1",), "BCR/ABL"))
    ABL1 is raised in "BCR/ABL"
    >>> print(Statement("raised", ("Glucose", "BMI")))
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


def read_statement(body: str) -> Statement | None:
    """The statement that a line makes, or None if it is a rule or something else.

    >>> read_statement("Glucose, BMI and Age raise the risk of diabetic")
    Statement(kind='raised', names=('Glucose', 'BMI', 'Age'), outcome='diabetic', ...)
    """
    text = body.strip()
    enabled = not re.match(r"off\s", text, re.IGNORECASE)
    text = (text if enabled else text[3:]).strip().rstrip(".")
    if len(text) > _LONGEST or _RULE_SIGNS.search(_QUOTED.sub("x", text)):
        return None
    for kind, pattern in _COMMANDS:
        if found := pattern.fullmatch(text):
            return Statement(kind, _names(found[1]), enabled=enabled)
    shadow = _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), text)
    for kind, pattern in _PREDICATES:
        found = pattern.search(shadow)
        if found and text[: found.start()].strip():
            label = text[found.start(1) :] if found.lastindex else ""
            return Statement(kind, _names(text[: found.start()]), _label(label), enabled=enabled)
    return None


def _names(text: str) -> tuple[Name, ...]:
    """The names of a list; a range of columns is written with a colon."""
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


def _label(text: str) -> str:
    text = text.strip()
    if len(text) > 2 and text[0] + text[-1] in ('""', "''", "``", "“”"):
        return read_quoted(text) if text[0] != "“" else text[1:-1]
    return text


def _name_text(name: Name) -> str:
    """A name as a list of a statement writes it: other words than a bare one stand in backticks."""
    return name_text(name) if not isinstance(name, str) else quote_name(name)
