"""LIBSVM text: a label and `index:value` pairs on every line; what is not written is zero.

A query number (`qid:3`) after the label and comments after `#` are left out.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from hipad.data.formats.sparse_parts import empty_columns_remark, used_columns
from hipad.data.formats.text.lines import Lines
from hipad.data.limits import Limits
from hipad.data.table import Table
from hipad.data.texts import IS_NUMBER, WRITTEN_NUMBER, label_text, tidy_text
from hipad.data.whole_numbers import ROUNDED, large_wholes, plain_wholes
from hipad.errors import DataError

LABEL: Final = re.compile(r"[-+]|[-+]?[0-9.]+([eE][-+]?[0-9]+)?(,[-+]?[0-9.]+)*")
PAIR: Final = re.compile(r"(qid|-?[0-9]+):\S+")
COMMENT: Final = re.compile(rb"#[^\n]*")
SEEN: Final = 100_000  # bytes that are enough to know the format


def looks_like_libsvm(data: bytes) -> bool:
    """Whether the first line and most others are a number, followed by pairs of index and value."""
    seen = data[:SEEN].decode(errors="replace").replace("\r", "\n")
    lines = [line.split("#")[0].split()[:5] for line in seen.split("\n")[:20]]
    full = [words for words in lines if words]
    alike = [
        bool(LABEL.fullmatch(words[0])) and all(PAIR.fullmatch(word) for word in words[1:4])
        for words in full
    ]
    has_pairs = any(
        len(words) > 1 and is_alike for words, is_alike in zip(full, alike, strict=True)
    )
    return has_pairs and alike[0] and 2 * sum(alike) >= len(alike)


class LinesRead(NamedTuple):
    """What some lines hold: labels, pairs on each line, and the pairs."""

    labels: list[str]
    lengths: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]
    has_queries: bool
    has_rounded: bool  # whole numbers too large for floating point


def read_libsvm(data: bytes, limits: Limits) -> Table:
    """Features keep the numbers that the file gives them: index 7 is called x7."""
    lines = Lines(data, limits)
    limits.check_shape(lines.most_rows, 1, cells=data.count(b":"))
    parts, number = [], 1
    for chunk in lines.chunks():
        parts.append(_read_part(COMMENT.sub(b"", chunk), number, limits))
        number += chunk.count(b"\n")
    indices = np.concatenate([part.indices for part in parts])
    if not indices.size:
        raise DataError("expected `label index:value ...` on the lines of LIBSVM text, got labels")
    lengths = np.concatenate([part.lengths for part in parts])
    values = np.concatenate([part.values for part in parts])
    first = min(1, int(indices.min()))
    X = sp.csr_array(
        (values, indices - first, np.concatenate([[0], np.cumsum(lengths)])),
        shape=(len(lengths), int(indices.max()) + 1 - first),
    )
    X.sort_indices()
    n_columns = X.shape[1]
    X, used = used_columns(X)
    columns = np.arange(n_columns) if used is None else used
    names = tuple(f"x{j}" for j in (columns + first).tolist())
    labels = _labels([label for part in parts for label in part.labels], limits)
    told = {
        "query numbers (qid) left out": any(part.has_queries for part in parts),
        ROUNDED: any(part.has_rounded for part in parts),
    }
    remarks = tuple(remark for remark, is_true in told.items() if is_true)
    remarks += tuple(empty_columns_remark(n_columns, used))
    return Table(X, names, {"label": labels}, "LIBSVM", remarks, label="label")


def _read_part(chunk: bytes, number: int, limits: Limits) -> LinesRead:
    """Read lines, of which the first has this number in the file."""
    words = pc.ascii_split_whitespace(pc.ascii_trim_whitespace(_lines(chunk)))
    lengths = np.diff(words.offsets.to_numpy())
    every = words.values
    empty = pc.equal(every, "").to_numpy(zero_copy_only=False)
    line = np.repeat(np.arange(len(lengths)), lengths)
    is_label = np.zeros(len(every), dtype=bool)
    is_label[words.offsets.to_numpy()[:-1][lengths > 0]] = True
    is_query = pc.starts_with(every, "qid:").to_numpy(zero_copy_only=False)
    is_pair = ~(is_label | is_query | empty)
    pairs, at = every.filter(pa.array(is_pair)), line[is_pair]
    indices, values, has_rounded = _split_pairs(pairs, at + number)
    _check_indices(indices, at, number, limits)
    filled = line[is_label & ~empty]
    return LinesRead(
        every.filter(pa.array(is_label & ~empty)).to_pylist(),
        np.bincount(at, minlength=len(lengths))[filled],
        indices.astype(np.int32),
        values,
        bool(is_query.any()),
        has_rounded,
    )


def _lines(chunk: bytes) -> Any:
    return pa.array(chunk.removesuffix(b"\n").split(b"\n"), pa.string())


def _split_pairs(
    pairs: Any, numbers: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], bool]:
    """Indices and values of pairs on lines of these numbers, and whether values are rounded."""
    index, value = (
        pc.replace_substring_regex(pairs, pattern, "") for pattern in (r":.*$", r"^[^:]*:")
    )
    sound = pc.and_(
        pc.match_substring_regex(pairs, r"^-?[0-9]{1,18}:"),
        pc.match_substring_regex(value, IS_NUMBER),
    ).to_numpy(zero_copy_only=False)
    if not sound.all():
        at = int(np.argmin(sound))
        raise DataError(
            "expected `label index:value ...` on every line of LIBSVM text, got "
            f"{pairs[at].as_py()[:40]!r} on line {numbers[at]:,}"
        )
    values = pc.cast(value, pa.float64()).to_numpy(zero_copy_only=False)
    indices = pc.cast(index, pa.int64()).to_numpy(zero_copy_only=False)
    return indices, values, bool(large_wholes(value, values).any())


def _check_indices(
    indices: npt.NDArray[np.int64], at: npt.NDArray[np.int64], number: int, limits: Limits
) -> None:
    """Refuse indices below zero, beyond the limit, or twice on a line, before anything is made."""
    if not indices.size:
        return
    if (indices < 0).any():
        wrong = int(np.argmax(indices < 0))
        raise DataError(
            "expected indices from 0 or 1 on in LIBSVM text, got "
            f"{indices[wrong]:,} on line {at[wrong] + number:,}"
        )
    limits.check_shape(1, int(indices.max()), cells=0)
    order = np.lexsort((indices, at))
    twice = (np.diff(indices[order]) == 0) & (np.diff(at[order]) == 0)
    if twice.any():
        wrong = int(order[np.argmax(twice)])
        raise DataError(
            "expected every index once on a line of LIBSVM text, got "
            f"{indices[wrong]:,} twice on line {at[wrong] + number:,}"
        )


def _labels(written: list[str], limits: Limits) -> npt.NDArray[np.str_]:
    """Labels as numbers where all are, so that +1 is 1; otherwise `+` and `-`."""
    cells = pa.array(written, pa.string())
    if pc.all(pc.match_substring_regex(cells, IS_NUMBER)).as_py():
        return _number_labels(cells, limits)
    if set(written) == {"+", "-"}:
        return tidy_text(written)
    wrong = next(w for w in written if not WRITTEN_NUMBER.fullmatch(w))
    raise DataError(
        f"expected one number as the label of every line of LIBSVM text, got {wrong[:40]!r}: "
        "write one line for each label, or give the classes numbers"
    )


def _number_labels(cells: Any, limits: Limits) -> npt.NDArray[np.str_]:
    """Numbers as text; two whole numbers too large for floating point stay two labels."""
    values = pc.cast(cells, pa.float64()).to_numpy(zero_copy_only=False)
    labels = label_text(values)
    large = large_wholes(cells, values)
    if not large.any():
        return labels
    if (longest := pc.max(pc.utf8_length(cells)).as_py()) > limits.text_characters:
        raise DataError(
            f"expected labels of at most {limits.text_characters:,} digits, got {longest:,}"
        )
    written = plain_wholes(cells).to_numpy(zero_copy_only=False).astype(str)
    return np.where(large, written, labels)
