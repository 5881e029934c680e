"""Two classes from a label column of any kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from hipad.data.table import Table, Text
from hipad.data.texts import to_number
from hipad.errors import DataError
from hipad.wording import count, some

USUAL_POSITIVES: Final = frozenset(["positive", "pos", "yes", "true", "case", "+", "abnormal"])


@dataclass(frozen=True)
class Classes:
    """The two classes; every label in `merged` counts as the negative one."""

    negative: str
    positive: str
    merged: tuple[str, ...] = ()

    def apply(self, labels: Text) -> Text:
        """The labels as the two classes."""
        if not self.merged:
            return labels
        return np.where(labels == self.positive, self.positive, self.negative)


def labels_of(table: Table, label: str) -> Text:
    """The label column as text, "" where a row has none."""
    if label not in table.names:
        raise DataError(f"expected the label to be a column, got {label!r}: {some(table.names)}")
    return table.as_text(label)


def find_classes(labels: Text, label: str, positive: str | None) -> Classes:
    """Which class is negative and which positive; the others, when there are more, are merged."""
    found = sorted(np.unique(labels).tolist(), key=_order)
    if len(found) < 2:
        got = f"one ({found[0]!r})" if found else "none"
        raise DataError(
            f"expected two classes in {label!r}, got {got}: choose another label column"
        )
    if positive is None and len(found) > 2:
        raise DataError(
            f"expected two classes in {label!r}, got {len(found):,} ({some(found)}): choose the "
            "positive class, and the others are taken together, or choose another label column"
        )
    if positive is None:
        positive = next((name for name in found if name.lower() in USUAL_POSITIVES), found[-1])
    if positive not in found:
        raise DataError(
            f"expected the positive class to be a label in {label!r}, got {positive!r}: "
            f"there are {some(found)}"
        )
    others = tuple(name for name in found if name != positive)
    if len(others) == 1:
        return Classes(others[0], positive)
    return Classes(f"not {positive}", positive, others)


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
