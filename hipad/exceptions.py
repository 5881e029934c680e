"""The errors this library raises on purpose.

Each message is one plain sentence: what was expected, what came, and what to do. All of them are
`ValueError`s, so code that follows scikit-learn's conventions catches them too.
"""

from __future__ import annotations

from collections.abc import Sequence


class HipadError(ValueError):
    """Base of every error that is the input's fault and not the program's."""


class DataError(HipadError):
    """A file or table cannot be used as it is."""


def unopened(place: object, error: OSError | ValueError) -> DataError:
    """Return the error of a file that cannot be opened; a path with a NUL is a ValueError of its
    own.

    >>> unopened("x.csv", FileNotFoundError(2, "No such file or directory"))
    DataError('x.csv cannot be opened: No such file or directory')
    """
    if isinstance(error, OSError):
        return DataError(f"{place} cannot be opened: {error.strerror or error}")
    reason = f"expected the path of a file, got one with an {error}: name a file"
    return DataError(f"{place} cannot be opened: {reason}")


class RuleError(HipadError):
    """A rule cannot be read, or does not fit the data.

    `line` and `column` count from one; `expected` lists what could have stood there;
    `suggestion` is a text that would be accepted.
    """

    def __init__(
        self,
        message: str,
        *,
        line: int | None = None,
        column: int | None = None,
        expected: Sequence[str] = (),
        suggestion: str | None = None,
    ) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.expected = tuple(expected)
        self.suggestion = suggestion
