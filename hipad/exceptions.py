"""The errors this library raises on purpose.

Each message is one plain sentence: what was expected, what came, and what to do. All of them are
`ValueError`s, so code that follows scikit-learn's conventions catches them too.
"""

from __future__ import annotations

from collections.abc import Sequence


class HipadError(ValueError):
    """Base of every error that is the input's fault and not the program's.

    It is a `ValueError`, so code that follows scikit-learn's conventions catches it. The message
    says what was expected, what came, and what to do.

    See Also
    --------
    DataError : A file or table cannot be used as it is.
    RuleError : A rule cannot be read, or does not fit the data.

    Examples
    --------
    >>> from hipad import HIPADClassifier, HipadError
    >>> try:
    ...     HIPADClassifier(lambda1=-1).fit([[0.0], [1.0]], [0, 1])
    ... except HipadError as error:
    ...     print(type(error).__name__)
    HipadError
    """


class DataError(HipadError):
    """A file or table cannot be used as it is.

    See Also
    --------
    read_table : Raises it for a file that cannot be read.

    Examples
    --------
    >>> from hipad import DataError, load_sample
    >>> try:
    ...     load_sample("none")
    ... except DataError as error:
    ...     print(error)
    expected a sample of all-bcrabl, pima, got 'none'
    """


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

    Parameters
    ----------
    message : str
        What is wrong, in a sentence.
    line : int, default=None
        The line of the text, counted from one.
    column : int, default=None
        The character of the line, counted from one.
    expected : sequence of str, default=()
        What could have stood there.
    suggestion : str, default=None
        A text that would be accepted.

    See Also
    --------
    parse_rules : Raises it at the first mistake.

    Examples
    --------
    >>> from hipad import RuleError, parse_rules
    >>> try:
    ...     parse_rules("Glucose >= => diabetic")
    ... except RuleError as error:
    ...     print(error.line, error.column)
    1 12
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
