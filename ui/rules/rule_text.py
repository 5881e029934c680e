"""The text of the rules: edits of single rules, and named undo and redo."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from hipad.rules import Rule, RulesText, read_rules
from hipad.rules.lexer import format_number

# --------------------------------------------------------------------------------------------------
# Edits of one rule; every other line stays as the user wrote it.

Reader = Callable[[str], RulesText]
"""How a text becomes rules: for certain data, their names are known."""

FIELDS: Final = {
    "outcome": "outcome of {}",
    "note": "note of {}",
    "conditions": "condition of {}",
    "preface": "comment above {}",
}


def with_rule(text: str, position: int, rule: Rule | None, read: Reader = read_rules) -> str:
    """The text with the rule at this position exchanged for another, or taken out.

    >>> with_rule("# mine\\na >= 1 => yes  # x\\nb >= 2 => no", 1, None)
    '# mine\\na >= 1 => yes  # x'
    """
    return with_rules(text, {position: rule}, read)


def with_rules(text: str, changes: Mapping[int, Rule | None], read: Reader = read_rules) -> str:
    """The text with the rules at these positions exchanged for others, or taken out."""
    rules = read(text).rules
    touched = {_line(rules[position]) for position in changes}
    now: dict[int, list[str]] = {line: [] for line in touched}
    for at, rule in enumerate(rules):
        if _line(rule) in touched:  # several rules stand on a line where `or` joins conditions
            other = changes.get(at, rule)
            now[_line(rule)] += [] if other is None else [str(replace(other, preface=()))]
    for rule in rules:  # a rule may go on over several lines
        if _line(rule) in touched:
            now |= {_line(rule) + more: [] for more in range(1, rule.n_lines)}
    lines = enumerate(text.splitlines(), 1)
    return "\n".join(new for number, line in lines for new in now.get(number, [line]))


def with_new_rule(text: str, rule: Rule) -> str:
    """The text with another rule at its end."""
    return "\n".join([*text.rstrip().splitlines(), str(rule)])


def describe(before: str, after: str, read: Reader = read_rules) -> str:
    """What was done, for the history.

    >>> describe("a: x >= 1 => yes", "a: x >= 1 => yes worth 5 patients")
    'weight of a to 5'
    >>> describe("a: x >= 1 => yes", "a: x >= 1 => yes\\nb: y >= 1 => yes")
    'added b'
    """
    old, new = (
        dict(zip(rules.labels, rules, strict=True))
        for rules in (read(before).rules, read(after).rules)
    )
    changed = [label for label in new if label in old and new[label] != old[label]]
    for word, labels in (
        ("added", [label for label in new if label not in old]),
        ("removed", [label for label in old if label not in new]),
    ):
        if labels and not changed:
            return f"{word} {_few(labels)}"
    if len(changed) == 1 and len(old) == len(new):
        return _describe_rule(changed[0], old[changed[0]], new[changed[0]])
    return f"changed {_few(changed)}" if changed else "text edited"


def _describe_rule(label: str, old: Rule, new: Rule) -> str:
    if old.enabled != new.enabled:
        return f"{label} switched {'on' if new.enabled else 'off'}"
    if old.worth != new.worth:
        return f"weight of {label} to {'auto' if new.worth is None else format_number(new.worth)}"
    for name, words in FIELDS.items():
        if getattr(old, name) != getattr(new, name):
            return words.format(label)
    return f"changed {label}"


def _few(labels: list[str]) -> str:
    return labels[0] if len(labels) == 1 else f"{len(labels)} rules"


def _line(rule: Rule) -> int:
    assert rule.place is not None  # read from text
    return rule.place[0]


# --------------------------------------------------------------------------------------------------
# Undo and redo, with names.

LONGEST: Final = 200  # versions
MOST_CHARACTERS: Final = 5_000_000  # of all versions together; the current one always stays


@dataclass(frozen=True)
class Edit:
    """A version of the text and what made it, in words such as "threshold of abl_high to 9"."""

    what: str
    text: str


@dataclass
class TextHistory:
    """Versions of a text, of which one is current.

    >>> rules = TextHistory()
    >>> rules.change("a >= 1 => yes", "first rule")
    >>> rules.undo()
    >>> rules.text, rules.can_redo
    ('', True)
    """

    edits: list[Edit] = field(default_factory=lambda: [Edit("empty", "")])
    at: int = 0

    @property
    def text(self) -> str:
        return self.edits[self.at].text

    @property
    def version(self) -> tuple[int, int]:
        """Differs whenever the current text may: a key for widgets that show it."""
        return self.at, hash(self.text)

    @property
    def can_undo(self) -> bool:
        return self.at > 0

    @property
    def can_redo(self) -> bool:
        return self.at < len(self.edits) - 1

    def change(self, text: str, what: str) -> None:
        """Make this text current; what had been undone is forgotten."""
        if text == self.text:
            return
        self.edits = [*self.edits[: self.at + 1], Edit(what, text)][-LONGEST:]
        while len(self.edits) > 1 and sum(len(e.text) for e in self.edits) > MOST_CHARACTERS:
            self.edits.pop(0)
        self.at = len(self.edits) - 1

    def amend(self, text: str, what: str) -> None:
        """Put this text in place of the current one, as a part of the same edit."""
        if text != self.text:
            self.edits = [*self.edits[: self.at], Edit(what, text)]

    def undo(self) -> None:
        self.at -= self.can_undo

    def redo(self) -> None:
        self.at += self.can_redo

    def go_to(self, edit: Edit) -> None:
        """Make this version current, if it is still among them; an equal one is another."""
        self.at = next((at for at, each in enumerate(self.edits) if each is edit), self.at)
