"""A table as read from a file, statistics of its columns, and tables written to files."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
import secrets
import stat
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hipad.data.file_format import Reading
from hipad.data.written_numbers import Text, gap_words, label_text
from hipad.exceptions import DataError
from hipad.utils import FloatArray, IntArray, count, require, some

if TYPE_CHECKING:
    import pandas as pd


# --------------------------------------------------------------------------------------------------
# A table as read from a file: a numeric matrix, text columns, and what the reader noticed.


Matrix: TypeAlias = Any  # float32 or float64 array, or scipy CSR array (which has no types)
NAME_CHARACTERS: Final = 1_000
ID_NAME: Final = re.compile(
    r"((patient|sample|subject|case|donor|person|record)[\W_]?)?(id|name|code|number|nr|no)|"
    r"patient|sample|subject|case|donor|row|index",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Table:
    r"""Columns of a file. A gap is NaN among the numbers and "" in text.

    Parameters
    ----------
    numbers : ndarray or csc_array of shape (n_rows, n_numbers)
        The columns of numbers.
    number_names : tuple of str
        Their names.
    text : dict of str to ndarray
        The columns of text.
    format : str
        The format that the file was found to have.
    remarks : tuple of str, default=()
        What was noticed while reading.
    label : str, default=None
        The column with the classes, where the file names one.
    sha256 : str, default=""
        A hash of the file.
    ids : tuple of str, default=()
        Names of the rows, where the file tells them.
    symbols : tuple of str, default=()
        The gene of each column of numbers, where the file tells it.
    about : tuple of str, default=()
        Columns that describe patients and are no features.
    turned : bool, default=False
        Whether the file had one row per gene.
    written : dict of str to ndarray, default={}
        Columns with few levels as the file has them, where a word such as NA was taken as a gap.
    reading : Reading
        The account of how the file was understood.

    See Also
    --------
    read_table : Read one from a file.
    prepare : Make a matrix and labels of it.

    Examples
    --------
    >>> from hipad import read_table
    >>> table = read_table(b"age,outcome\n31,well\n40,ill\n")
    >>> table.n_rows, table.number_names, list(table.text)
    (2, ('age',), ['outcome'])
    """

    numbers: Matrix
    number_names: tuple[str, ...]
    text: dict[str, Text]
    format: str
    remarks: tuple[str, ...] = ()
    label: str | None = None
    sha256: str = ""
    ids: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    turned: bool = False  # the file seemed to have a row for each feature, see orientation.py
    written: dict[str, Text] = field(default_factory=dict)
    reading: Reading = field(default_factory=Reading)

    def __post_init__(self) -> None:
        if self.n_rows == 0:
            raise DataError("expected rows of data, got a header only: the table is empty")

    @property
    def n_rows(self) -> int:
        return int(self.numbers.shape[0])

    @property
    def names(self) -> tuple[str, ...]:
        return self.number_names + tuple(self.text)

    @property
    def decimal(self) -> str:
        """The mark before the decimals of the file's numbers; empty where it has none."""
        if not self.format.startswith("text"):
            return ""
        return self.reading.found.decimal or "."

    @property
    def is_sparse(self) -> bool:
        return sp.issparse(self.numbers)

    @property
    def row_ids(self) -> tuple[str, ...]:
        """IDs of the rows: those of the file's format, or a text column in which all differ."""
        if self.ids or not self.text:
            return self.ids
        name = next((name for name in self.text if ID_NAME.fullmatch(name)), next(iter(self.text)))
        cells = self.text[name].tolist()
        return tuple(cells) if len(set(cells) - {""}) == self.n_rows > 1 else ()

    def column(self, name: str) -> Text | npt.NDArray[np.float64]:
        """Return one column by name, as text or as numbers."""
        if name in self.text:
            return self.text[name]
        return self._numbers_of(name).astype(np.float64)

    def as_text(self, name: str, known: Sequence[str] = ()) -> Text:
        """Return one column by name, as text even where it was read as numbers.

        A word that was taken as a gap is a level where it is one of those that are `known`.
        """
        cells = self.text[name] if name in self.text else label_text(self._numbers_of(name))
        if known and name in self.written:
            return np.where(np.isin(self.written[name], known), self.written[name], cells)
        return cells

    def gap_words(self, name: str) -> dict[str, int]:
        """Return the words in a column that were taken as gaps, and how often each comes."""
        return gap_words(self.written[name], self.as_text(name)) if name in self.written else {}

    def _numbers_of(self, name: str) -> npt.NDArray[np.floating[Any]]:
        if name not in self.number_names:
            raise DataError(f"expected a column called {name!r}, found none: {some(self.names)}")
        column = self.numbers[:, [self.number_names.index(name)]]
        dense: npt.NDArray[Any] = column.toarray() if sp.issparse(column) else column
        return dense.ravel()


NO_INK: Final = dict.fromkeys(map(ord, "\ufeff\u200b\u200e\u200f\u2060"))  # letters without ink


def tidy_names(raw: Sequence[object]) -> tuple[list[str], list[str]]:
    """Return column names on one line each and all different, and remarks on what was changed."""
    texts = [str(name if name is not None else "") for name in raw]
    names = [" ".join(text.translate(NO_INK).split()) for text in texts]
    remarks = []
    if long := [name for name in names if len(name) > NAME_CHARACTERS]:
        names = [name[:NAME_CHARACTERS] for name in names]
        remarks.append(
            f"{count(len(long), 'column name')} cut to {NAME_CHARACTERS:,} characters: {some(long)}"
        )
    unnamed = [j for j, name in enumerate(names) if not name]
    for j in unnamed:
        names[j] = f"column_{j + 1}"
    if unnamed:
        remarks.append(f"{count(len(unnamed), 'column')} without a name: {names[unnamed[0]]} ...")
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        names = _numbered(names, set(repeated))
        remarks.append(
            f"{count(len(repeated), 'column name')} not unique ({some(repeated)}): "
            "the later columns got a number"
        )
    return names, remarks


def _numbered(names: list[str], repeated: set[str]) -> list[str]:
    taken, result = set(names), []
    seen: Counter[str] = Counter()
    for name in names:
        seen[name] += 1
        new = name
        while name in repeated and seen[name] > 1 and new in taken:
            new = f"{name}.{seen[name]}"
            seen[name] += new in taken
        taken.add(new)
        result.append(new)
    return result


# --------------------------------------------------------------------------------------------------
# Mean, standard deviation and range of every column, without a second copy of the data.
#
# Two passes (the mean first, then squared deviations from it) are safe for every ratio of mean to
# deviation. A constant column is told by its smallest and largest value, not by a variance that
# rounding keeps from zero, and its mean is the constant itself, so that centring gives exact zeros.
# NaN and infinity count as missing.


HUGE: Final = 1e307
BLOCK_ENTRIES: Final = 2**18  # 2 MB of float64: a block of columns that stays in the cache
MIN_BLOCK_COLUMNS: Final = 256  # narrower blocks leave BLAS nothing to do


@dataclass(frozen=True)
class ColumnStatistics:
    """One value per column; NaN where a column holds no value at all."""

    mean: FloatArray
    sd: FloatArray  # divided by the number of rows
    low: FloatArray
    high: FloatArray
    missing: npt.NDArray[np.intp]
    filled: FloatArray  # the share of values other than zero

    @property
    def constant(self) -> npt.NDArray[np.bool_]:
        """Columns with a single value, or none."""
        return ~(self.low < self.high)


def column_statistics(X: Any, weights: FloatArray | None = None) -> ColumnStatistics:
    """Return statistics of every column of an array or a sparse matrix, over the values that are
    there.

    A row of weight two counts as two rows.

    >>> stats = column_statistics(np.array([[1.0, 0.1], [3.0, 0.1], [np.nan, 0.1]]))
    >>> stats.mean.tolist(), stats.sd.tolist(), stats.missing.tolist()
    ([2.0, 0.1], [1.0, 0.0], [1, 0])
    """
    if weights is None:
        weights = np.ones(X.shape[0])
    weights = np.asarray(weights, dtype=np.float64)
    if sp.issparse(X):
        return ColumnStatistics(*_sparse_moments(canonical_csc(X), weights))
    X = np.asarray(X)
    parts = [_dense_moments(X[:, block], weights) for block in column_blocks(*X.shape)]
    mean, sd, low, high, missing, filled = np.hstack(parts) if parts else np.zeros((6, 0))
    return ColumnStatistics(mean, sd, low, high, missing.astype(np.intp), filled)


def column_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Yield slices that cut the columns into blocks which fit the cache when dense."""
    width = max(MIN_BLOCK_COLUMNS, BLOCK_ENTRIES // max(n_rows, 1))
    for start in range(0, n_columns, width):
        yield slice(start, min(start + width, n_columns))


def canonical_csc(X: Any) -> Any:
    """Return X by columns, float32 or float64, sorted and without duplicates; X is not changed."""
    matrix = sp.csc_array(X)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _shares(weights: FloatArray) -> FloatArray:
    """Return weights of about 1 in all, divided by a power of two, which rounds nothing."""
    return np.ldexp(weights, -int(np.frexp(weights.sum())[1]))


def _dense_moments(columns: npt.NDArray[Any], weights: FloatArray) -> FloatArray:
    part = np.array(columns, dtype=np.float64)
    gaps = ~np.isfinite(part)
    share = _shares(weights)
    part[gaps] = np.nan
    low, high = np.fmin.reduce(part, axis=0), np.fmax.reduce(part, axis=0)
    part[gaps] = 0.0
    there = share.sum() - _weighted_sums(share, gaps)  # the weight of the values that are there
    filled = _weighted_sums(share, part != 0.0)
    shrink = _shrink(low, high)
    part *= shrink
    small, large = low * shrink, high * shrink
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = np.clip(_weighted_sums(share, part) / there, small, large)
        centre = np.where(small == large, small, centre)
        part -= centre
        part[gaps] = 0.0
        squares = _squares(part, large - small, share) / there
        mean, sd = centre / shrink, _unit(large - small) * np.sqrt(squares) / shrink
        filled = filled / there
    sd[np.isnan(low)] = np.nan
    return np.stack([mean, sd, low, high, gaps.sum(axis=0), filled])


def _weighted_sums(share: FloatArray, part: npt.NDArray[Any]) -> FloatArray:
    """Weighted sums that are the same to the last bit whichever columns stand beside a column."""
    return np.einsum("i,ij->j", share, part)


def _shrink(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return what keeps differences of a column's values in range: 1, but for values near the
    largest.
    """
    return np.where(np.maximum(-low, high) > HUGE, 0.25, 1.0)


def _unit(spread: FloatArray) -> FloatArray:
    """Deviations are taken relative to the spread, so that squares neither overflow nor vanish."""
    return np.where(spread > 0, spread, 1.0)


def _squares(deviations: FloatArray, spread: FloatArray, share: FloatArray) -> FloatArray:
    deviations /= _unit(spread)
    squares: FloatArray = np.einsum("i,ij,ij->j", share, deviations, deviations)
    return squares


MOSTLY_EMPTY: Final = 0.5  # share of stored entries up to which squares lose a digit at most
ORDINARY: Final = 1e-100, 1e100  # sizes of values whose squares are numbers


def _sparse_moments(X: Any, weights: FloatArray) -> SparseMoments:
    """Return columns that are mostly empty by sums of values and squares, the others with more
    care.

    By Cauchy-Schwarz a column with a share p of stored entries has mean^2 <= p E[x^2], so that in
    E[x^2] - mean^2 nothing cancels while p is small.
    """
    stored, share = np.diff(X.indptr), _shares(weights)
    sizes = np.abs(X.data)
    least, most = ORDINARY
    if not X.nnz or not (float(sizes.min()) > least and float(sizes.max()) < most):
        return _careful_moments(X, weights)
    data, total = X.data.astype(np.float64, copy=False), share.sum()

    def sums(values: FloatArray) -> FloatArray:
        return sp.csc_array((values, X.indices, X.indptr), shape=X.shape).T @ share

    mean = sums(data) / total
    even = share.size and not np.ptp(share)
    filled = (stored * share[0] if even else sums(np.ones_like(data))) / total
    sd = np.sqrt(np.maximum(sums(np.square(data)) / total - mean**2, 0.0))
    low, high = np.zeros(stored.size), np.zeros(stored.size)
    occupied = np.flatnonzero(stored)
    low[occupied] = np.minimum.reduceat(data, X.indptr[occupied])
    high[occupied] = np.maximum.reduceat(data, X.indptr[occupied])
    gaps_in_rows = stored < X.shape[0]
    low, high = (
        np.where(gaps_in_rows, bound, of)
        for bound, of in ((np.minimum(low, 0.0), low), (np.maximum(high, 0.0), high))
    )
    full = np.flatnonzero(filled > MOSTLY_EMPTY)
    if full.size:
        own = _careful_moments(X[:, full], weights)
        for of_all, of_full in zip((mean, sd, low, high), own, strict=False):
            of_all[full] = of_full
    return mean, sd, low, high, np.zeros(stored.size, dtype=np.intp), filled


def _careful_moments(X: Any, weights: FloatArray) -> SparseMoments:
    """The same around the mean, also for gaps and for values whose squares are no numbers."""
    stored = np.diff(X.indptr)
    values = X.data.astype(np.float64)
    gaps = ~np.isfinite(values)
    values[gaps] = np.nan
    share = _shares(weights)
    held = np.where(gaps, 0.0, share[X.indices])
    there = share.sum() - _column_sums(X, np.where(gaps, share[X.indices], 0.0))
    marked = sp.csc_array((values, X.indices, X.indptr), shape=X.shape)
    low, high = (
        bound.toarray().ravel() for bound in (marked.nanmin(axis=0), marked.nanmax(axis=0))
    )
    shrink = _shrink(low, high)
    small, large = low * shrink, high * shrink
    data = np.where(gaps, 0.0, values) * np.repeat(shrink, stored)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = np.clip(_column_sums(X, held * data) / there, small, large)
        centre = np.where(small == large, small, centre)
        unit = _unit(large - small)
        deviations = (data - np.repeat(centre, stored)) / np.repeat(unit, stored)
        unwritten = np.maximum(there - _column_sums(X, held), 0.0)
        unwritten = np.where(stored < len(share), unwritten, 0.0)
        squares = _column_sums(X, np.where(gaps, 0.0, held * deviations**2))
        squares = (squares + unwritten * (centre / unit) ** 2) / there
        sd = unit * np.sqrt(squares) / shrink
        filled = _column_sums(X, np.where(data != 0.0, held, 0.0)) / there
    missing = _column_sums(X, gaps.astype(np.float64)).astype(np.intp)
    sd[np.isnan(low)] = np.nan
    return centre / shrink, sd, low, high, missing, filled


SparseMoments = tuple[
    FloatArray, FloatArray, FloatArray, FloatArray, npt.NDArray[np.intp], FloatArray
]


def _column_sums(X: Any, values: FloatArray) -> FloatArray:
    """Return sums by column of values that stand where X has stored entries."""
    sums = np.zeros(X.shape[1])
    occupied = np.diff(X.indptr) > 0
    if occupied.any():
        sums[occupied] = np.add.reduceat(values, X.indptr[:-1][occupied])
    return sums


# --------------------------------------------------------------------------------------------------
# What each column of a matrix is like: its statistics, its median, and whether it repeats another.
#
# Dense matrices are walked in blocks of columns, so that 500 x 50,000 needs no second copy; NaN and
# infinity count as missing everywhere.


def summarise(X: Matrix, names: Sequence[str]) -> pd.DataFrame:
    """Return one row per feature: its name, mean, standard deviation, gaps, smallest and largest
    value.
    """
    require(["pandas"], "a summary of all features")
    import pandas as pd  # here, as reading a table alone does without it

    stats = column_statistics(X)
    return pd.DataFrame(
        {
            "feature": list(names),
            "mean": stats.mean,
            "sd": stats.sd,
            "missing": stats.missing,
            "min": stats.low,
            "max": stats.high,
        }
    )


def medians(X: Matrix) -> FloatArray:
    """Return median of every column over the values that are there; zero where there is none."""
    result = np.zeros(X.shape[1])
    if sp.issparse(X):
        X = sp.csc_array(X)
        # A column that is not written in half of its rows has the median zero.
        columns = np.flatnonzero(2 * np.diff(X.indptr) >= X.shape[0])
    else:
        columns = np.arange(X.shape[1])
    for block in column_blocks(X.shape[0], columns.size):
        part = X[:, columns[block]]
        values = (part.toarray() if sp.issparse(part) else part).T.astype(np.float64)
        result[columns[block]] = _row_medians(values)
    return result


def _row_medians(values: FloatArray) -> FloatArray:
    gap = ~np.isfinite(values)
    if not gap.any():
        return 2 * np.median(values / 2, axis=1)  # the mean of two large values may be too large
    values[gap] = np.inf  # sorted to the end
    values.sort(axis=1)
    n = values.shape[1] - gap.sum(axis=1)
    low, high = (
        np.take_along_axis(values, np.maximum(middle, 0)[:, None], axis=1).ravel()
        for middle in ((n - 1) // 2, n // 2)
    )
    return np.where(n > 0, 0.5 * low + 0.5 * high, 0.0)


def duplicates(X: Matrix) -> IntArray:
    """Return columns that repeat an earlier one exactly."""
    first: dict[bytes, int] = {}
    repeated = []
    for j, content in enumerate(_column_bytes(X)):
        digest = hashlib.blake2b(content, digest_size=16).digest()
        if first.setdefault(digest, j) != j:
            repeated.append(j)
    return np.array(repeated, dtype=np.intp)


def _column_bytes(X: Matrix) -> Iterator[bytes]:
    if sp.issparse(X):
        X = sp.csc_array(X, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
            yield X.indices[start:end].tobytes() + X.data[start:end].tobytes()
        return
    for block in column_blocks(*X.shape):
        # Adding zero makes -0.0 and 0.0 the same bytes.
        yield from (column.tobytes() for column in np.ascontiguousarray(X[:, block].T) + 0.0)


# --------------------------------------------------------------------------------------------------
# Tables to hand on: CSV whose texts a spreadsheet shows and does not run.


# A spreadsheet takes a text that starts so for a formula: `%` and `|` in some of them only, the
# full-width and small forms of the signs in eastern ones, which NFKC turns into the usual ones.
FORMULA_SIGNS: Final = frozenset("=+-@%|\u2212")
CONTROL: Final = frozenset("\t\r\n\0\v\f")
NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
UNSEEN: Final = frozenset(("Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp", "Zs", "Mn", "Me"))


def csv_safe(cell: object) -> object:
    """Return a cell with an apostrophe before it if a spreadsheet would take the text for a
    formula.

    >>> csv_safe("=cmd()"), csv_safe("-1.5"), csv_safe(-1.5), csv_safe("plain")
    ("'=cmd()", '-1.5', -1.5, 'plain')
    """
    if isinstance(cell, str) and starts_like_formula(cell) and not _is_number(cell):
        return f"'{cell}"
    return cell


def starts_like_formula(text: str) -> bool:
    """Return whether a text starts with a control character, or with a formula behind
    what is not seen.

    >>> starts_like_formula("\\u200b =1"), starts_like_formula("＝1"), starts_like_formula("a=1")
    (True, True, False)
    """
    if text and text[0] in CONTROL:
        return True
    for sign in text:
        if unicodedata.category(sign) not in UNSEEN:
            return unicodedata.normalize("NFKC", sign)[:1] in FORMULA_SIGNS
    return False


def to_csv(columns: Mapping[str, Sequence[Any]]) -> str:
    """Return named columns of equal length as CSV text, with the line ends that spreadsheets
    expect.

    >>> to_csv({"feature": ["a", "@b"], "weight": [0.5, -1.0]}).splitlines()
    ['feature,weight', 'a,0.5', "'@b,-1.0"]
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")  # so that a lone CR or LF gets quotes
    writer.writerow([csv_safe(name) for name in columns])
    for row in zip(*columns.values(), strict=True):
        writer.writerow([csv_safe(cell) for cell in row])
    return text.getvalue()


def _is_number(cell: str) -> bool:
    """Return whether this is a plain number and nothing else, not even a space."""
    return NUMBER.fullmatch(cell) is not None


# --------------------------------------------------------------------------------------------------
# Texts written to files so that no half file is ever seen and nothing unexpected is overwritten.
#
# A text is written beside its target and then moved into place. What is not an ordinary file is
# never replaced: a link stays and the file it points to is replaced, a device is written into, a
# directory or a named pipe is refused.


STDOUT: Final = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
DEVICES: Final = ("/dev/", "/proc/self/fd/")
PERMISSIONS: Final = 0o777
# What this process has written, so that a command that ends early can say so.
WRITTEN: list[str] = []


def write_text(path: Path, text: str, *, not_over: Iterable[Path] = ()) -> None:
    """Write a text as UTF-8; the files in `not_over`, which are being read, are never replaced."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DataError(f"{path} cannot be written: expected text, got {error.reason}") from error
    if str(path) in STDOUT:
        sys.stdout.write(text)
        sys.stdout.flush()
        note_written(path)
    else:
        write_bytes(path, data, not_over=not_over)


def write_bytes(path: Path, data: bytes, *, not_over: Iterable[Path] = ()) -> None:
    """Write a file whole or not at all; the files in `not_over` are never replaced."""
    try:
        target = path.resolve()
        if str(path).startswith(DEVICES) or target.is_char_device():
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND), "wb") as stream:
                stream.write(data)
        else:
            _check_target(path, target, not_over)
            _replace(target, data)
        note_written(path)
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: links in a circle
        if isinstance(error, DataError):
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        raise DataError(f"{path} cannot be written: {reason}") from error


def note_written(path: Path) -> None:
    """Note that a file was written, or more of it."""
    if str(path) not in WRITTEN:
        WRITTEN.append(str(path))


def _check_target(path: Path, target: Path, not_over: Iterable[Path]) -> None:
    if not target.exists():
        return
    if not target.is_file():
        kind = "a directory" if target.is_dir() else "a pipe or another special file"
        raise DataError(f"{path} cannot be written: expected a file, got {kind}")
    if any(other.exists() and target.samefile(other) for other in not_over):
        raise DataError(f"{path} cannot be written: it is being read: give another name")
    if not os.access(target, os.W_OK):
        raise DataError(f"{path} cannot be written: it is write-protected: give another name")


def _replace(target: Path, data: bytes) -> None:
    """Write beside the target and move into place; an existing file's permissions are kept."""
    beside = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            beside.chmod(stat.S_IMODE(target.stat().st_mode) & PERMISSIONS)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
