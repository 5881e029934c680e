"""AnnData files (.h5ad): a matrix of observations by variables, with what is known of both.

X is an array, or the parts of a CSR or CSC matrix, which stays sparse. Columns of `obs` describe
the rows; a column of `var` with gene symbols names the genes of the features.
"""

from __future__ import annotations

import io
from typing import Any, Final

import h5py
import numpy as np

from hipad.data.formats.expression.hdf5 import (
    Part,
    Source,
    Values,
    attribute,
    member,
    numbers,
    part,
    texts,
)
from hipad.data.formats.sparse_parts import sparse_matrix
from hipad.data.genes.describing import MOST_LEVELS
from hipad.data.genes.symbols import symbol_column
from hipad.data.genes.turning import GenesByPatients, patients_by_genes
from hipad.data.limits import Limits
from hipad.data.table import Matrix, Table
from hipad.errors import DataError
from hipad.wording import some

FORMAT: Final = "AnnData"
SPARSE: Final = {"csr_matrix": "csr", "csc_matrix": "csc", "csr": "csr", "csc": "csc"}
INDICES: Final = ("_index", "index", "__index__")
KEPT_APART: Final = "__categories"  # where files of AnnData 0.6 and 0.7 keep levels


def read_h5ad(data: bytes, limits: Limits) -> Table:
    """One row per observation, one column per variable."""
    source = Source.of(data, limits)
    try:
        with h5py.File(io.BytesIO(data), "r") as file:
            return _read(file, source)
    except (DataError, MemoryError):
        raise
    except Exception as error:  # h5py lets errors of many kinds through
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"the .h5ad file is damaged ({reason}): save it again") from error


def _read(file: Part, source: Source) -> Table:
    if part(file, "X") is None or part(file, "obs") is None or part(file, "var") is None:
        raise DataError(
            "expected X, obs and var, as AnnData writes them, got an HDF5 file with "
            f"{some(list(file)) or 'nothing'}"
        )
    obs, var = (_frame(member(file, name)) for name in ("obs", "var"))
    ids, names = _index(obs, source), _index(var, source)
    X = _matrix(member(file, "X"), (len(ids), len(names)), source)
    symbol = symbol_column(_columns(var))
    about, left_out = _about(obs, len(ids), source)
    symbols = _column(var, symbol, len(names), source) if symbol else None
    given = GenesByPatients(
        names=names,
        values=X.T,
        ids=ids,
        format=FORMAT,
        symbols=[] if symbols is None or symbols == names else symbols,
        about=about,
        remarks=(f"columns of obs left out: {some(left_out)}",) if left_out else (),
    )
    return patients_by_genes(given, source.limits)


def _frame(group: Part) -> Part:
    if not isinstance(group, h5py.Group):
        raise DataError(
            f"expected {group.name} as a group of columns, got a table of an AnnData before 0.7: "
            "save it with a newer one"
        )
    return group


def _index(frame: Part, source: Source) -> list[str]:
    """Names of the rows of obs or var."""
    stated = attribute(frame, "_index")
    tried = [stated] if isinstance(stated, str) else []
    for name in (*tried, *INDICES):
        found = part(frame, name)
        if isinstance(found, h5py.Group):  # texts that may have gaps
            found = part(found, "values")
        if isinstance(found, h5py.Dataset):
            return texts(found, source)
    raise DataError(f"expected names of the rows of {frame.name}, found none: save it again")


def _columns(frame: Part) -> list[str]:
    index = attribute(frame, "_index")
    return [name for name in frame if name not in (index, KEPT_APART, *INDICES)]


def _matrix(X: Part, shape: tuple[int, int], source: Source) -> Matrix:
    if isinstance(X, h5py.Dataset):
        source.limits.check_shape(*(X.shape if X.ndim == 2 else shape))
        values = numbers(X, source.limits, most_axes=2)
        found: Any = values if values.dtype in (np.float32, np.float64) else values.astype(float)
    else:
        found = _sparse(X, shape, source)
    if found.shape != shape:
        raise DataError(
            f"expected X of {shape[0]:,} x {shape[1]:,}, as obs and var have it, got "
            f"{' x '.join(f'{n:,}' for n in found.shape)}"
        )
    if 0 in shape:
        raise DataError("expected values, got an X without rows or columns")
    return found


def _sparse(X: Part, shape: tuple[int, int], source: Source) -> Matrix:
    kind = attribute(X, "encoding-type") or attribute(X, "h5sparse_format")
    stated = attribute(X, "shape") or attribute(X, "h5sparse_shape") or list(shape)
    if kind not in SPARSE:
        raise DataError(f"expected X as an array, CSR or CSC matrix, got {str(kind)[:40]!r}")
    arrays: dict[str, Values] = {
        name: numbers(member(X, name), source.limits) for name in ("data", "indices", "indptr")
    }
    arrays["shape"] = np.array(stated)
    arrays["format"] = np.array(SPARSE[kind].encode())
    return sparse_matrix(arrays, [], source.limits)


def _about(obs: Part, n: int, source: Source) -> tuple[dict[str, list[str]], list[str]]:
    """Columns of obs that may be classes, and those that are left out."""
    result: dict[str, list[str]] = {}
    left_out = []
    for name in _columns(obs):
        cells = _column(obs, name, n, source)
        if cells is None:
            left_out.append(name)
        else:
            result[name] = cells
    return result, left_out


def _column(frame: Part, name: str, n: int, source: Source) -> list[str] | None:
    """A column as texts; None for measures and for kinds that are not known."""
    column = member(frame, name)
    if isinstance(column, h5py.Group):
        cells = _encoded(column, source)
    else:
        levels = _old_levels(frame, name)
        cells = texts(column, source) if levels is None else _decoded(column, levels, source)
        is_measure = column.dtype.kind in "fiu" and levels is None
        if is_measure and len(set(cells)) > MOST_LEVELS:
            return None
    if cells is not None and len(cells) != n:
        raise DataError(f"expected {n:,} values in {name[:40]!r}, got {len(cells):,}")
    return cells


def _old_levels(frame: Part, name: str) -> Part | None:
    apart = part(frame, KEPT_APART)
    return part(apart, name) if isinstance(apart, h5py.Group) else None


def _encoded(column: Part, source: Source) -> list[str] | None:
    """Categories and their codes, or values and a mask of gaps."""
    if part(column, "codes") is not None:
        return _decoded(member(column, "codes"), member(column, "categories"), source)
    if part(column, "values") is None or part(column, "mask") is None:
        return None
    values = texts(member(column, "values"), source)
    mask = numbers(member(column, "mask"), source.limits).astype(bool).tolist()
    if len(mask) != len(values) or len(set(values)) > MOST_LEVELS:
        return None
    return ["" if gap else value for value, gap in zip(values, mask, strict=True)]


def _decoded(codes: Part, categories: Part, source: Source) -> list[str]:
    if isinstance(categories, h5py.Group):  # a nullable string array
        categories = member(categories, "values")
    levels = [*texts(categories, source), ""]
    places = numbers(codes, source.limits)
    if places.dtype.kind not in "iu" or (
        places.size and not -1 <= int(places.min()) <= int(places.max()) < len(levels) - 1
    ):
        raise DataError(f"expected codes of categories in {codes.name}: save the file again")
    return [levels[int(place)] for place in places]
