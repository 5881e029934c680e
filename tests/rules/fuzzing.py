"""Rules that nobody would write: damaged texts, heaps of words, deep nesting, odd signs."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tests.rules.natural import listed_texts
from tests.rules.natural_texts import STATEMENTS, TEXTS

WORDS = (
    "a", "b", "Glucose", "BMI", "blood", "pressure", "K1", "ABL1", "sex", "male", "stage", "II",
    "1635_at", "p-36=t", "`p-36=t`", "diabetic", "healthy", "not", "and", "or", "unless", "if",
    "then", "implies", "at", "least", "most", "of", "any", "all", "none", "either", "neither",
    "nor", "both", "but", "between", "in", "to", "from", "outside", "is", "above", "below", "top",
    "10", "%", "2", "-3", "1e9", "1e-9", "1,000", "6,5", "1.2.3", "0", "1/0", "nan", "inf", "worth",
    "20", "patients", "off", "mean", "median", "p90", "sd", "z", "log2", "sqrt", "abs", "min",
    "max", "sum", "quantile", "mg/dL", "kg/m2", "raised", "matter", "certain", "does", "#", "'",
    '"', "`", "(", ")", "[", "]", "{", "}", "|", ",", ";", ":", ".", "+", "-", "*", "/", "^", "±",
    "=", "<", ">", "<=", ">=", "!=", "<>", "=>", "->", "≥", "≤", "→", "∧", "∨", "¬", "∈", "²",
    "\n", "\t", "\r", "\x00", "\u2028", "\ufeff", "😀", "é", "e\u0301", "İ", "ß", "½", "２", "٣",
    "−", "–", "“", "”", "«", "»", "\u200b", "\xa0",
)  # fmt: skip
OUTCOMES = (" => diabetic", " => healthy", " => positive", "")


def good_texts() -> list[str]:
    """Texts to begin with."""
    own = [text for text, *_ in TEXTS]
    return own + list(STATEMENTS) + [each.text for each in listed_texts()]


def fuzzed(n: int, seed: int) -> Iterator[str]:
    """Texts of four kinds in turn, the same for the same seed."""
    random, good = Random(seed), good_texts()
    kinds = (_damaged, _crossed, _heap, _nested)
    for k in range(n):
        yield kinds[k % len(kinds)](random, good)


def _damaged(random: Random, good: list[str]) -> str:
    """A good text with a few characters or words put in, taken out, doubled or exchanged."""
    text = random.choice(good)
    for _ in range(random.randint(1, 4)):
        at, to = sorted((random.randint(0, len(text)), random.randint(0, len(text))))
        change = random.randint(0, 4)
        if change == 0:
            text = text[:at] + random.choice(WORDS) + text[at:]
        elif change == 1:
            text = text[:at] + text[at + 1 :]
        elif change == 2:
            text = text[:at] + text[to:]
        elif change == 3:
            text = text[:to] + text[at:to] + text[to:]
        else:
            text = text[:at] + chr(random.choice((random.randrange(32, 127), 0x3B1, 0x2265, 0xA0)))
            text += text[at + 1 :]
    return text[:400]


def _crossed(random: Random, good: list[str]) -> str:
    """The beginning of one text and the end of another."""
    one, other = random.choice(good), random.choice(good)
    return one[: random.randint(0, len(one))] + other[random.randint(0, len(other)) :]


def _heap(random: Random, good: list[str]) -> str:
    """Words in any order."""
    words = [random.choice(WORDS) for _ in range(random.randint(1, 14))]
    return random.choice(("", " ")).join(words) + random.choice(OUTCOMES)


def _nested(random: Random, good: list[str]) -> str:
    """Conditions in brackets in brackets."""
    text = random.choice(good).split("=>")[0]
    for _ in range(random.randint(1, 12)):
        left, right = random.choice(
            (("(", ")"), ("not (", ")"), ("", " or b >= 1"), ("a <= 2 and (", ")"), ("-(", ")"),
             ("2*(", ") + a"), ("at least 1 of (", ", a >= 1)"), ("", " unless BMI <= 20"))
        )  # fmt: skip
        text = left + text + right
    return text + random.choice(OUTCOMES)
