"""Room in memory for text columns, and remarks on the columns that do not fit.

NumPy holds every text of a column in as many bytes as the longest one takes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from hipad.data.limits import Limits
from hipad.wording import count, some

CHARACTER_BYTES: Final = np.dtype("U1").itemsize
TEXT_SHARE: Final = 4  # text columns may take this part of the memory that reading may take


class TextRoom:
    """The memory left for text columns, and the columns that were left out for want of it."""

    def __init__(self, n_rows: int, limits: Limits) -> None:
        self.n_rows = n_rows
        self.most_characters = limits.text_characters
        self.left = limits.memory_bytes // TEXT_SHARE
        self.left_out: dict[str, list[str]] = defaultdict(list)

    def takes(self, name: str, longest: int) -> bool:
        """Whether a column whose longest text has so many characters is let in."""
        size = self.n_rows * longest * CHARACTER_BYTES
        if longest > self.most_characters:
            self.left_out[f"with texts of more than {self.most_characters:,} characters"].append(
                name
            )
        elif size > self.left:
            self.left_out["with texts too long for so many rows"].append(name)
        else:
            self.left -= size
            return True
        return False

    def remarks(self) -> list[str]:
        """Which columns were left out, and why."""
        return column_remarks({f"{why} left out": names for why, names in self.left_out.items()})


def column_remarks(told: Mapping[str, Sequence[str]]) -> list[str]:
    """One sentence for each thing to tell of some columns.

    >>> column_remarks({"of dates left out": ["born", "seen"]})
    ["2 columns of dates left out: 'born' and 'seen'"]
    """
    return [
        f"{count(len(names), 'column')} {what}: {some(names)}"
        for what, names in told.items()
        if names
    ]
