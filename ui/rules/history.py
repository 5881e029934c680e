"""Text with named undo and redo, for the rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

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
