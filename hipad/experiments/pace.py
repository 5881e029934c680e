"""How far an experiment is, and how long the rest will take at the pace so far."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from hipad.wording import count


@dataclass
class Pace:
    """Counts fits; those that were found in the results file tell nothing of the pace."""

    total: int
    done: int = 0
    found: int = 0
    failed: int = 0
    begun: float = field(default_factory=time.monotonic)

    def add(self, *, again: bool, failed: bool = False) -> None:
        """One more fit; `again` if it was found and not made."""
        self.done += 1
        self.found += again
        self.failed += failed

    @property
    def share(self) -> float:
        return self.done / self.total if self.total else 1.0

    @property
    def seconds_left(self) -> float | None:
        """An estimate; None while nothing is known."""
        made = self.done - self.found
        if not made:
            return None
        return (time.monotonic() - self.begun) / made * (self.total - self.done)

    def __str__(self) -> str:
        left = self.seconds_left
        rest = "" if left is None or self.done == self.total else f", about {duration(left)} left"
        return f"{self.done:,} of {count(self.total, 'fit')}{rest}"


def duration(seconds: float) -> str:
    """Seconds in words.

    >>> duration(42.2), duration(200), duration(9000)
    ('42 s', '3 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
