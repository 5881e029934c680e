"""Two classes from a label column of any kind, and which of them is the positive one.

The positive class is the one that is looked for. `find_classes` decides it for the app, the command
line and the samples alike: the user's choice, else the usual words for either side (healthy and
diseased, wild type and mutant, 0 and 1), else the class that the first rule speaks for, else the
rarer class, else the last in order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

import numpy as np

from hipad.data.table import Table, Text
from hipad.data.texts import to_number
from hipad.errors import DataError
from hipad.wording import count, some

DecidedBy: TypeAlias = Literal["choice", "model", "words", "rule", "rarer", "order"]
REASONS: Final[dict[DecidedBy, str]] = {
    "choice": "as chosen",
    "model": "as in the model",
    "words": "by the usual meaning of the labels",
    "rule": "the first rule speaks for it",
    "rarer": "the rarer class",
    "order": "the last in order, as both are equally frequent",
}
CERTAIN: Final[tuple[DecidedBy, ...]] = (
    "choice",
    "model",
    "words",
    "rule",
)  # rules may say positive then
NEGATIVE_WORDS: Final = frozenset(
    [
        "absence", "absent", "alive", "asymptomatic", "background", "baseline", "benign",
        "censored", "clear", "cn", "control", "controlled", "controls", "ctl", "ctr", "ctrl",
        "cured", "euploid", "euthyroid", "false", "gesund", "hc", "health", "healthy",
        "inactive", "inlier", "intact", "live", "lived", "living", "mock", "neg", "negative",
        "nein", "nil", "none", "norm", "normal", "normals", "normotensive", "placebo",
        "recovered", "ref", "reference", "remission", "sham", "survival", "survive", "survived",
        "surviving", "survivor", "survivors", "unaffected", "unchanged", "unexposed",
        "uninfected", "unmutated", "untreated", "vehicle", "well", "wild", "wildtype", "wt",
    ]
)  # fmt: skip
POSITIVE_WORDS: Final = frozenset(
    [
        "abnormal", "adenocarcinoma", "adverse", "affected", "aneuploid", "anomaly", "cancer",
        "cancerous", "carcinoma", "carrier", "case", "cases", "complication", "complications",
        "dead", "death", "deceased", "defect", "defective", "demented", "dementia", "diabetes",
        "diabetic", "died", "disease", "diseased", "disorder", "event", "exitus", "exposed",
        "fail", "failed", "failure", "fatal", "faulty", "fraud", "glioma", "hypertensive",
        "ill", "illness", "infarction", "infected", "infection", "ja", "krank", "leukaemia",
        "leukemia", "lymphoma", "malignancy", "malignant", "melanoma", "metastases",
        "metastasis", "metastatic", "mut", "mutant", "mutated", "mutation", "neoplasm",
        "neoplastic", "oui", "outlier", "pathologic", "pathological", "patient", "patients",
        "pos", "positive", "presence", "present", "recurred", "recurrence", "recurrent",
        "relapse", "relapsed", "sarcoma", "sepsis", "septic", "sick", "spam", "stroke",
        "symptomatic", "treated", "true", "tumor", "tumors", "tumour", "tumours",
        "uncontrolled", "unhealthy", "unwell", "yes",
    ]
)  # fmt: skip
NEGATIONS: Final = frozenset(["no", "not", "non", "never", "without", "free", "sans", "ohne"])
ORDERED_WORDS: Final = (  # (negative, positive), where each label has its own of the two
    ("low", "high"), ("mild", "severe"), ("mild", "moderate"), ("good", "poor"), ("good", "bad"),
    ("minor", "major"), ("early", "late"), ("favourable", "unfavourable"),
    ("favorable", "unfavorable"), ("stable", "unstable"), ("stable", "progressive"),
    ("stable", "progression"), ("sensitive", "resistant"), ("primary", "secondary"),
    ("n", "y"), ("f", "t"), ("b", "m"), ("n", "t"), ("n", "p"),
)  # fmt: skip
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD: Final = re.compile(r"[^\W_]+")
_SIGNED: Final = re.compile(r"(?:^|.*[^\s(])\s*\(?([-\u2212\u2013+])(?:ve)?\)?", re.DOTALL)
_NON: Final = re.compile(r"non(?!sense)(\w{4,})")
_NOT: Final = re.compile(r"(?:not|no|non)[\s_-]\s*(.+)", re.IGNORECASE)


class JoinedClass(str):
    """The name of a class that several labels were joined into; rules may still name these.

    >>> rest = JoinedClass("not a", ("b", "c"))
    >>> rest == "not a", rest.labels
    (True, ('b', 'c'))
    """

    __slots__ = ("labels",)
    labels: tuple[str, ...]

    def __new__(cls, name: str, labels: tuple[str, ...]) -> JoinedClass:
        joined = super().__new__(cls, name)
        joined.labels = labels
        return joined

    def __reduce__(self) -> tuple[type[JoinedClass], tuple[str, tuple[str, ...]]]:
        return JoinedClass, (str(self), self.labels)


@dataclass(frozen=True)
class Classes:
    """The two classes; every label in `merged` counts as the negative one.

    `decided_by` is the reason why the positive class is the positive one.
    """

    negative: str
    positive: str
    merged: tuple[str, ...] = ()
    decided_by: DecidedBy = field(default="choice", compare=False)

    def apply(self, labels: Text) -> Text:
        """The labels as the two classes."""
        if not self.merged:
            return labels
        return np.where(labels == self.positive, self.positive, self.negative)


def positive_line(classes: tuple[str, str], decided_by: DecidedBy) -> str:
    """Which of the (negative, positive) classes is positive, and why.

    >>> positive_line(("healthy", "diabetic"), "words")
    'positive class: diabetic (by the usual meaning of the labels); the other is healthy'
    """
    return f"positive class: {classes[1]} ({REASONS[decided_by]}); the other is {classes[0]}"


def labels_of(table: Table, label: str, known: Sequence[str] = ()) -> Text:
    """The label column as text, "" where a row has none.

    A word such as NA stands for no label, unless it is one of the `known` classes, or the only
    other value that the column has.
    """
    if label not in table.names:
        raise DataError(f"expected the label to be a column, got {label!r}: {some(table.names)}")
    if known:
        return table.as_text(label, known)
    word = class_word(table, label)
    return table.as_text(label, (word,) if word else ())


def class_word(table: Table, label: str) -> str:
    """The word for a gap that is a class, as it is all that a label has beside one; "" if none."""
    words = table.gap_words(label)
    classes = set(np.unique(table.as_text(label)).tolist()) - {""} if len(words) == 1 else set()
    return next(iter(words)) if len(classes) == 1 else ""


def find_classes(labels: Text, label: str, positive: str | None, outcome: str = "") -> Classes:
    """Which class is negative and which positive; the others, when there are more, are merged.

    `outcome` is what the first rule says, for labels whose words leave the positive class open.
    """
    names, times = np.unique(labels, return_counts=True)
    frequency = dict(zip(names.tolist(), times.tolist(), strict=True))
    found = sorted(frequency, key=_order)
    decided_by: DecidedBy = "choice"
    if len(found) < 2:
        got = f"one ({found[0]!r})" if found else "none"
        raise DataError(
            f"expected two classes in {label!r}, got {got}: choose another label column, or give "
            "a name to the class of rows whose cell is empty or says NA or the like"
        )
    if positive is None and len(found) > 2:
        raise DataError(
            f"expected two classes in {label!r}, got {len(found):,} ({some(found)}): choose the "
            "positive class, and the others are taken together, or choose another label column"
        )
    if positive is None:
        positive, decided_by = likely_positive(frequency, outcome)
    if positive not in found:
        raise DataError(
            f"expected the positive class to be a label in {label!r}, got {positive!r}: "
            f"there are {some(found)}"
        )
    others = tuple(name for name in found if name != positive)
    if len(others) == 1:
        return Classes(others[0], positive, decided_by=decided_by)
    return Classes(JoinedClass(f"not {positive}", others), positive, others, decided_by)


def likely_positive(frequency: dict[str, int], outcome: str = "") -> tuple[str, DecidedBy]:
    """The label to take as positive, and by what; with more than two, the one to propose.

    >>> likely_positive({"diabetic": 30, "healthy": 10})
    ('diabetic', 'words')
    >>> likely_positive({"ALL": 30, "AML": 30}, outcome="ALL"), likely_positive({"a": 1, "b": 2})
    (('ALL', 'rule'), ('a', 'rarer'))
    """
    found = sorted(frequency, key=_order)
    if (usual := positive_by_words(found)) is not None:
        return usual, "words"
    spoken = re.sub(r"^(['\"])(.*)\1$", r"\2", outcome.strip())
    for said in (spoken, *(other[1] for other in [_NOT.fullmatch(spoken)] if other)):
        named = [name for name in found if _same(name) == _same(said)]
        if len(named) == 1:
            return named[0], "rule"
    fewest = min(frequency.values())
    rarest = [name for name in found if frequency[name] == fewest]
    return (rarest[0], "rarer") if len(rarest) == 1 else (found[-1], "order")


def positive_by_words(labels: list[str]) -> str | None:
    """The one label that the usual words make the positive one; None where they leave it open.

    >>> positive_by_words(["NEG", "BCR/ABL"]), positive_by_words(["non-survivor", "survivor"])
    ('BCR/ABL', 'non-survivor')
    """
    sides = [side_of(label) for label in labels]
    if sides.count(1) == 1:
        return labels[sides.index(1)]
    if sides.count(0) == 1 and sides.count(-1) == len(labels) - 1:
        return labels[sides.index(0)]
    if len(labels) != 2 or set(sides) != {0}:
        return None
    one, other = (set(_words(label)) for label in labels)
    for negative, positive in ORDERED_WORDS:
        if positive in one - other and negative in other - one:
            return labels[0]
        if positive in other - one and negative in one - other:
            return labels[1]
    plain = [_same(label) for label in labels]
    for at in (0, 1):
        if plain[1 - at] == f"un{plain[at]}":
            return labels[at]
    below = [label.strip()[:1] for label in labels]
    if set(below) in ({"<", ">"}, {"<", "\u2265"}, {"\u2264", ">"}, {"\u2264", "\u2265"}):
        return labels[int(below[1] in ">\u2265")]
    return None


def side_of(label: str) -> int:
    """-1 where a label's own words tell that it is the negative class, +1 the positive, else 0.

    >>> [side_of(label) for label in ("healthy control", "no relapse", "HIV+", "not normal", "AML")]
    [-1, -1, 1, 1, 0]
    """
    number = to_number(label)
    if number is not None and label.strip() != "Na":
        return -1 if number != number or number in (0.0, -1.0) else 0  # a word for a gap: nothing
    if signed := _SIGNED.fullmatch(label.strip()):
        return 1 if signed[1] == "+" else -1
    words = _words(label)
    negated = sum(word in NEGATIONS for word in words) % 2 == 1
    if any(word in NEGATIVE_WORDS for word in words):
        side = -1
    else:
        side = int(any(word in POSITIVE_WORDS for word in words))
    return (-side or -1) if negated else side


def _words(label: str) -> list[str]:
    """The words of a label in small letters; `nonsmoker` and `NonSmoker` are two words each."""
    words: list[str] = []
    for word in _WORD.findall(_CAMEL.sub(" ", label)):
        low = word.lower()
        joined = _NON.fullmatch(low)
        words += ["non", joined[1]] if joined else [low]
    return words


def _same(label: str) -> str:
    """What two ways to write one label have in common."""
    number = to_number(label)
    if number is not None and number == number:
        return f"{number:g}"
    return " ".join(label.lower().split())


def _order(label: str) -> tuple[float, str]:
    """Numbers by size, before text."""
    number = to_number(label)
    return (np.inf, label) if number is None or number != number else (number, label)


def check_known(labels: Text, known: set[str], label: str) -> None:
    """Refuse labels that the training rows do not have."""
    unknown = sorted(set(np.unique(labels).tolist()) - known - {""})
    if unknown:
        raise DataError(
            f"expected the labels of the training rows in {label!r} ({some(sorted(known))}), "
            f"got {count(len(unknown), 'other')} as well: {some(unknown)}"
        )
