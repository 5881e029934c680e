"""A fit in progress: an iterator of `Progress` that ends in a fitted classifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from hipad.estimator.run import FitRun
from hipad.solver import Progress

Classifier = TypeVar("Classifier")


def count_steps(history: Sequence[Progress]) -> int:
    """Steps of phases 1 and 2, at least one; trying a value of lambda1 is none."""
    return max(sum(record.phase > 0 for record in history), 1)


class Watch(Generic[Classifier]):
    """What `HIPADClassifier.start` returns; leaving and re-entering the loop is pause and continue.

    The classifier itself stays as it was until `finish()`.
    """

    def __init__(self, run: FitRun, take: Callable[[FitRun], Classifier]) -> None:
        self.run, self._take = run, take

    def __iter__(self) -> Iterator[Progress]:
        return self

    def __next__(self) -> Progress:
        return next(self.run)

    @property
    def history(self) -> list[Progress]:
        """All records so far."""
        return self.run.history

    @property
    def finished(self) -> bool:
        """Whether the fit went to its end."""
        return self.run.finished

    def stop(self) -> None:
        """End the iteration after the present step; the model so far stays."""
        self.run.stop()

    def resume(self) -> None:
        """Let a stopped fit go on."""
        self.run.resume()

    def finish(self) -> Classifier:
        """The classifier with the model so far; its certificate says if that was the end."""
        return self._take(self.run)
