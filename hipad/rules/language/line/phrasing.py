"""One line: a name, a premise, an outcome and a worth, in the orders that people use.

high: Glucose >= 126 => diabetic worth 20 patients
if Glucose >= 126 then diabetic
diabetic if Glucose >= 126
1) Glucose >= 126: diabetic
"""

from __future__ import annotations

from dataclasses import dataclass

from hipad.rules.language.line.ending import read_outcome
from hipad.rules.language.line.halves import EXAMPLE, PEOPLE, read_halves
from hipad.rules.language.line.opening import accept_off, read_title, skip_bullet
from hipad.rules.language.logic import alternatives
from hipad.rules.language.model import Condition
from hipad.rules.language.premise.premises import read_premise
from hipad.rules.language.words.cursor import Cursor
from hipad.rules.language.words.lexing import Vocabulary, words_of


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
    cursor = Cursor(body, words_of(body, vocabulary), vocabulary)
    skip_bullet(cursor)
    enabled = not accept_off(cursor)
    name = read_title(cursor)
    premise, outcome = read_halves(cursor)
    _skip_people(premise)
    if premise.is_over:
        raise premise.error(f"write a condition first, as in {EXAMPLE}")
    column = premise.peek().column
    node = read_premise(premise)
    label, label_column, worth, note = read_outcome(outcome)
    conjunctions = tuple(alternatives(node, column))
    return LineDraft(conjunctions, label, label_column, name, worth, enabled, note)


def _skip_people(cursor: Cursor) -> None:
    """Step over `patients with`."""
    start = cursor.at
    cursor.accept_words("all")
    if any(cursor.accept_words(word) for word in PEOPLE) and (
        cursor.accept_words("with")
        or cursor.accept_words("whose")
        or cursor.accept_words("who", "have")
        or cursor.accept_words("having")
    ):
        return
    cursor.at = start
