"""The order of a category's values, where their words tell it: I, II, III; low, medium, high."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from hipad.rules.language.words.lexing import LevelOrder

_ROMAN: Final = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8}
# Values that have no place in an order: a comparison leaves them out.
UNPLACED: Final = frozenset(
    [
        "n/a", "na", "nan", "null", "missing", "unknown", "other", "not stated", "not available",
        "not applicable", "not known", "not reported", "undefined", "unspecified", "refused", "?",
    ]
)  # fmt: skip
# Scales from the lowest to the highest; words in one place mean the same. Then which end is worse.
_SCALES: Final = tuple(
    ([tuple(place.split("|")) for place in text.split(" < ")], worse)
    for text, worse in (
        ("none|absent|no < very low|minimal|negligible < low < medium|moderate|intermediate|normal|"
         "average|middle|mid < high < very high < extreme|critical", ""),
        ("none|absent|no|healthy|normal < minimal|trace|borderline < very mild < mild|slight|minor "
         "< moderate|intermediate < severe|major|serious < very severe|critical|life-threatening "
         "< fatal|dead", "up"),
        ("never|none < rarely|seldom < sometimes|occasionally|occasional < often|frequently|"
         "frequent|usually < always|daily", ""),
        ("never < former|ex|past|quit < current|active|yes", "up"),
        ("tiny|very small|xs < small|s < medium|m < large|l < very large|huge|xl", ""),
        ("very poor|very bad < poor|bad < fair|average|acceptable|ok < good < very good|great < "
         "excellent|outstanding", "down"),
        ("none|no education|illiterate < primary|elementary|basic < secondary|high school|middle "
         "school < tertiary|college|university|bachelor < master|graduate|postgraduate < "
         "doctorate|phd|doctoral", "down"),
        ("strongly disagree < disagree < neutral|neither|undecided < agree < strongly agree", ""),
        ("very dissatisfied < dissatisfied|unsatisfied < neutral < satisfied < very satisfied",
         "down"),
        ("very slow < slow < medium|normal|moderate < fast < very fast", ""),
        ("early|initial < mid|middle|intermediate < late < advanced|end|terminal", "up"),
        ("infant|baby < child < teen|teenager|adolescent < young adult|young|youth < adult|"
         "middle-aged|middle aged < senior|elderly|old|older", ""),
        ("dry < damp < wet", ""),
        ("cold < cool < mild < warm < hot", ""),
        ("benign < borderline < malignant", "up"),
        ("ok|normal|good < info < warning|warn < error|alarm < critical|fatal|failure", "up"),
    )
)  # fmt: skip
_SIZED: Final = re.compile(r"(?P<head>[^\d<>≤≥]*?)\s*(?P<sign>[<>≤≥]=?|under|over|up to)?\s*[$€£]?"
                           r"(?P<low>\d+(?:[.,]\d+)*)\s*(?:k\b)?\s*(?P<tail>.*)")  # fmt: skip
_WORDS: Final = re.compile(r"[^\W\d_]+")


def level_rank(level: str) -> int | None:
    """The place of a value that is a number or a Roman numeral, also after a letter: G2, T3."""
    bare = re.sub(r"^(?:grade|stage|class|level|[a-z](?=\d))\s*", "", level)
    if bare in _ROMAN:
        return _ROMAN[bare]
    return int(bare) if bare.isdecimal() and len(bare) < 9 else None


def level_order(levels: Sequence[str]) -> LevelOrder | None:
    """The values in their order, or None where their words do not tell it.

    >>> level_order(["high", "low", "medium", "unknown"]).levels
    ('low', 'medium', 'high')
    >>> level_order(["18-24", "65+", "25-64"]).levels
    ('18-24', '25-64', '65+')
    """
    placed = [level for level in levels if level.lower() not in UNPLACED]
    if len(placed) < 2:
        return None
    ranks = [level_rank(level.lower()) for level in placed]
    if None not in ranks and len(set(ranks)) == len(ranks):
        return LevelOrder(_sorted(placed, [float(rank or 0) for rank in ranks]), "up")
    if (sizes := _sizes(placed)) is not None:
        return LevelOrder(_sorted(placed, sizes))
    for scale, worse in _SCALES:
        places = [_place(level.lower(), scale) for level in placed]
        if None not in places and len(set(places)) == len(places):
            return LevelOrder(_sorted(placed, [float(place or 0) for place in places]), worse)
    letters = [level.upper() for level in placed]
    from_a = [chr(ord("A") + k) for k in range(len(letters))]
    if len(letters) <= 26 and sorted(letters) == from_a:
        return LevelOrder(_sorted(placed, list(map(ord, letters))), "up", ranked=False)
    return None


def _sorted(levels: Sequence[str], ranks: Sequence[float]) -> tuple[str, ...]:
    return tuple(level for _, level in sorted(zip(ranks, levels, strict=True)))


def _place(level: str, scale: list[tuple[str, ...]]) -> int | None:
    return next((k for k, words in enumerate(scale) if level in words), None)


def _sizes(levels: Sequence[str]) -> list[float] | None:
    """Where each begins, for ranges such as 18-24, 65+ and < 18; None for other values."""
    found: list[float] = []
    units = set()
    for level in levels:
        match = _SIZED.fullmatch(level.lower())
        if match is None:
            return None
        words = {*_WORDS.findall(match["head"]), *_WORDS.findall(match["tail"])}
        units.add(frozenset(words - {"to", "and", "more", "older", "over", "or", "plus", "less"}))
        low = float(match["low"].replace(",", ""))
        below = match["sign"] in ("<", "≤", "<=", "under", "up to") or "less" in words
        found.append(low - 0.5 if below else low + 0.5 if match["sign"] in (">", "over") else low)
    return found if len(units) == 1 and len(set(found)) == len(found) else None
