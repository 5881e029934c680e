"""A run that can be watched: an iterator of records with a history, a stop and a way to go on.

Leaving the loop is a pause, entering it again goes on. The optimisation and the fit around it share
these verbs, so that they mean the same everywhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Generic, Self, TypeVar

Record = TypeVar("Record")


class Watched(ABC, Generic[Record]):
    """Subclasses say how the records come about in `_generate`."""

    def __init__(self) -> None:
        self.history: list[Record] = []
        self._stopping = False
        self._records = self._generate()

    @abstractmethod
    def _generate(self) -> Iterator[Record]:
        """All steps, one after the other."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Record:
        """Take one step."""
        if self._stopping:
            raise StopIteration
        return self._advance()

    def _advance(self) -> Record:
        record = next(self._records)
        self.history.append(record)
        return record

    def stop(self) -> None:
        """End the iteration after the present step; what was found so far stays."""
        self._stopping = True

    def resume(self) -> None:
        """Let a stopped run go on."""
        self._stopping = False

    def to_end(self) -> Self:
        """Take all steps that are left."""
        for _ in self:
            pass
        return self
