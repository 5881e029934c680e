"""LIBSVM text: a label and `index:value` pairs a line; what is not written is zero."""

from __future__ import annotations

import io
import re
from typing import Final

import numpy as np
import scipy.sparse as sp

from hipad.data.limits import Limits
from hipad.data.table import Table, label_text
from hipad.errors import DataError

LABEL: Final = re.compile(r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?")
PAIR: Final = re.compile(r"\d+:\S+")
SEEN: Final = 100_000  # characters that are enough to know the format


def looks_like_libsvm(text: str) -> bool:
    """Whether the first lines are a number each, followed by pairs of index and value."""
    lines = [line.split("#")[0].split()[:5] for line in text[:SEEN].split("\n")[:20]]
    full = [words for words in lines if words]
    return any(len(words) > 1 for words in full) and all(
        LABEL.fullmatch(words[0]) and all(PAIR.fullmatch(word) for word in words[1:4])
        for words in full
    )


def read_libsvm(text: str, limits: Limits) -> Table:
    """Features keep the numbers that the file gives them: index 7 is called x7."""
    from sklearn.datasets import load_svmlight_file  # here, as it takes seconds to import

    try:
        X, y = load_svmlight_file(io.BytesIO(text.encode()), zero_based=True)
    except (ValueError, OverflowError) as error:
        raise DataError(
            f"expected `label index:value ...` on every line of LIBSVM text: {error}"
        ) from error
    first = int(X.shape[1] > 1 and X[:, [0]].nnz == 0)
    X = sp.csr_array(X[:, first:])
    limits.check_shape(X.shape[0], X.shape[1], cells=X.nnz)
    names = tuple(f"x{j}" for j in range(first, first + X.shape[1]))
    return Table(X, names, {"label": label_text(np.asarray(y))}, "LIBSVM", label="label")
