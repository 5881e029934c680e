"""What to say when a rule cannot be read: what was expected, what came, and what to write."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from hipad.errors import RuleError
from hipad.rules.language.remedies import remedy
from hipad.rules.language.spelling import Place, rule_error
from hipad.rules.language.terms import FUNCTIONS
from hipad.wording import listed

_MEANINGS = {
    "RELATION": "a comparison such as >=",
    "ARROW": "'=>' and an outcome",
    "STRING": "a class label",
    "NAME": "a feature",
    "NUMBER": "a number",
    "RPAR": "')'",
    "COMMA": "','",
    "AND": "'and'",
    "OR": "'or'",
    "OF": "'of ('",
    "WORTH": "'worth 20 patients'",
    "$END": "the end of the line",
}

_SYNONYMS = {"avg": "mean", "average": "mean", "total": "sum", "minimum": "min", "maximum": "max"}
_CURVED = {"abs", "sqrt", "log", "log2", "log10", "exp", "pow", "std", "var", "sd", "square"}
_FIRST_WORD = re.compile(r"[\w.]+|[<>=!-]+|`[^`]*`?|\"[^\"]*\"?|.")


def explain(body: str, place: Place, found: str, expected: Iterable[str]) -> RuleError:
    """The error for a line whose reading stopped at `place`, in front of a word of kind `found`."""
    wanted = set(expected)
    if "STRING" in wanted:
        wanted -= {"NAME", "NUMBER"}
    before, rest = body[: place[1] - 1], body[place[1] - 1 :]
    advice = remedy(before, rest, found, wanted)
    meanings = tuple(words for kind, words in _MEANINGS.items() if kind in wanted)
    word = _FIRST_WORD.match(rest.lstrip())
    came = f"'{word[0]}'" if word else "the end of the line"
    if meanings:
        message = f"expected {listed(meanings[:4], 'or')}, found {came}: {advice}"
    else:
        message = f"{came} does not belong here: {advice}"
    return rule_error(message, place, expected=meanings, suggestion=advice)


def unknown_function(name: str, column: int) -> RuleError:
    """The error for a function that the language does not have."""
    if name.lower() in _CURVED:
        message = (
            f"{name}(...) is not linear: use {listed(FUNCTIONS, 'or')}, or add {name} of the "
            "feature to the data as a feature of its own"
        )
        return rule_error(message, column=column, expected=FUNCTIONS)
    near = difflib.get_close_matches(name.lower(), [*FUNCTIONS, *_SYNONYMS], 1)
    better = _SYNONYMS.get(near[0], near[0]) if near else "mean"
    message = (
        f"'{name}' is not a function here: write {better}(...), the functions are "
        f"{listed(FUNCTIONS)}, or write '*' to multiply"
    )
    return rule_error(message, column=column, expected=FUNCTIONS, suggestion=better)
