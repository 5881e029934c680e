"""How much work a check may take: seconds, steps, and an event that ends it at once."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field


@dataclass(eq=False)
class Budget:
    """A limit of seconds (from when it is made) and of steps, and an event that ends the work.

    >>> budget = Budget(steps=2)
    >>> [budget.spend() for _ in range(3)]
    [True, True, False]
    """

    seconds: float = float("inf")
    steps: float = float("inf")
    stop: threading.Event = field(default_factory=threading.Event)
    begun: float = field(default_factory=time.monotonic)

    @property
    def is_spent(self) -> bool:
        """True if no more work should be begun."""
        return self.steps <= 0 or self.stop.is_set() or self.seconds_left <= 0

    @property
    def seconds_left(self) -> float:
        """Seconds until the time is over; negative afterwards."""
        return self.begun + self.seconds - time.monotonic()

    def spend(self, steps: float = 1) -> bool:
        """Take steps from the budget; False if nothing was left of it."""
        if self.is_spent:
            return False
        self.steps -= steps
        return True
