"""Columns on a cluster: a design over the column chunks of a Dask array."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from hipad.data.column_store import (
    Block,
    ColumnSource,
    as_floats,
    as_source,
    bytes_of,
)
from hipad.exceptions import DataError, HipadError
from hipad.streamed_design import (
    BlockDesign,
    Columns,
    Question,
    Scaling,
    StreamedDesign,
    columns_of,
)
from hipad.utils import FloatArray, IntArray, require

# --------------------------------------------------------------------------------------------------
# Columns as Dask has them. Each chunk has all rows and some columns.


ANSWER: Final = "10s"  # for a scheduler to answer
CHUNK: Final = 2.0**26  # bytes of a chunk of a file as float64
SHARE_OF_WORKERS: Final = 0.5  # of their memory, for data that stay there


class DaskColumns(ColumnSource):
    """A Dask array of numbers, on workers of a cluster or still to be computed.

    Parameters
    ----------
    X : dask.array.Array
        Rows by columns.
    names : sequence of str or ColumnSource, default=None
        What the columns are called, or a source that knows it.
    scheduler : str, default=None
        Address of a scheduler; None takes the client that is there, or else a `LocalCluster`,
        which ends with the fit.
    """

    def __init__(
        self,
        X: Any,
        names: Any = None,
        *,
        scheduler: str | None = None,
        missing: int | None = None,
    ) -> None:
        require(["dask", "distributed"], "a Dask array", extra="cluster")
        if X.ndim != 2 or any(not np.isfinite(size) for size in X.shape):
            raise DataError(f"expected a Dask array of known rows and columns, got {X.shape}")
        self.X = X.rechunk({0: -1})
        self.shape, self.dtype = (int(X.shape[0]), int(X.shape[1])), np.dtype(X.dtype)
        if self.dtype.kind not in "biuf":
            raise DataError(f"expected numbers, got values of type {self.dtype}: convert them")
        self.connection, self.missing = Connection(scheduler), missing
        self._held: tuple[Any, Any] | None = None
        self._names = names
        if names is not None and not isinstance(names, ColumnSource):
            self._names = as_source(np.zeros((0, self.shape[1]), dtype=np.int8), names)

    @property
    def starts(self) -> IntArray:
        """The first column of each chunk."""
        return np.cumsum([0, *self.X.chunks[1][:-1]])

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_held": None}

    @property
    def held(self) -> Any:
        """The array on the workers, in their memory where half of it is enough."""
        client = self.connection.client
        if self._held is None or self._held[0] is not client:
            workers = client.scheduler_info(n_workers=-1)["workers"].values()
            budget = SHARE_OF_WORKERS * sum(each["memory_limit"] or 0 for each in workers)
            self._held = client, client.persist(self.X) if self.X.nbytes <= budget else self.X
        return self._held[1]

    def block(self, start: int, stop: int) -> Block:
        return self.take(np.arange(start, stop))

    def take(self, columns: npt.NDArray[np.integer[Any]]) -> Block:
        found = self.connection.client.compute(self.held[:, columns]).result()
        return np.ascontiguousarray(found.T)

    def let_go(self) -> None:
        """Let the workers forget the array, and close a cluster of our own."""
        self._held = None
        self.connection.close()

    def select(self, rows: IntArray) -> DaskColumns:
        found = DaskColumns(self.X[rows], self._names, missing=self.missing)
        found.memory, found.connection = self.memory, self.connection
        return found

    @property
    def has_names(self) -> bool:
        return self._names is not None and self._names.has_names

    def name_blocks(self) -> Iterator[npt.NDArray[np.bytes_]]:
        return super().name_blocks() if self._names is None else self._names.name_blocks()


class Connection:
    """A client: of the scheduler at an address, the one that is there, or with a local cluster.

    It is made when it is first asked for. Those that are our own are closed with `close`, or with
    the program, and made again when they are asked for again.
    """

    def __init__(self, scheduler: str | None) -> None:
        self.scheduler = scheduler
        self._own: list[Any] = []
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"scheduler": self.scheduler}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    @property
    def client(self) -> Any:
        """The client."""
        from distributed import get_client

        with self._lock:
            if self._own:
                return self._own[0]
            if self.scheduler is None:
                try:
                    return get_client()
                except ValueError:  # there is none
                    pass
            self._own = self._made()
            return self._own[0]

    def _made(self) -> list[Any]:
        from distributed import Client, LocalCluster

        if self.scheduler is None:
            cluster = LocalCluster(threads_per_worker=1, dashboard_address=None)
            return [Client(cluster, set_as_default=False), cluster]
        try:
            return [Client(self.scheduler, timeout=ANSWER, set_as_default=False)]
        except (OSError, ValueError) as error:
            raise HipadError(
                f"no Dask scheduler answered at {self.scheduler}: start one (dask scheduler), "
                "give its address as tcp://host:8786, or leave the scheduler out"
            ) from error

    def close(self) -> None:
        """Close what is our own; nothing of it stays running."""
        with self._lock:
            own, self._own = self._own, []
        for each in own:
            each.close()


def open_columns(
    X: Any,
    *,
    names: Any = None,
    memory: str | float | None = None,
    scheduler: str | None = None,
) -> ColumnSource:
    """Open a matrix that is read by columns, for `HIPADClassifier.fit` and `predict`.

    Parameters
    ----------
    X : path, array, memmap, sparse matrix, Dask or Zarr array, or ColumnSource
        A path is a column store, PLINK .bed, .npy, .h5ad or Zarr.
    names : sequence of str, default=None
        What the columns are called; None takes the names that come with the data.
    memory : float or str, default=None
        How much a fit may take in all: bytes, or a text such as "1GB". None is 2**30, or what
        the source has.
    scheduler : str, default=None
        Address of a Dask scheduler, whose workers then read the file and compute. They must see
        it under the same path.

    Returns
    -------
    ColumnSource
        Anything that is missing, cut or does not fit is an error here, before any work.
    """
    size = None if memory is None else bytes_of(memory)
    if type(X).__module__.partition(".")[0] == "dask":
        source: ColumnSource = DaskColumns(X, names, scheduler=scheduler)
    else:
        if isinstance(X, str | Path):
            X = Path(X).absolute()  # workers may stand in another folder
        source = as_source(X, names)
        if scheduler is not None and not isinstance(source, DaskColumns):
            source = _on_cluster(source, scheduler)
    if isinstance(X, ColumnSource | str | Path) and names is not None:
        raise DataError("expected no names beside data that bring their own: leave them out")
    if size is not None:
        source.memory = size
    return source


def _on_cluster(source: ColumnSource, scheduler: str) -> DaskColumns:
    """The columns of a source as chunks that workers read for themselves."""
    require(["dask", "distributed"], "a Dask cluster", extra="cluster")
    import dask.array as da
    from dask.delayed import delayed

    n, m = source.shape
    width = max(int(CHUNK / (8 * max(n, 1))), 1)
    held = delayed(source, pure=False, traverse=False)
    parts = [
        da.from_delayed(
            delayed(_read)(held, start, min(start + width, m)),
            (n, min(start + width, m) - start),
            source.dtype,
        )
        for start in range(0, m, width)
    ]
    found = DaskColumns(
        da.concatenate(parts, axis=1), source, scheduler=scheduler, missing=source.missing
    )
    found.labels, found.row_names = source.labels, source.row_names
    return found


def _read(source: ColumnSource, start: int, stop: int) -> npt.NDArray[Any]:
    return source.block(start, stop).T


# --------------------------------------------------------------------------------------------------
# The design. A question goes to the workers once, in the graph, so that it is sent again when a
# worker is lost; each chunk is answered where it lies, and answers are merged in a tree. What
# scales the columns stays on the workers. Only questions (some N-vectors) and merged answers
# travel to and from here.


BRANCHES: Final = 8
LOOK: Final = 0.1  # seconds between two looks at whether a pass is to be stopped


class DaskDesign(BlockDesign):
    """Some rows of a Dask array by columns; every pass is one graph for the workers."""

    def __init__(
        self,
        source: DaskColumns,
        scaling: Scaling | None = None,
        *,
        part: IntArray | None = None,
        on_block: Callable[[float], None] | None = None,
    ) -> None:
        super().__init__(source.shape, scaling, part)
        self.source, self._on_block = source, on_block
        self._read = [0.0]

    @property
    def passes(self) -> float:
        return self._read[0]

    def with_scaling(self, scaling: Scaling | None) -> DaskDesign:
        return self._like(scaling, self._part)

    def damped(self, usual: float, variation: FloatArray) -> DaskDesign:
        assert self.scaling is not None
        return self._like(self.scaling._replace(usual=usual), self._part)

    def rows(self, idx: Any) -> DaskDesign:
        return self._like(self.scaling, self._part_of(idx))

    def raw_columns(self, idx: IntArray) -> FloatArray:
        self._check_stop()
        self._read[0] += idx.size / max(self.shape[1], 1)
        return as_floats(self.source.take(idx), self.source.missing).T

    def ask(self, question: Question) -> Any:
        from dask.delayed import delayed

        self._check_stop()
        chunks = self.source.held.to_delayed().ravel()
        asked = delayed(_Asked(question, self.scaling, self._part, self.source.missing))
        answers = [
            delayed(_answer, pure=False)(asked, chunk, int(start))
            for chunk, start in zip(chunks, self.source.starts, strict=True)
        ]
        while len(answers) > 1:
            answers = [
                delayed(_merged, pure=False)(asked, answers[k : k + BRANCHES])
                for k in range(0, len(answers), BRANCHES)
            ]
        found = self._computed(answers[0])
        self._read[0] += 1.0
        if self._on_block is not None:
            self._on_block(self.passes)
        return found

    def _computed(self, answer: Any) -> Any:
        """The result of a graph; a stop cancels it."""
        future, done = self.source.connection.client.compute(answer), threading.Event()
        future.add_done_callback(lambda _: done.set())
        while not done.wait(LOOK):
            if self.stop.is_set():
                future.cancel(force=True)
                self._check_stop()
        return future.result()

    def close(self) -> None:
        self.source.let_go()

    def _like(self, scaling: Scaling | None, part: IntArray | None) -> DaskDesign:
        found = DaskDesign(self.source, scaling, part=part, on_block=self._on_block)
        found._read, found.stop = self._read, self.stop
        return found


class _Asked:
    """A question as it goes to the workers."""

    def __init__(
        self,
        question: Question,
        scaling: Scaling | None,
        part: IntArray | None,
        missing: int | None,
    ) -> None:
        self.question, self.scaling, self.part, self.missing = question, scaling, part, missing


def _answer(asked: _Asked, chunk: npt.NDArray[Any], start: int) -> Any:
    values = as_floats(np.asarray(chunk), asked.missing)
    block: Columns = columns_of(start, values, asked.scaling, None, asked.part)
    return asked.question.of(block)


def _merged(asked: _Asked, answers: Sequence[Any]) -> Any:
    found = answers[0]
    for other in answers[1:]:
        found = asked.question.merge(found, other)
    return found


def design_of(
    source: ColumnSource,
    scaling: Scaling | None = None,
    on_block: Callable[[float], None] | None = None,
) -> BlockDesign:
    """Return the design of a source: on its cluster, or in blocks that are read here."""
    if isinstance(source, DaskColumns):
        return DaskDesign(source, scaling, on_block=on_block)
    return StreamedDesign(source, scaling, memory=source.memory, on_block=on_block)
