"""What to say when a rule cannot be read: what was expected, what came, and what to write.

The parser knows where a text stops making sense and which words could follow. The table below
knows the slips people make there; the first that fits gives the remedy.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hipad.errors import RuleError
from hipad.rules.model import FUNCTIONS
from hipad.rules.words import Place, listed, rule_error

_EXAMPLE = "mean(K1) >= 4 => positive"

_MEANINGS = {
    "NAME": "a feature",
    "QUOTED": "a feature",
    "NUMBER": "a number",
    "RELATION": "a comparison such as >=",
    "BETWEEN": "a comparison such as >=",
    "ARROW": "'=>' and an outcome",
    "THEN": "'=>' and an outcome",
    "AND": "'and'",
    "OR": "'or'",
    "STRING": "a class label",
    "WORTH": "'worth 20 patients'",
    "$END": "the end of the line",
    "RPAR": "')'",
    "LPAR": "'('",
    "COMMA": "','",
    "COLON": "':'",
    "OF": "'of ('",
}

_ARROW = re.compile(r"=>|->|[⇒⟹→]|\bthen\b", re.IGNORECASE)
_ARROW_LAST = re.compile(rf"(?:{_ARROW.pattern})\s*$", re.IGNORECASE)
_SYNONYMS = {"avg": "mean", "average": "mean", "total": "sum", "minimum": "min", "maximum": "max"}
_CURVED = {"abs", "sqrt", "log", "log2", "log10", "exp", "pow", "std", "var", "sd", "square"}


@dataclass(frozen=True)
class _Slip:
    """Where a reading stopped: the text before, the text from there on, what could follow."""

    before: str
    rest: str
    found: str
    expected: frozenset[str]

    @property
    def wants_outcome(self) -> bool:
        return "STRING" in self.expected or bool(_ARROW_LAST.search(self.before))

    @property
    def after_outcome(self) -> bool:
        return "WORTH" in self.expected or bool(_ARROW.search(self.before))


Test = Callable[[_Slip], object]

_REMEDIES: list[tuple[Test, str]] = [
    (lambda s: s.rest.count("`") % 2 and s.rest[:1] == "`", "close the name with a backtick `"),
    (lambda s: s.rest[:2] == "``", "write the name between the backticks, as in `p-36=t`"),
    (lambda s: s.rest[:2] in ('""', "''"), 'write the class label between the quotes, as in "ill"'),
    (
        lambda s: s.rest[:1] in "\"'“" and s.rest[:1] and s.found == "UNKNOWN",
        "close the label with a quote",
    ),
    (
        lambda s: s.found == "STRING",
        "quotes are for the outcome only: put a feature's name between backticks, as in `p-36=t`",
    ),
    (
        lambda s: re.match(r"=?!=|<>|≠|=/=", s.rest) or re.search(r"<$", s.before),
        "'differs from' is not linear: write one rule with >= and one with <=",
    ),
    (
        lambda s: s.found in ("ARROW", "THEN") and s.after_outcome,
        "a rule has one '=>': to compare, write >= in place of =>",
    ),
    (
        lambda s: s.found == "ARROW" and "RELATION" in s.expected and _ARROW.search(s.rest[2:]),
        "to compare, write >= in place of =>",
    ),
    (
        lambda s: s.wants_outcome and s.found == "$END",
        "write the class label after '=>', as in => positive",
    ),
    (
        lambda s: s.wants_outcome,
        'put the class label between quotes, as in => "not ill"',
    ),
    (
        lambda s: s.found in ("AND", "OR") and "WORTH" in s.expected,
        "a rule has one outcome: write a second rule on a line of its own",
    ),
    (
        lambda s: not s.after_outcome and re.search(r"\bnot\s*$", s.before, re.I),
        "'not' has no linear form: turn the comparison round, as in a <= 2 for not a >= 2",
    ),
    (
        lambda s: s.after_outcome and re.match(r"[,;]?\s*(weight|count|with)", s.rest, re.I),
        "say what the rule counts for as: worth 20 patients",
    ),
    (
        lambda s: (
            re.search(r"worth\s*[\w`\"'.+-]*\s*$", s.before, re.I)
            or (re.search(r"worth\W", s.before, re.I) and s.after_outcome)
        ),
        "write the worth as a number of patients, as in worth 20 patients",
    ),
    (
        lambda s: s.found == "WORTH" and not s.after_outcome,
        "write '=>' and the outcome before the worth, as in => positive worth 20 patients",
    ),
    (
        lambda s: s.after_outcome and s.rest[:1] == ";",
        "write one rule a line and no ';'",
    ),
    (
        lambda s: s.after_outcome,
        'put a class label of several words between quotes, as in => "BCR/ABL", and a note after #',
    ),
    (
        lambda s: re.match(r"\^|\*\s*\*", s.rest) or re.search(r"\*\s*$", s.before),
        "a power is not linear: add the power to the data as a feature of its own",
    ),
    (lambda s: re.match(r"&|\|", s.rest), "write 'and' or 'or' in words"),
    (lambda s: s.rest[:1] == "%", "write the number without '%', in the units of the data"),
    (
        lambda s: s.rest[:1] == "," and re.search(r"\d$", s.before) and re.match(r",\d", s.rest),
        "write numbers with a point and no thousands mark, as in 9.5 or 1200",
    ),
    (
        lambda s: s.found == "COMMA" or s.rest[:1] == ";",
        "join conditions with 'and', and write one rule a line",
    ),
    (
        lambda s: re.match(r"[\w.]", s.rest) and re.search(r"\d\.?$", s.before),
        "put a name that begins with a digit between backticks, as in `1007_s_at`, "
        "or write '*' between a number and a feature",
    ),
    (
        lambda s: re.search(r"\d\s+$", s.before) and s.found in ("NAME", "QUOTED"),
        "write '*' between a number and a feature, as in 2*age",
    ),
    (
        lambda s: s.before.count("(") > s.before.count(")") and s.found in ("AND", "OR"),
        "leave out the brackets: 'and' binds before 'or', so write a and b or a and c",
    ),
    (
        lambda s: s.before.count("(") > s.before.count(")") and s.found in ("RELATION", "BETWEEN"),
        "compare outside the brackets, as in (a + b) >= 2, and join conditions without brackets",
    ),
    (
        lambda s: s.found == "NUMBER" and re.search(r"\(\s*$|,\s*$|:\s*$", s.before),
        "name features or blocks between the brackets, as in mean(K1) or sum(a, b)",
    ),
    (
        lambda s: s.rest[:1] == ")" and re.search(r"\(\s*$", s.before),
        "name features or blocks between the brackets, as in mean(K1)",
    ),
    (
        lambda s: s.before.count("(") > s.before.count(")"),
        "close the bracket with ')' and put odd names between backticks",
    ),
    (
        lambda s: s.rest[:1] == ")",
        "leave out this ')' or open its bracket before",
    ),
    (lambda s: s.rest[:1] in "[{" and s.rest[:1], "write round brackets, as in mean(K1)"),
    (
        lambda s: re.search(r"(at\s+(least|most)|exactly)\b[^()]*$", s.before, re.I),
        "write the count as: at least 3 of (a, b, c, d)",
    ),
    (
        lambda s: re.search(r"between\b[^()]*$", s.before, re.I),
        "write the range as: a between 1 and 3",
    ),
    (
        lambda s: s.found == "BETWEEN",
        "write the range as: a between 1 and 3",
    ),
    (
        lambda s: re.match(
            r"(is|are|over|above|exceeds|under|below|at|more|less|greater)\b", s.rest, re.I
        ),
        "write the comparison as a sign: >=, <= or =",
    ),
    (
        lambda s: s.found in ("COLON", "ARROW", "THEN") and not s.before.strip(" :\t"),
        "write a condition first, as in " + _EXAMPLE,
    ),
    (
        lambda s: s.found in ("ARROW", "THEN") and "RELATION" in s.expected,
        "compare it with a number before '=>', as in " + _EXAMPLE,
    ),
    (
        lambda s: s.found in ("ARROW", "THEN", "AND", "OR"),
        "write a number, feature or condition before this word",
    ),
    (
        lambda s: s.found == "RELATION" and "AND" in s.expected,
        "a chain has two signs at most, as in 3 <= a <= 5",
    ),
    (
        lambda s: s.found == "RELATION",
        "write a feature before the sign and a number after it, as in Glucose >= 126",
    ),
    (
        lambda s: s.found == "$END" and "ARROW" in s.expected,
        "end the rule with its outcome, as in " + _EXAMPLE,
    ),
    (
        lambda s: s.found in ("NAME", "QUOTED") and re.search(r"[\w`]\s+$", s.before),
        "put a name with spaces between backticks, as in `blood pressure`, or join with 'and'",
    ),
    (
        lambda s: s.found == "UNKNOWN",
        "leave this sign out, or put the name that holds it between backticks",
    ),
    (lambda s: True, "write a rule such as " + _EXAMPLE),
]


def explain(body: str, place: Place, found: str, expected: Iterable[str]) -> RuleError:
    """The error for a line whose reading stopped at `place`."""
    wanted = frozenset(expected)
    column = place[1]
    slip = _Slip(body[: column - 1], body[column - 1 :], found, wanted)
    remedy = next(words for test, words in _REMEDIES if test(slip))
    meanings = list(dict.fromkeys(_MEANINGS[kind] for kind in _MEANINGS if kind in wanted))
    came = f"'{_first_word(slip.rest)}'" if slip.rest.strip() else "the end of the line"
    message = f"expected {listed(meanings[:4], 'or')}, found {came}: {remedy}"
    if not meanings:
        message = f"{came} does not belong here: {remedy}"
    return rule_error(message, place, expected=tuple(meanings), suggestion=remedy)


def unknown_function(name: str, column: int) -> RuleError:
    """The error for a function that the language does not have."""
    if name.lower() in _CURVED:
        message = (
            f"{name}(...) is not linear: use {listed(FUNCTIONS, 'or')}, or add {name} of the "
            "feature to the data as a feature of its own"
        )
        return rule_error(message, column=column, expected=FUNCTIONS)
    near = difflib.get_close_matches(name.lower(), FUNCTIONS, 1)
    better = _SYNONYMS.get(name.lower(), near[0] if near else "mean")
    message = (
        f"'{name}' is not a function here: write {better}(...), the functions are "
        f"{listed(FUNCTIONS)}, or write '*' to multiply"
    )
    return rule_error(message, column=column, expected=FUNCTIONS, suggestion=better)


def _first_word(rest: str) -> str:
    match = re.match(r"[\w.]+|[<>=!-]+|`[^`]*`?|.", rest.lstrip())
    return match[0] if match else ""
