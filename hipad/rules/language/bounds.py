"""How much a text of rules may hold, in one place: more than any person writes, less than hurts."""

from __future__ import annotations

from typing import Final

from hipad.errors import RuleError
from hipad.rules.language.spelling import rule_error

MOST_RULES: Final = 2_000  # in one text, switched off ones included
LONGEST_TEXT: Final = 2**20  # characters of all rules
LONGEST_RULE: Final = 200_000  # characters of one rule
DEEPEST: Final = 20  # brackets inside brackets
DEEPEST_WORDS: Final = 60  # brackets, nots and the like inside each other
MOST_WORDS: Final = 60_000  # names, numbers and signs of one rule
MOST_SIGNS: Final = 5_000  # + - * / in one rule
MOST_WEIGHTS: Final = 20_000_000  # features that all rules name, counted for each condition


def text_error(text: str) -> RuleError | None:
    """What is wrong with a text that is too long to be read at all, or None."""
    if len(text) <= LONGEST_TEXT:
        return None
    return rule_error(
        f"expected rules of at most {LONGEST_TEXT:,} characters, got {len(text):,}: "
        "name blocks of features on the Data page or in a blocks file, and use these in the rules"
    )


def too_many_rules(number: int, line: int | None = None) -> RuleError:
    """The error for a text with too many rules, from this line on if it is known."""
    return rule_error(
        f"expected at most {MOST_RULES:,} rules, got {number:,}: leave out those that matter least",
        None if line is None else (line, 1),
    )


def rule_too_long(length: int) -> RuleError:
    """The error for a rule of too many characters."""
    return rule_error(
        f"expected a rule of at most {LONGEST_RULE:,} characters, got {length:,}: "
        "name a block of features, and write mean(block)",
        column=LONGEST_RULE,
    )


def too_many_weights(line: int | None) -> RuleError:
    """The error for rules that together name too many features."""
    return rule_error(
        f"expected conditions that name at most {MOST_WEIGHTS:,} features in all, got more: "
        "leave out rules from here on, or name fewer features in each",
        None if line is None else (line, 1),
    )


def too_deep(column: int) -> RuleError:
    """The error for brackets inside too many brackets."""
    return rule_error(
        f"expected at most {DEEPEST} brackets inside each other, got more: multiply them out",
        column=column,
    )


def too_many_signs(column: int) -> RuleError:
    """The error for a sum of too many parts."""
    return rule_error(
        f"expected at most {MOST_SIGNS:,} of the signs + - * / in a rule, got more: "
        "use sum(...) or mean(...) of a block, or add the sum to the data as a feature",
        column=column,
    )


def too_many_words(column: int) -> RuleError:
    """The error for a rule of too many words."""
    return rule_error(
        f"expected a rule of at most {MOST_WORDS:,} words and signs, got more: "
        "name a block of features, and write mean(block)",
        column=column,
    )
