"""Phrases that stand for signs and numbers: `is at least`, `30 or more`, `two of`."""

from __future__ import annotations

from typing import Final

COUNT_WORDS: Final = dict(
    zip(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"],
        range(1, 11),
        strict=True,
    )
)
# Verbs that only lead to a comparison: falls below, stays above, lies between.
VERBS: Final = (
    "falls", "fall", "fell", "drops", "drop", "dropped", "rises", "rise", "rose", "goes", "go",
    "went", "stays", "stay", "stayed", "remains", "remain", "climbs", "lies", "lie", "gets",
    "becomes", "reads", "measures", "sits", "was", "were", "ranges",
)  # fmt: skip
_THAN: Final = {
    ">": "greater more higher larger bigger older above over",
    "<": "less lower smaller fewer younger below under",
}
_FIXED: Final[dict[tuple[str, ...], str]] = {
    ("at", "least"): ">=",
    ("at", "most"): "<=",
    ("at", "or", "above"): ">=",
    ("at", "or", "below"): "<=",
    ("at", "or", "over"): ">=",
    ("at", "or", "under"): "<=",
    ("not", "below"): ">=",
    ("not", "under"): ">=",
    ("not", "above"): "<=",
    ("not", "over"): "<=",
    ("above",): ">",
    ("over",): ">",
    ("beyond",): ">",
    ("exceeds",): ">",
    ("exceed",): ">",
    ("exceeding",): ">",
    ("below",): "<",
    ("under",): "<",
    ("reaches",): ">=",
    ("reach",): ">=",
    ("hits",): ">=",
    ("surpasses",): ">",
    ("not", "exceeding"): "<=",
    ("never", "exceeds"): "<=",
    ("never", "above"): "<=",
    ("never", "below"): ">=",
    ("equal", "to", "or", "greater", "than"): ">=",
    ("equal", "to", "or", "more", "than"): ">=",
    ("equal", "to", "or", "above"): ">=",
    ("equal", "to", "or", "less", "than"): "<=",
    ("equal", "to", "or", "below"): "<=",
    ("equal", "or", "greater", "than"): ">=",
    ("equal", "or", "above"): ">=",
    ("equal", "or", "less", "than"): "<=",
    ("equal", "or", "below"): "<=",
    ("above", "or", "at"): ">=",
    ("below", "or", "at"): "<=",
    ("up", "to"): "<=",
    ("equals",): "=",
    ("equal",): "=",
    ("equal", "to"): "=",
    ("not", "equal", "to"): "!=",
    ("differs", "from"): "!=",
    ("does", "not", "exceed"): "<=",
    ("do", "not", "exceed"): "<=",
    ("doesn't", "exceed"): "<=",
    ("is",): "=",
    ("are",): "=",
    ("is", "not"): "!=",
    ("are", "not"): "!=",
    ("isn't",): "!=",
    ("aren't",): "!=",
}


def _phrases() -> dict[tuple[str, ...], str]:
    """Every phrase that compares, with and without a leading is, and the sign it stands for."""
    found = dict(_FIXED)
    for sign, words in _THAN.items():
        for word in words.split():
            found[word, "than"] = sign
            found[word, "or", "equal"] = found[word, "or", "equal", "to"] = sign + "="
            found[word, "than", "or", "equal"] = sign + "="
            found[word, "than", "or", "equal", "to"] = sign + "="
            other = "<=" if sign == ">" else ">="
            found["no", word, "than"] = found["not", word, "than"] = other
    for phrase, sign in list(found.items()):
        if phrase[0] in ("above", "below", "over", "under", "beyond", "at", "up", "not"):
            for verb in VERBS:
                found[verb, *phrase] = sign
    for phrase, sign in list(found.items()):
        if phrase[0] == "not":
            found["isn't", *phrase[1:]] = found["aren't", *phrase[1:]] = sign
    for phrase, sign in list(found.items()):
        if phrase[0] in VERBS:
            continue
        if phrase[0] not in ("is", "are", "isn't", "aren't", "does", "do", "doesn't", "exceeds"):
            found["is", *phrase] = found["are", *phrase] = sign
    return found


PHRASES: Final = _phrases()
LONGEST_PHRASE: Final = max(map(len, PHRASES))
FIRST_WORDS: Final = frozenset(words[0] for words in PHRASES)
AFTER_NUMBER: Final = {
    (join, word): sign
    for join in ("or", "and")
    for sign, words in (
        (">=", "more higher above over greater older up larger"),
        ("<=", "less lower below under fewer younger down smaller"),
    )
    for word in words.split()
}
