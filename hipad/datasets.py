"""Data to try things on: the synthetic ksvm-s of the paper and the bundled clinical samples."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hipad.data import Table, column_statistics, prepare, read_table
from hipad.exceptions import DataError
from hipad.utils import SAMPLES as FOLDER
from hipad.utils import IntArray, require

if TYPE_CHECKING:
    import pandas as pd


# --------------------------------------------------------------------------------------------------
# ksvm-s, the synthetic data of the HIPAD paper: knowledge that the training rows do not hold.
#
# Four disjoint blocks of features K1..K4 carry the class. Within a block every feature has variance
# 1 and every pair covariance 0.8; the block means are +-(2, 0.5, -0.2, -1) by class. Training rows
# contain the two weak blocks K2 and K3 only; test rows contain all four, so that only rules can
# tell the classifier about K1 and K4. In every row a random 5 to 10 % of the remaining entries is
# standard normal and the rest is zero.


class DrawSize(NamedTuple):
    """How large a draw is; names and meanings are those of `make_ksvm_s`."""

    n_train: int
    n_test: int
    n_features: int
    block_size: int = 50
    noise: tuple[float, float] = (0.05, 0.10)


PRESETS: Final = {"10k": DrawSize(200, 400, 10_000), "50k": DrawSize(500, 1_000, 50_000)}
BLOCK_MEANS: Final = {"K1": 2.0, "K2": 0.5, "K3": -0.2, "K4": -1.0}
SEEN_IN_TRAINING: Final = ("K2", "K3")
COVARIANCE: Final = 0.8
LABEL: Final = "class"
RULES: Final = "mean(K1) >= 4 => positive\nmean(K4) >= 3 => negative"


@dataclass(frozen=True)
class SyntheticData:
    """A draw of ksvm-s: sparse matrices, labels in {-1, +1}, and what an expert knows of them."""

    X_train: sp.csr_array
    y_train: IntArray
    X_test: sp.csr_array
    y_test: IntArray
    blocks: dict[str, IntArray]
    rules: str
    name: str
    description: str
    feature_names: None = None


def make_ksvm_s(
    preset: str = "10k",
    *,
    seed: int | None = 0,
    n_train: int | None = None,
    n_test: int | None = None,
    n_features: int | None = None,
    block_size: int | None = None,
    noise: tuple[float, float] | None = None,
    positive_fraction: float = 0.5,
) -> SyntheticData:
    """Draw ksvm-s at a preset size or any other; `positive_fraction` is of the training rows.

    >>> data = make_ksvm_s("10k", seed=0)
    >>> data.X_train.shape, data.X_test.shape, data.blocks["K2"][:3]
    ((200, 10000), (400, 10000), array([50, 51, 52]))
    """
    if preset not in PRESETS:
        raise DataError(f"expected the preset to be one of {sorted(PRESETS)}, got {preset!r}")
    asked = (n_train, n_test, n_features, block_size, noise)
    pairs = zip(asked, PRESETS[preset], strict=True)
    size = DrawSize._make(usual if own is None else own for own, usual in pairs)
    n_train, n_test, n_features, block_size, noise = size
    _check(size, positive_fraction)

    blocks = {
        name: np.arange(i * block_size, (i + 1) * block_size) for i, name in enumerate(BLOCK_MEANS)
    }
    seen = {name: blocks[name] for name in SEEN_IN_TRAINING}
    # Streams of their own, so that the training rows do not depend on the number of test rows,
    # nor what the blocks say on how many noise features surround them.
    train_rng, test_rng = np.random.default_rng(seed).spawn(2)
    y_train = _labels(train_rng, n_train, positive_fraction)
    y_test = _labels(test_rng, n_test, 0.5)
    return SyntheticData(
        X_train=_rows(train_rng, y_train, seen, n_features, noise),
        y_train=y_train,
        X_test=_rows(test_rng, y_test, blocks, n_features, noise),
        y_test=y_test,
        blocks=blocks,
        rules=RULES,
        name=f"ksvm-s {n_train} x {n_features}",
        description=(
            f"Synthetic: {n_train:,} training and {n_test:,} test rows of {n_features:,} features. "
            f"Four blocks of {block_size} features carry the class; the training rows show the "
            "two weak ones only, the rules tell of the two strong ones."
        ),
    )


def ksvm_tables(data: SyntheticData, preset: str, **controls: Any) -> tuple[Table, Table]:
    """Return the training and the test rows of a draw as tables; the hash is that of its recipe.

    >>> train, test = ksvm_tables(make_ksvm_s("10k", n_features=300), "10k", n_features=300)
    >>> train.label, train.n_rows, test.n_rows
    ('class', 200, 400)
    """
    digest = hashlib.sha256(repr((preset, sorted(controls.items()))).encode()).hexdigest()
    train = Table(
        numbers=data.X_train,
        number_names=tuple(f"x{j}" for j in range(data.X_train.shape[1])),
        text={LABEL: _class_names(data.y_train)},
        format="synthetic",
        label=LABEL,
        sha256=digest,
    )
    return train, replace(train, numbers=data.X_test, text={LABEL: _class_names(data.y_test)})


def _class_names(y: IntArray) -> npt.NDArray[np.str_]:
    return np.where(y > 0, "positive", "negative")


def relevant_signs(preset: str = "10k", *, block_size: int | None = None) -> IntArray:
    """The signs that the weights of the first columns, those of the four blocks, ought to have.

    All other columns carry nothing of the class.

    >>> signs = relevant_signs("50k")
    >>> len(signs), signs[[0, 50, 100, 150]]
    (200, array([ 1,  1, -1, -1]))
    """
    size = PRESETS[preset].block_size if block_size is None else block_size
    return np.repeat(np.sign(list(BLOCK_MEANS.values())).astype(int), size)


def _check(size: DrawSize, positive_fraction: float) -> None:
    n_train, n_test, n_features, block_size, noise = size
    if min(n_train, n_test) < 2:
        raise DataError(f"expected two rows or more in each part, got {n_train} and {n_test}")
    if not 1 <= block_size <= n_features // len(BLOCK_MEANS):
        raise DataError(
            f"expected room for four blocks, got block_size={block_size} of {n_features} features"
        )
    if not 0 <= noise[0] <= noise[1] <= 1:
        raise DataError(f"expected noise as two growing fractions of one, got {noise}")
    if not 1 <= round(positive_fraction * n_train) <= n_train - 1:
        raise DataError(
            "expected positive_fraction to leave a row of each class, "
            f"got {positive_fraction} of {n_train} rows"
        )


def _labels(rng: np.random.Generator, n: int, positive_fraction: float) -> IntArray:
    y = np.full(n, -1)
    y[: round(positive_fraction * n)] = 1
    return rng.permutation(y)


def _rows(
    rng: np.random.Generator,
    y: IntArray,
    blocks: dict[str, IntArray],
    n_features: int,
    noise: tuple[float, float],
) -> sp.csr_array:
    """Rows with these blocks in full and noise elsewhere, built from their non-zeros."""
    *streams, rng = rng.spawn(len(blocks) + 1)
    signal = np.hstack(
        [
            _block(stream, y, BLOCK_MEANS[name], idx.size)
            for stream, (name, idx) in zip(streams, blocks.items(), strict=True)
        ]
    )
    signal_columns = np.concatenate(list(blocks.values())).astype(np.int32)
    others = np.setdiff1d(np.arange(n_features, dtype=np.int32), signal_columns)

    counts = np.rint(rng.uniform(*noise, y.size) * others.size).astype(int)
    columns = [
        np.concatenate([signal_columns, others[rng.choice(others.size, k, False, shuffle=False)]])
        for k in counts
    ]
    parts = [row for i, k in enumerate(counts) for row in (signal[i], rng.standard_normal(k))]
    indptr = np.concatenate([[0], np.cumsum(signal_columns.size + counts)])
    indptr = indptr.astype(sp.get_index_dtype(maxval=indptr[-1]))
    X = sp.csr_array(
        (np.concatenate(parts), np.concatenate(columns), indptr), shape=(y.size, n_features)
    )
    X.sort_indices()
    return X


def _block(
    rng: np.random.Generator, y: IntArray, mean: float, size: int
) -> npt.NDArray[np.float64]:
    """Equally correlated normals: one shared part per row, one own part per entry."""
    shared = rng.standard_normal((y.size, 1))
    own = rng.standard_normal((y.size, size))
    return mean * y[:, None] + np.sqrt(COVARIANCE) * shared + np.sqrt(1 - COVARIANCE) * own


# --------------------------------------------------------------------------------------------------
# The bundled clinical samples, each a folder of `sample_data/` with its rules, blocks and source.
#
# `data.csv` or `data.npz` holds the table, `<name>.rules` what an expert knows, `blocks.json` the
# named blocks of features, and `about.json` where the data come from and under which licence.


SAMPLES: Final = ("all-bcrabl", "pima")


@dataclass(frozen=True)
class SampleFile:
    """A table as it lies in its file, gaps included, and what an expert knows of it."""

    name: str
    table: Table
    label: str  # the column with the classes
    positive: str
    blocks: dict[str, list[str]]
    rules: str
    title: str
    description: str
    source: str
    licence: str

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self.table.number_names

    def columns(self) -> dict[str, IntArray]:
        """The columns of each block."""
        place = {name: j for j, name in enumerate(self.feature_names)}
        return {block: np.array([place[n] for n in names]) for block, names in self.blocks.items()}


@dataclass(frozen=True)
class Sample:
    """A table without gaps, and what an expert knows of it; the arrays are read-only."""

    name: str
    X: npt.NDArray[np.floating]
    y: npt.NDArray[np.str_]
    feature_names: tuple[str, ...]
    blocks: dict[str, IntArray]
    rules: str
    positive: str
    title: str
    description: str
    source: str
    licence: str

    def frame(self) -> pd.DataFrame:
        """X with its feature names as columns."""
        require(["pandas"], "a data frame")
        import pandas as pd  # here, as fitting does without it

        return pd.DataFrame(self.X, columns=list(self.feature_names))


def read_sample(name: str) -> SampleFile:
    """Read the files of a bundled sample, its table as an upload would be read."""
    if name not in SAMPLES:
        raise DataError(f"expected a sample of {', '.join(SAMPLES)}, got {name!r}")
    folder = FOLDER / name
    try:
        about = json.loads((folder / "about.json").read_text("utf-8"))
        blocks = json.loads((folder / "blocks.json").read_text("utf-8"))
        rules = (folder / f"{name}.rules").read_text("utf-8")
        table = read_table(next(iter(folder.glob("data.*")), folder / "data.csv"))
    except FileNotFoundError as error:
        raise DataError(
            f"the bundled sample {name!r} lacks {error.filename}: install the package again"
        ) from error
    label = table.label or next(iter(table.text))  # the one column that is not a feature
    return SampleFile(name, table, label, blocks=blocks, rules=rules, **about)


def load_sample(name: str) -> Sample:
    """A bundled sample as numbers; gaps in its table are filled with the feature's median.

    >>> sample = load_sample("pima")
    >>> sample.X.shape, sample.positive
    ((768, 8), 'diabetic')
    """
    file = read_sample(name)
    ready = prepare(file.table, label=file.label, positive=file.positive, drop_constant=False)
    for array in (ready.X, ready.y):
        array.setflags(write=False)
    return Sample(
        name=name,
        X=ready.X,
        y=ready.y,
        feature_names=ready.feature_names,
        blocks=file.columns(),
        rules=file.rules,
        positive=file.positive,
        title=file.title,
        description=file.description + _filled(file.table),
        source=file.source,
        licence=file.licence,
    )


def _filled(table: Table) -> str:
    """A sentence that says how many gaps of which features were filled."""
    gaps = column_statistics(table.numbers).missing
    told = ", ".join(f"{table.number_names[j]} {gaps[j]}" for j in np.flatnonzero(gaps))
    return f" Missing values were replaced by the feature's median: {told}." if told else ""
