"""LIBSVM text: a label and `index:value` pairs a line; what is not written is zero."""

from __future__ import annotations

import io
import re
from typing import Final

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from hipad.data.table import Limits, Table, label_text
from hipad.errors import DataError

LINE: Final = re.compile(r"[-+]?[\d.]+(e[-+]?\d+)?([ \t]+\d+:[^\s:]+)+[ \t]*(#.*)?", re.IGNORECASE)


def looks_like_libsvm(head: str) -> bool:
    """Whether the first line that says anything has the form of LIBSVM text."""
    lines = (line.strip() for line in head.split("\n"))
    first = next((line for line in lines if line and not line.startswith("#")), "")
    return bool(LINE.match(first))


def read_libsvm(text: str, limits: Limits) -> Table:
    """Features keep the numbers that the file gives them: index 7 is called x7."""
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
