"""A sealed test set: who looked at it when, and after how many edits.

    seal = SealedTest(data_digest(X_test, y_test))
    seal = seal.opened("final verdict", edits=14, when="2030-01-31T12:00:00+00:00")
    seal.words                                     "judged once, after 14 edits"

A figure on test rows is honest once. The record goes wherever the model goes: it is a small dict,
and records of copies of the same rows join, whatever the order of rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hipad.estimator.model_io import Opening
from hipad.exceptions import DataError
from hipad.utils import count

AT_ONCE: Final = 256  # rows that are hashed from one copy
LONGEST_REASON: Final = 500  # characters that are kept
MOST_OPENINGS: Final = 10_000  # of a record that is read: more were not made by hand


def data_digest(X: Any, y: npt.ArrayLike) -> str:
    """A hash of rows and outcomes that does not depend on the order of the rows.

    >>> X, y = np.arange(6.0).reshape(3, 2), np.array(["a", "b", "a"])
    >>> data_digest(X, y) == data_digest(X[::-1], y[::-1]) != data_digest(X + 1, y)
    True
    """
    labels = np.asarray(y)
    if X.shape[0] != labels.size:
        raise DataError(f"expected outcomes of {X.shape[0]:,} rows, got {labels.size:,}")
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    X = sparse.csr_array(X) if sparse.issparse(X) else X
    found = []
    for start in range(0, labels.size, AT_ONCE):
        part = X[start : start + AT_ONCE]
        part = part.toarray() if sparse.issparse(part) else np.asarray(part)
        part = np.ascontiguousarray(part, dtype="<f8") + 0.0  # no zero below zero
        for values, label in zip(part, labels[start : start + AT_ONCE].tolist(), strict=True):
            own = hashlib.sha256(values.data)
            own.update(str(label).encode("utf-8", "surrogatepass"))
            found.append(own.digest())
    return hashlib.sha256(f"{X.shape[1]} ".encode() + b"".join(sorted(found))).hexdigest()


@dataclass(frozen=True)
class SealedTest:
    """The record of one set of test rows. A demonstration starts open and counts nothing."""

    digest: str
    openings: tuple[Opening, ...] = ()
    demonstration: bool = False

    @property
    def is_open(self) -> bool:
        """Whether figures on these rows may be shown."""
        return self.demonstration or bool(self.openings)

    def opened(self, reason: str, edits: int, when: str) -> Self:
        """The record with one more opening; a reason must be given."""
        told = " ".join(str(reason).split())[:LONGEST_REASON]
        if not told:
            raise DataError("expected a sentence of why the test rows are opened, got none")
        opening = _checked(when, edits, told)
        return replace(self, openings=tuple(sorted({*self.openings, opening})))

    def merged(self, other: SealedTest) -> Self:
        """The openings of both; the records must be of the same rows."""
        if other.digest != self.digest:
            raise DataError("expected two records of the same test rows, got those of others")
        both = tuple(sorted({*self.openings, *other.openings}))
        return replace(
            self, openings=both, demonstration=self.demonstration and other.demonstration
        )

    @property
    def words(self) -> str:
        """How often the rows were looked at, for every place that shows a figure on them.

        >>> seal = SealedTest("0")
        >>> seal.words
        'sealed'
        >>> seal = seal.opened("verdict", 1, "2030-01-01")
        >>> seal.words, seal.opened("again", 14, "2030-01-02").words
        ('judged once, after 1 edit', 'opened 2 times, after 1 and 14 edits')
        """
        if self.demonstration:
            return "demonstration: open from the start"
        if not self.openings:
            return "sealed"
        edits = [opening.edits for opening in self.openings]
        if len(edits) == 1:
            return f"judged once, after {count(edits[0], 'edit')}" if edits[0] else "judged once"
        if len(edits) == 2:
            return f"opened 2 times, after {edits[0]:,} and {count(edits[1], 'edit')}"
        return f"opened {len(edits):,} times, after up to {count(max(edits), 'edit')}"

    def to_dict(self) -> dict[str, Any]:
        """Numbers and texts alone, for JSON."""
        return {
            "digest": self.digest,
            "demonstration": self.demonstration,
            "openings": [vars(opening).copy() for opening in self.openings],
        }

    @classmethod
    def from_dict(cls, read: Mapping[str, Any]) -> Self:
        """The record that `to_dict` gave; DataError where it is none."""
        try:
            digest, openings = read["digest"], read["openings"]
            demonstration = read["demonstration"]
            whole = isinstance(digest, str) and isinstance(demonstration, bool)
            if not whole or not isinstance(openings, list) or len(openings) > MOST_OPENINGS:
                raise TypeError
            found = {
                _checked(one["when"], one["edits"], str(one["reason"])[:LONGEST_REASON])
                for one in openings
            }
        except (KeyError, TypeError, AttributeError) as error:
            raise DataError(
                "expected a record of a sealed test set (digest, demonstration, openings), got "
                "something else: take the file as it was written"
            ) from error
        return cls(digest, tuple(sorted(found)), demonstration)


def _checked(when: Any, edits: Any, reason: str) -> Opening:
    try:
        datetime.fromisoformat(when)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"expected a time such as 2030-01-31T12:00:00, got {str(when)[:40]!r}"
        ) from error
    if not isinstance(edits, int) or isinstance(edits, bool) or edits < 0:
        raise DataError(f"expected a number of edits of 0 or more, got {str(edits)[:40]!r}")
    return Opening(when, edits, reason)
