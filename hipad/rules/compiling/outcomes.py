"""Which class an outcome means: a label of the data, `not` a label, or positive and negative.

`positive` and `negative` are words of the user, not of the data. They are taken where the labels
leave no doubt (1 and 0, yes and no, case and control) or where the positive class was chosen, and
never where there are more than two classes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from hipad.data.classes import JoinedClass
from hipad.errors import RuleError
from hipad.rules.language.model import Rule
from hipad.rules.language.parsing import read_rules
from hipad.rules.language.spelling import Place, plain_signs, quote_label, rule_error
from hipad.wording import listed

PLAIN_PAIRS: Final = (  # (negative, positive) labels that need no choice
    ("negative", "positive"),
    ("neg", "pos"),
    ("0", "1"),
    ("-1", "1"),
    ("no", "yes"),
    ("n", "y"),
    ("false", "true"),
    ("f", "t"),
    ("control", "case"),
    ("-", "+"),
)
_LITERAL: Final = {"negative": -1.0, "neg": -1.0, "positive": 1.0, "pos": 1.0}
_WORDS: Final = {"negative": -1.0, "-": -1.0, "positive": 1.0, "+": 1.0}
_NOT: Final = re.compile(r"(?:not|no|non)[\s-]\s*+(.+)", re.IGNORECASE)


def class_sign(
    outcome: str,
    classes: Sequence[object],
    *,
    positive_chosen: bool = False,
    place: Place | None = None,
) -> float:
    """+1 if the outcome is the second class, -1 if the first; RuleError if it is neither.

    >>> class_sign("ill", ("well", "ill")), class_sign("not ill", ("well", "ill"))
    (1.0, -1.0)
    >>> class_sign("positive", (0, 1)), class_sign("positive", ("case", "control"))
    (1.0, -1.0)
    >>> class_sign("b", (JoinedClass("not a", ("b", "c")), "a"))
    -1.0
    """
    labels = [str(label) for label in classes]
    if (sign := _label_sign(outcome, labels)) is not None:
        return sign
    if (sign := _joined_sign(outcome, classes, place)) is not None:
        return sign
    if other := _NOT.fullmatch(outcome):
        if (sign := _label_sign(other[1].strip("\"'"), labels)) is not None:
            return -sign
        outcome = other[1]
        if outcome.lower() in _WORDS:
            return -_word_sign(outcome, labels, positive_chosen, place)
    if outcome.lower() in _WORDS:
        return _word_sign(outcome, labels, positive_chosen, place)
    raise _no_class(outcome, labels, place)


class NamedClass(NamedTuple):
    """The position of a class among several, and whether the outcome speaks against it."""

    position: int
    negated: bool


def named_class(
    outcome: str, classes: Sequence[object], *, place: Place | None = None
) -> NamedClass:
    """Which of several classes an outcome names; RuleError where it is none of them.

    `positive`, `negative` and an empty outcome, which stands for the positive class, name no class
    unless one is called so.

    >>> named_class("b", ("a", "b", "c")), named_class("not c", ("a", "b", "c"))
    (NamedClass(position=1, negated=False), NamedClass(position=2, negated=True))
    """
    labels = [str(label) for label in classes]
    if (found := _label_position(outcome, labels)) is not None:
        return NamedClass(found, False)
    other = _NOT.fullmatch(outcome)
    if other and (found := _label_position(other[1].strip("\"'"), labels)) is not None:
        return NamedClass(found, True)
    word = (other[1] if other else outcome).lower()
    if word in (*_WORDS, ""):
        quoted = [quote_label(label) for label in labels]
        raise rule_error(
            f"which of the {len(labels)} classes is {word or 'positive'} is not known, they are "
            f"{listed(quoted, limit=5)}: name the class, as in {_example(word, quoted)}",
            place,
            expected=tuple(quoted),
        )
    raise _no_class(outcome, labels, place)


def _example(word: str, quoted: Sequence[str]) -> str:
    """What to write in place of a word that names no class."""
    return f"'=> {quoted[-1]}'" if word else f"'is raised in {quoted[-1]}'"


def _no_class(outcome: str, labels: Sequence[str], place: Place | None) -> RuleError:
    quoted = [quote_label(label) for label in labels]
    return rule_error(
        f"the outcome {quote_label(outcome)} is not a class of the data: "
        f"write {listed(quoted, 'or')}",
        place,
        expected=tuple(quoted),
        suggestion=_nearest(outcome, labels),
    )


def _label_sign(outcome: str, labels: Sequence[str]) -> float | None:
    """The sign of the only one of two labels that the outcome spells."""
    found = _label_position(outcome, labels)
    return None if found is None else (-1.0, 1.0)[found]


def _label_position(outcome: str, labels: Sequence[str]) -> int | None:
    """The only label that the outcome spells: as text, as a number, in other case."""
    for same in (_same_text, _same_number, _same_but_case, _same_but_joins):
        found = [at for at, label in enumerate(labels) if same(outcome, label)]
        if len(found) == 1:
            return found[0]
    return None


def _joined_sign(outcome: str, classes: Sequence[object], place: Place | None) -> float | None:
    """The sign of the class that a label was joined into; RuleError for `not` such a label."""
    other = _NOT.fullmatch(outcome)
    for sign, label in zip((-1.0, 1.0), classes, strict=True):
        if not isinstance(label, JoinedClass):
            continue
        if _label_position(outcome, label.labels) is not None:
            return sign
        if other and _label_position(other[1].strip("\"'"), label.labels) is not None:
            labels = [quote_label(str(one)) for one in classes]
            raise rule_error(
                f"the outcome {quote_label(outcome)} may be either of {listed(labels)}, as these "
                f"are the two classes: write one of them, or tell all classes apart",
                place,
                expected=tuple(labels),
            )
    return None


def _word_sign(
    word: str, labels: Sequence[str], positive_chosen: bool, place: Place | None
) -> float:
    """The sign of `positive` or `negative`; RuleError where the labels leave it open."""
    sign = _WORDS[word.lower()]
    if positive_chosen:
        return sign
    lowered = [_plain(label) for label in labels]
    for pair in PLAIN_PAIRS:
        if sorted(lowered) == sorted(pair):
            return sign if lowered[1] == pair[1] else -sign
    for literal, own in _LITERAL.items():
        if lowered.count(literal) == 1 and not set(lowered) & set(_LITERAL) - {literal}:
            return sign * own if lowered[1] == literal else -sign * own
    quoted = [quote_label(label) for label in labels]
    raise rule_error(
        f"which class is {word.lower()} is not known, the classes are {listed(quoted)}: "
        f"write {listed(quoted, 'or')} as the outcome, or choose the positive class",
        place,
        expected=tuple(quoted),
    )


def _plain(label: str) -> str:
    """A label in small letters; 1.0 and +1 are 1."""
    try:
        return f"{float(label):g}"
    except ValueError:
        return label.lower()


def _nearest(outcome: str, labels: Sequence[str]) -> str | None:
    """The label that a longer text holds as a word, quoted; None if both or none stand in it."""
    inside = [label for label in labels if re.search(rf"(?<!\w){re.escape(label)}(?!\w)", outcome)]
    return quote_label(inside[0]) if len(inside) == 1 else None


def _same_text(outcome: str, label: str) -> bool:
    return outcome == label


def _same_number(outcome: str, label: str) -> bool:
    try:
        return float(outcome) == float(label)
    except ValueError:
        return False


def _same_but_case(outcome: str, label: str) -> bool:
    one, other = (" ".join(plain_signs(each).lower().split()) for each in (outcome, label))
    return one == other


def _same_but_joins(outcome: str, label: str) -> bool:
    one, other = (re.sub(r"[\s_-]+", " ", plain_signs(each).lower()) for each in (outcome, label))
    return one == other


def first_outcome(text: str) -> str:
    """The outcome of the first rule that is switched on; "" where there is none.

    Rules that say positive or negative are passed over: they do not tell which class that is.

    >>> first_outcome("Glucose >= 126 => positive\\nBMI >= 40 => diabetic")
    'diabetic'
    """
    found = read_rules(text).rules
    said = [rule.outcome for rule in found if rule.enabled]
    said += [statement.outcome for statement in found.statements if statement.enabled]
    return next((each for each in said if each and each.lower() not in _LITERAL), "")


def outcome_sign(rule: Rule, classes: Sequence[object], *, positive_chosen: bool = False) -> float:
    """The sign of a rule's outcome, as `class_sign` gives it; an error names the rule's place."""
    return class_sign(rule.outcome, classes, positive_chosen=positive_chosen, place=rule.place)
