"""The slips people make when they write a rule, and what to write instead.

Each entry describes a place where a text stops making sense: what stands there, what stands before
it, and what could have followed. The first entry that fits gives the remedy, so special cases
come before general ones.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass

EXAMPLE = "mean(K1) >= 4 => positive"

_ARROW = r"(?:=>|->|[⇒⟹→]|\bthen\b)"
_AFTER_BRACKETS = r"\A(?>.*[()])?+.*?"  # up to the last bracket in one sweep
_COUNT = _AFTER_BRACKETS + r"\b(?:at\s+(?:least|most)|exactly)\b"
_ARROWS = {"ARROW", "THEN"}
_JOINS = {"AND", "OR"}
_NAMES = {"NAME", "QUOTED"}


@dataclass(frozen=True)
class Remedy:
    """What to write, and when that is the answer; an empty test always passes."""

    words: str
    found: Set[str] = frozenset()
    before: str = ""
    rest: str = ""
    wanted: Set[str] = frozenset()
    in_brackets: bool = False

    def fits(self, before: str, rest: str, found: str, wanted: Set[str]) -> bool:
        """True if this is the slip."""
        return (
            (not self.found or found in self.found)
            and (not self.wanted or bool(self.wanted & wanted))
            and (not self.in_brackets or before.count("(") > before.count(")"))
            and bool(re.search(self.before, before, re.IGNORECASE))
            and bool(re.match(self.rest, rest, re.IGNORECASE))
        )


def remedy(before: str, rest: str, found: str, wanted: Set[str]) -> str:
    """What to write at a place, given the text before and after it."""
    return next(entry.words for entry in REMEDIES if entry.fits(before, rest, found, wanted))


_AFTER = _ARROW + r".*$"

REMEDIES = (
    # quotes and backticks
    Remedy("write the name between the backticks, as in `p-36=t`", rest="``"),
    Remedy("close the name with a backtick `", rest="`[^`]*$"),
    Remedy('write the class label between the quotes, as in "ill"', rest="\"\"|''"),
    Remedy("close the class label with a quote", found={"UNKNOWN"}, rest="[\"'“]"),
    Remedy(
        "quotes are for the outcome; put a feature's name between backticks, as in `p-36=t`",
        found={"STRING"},
    ),
    # arrows and outcomes
    Remedy(
        "a rule has one '=>'; to compare, write >= in place of =>", found=_ARROWS, before=_AFTER
    ),
    Remedy(
        "to compare, write >= in place of =>",
        found={"ARROW"},
        wanted={"RELATION"},
        rest=rf"..\s*[\w.]+\s*{_ARROW}",
    ),
    Remedy(
        "write the class label after '=>', as in => positive", {"$END", "WORTH"}, _ARROW + r"\s*$"
    ),
    Remedy('put the class label between quotes, as in => "not ill"', before=_ARROW + r"\s*$"),
    Remedy(
        "a rule has one outcome; write a second rule on a line of its own", _JOINS, before=_AFTER
    ),
    Remedy(
        "write the worth as a number of patients, as in worth 20 patients",
        before=rf"\A(?>.*?{_ARROW}).*\bworth\b",
    ),
    Remedy(
        "say what the rule counts for, as in worth 20 patients",
        before=_AFTER,
        rest=r"[,;]?\s*(weight|count|with|value)",
    ),
    Remedy("write one rule per line and no ';'", before=_AFTER, rest="[;,]"),
    Remedy(
        'put a class label of several words between quotes, as in => "BCR/ABL", a note after #',
        before=_AFTER,
    ),
    Remedy(
        "write '=>' and the outcome before the worth, as in => positive worth 20 patients",
        {"WORTH"},
    ),
    # what is not linear, or has no sign here
    Remedy("'differs from' is not linear; write one rule with >= and one with <=", rest="!=|=/=|≠"),
    Remedy(
        "'differs from' is not linear; write one rule with >= and one with <=",
        before="<$",
        rest=">",
    ),
    Remedy("a power is not linear; add it to the data as a feature of its own", rest=r"\^"),
    Remedy(
        "a power is not linear; add it to the data as a feature of its own",
        before=r"\*$",
        rest=r"\*",
    ),
    Remedy("'not' has no linear form; turn the comparison round: a <= 2", before=r"\bnot\s*$"),
    Remedy("write 'and' or 'or' in words", rest=r"[&|]"),
    Remedy("write the number without '%', in the units of the data", rest="%"),
    # counts and ranges
    Remedy("write the count as: at least 3 of (a, b, c, d)", before=_COUNT),
    Remedy("write the range as: a between 1 and 3", before=_AFTER_BRACKETS + r"\bbetween\b"),
    Remedy("write the range as: a between 1 and 3", {"BETWEEN"}, r"^\W*$"),
    Remedy("a chain has two signs at most, as in 3 <= a <= 5", {"RELATION"}, wanted={"AND"}),
    # numbers
    Remedy("write numbers with a point, as in 9.5 or 1200", before=r"\d$", rest=r",\d"),
    Remedy(
        "put a name that begins with a digit between backticks, as in `1007_s_at`, "
        "or write '*' between a number and a feature",
        before=r"\d\.?$",
        rest=r"[\w.]",
    ),
    Remedy("write '=>' before the outcome", _NAMES, r"\d\s+$", rest=r"[^=]*$"),
    Remedy(
        "leave out the unit, or write '*' between a number and a feature, as in 2*age",
        _NAMES,
        r"\d\s+$",
    ),
    # brackets
    Remedy(
        "name features or blocks between the brackets, as in mean(K1)",
        before=r"[(,:]\s*$",
        rest=r"\)|\d",
        in_brackets=True,
    ),
    Remedy("write ',' between the names, as in sum(a, b)", _NAMES, in_brackets=True),
    Remedy(
        "close the bracket with ')' before you compare",
        {"RELATION", "BETWEEN"},
        r"(mean|sum|min|max)\s*\([^()]*$",
    ),
    Remedy(
        "compare outside the brackets, as in mean(K1) >= 2, and join conditions without brackets",
        {"RELATION", "BETWEEN", *_JOINS},
        in_brackets=True,
    ),
    Remedy("close the bracket with ')', and put odd names between backticks", in_brackets=True),
    Remedy("leave out this ')', or open its bracket before", rest=r"\)"),
    Remedy("write round brackets, as in mean(K1)", rest=r"[\[\]{}]"),
    Remedy("put the features in brackets, as in mean(K1)", _NAMES, r"\b(mean|sum|min|max)\s+$"),
    # joining and comparing
    Remedy("join conditions with 'and', and write one rule per line", rest="[,;]"),
    Remedy(
        "write the comparison as a sign: >=, <= or =",
        rest=r"(is|are|over|above|exceeds|under|below|at|more|less|greater|equals)\b",
    ),
    Remedy("write a sign between them, as in Glucose >= 126", {"NUMBER"}, wanted={"RELATION"}),
    Remedy("write a condition first, as in " + EXAMPLE, {"COLON", *_ARROWS, *_JOINS}, r"^\s*$"),
    Remedy("compare it with a number before '=>', as in " + EXAMPLE, _ARROWS, wanted={"RELATION"}),
    Remedy("write a feature, number or condition before this", _ARROWS | _JOINS),
    Remedy(
        "write a feature before the sign and a number after it, as in Glucose >= 126", {"RELATION"}
    ),
    Remedy("compare it, and end with the outcome, as in " + EXAMPLE, {"$END"}),
    Remedy("put a rule's name between backticks, as in `my rule`:", _NAMES, rest=r"[\w\s]+:"),
    Remedy("put a name with spaces between backticks, as in `blood pressure`", _NAMES),
    Remedy("leave this out, or put the name that holds it between backticks", {"UNKNOWN"}),
    Remedy("write a rule such as " + EXAMPLE),
)
