"""Designs whose columns are elsewhere: read in blocks from disk, one pass for each question."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.linalg.blas import dsyrk

from hipad.data.column_store import USUAL_MEMORY, ColumnSource, as_floats
from hipad.data.table import ColumnStatistics, column_statistics
from hipad.designs import Design, damped_by, read_only, relative_variation, unit_scale, varying
from hipad.exceptions import DataError, HipadError
from hipad.utils import FloatArray, IntArray

# --------------------------------------------------------------------------------------------------
# Blocks of columns, and what brings them to scale.
#
# A missing value is the mean of its column over the rows of the design, so it is put in on the fly.
# Mean and scale depend on a column alone, but for the usual variation of damped scales, which is
# one number for all.


class Scaling(NamedTuple):
    """How columns are brought to scale: by which weights of the rows, and how much damped."""

    weights: FloatArray
    usual: float = 0.0  # share of its size that a column's deviation is raised by

    def of(self, stats: ColumnStatistics) -> FloatArray:
        """The scale of columns with these statistics."""
        return damped_by(stats, self.usual) if self.usual else unit_scale(stats)


def filled(values: FloatArray) -> FloatArray:
    """Return values with the mean of their column in the place of NaN; 0 in an empty column.

    >>> filled(np.array([[1.0, np.nan], [np.nan, np.nan], [2.0, np.nan]])).tolist()
    [[1.0, 0.0], [1.5, 0.0], [2.0, 0.0]]
    """
    some = np.flatnonzero(np.isnan(values.sum(axis=0)))
    if not some.size:
        return values
    part = values[:, some]
    gaps = np.isnan(part)
    part[gaps] = 0.0
    means = part.sum(axis=0) / np.maximum(len(part) - gaps.sum(axis=0), 1)
    found = values.copy(order="K")
    found[:, some] = np.where(gaps, means, part)
    return found


class Columns(NamedTuple):
    """A block of columns: the first one, their values (N x k), and what scales them."""

    start: int
    values: FloatArray
    mean: FloatArray
    scale: FloatArray
    stats: ColumnStatistics | None = None  # of all rows, where they were computed for the scale

    def scaled(self) -> FloatArray:
        """(X - mean) / scale, in memory of its own."""
        Z = self.values - self.mean
        Z /= self.scale
        return Z

    def correlate(self, t: FloatArray) -> FloatArray:
        """Z't for an N x r matrix t."""
        out = self.values.T @ t
        out -= np.multiply.outer(self.mean, t.sum(axis=0))
        out /= self.scale[:, None]
        return out


def columns_of(
    start: int,
    values: FloatArray,
    scaling: Scaling | None,
    known: tuple[FloatArray, FloatArray] | None = None,
    part: IntArray | None = None,
) -> Columns:
    """Return a block of some of the rows; means and scales are those of all rows."""
    values, stats = filled(values), None
    if known is None and scaling is not None:
        stats = column_statistics(values, scaling.weights)
        known = (stats.mean, scaling.of(stats))
    elif known is None:
        known = (np.zeros(values.shape[1]), np.ones(values.shape[1]))
    return Columns(start, values if part is None else values[part], *known, stats)


# --------------------------------------------------------------------------------------------------
# What is asked in one pass. A question is answered block by block, wherever the blocks are; answers
# are merged. They are small, but for those that have a number for each column.


Answer = TypeVar("Answer")


class Question(Protocol):
    """One pass over the data: an answer from each block, merged in any order."""

    def of(self, block: Columns) -> Any:
        """The answer from one block."""

    def merge(self, one: Any, other: Any) -> Any:
        """One answer from two."""


Parts = list[tuple[int, FloatArray]]


def joined(parts: Parts) -> FloatArray:
    """One array of parts that stand in any order, each with its first column."""
    parts = sorted(parts, key=lambda part: part[0])
    return np.concatenate([part for _, part in parts]) if parts else np.zeros(0)


class Look(NamedTuple):
    """What a first look tells: how far each column varies, relative to its size (NaN for one that
    does not), the sum of all variances, and Z Z' (its upper half) where that was asked for.
    """

    variation: Parts
    variance: float
    upper: FloatArray | None


@dataclass(frozen=True)
class FirstLook:
    """Statistics of the columns and, in the same reading, the Gram matrix."""

    weights: FloatArray
    gram: bool

    def of(self, block: Columns) -> Look:
        stats = block.stats or column_statistics(block.values, self.weights)
        variation = np.where(varying(stats), relative_variation(stats), np.nan)
        upper = Gram().of(block) if self.gram else None
        return Look([(block.start, variation)], float(stats.sd @ stats.sd), upper)

    def merge(self, one: Look, other: Look) -> Look:
        uppers = [look.upper for look in (one, other) if look.upper is not None]
        upper = uppers[0] + uppers[1] if uppers else None
        return Look(one.variation + other.variation, one.variance + other.variance, upper)


@dataclass(frozen=True)
class Correlation:
    """Z't, or X't, for every column."""

    t: FloatArray
    raw: bool = False

    def of(self, block: Columns) -> Parts:
        return [(block.start, block.values.T @ self.t if self.raw else block.correlate(self.t))]

    def merge(self, one: Parts, other: Parts) -> Parts:
        return one + other


@dataclass(frozen=True)
class Product:
    """Xw, or Zw where it is scaled."""

    w: FloatArray
    scaled: bool = False

    def of(self, block: Columns) -> FloatArray:
        values = block.scaled() if self.scaled else block.values
        return values @ self.w[block.start : block.start + values.shape[1]]

    def merge(self, one: FloatArray, other: FloatArray) -> FloatArray:
        return one + other


@dataclass(frozen=True)
class Gram:
    """The upper half of Z Z'."""

    def of(self, block: Columns) -> FloatArray:
        return np.asarray(dsyrk(1.0, block.scaled()))

    def merge(self, one: FloatArray, other: FloatArray) -> FloatArray:
        return one + other


@dataclass(frozen=True)
class SquareSums:
    """Sums of squares of every column, rows weighted by t."""

    t: FloatArray

    def of(self, block: Columns) -> Parts:
        return [(block.start, (block.scaled() ** 2).T @ self.t)]

    def merge(self, one: Parts, other: Parts) -> Parts:
        return one + other


@dataclass(frozen=True)
class LargestGradient:
    """The largest |z_j't|."""

    t: FloatArray

    def of(self, block: Columns) -> float:
        return float(np.max(np.abs(block.correlate(self.t[:, None])), initial=0.0))

    def merge(self, one: float, other: float) -> float:
        return max(one, other)


@dataclass(frozen=True)
class ContentKeys:
    """Projections of the rows, by which they are divided into folds (`Design.content_keys`)."""

    t: FloatArray
    waves: FloatArray
    largest: float

    def of(self, block: Columns) -> FloatArray:
        Z = block.scaled()
        gradient = block.correlate(self.t[:, None]) / max(self.largest, 1e-300)
        return Z @ np.cos(gradient * self.waves)

    def merge(self, one: FloatArray, other: FloatArray) -> FloatArray:
        return one + other


class Found(NamedTuple):
    """Columns, how strong each is, and the first level at which it is."""

    columns: IntArray
    strength: FloatArray
    level: IntArray

    def kept(self, most: int) -> Found:
        """At most so many: those of the first levels and, within a level, the strongest."""
        if self.columns.size <= most:
            return self
        order = np.lexsort((self.columns, -self.strength, self.level))  # the same in any blocks
        some = np.sort(order[:most])
        return self.at(some)

    def at(self, places: IntArray) -> Found:
        """Those at these places, in this order."""
        return Found(self.columns[places], self.strength[places], self.level[places])

    @staticmethod
    def joined(parts: Iterable[Found]) -> Found:
        """All columns of the parts, one part after the other."""
        columns, strength, level = zip(*parts, strict=True)
        return Found(np.concatenate(columns), np.concatenate(strength), np.concatenate(level))


@dataclass(frozen=True)
class Strongest:
    """The columns for which |z_j't_q| exceeds bounds_q for some q, at most `most` of them.

    The strength of a column is the largest |z_j't_q| / bounds_q, its level the least `level` of a q
    at which the bound is exceeded. With `shares` (weights of rows, one column a group, all rows
    last) |z_j't_q| is in units of the deviation of z_j in the group of q. Columns that are `known`
    are left out.
    """

    t: FloatArray
    bounds: FloatArray
    most: int
    known: IntArray
    level: IntArray
    shares: FloatArray | None = None
    group: IntArray | None = None

    def of(self, block: Columns) -> Found:
        width = block.values.shape[1]
        strength, level = np.zeros(width), np.full(width, LAST_LEVEL)
        units = None if self.shares is None else _deviations(block, self.shares)
        for start in range(0, self.bounds.size, AT_ONCE):
            part = slice(start, start + AT_ONCE)
            size = np.abs(block.correlate(self.t[:, part]))
            size /= self.bounds[part]
            if units is not None and self.group is not None:
                size /= units[:, self.group[part]]
            strength = np.maximum(strength, size.max(axis=1))
            own = np.where(size > 1.0, self.level[part], LAST_LEVEL).min(axis=1)
            level = np.minimum(level, own)
        low, high = np.searchsorted(self.known, [block.start, block.start + width])
        level[self.known[low:high] - block.start] = LAST_LEVEL
        over = np.flatnonzero(level < LAST_LEVEL)
        return Found(block.start + over, strength[over], level[over]).kept(self.most)

    def merge(self, one: Found, other: Found) -> Found:
        return Found.joined((one, other)).kept(self.most)


AT_ONCE: Final = 64  # of the N-vectors
LAST_LEVEL: Final = np.iinfo(np.int64).max
LEAST_VARIANCE: Final = 1e-6  # of a column that is constant in a group of rows


def _deviations(block: Columns, shares: FloatArray) -> FloatArray:
    """The deviation of each column in each group of rows; the last group is all rows.

    What a scale has beyond the deviation of its column over all rows is left as it is.
    """
    Z = block.scaled()
    variance = (Z**2).T @ shares - (Z.T @ shares) ** 2
    beyond = np.maximum(1.0 - variance[:, -1:], 0.0)
    return np.asarray(np.sqrt(np.maximum(variance + beyond, LEAST_VARIANCE)))


# --------------------------------------------------------------------------------------------------
# Designs that answer in passes. Passes are counted: bytes that were read, by those of the data.


class Stopped(HipadError):
    """A pass was stopped by the user."""


class BlockDesign(Design):
    """Some rows of a matrix whose columns come in blocks.

    What solvers ask of a design is answered in one pass each; `look` and `ask` are for those who
    look for the columns that matter. Missing values and scales
    follow all rows of the matrix that were asked for, also where `part` has some of them only.
    """

    def __init__(
        self, shape: tuple[int, int], scaling: Scaling | None, part: IntArray | None
    ) -> None:
        super().__init__((shape[0] if part is None else part.size, shape[1]))
        self.scaling, self._part = scaling, part
        self._keys: dict[bytes, FloatArray] = {}
        self.stop = threading.Event()

    @property
    def cost(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    @abstractmethod
    def passes(self) -> float:
        """How often the data were read so far; single columns count by their share."""

    @abstractmethod
    def ask(self, question: Question) -> Any:
        """Answer a question in one pass."""

    @abstractmethod
    def raw_columns(self, idx: IntArray) -> FloatArray:
        """X[:, idx] of all rows, with NaN where a value is missing."""

    @abstractmethod
    def with_scaling(self, scaling: Scaling | None) -> BlockDesign:
        """The same rows, scaled otherwise."""

    @abstractmethod
    def rows(self, idx: Any) -> BlockDesign:
        """The design of some samples, with the same scaling; nothing is read."""

    def close(self) -> None:
        """Let go of what the passes needed; another pass takes it up again."""

    def look(self, weights: FloatArray, *, gram: bool) -> tuple[FloatArray, float]:
        """Relative variation of every column (NaN where none), and the mean variance: one pass.

        With `gram` the Gram matrix comes of the same pass, and is kept.
        """
        found: Look = self.ask(FirstLook(weights, gram))
        if found.upper is not None:
            self._gram = read_only(_symmetric(found.upper))
        return joined(found.variation), found.variance / self.shape[1]

    @abstractmethod
    def damped(self, usual: float, variation: FloatArray) -> BlockDesign:
        """The same with scales that are damped by the usual variation; nothing is read."""

    def content_keys(self, t: FloatArray, waves: npt.ArrayLike) -> FloatArray:
        waves = np.atleast_1d(np.asarray(waves, dtype=np.float64))
        asked = np.ascontiguousarray(t).tobytes() + waves.tobytes()
        if asked not in self._keys:  # every candidate of a fit asks for those of its folds
            largest = self.ask(LargestGradient(t))
            self._keys[asked] = self.ask(ContentKeys(t, waves, largest))
        return self._keys[asked]

    def correlate(self, t: npt.ArrayLike) -> FloatArray:
        t = np.asarray(t, dtype=np.float64)
        found = joined(self.ask(Correlation(t.reshape(len(t), -1))))
        return found.reshape(self.shape[1], *t.shape[1:])

    def dot(self, w: npt.ArrayLike) -> FloatArray:
        product: FloatArray = self.ask(Product(np.asarray(w, dtype=np.float64), scaled=True))
        return product

    def columns(self, idx: Any) -> FloatArray:
        block = self._columns(np.arange(self.shape[1])[idx])
        return np.asfortranarray(block.scaled())

    def square_sums(self, t: FloatArray) -> FloatArray:
        return joined(self.ask(SquareSums(t))).reshape(self.shape[1], t.shape[1])

    def _columns(self, idx: IntArray) -> Columns:
        return columns_of(0, self.raw_columns(idx), self.scaling, None, self._part)

    def _part_of(self, idx: Any) -> IntArray:
        """Some of these rows, as rows of the matrix."""
        every = np.arange(self.shape[0]) if self._part is None else self._part
        return np.asarray(every[idx], dtype=np.intp)

    def _check_stop(self) -> None:
        if self.stop.is_set():
            raise Stopped("stopped while the columns were read: fit again to go on")

    def _compute_gram(self) -> FloatArray:
        return _symmetric(self.ask(Gram()))

    def _square_sums(self, rows: npt.NDArray[np.intp] | None = None) -> FloatArray:
        n = self.shape[0]
        counts = np.ones(n) if rows is None else np.bincount(rows, minlength=n).astype(np.float64)
        return self.square_sums(counts[:, None])[:, 0]

    def _raw_correlate(self, t: FloatArray) -> FloatArray:
        found = joined(self.ask(Correlation(t.reshape(len(t), -1), raw=True)))
        return found.reshape(self.shape[1], *t.shape[1:])

    def _raw_dot(self, w: FloatArray) -> FloatArray:
        product: FloatArray = self.ask(Product(w))
        return product

    def _raw_columns(self, idx: Any) -> FloatArray:
        return np.asfortranarray(self._columns(np.arange(self.shape[1])[idx]).values)


def _symmetric(upper: FloatArray) -> FloatArray:
    return np.asarray(np.triu(upper) + np.triu(upper, 1).T)


# --------------------------------------------------------------------------------------------------
# Blocks from a source on disk (or in memory), the next one being read while one is at work.
#
# What scales the columns is computed at the first pass and kept: two numbers a column.


SHARE_OF_BLOCKS: Final = 1 / 64  # of the memory, for one block as float64: several are about
MOST_BLOCK: Final = 2.0**22  # stays in the cache
LEAST_COLUMNS: Final = 8


@dataclass
class _Reading:
    """How many columns were read, by all designs of one source."""

    columns: int = 0


class StreamedDesign(BlockDesign):
    """Rows of a source of columns, read in blocks within a budget of memory.

    Parameters
    ----------
    source : ColumnSource
        Where the columns come from.
    scaling : Scaling, default=None
        What brings columns to scale; None leaves them as they are.
    memory : float, default=2**30
        Bytes that a fit may take in all; a block takes a 64th as float64.
    part : array, default=None
        The rows of the design, in order; None takes all.
    on_block : callable, default=None
        Called after each block with the number of passes so far.
    """

    def __init__(
        self,
        source: ColumnSource,
        scaling: Scaling | None = None,
        *,
        memory: float = USUAL_MEMORY,
        part: IntArray | None = None,
        on_block: Callable[[float], None] | None = None,
    ) -> None:
        super().__init__(source.shape, scaling, part)
        self.source, self.memory, self._on_block = source, memory, on_block
        self._read = _Reading()
        self._known: tuple[FloatArray, FloatArray] | None = None

    @property
    def passes(self) -> float:
        return self._read.columns / max(self.shape[1], 1)

    @property
    def mean(self) -> FloatArray | None:
        return None if self.scaling is None else self._means_and_scales()[0]

    @property
    def scale(self) -> FloatArray | None:
        return None if self.scaling is None else self._means_and_scales()[1]

    def with_scaling(self, scaling: Scaling | None) -> StreamedDesign:
        return self._like(self._part, scaling)

    def damped(self, usual: float, variation: FloatArray) -> StreamedDesign:
        assert self.scaling is not None
        found = self._like(self._part, self.scaling._replace(usual=usual))
        mean, sd = self._means_and_scales()
        with np.errstate(invalid="ignore", divide="ignore"):
            damped = sd * np.hypot(1.0, usual / variation)
        found._known = (mean, np.where(np.isnan(variation), sd, damped))
        return found

    def rows(self, idx: Any) -> StreamedDesign:
        found = self._like(self._part_of(idx), self.scaling)
        found._known = self._known
        return found

    def raw_columns(self, idx: IntArray) -> FloatArray:
        self._check_stop()
        self._read.columns += idx.size
        return as_floats(self.source.take(idx), self.source.missing).T

    def ask(self, question: Question) -> Any:
        total, known = None, self._known
        new = None if known is not None or self.scaling is None else np.empty((2, self.shape[1]))
        for start, values in self._values():
            block = slice(start, start + values.shape[1])
            own = None if known is None else (known[0][block], known[1][block])
            columns = columns_of(start, values, self.scaling, own, self._part)
            if new is not None:
                new[:, block] = columns.mean, columns.scale
            answer = question.of(columns)
            total = answer if total is None else question.merge(total, answer)
        if total is None:
            raise DataError("expected a matrix with columns, got none: check the file")
        if new is not None:
            self._known = (new[0], new[1])
        return total

    def _means_and_scales(self) -> tuple[FloatArray, FloatArray]:
        if self._known is None:
            self.ask(LargestGradient(np.zeros(self.shape[0])))  # scales come with every pass
        assert self._known is not None
        return self._known

    def _values(self) -> Iterator[tuple[int, FloatArray]]:
        """Blocks as float64 (N x k) with their first column; the next one is read beside."""
        m, width = self.shape[1], self._width()
        with ThreadPoolExecutor(1, thread_name_prefix="hipad-read") as pool:
            ahead: Future[Any] = pool.submit(self.source.block, 0, min(width, m))
            for start in range(0, m, width):
                self._check_stop()
                stop = min(start + width, m)
                block = ahead.result()
                if stop < m:
                    ahead = pool.submit(self.source.block, stop, min(stop + width, m))
                self._read.columns += stop - start
                yield start, as_floats(block, self.source.missing).T
                if self._on_block is not None:
                    self._on_block(self.passes)

    def _width(self) -> int:
        budget = min(self.memory * SHARE_OF_BLOCKS, MOST_BLOCK)
        return max(int(budget / (8 * max(self.source.shape[0], 1))), LEAST_COLUMNS)

    def _like(self, part: IntArray | None, scaling: Scaling | None) -> StreamedDesign:
        found = StreamedDesign(
            self.source, scaling, memory=self.memory, part=part, on_block=self._on_block
        )
        found._read, found.stop = self._read, self.stop
        return found
