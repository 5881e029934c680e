r"""Patterns that users write for names: regular expressions and globs, in time that cannot explode.

RE2 reads each name once, whatever the pattern, so `/(a+)+$/` is as quick as any other. What needs
backtracking (look-ahead, look-behind, back references) is refused in a sentence. Everything else
means what Python's `re.search` makes of it; `\d`, `\w` and `\s` know all alphabets, while `\b`
knows ASCII letters only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import numpy as np
import re2

from hipad.arrays import IntArray
from hipad.rules.budget import Budget
from hipad.rules.compiling.naming.names import FeatureIndex
from hipad.rules.language.spelling import rule_error

LONGEST: Final = 2_000  # characters of a pattern
MEMORY: Final = 2**20  # bytes that one pattern may take
PATIENCE: Final = 20.0  # seconds for all patterns of one text

_WORDS: Final = {"d": r"\p{Nd}", "w": r"\p{L}\p{N}_", "s": r"\s\v\x1c-\x1f\x85\p{Z}"}
_OTHERS: Final = {  # the same turned round, for use inside a class
    "D": r"\P{Nd}",
    "W": r"\p{M}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}\p{S}\p{Z}\p{C}"
    r"\x{203F}\x{2040}\x{2054}\x{FE33}\x{FE34}\x{FE4D}-\x{FE4F}\x{FF3F}",
}
_TOKEN: Final = re.compile(r"\\u([0-9a-fA-F]{4})|\\(.)|\{,(\d+)\}|(.)", re.DOTALL)
_RANGE: Final = re.compile(r"(.)-(.)|(.)", re.DOTALL)
_REFUSALS: Final = {
    "(?=": "look-ahead",
    "(?!": "look-ahead",
    "(?<": "look-behind",
    "(?P=": "back references",
    "(?(": "conditions on a group",
    "(?>": "atomic groups",
    "(?#": "notes in a pattern",
}


def regex_columns(expression: str, index: FeatureIndex, budget: Budget | None = None) -> IntArray:
    """The columns in whose names the expression is found.

    >>> regex_columns("^AB+L", FeatureIndex(["ABL1", "JAK1", "ABBL2"]))
    array([0, 2])
    """
    return _columns(_in_re2(expression), f"/{expression}/", index, budget)


def glob_columns(glob: str, index: FeatureIndex, budget: Budget | None = None) -> IntArray:
    """The columns whose whole names fit a glob with `*`, `?` and `[...]`, case included."""
    return _columns(glob_expression(glob), glob, index, budget)


def _columns(expression: str, shown: str, index: FeatureIndex, budget: Budget | None) -> IntArray:
    pattern = _compiled(expression, shown)
    names: Iterable[str] = index.names or (index.name(j) for j in range(len(index)))
    budget = budget or Budget(PATIENCE)
    found = []
    for j, name in enumerate(names):
        if pattern.search(name.encode("utf-8", "replace")) is not None:
            found.append(j)
        if j % 256 == 0 and budget.is_spent:
            raise rule_error(
                f"the patterns up to {_cut(shown)} took too long on {len(index):,} names: "
                "write fewer or simpler ones"
            )
    if not found:
        raise rule_error(f"no feature fits {_cut(shown)}: widen it, or check upper and lower case")
    return np.array(found, dtype=np.int64)


def _compiled(expression: str, shown: str) -> re2._Regexp:
    if len(shown) > LONGEST:
        raise rule_error(
            f"expected a pattern of at most {LONGEST:,} characters, got {len(shown):,}: shorten it"
        )
    options = re2.Options()
    options.max_mem = MEMORY
    options.log_errors = False
    options.never_capture = True
    try:
        return re2.compile(expression.encode("utf-8", "replace"), options)
    except re2.error as error:
        raise rule_error(_refusal(error, shown)) from None


def _refusal(error: re2.error, shown: str) -> str:
    reason = error.args[0]
    reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    for sign, what in _REFUSALS.items():
        if sign in shown and "(?" in reason:
            return f"{_cut(shown)} is not supported: {what} cannot be used, write it without"
    if re.search(r"escape sequence: \\[1-9]", reason):
        return f"{_cut(shown)} is not supported: back references cannot be used, write it without"
    if "too large" in reason or "repetition size" in reason:
        return f"{_cut(shown)} is too large a pattern: repeat fewer times"
    advice = "correct it, or write a glob: AB*"
    return f"{_cut(shown)} is not a regular expression ({_cut(reason)}): {advice}"


def _in_re2(expression: str) -> str:
    r"""The expression as RE2 writes it: `\w`, `\u00e9`, `{,3}` and `\Z` have other forms there."""
    parts = []
    opened = -1  # where the present class [...] was opened
    for token in _TOKEN.finditer(expression):
        code, escaped, most, sign = token.groups()
        in_class = opened >= 0
        if code:
            parts.append(rf"\x{{{code}}}")
        elif escaped:
            parts.append(_escape(escaped, in_class))
        elif most:
            parts.append(token[0] if in_class else f"{{0,{most}}}")
        elif sign == "[" and in_class:
            parts.append(r"\[")
        else:
            if sign == "[":
                opened = token.end()
            elif sign == "]" and token.start() > opened + (expression[opened] == "^"):
                opened = -1
            parts.append(sign)
    return "".join(parts)


def _escape(letter: str, in_class: bool) -> str:
    if in_class:
        return _WORDS.get(letter) or _OTHERS.get(letter) or "\\" + letter
    kind = _WORDS.get(letter.lower())
    if kind is None:
        return r"\z" if letter == "Z" else "\\" + letter
    return f"[{'^' if letter.isupper() else ''}{kind}]"


def glob_expression(glob: str) -> str:
    r"""A glob as an expression for the whole name.

    >>> glob_expression("AB?_[!0-9]*")
    '\\A(?s:AB._[^0-9].*)\\z'
    """
    parts, at = [], 0
    while at < len(glob):
        sign, at = glob[at], at + 1
        if sign == "[" and (end := glob.find("]", at + 1 + (glob[at : at + 1] == "!"))) > 0:
            parts.append(_class(glob[at:end]))
            at = end + 1
        elif sign in "*?":
            parts.append({"*": ".*", "?": "."}[sign])
        else:
            parts.append(re2.escape(sign))
    return rf"\A(?s:{''.join(parts)})\z"


def _class(inside: str) -> str:
    negated = inside.startswith("!")
    members = []
    for first, last, single in _RANGE.findall(inside[negated:]):
        if single:
            members.append(re2.escape(single))
        elif first <= last:
            members.append(f"{re2.escape(first)}-{re2.escape(last)}")
    if not members:
        return "." if negated else r"[^\x00-\x{10FFFF}]"
    return f"[{'^' if negated else ''}{''.join(members)}]"


def _cut(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:80]}..."
