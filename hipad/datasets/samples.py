"""The bundled clinical samples, each a folder of `sample_data/` with its rules, blocks and source.

`data.csv` or `data.npz` holds the table, `<name>.rules` what an expert knows, `blocks.json` the
named blocks of features, and `about.json` where the data come from and under which licence.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from hipad.errors import DataError
from hipad.optional import require
from hipad.places import SAMPLES as FOLDER

if TYPE_CHECKING:
    import pandas as pd

SAMPLES: Final = ("all-bcrabl", "pima")

Matrix = npt.NDArray[np.floating]


@dataclass(frozen=True)
class Sample:
    """A complete table with labels, and what an expert knows of it; the arrays are read-only."""

    name: str
    X: Matrix
    y: npt.NDArray[np.str_]
    feature_names: tuple[str, ...]
    blocks: dict[str, npt.NDArray[np.int64]]
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


def load_sample(name: str) -> Sample:
    """Read a bundled sample; gaps in its table are filled with the feature's median.

    >>> sample = load_sample("pima")
    >>> sample.X.shape, sample.positive
    ((768, 8), 'diabetic')
    """
    if name not in SAMPLES:
        raise DataError(f"expected a sample of {', '.join(SAMPLES)}, got {name!r}")
    folder = FOLDER / name
    try:
        about = json.loads((folder / "about.json").read_text("utf-8"))
        blocks = json.loads((folder / "blocks.json").read_text("utf-8"))
        rules = (folder / f"{name}.rules").read_text("utf-8")
        X, y, names = _read(folder)
    except FileNotFoundError as error:
        raise DataError(
            f"the bundled sample {name!r} lacks {error.filename}: install the package again"
        ) from error
    X, remark = _fill_gaps(X, names)
    for array in (X, y):
        array.setflags(write=False)
    return Sample(
        name=name,
        X=X,
        y=y,
        feature_names=tuple(names),
        blocks=_as_indices(blocks, names),
        rules=rules,
        positive=about["positive"],
        title=about["title"],
        description=about["description"] + remark,
        source=about["source"],
        licence=about["licence"],
    )


def _read(folder: Path) -> tuple[Matrix, npt.NDArray[np.str_], list[str]]:
    if (folder / "data.npz").exists():
        with np.load(folder / "data.npz", allow_pickle=False) as file:
            return file["X"], file["y"], file["features"].tolist()
    with (folder / "data.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    X = np.array([[float(cell or "nan") for cell in row[:-1]] for row in rows])
    return X, np.array([row[-1] for row in rows]), header[:-1]


def _as_indices(blocks: dict[str, list[str]], names: list[str]) -> dict[str, npt.NDArray[np.int64]]:
    place = {name: j for j, name in enumerate(names)}
    return {block: np.array([place[name] for name in members]) for block, members in blocks.items()}


def _fill_gaps(X: Matrix, names: list[str]) -> tuple[Matrix, str]:
    """X without NaN, and a sentence that says what was filled."""
    missing = np.isnan(X)
    if not missing.any():
        return X, ""
    counts = missing.sum(axis=0)
    filled = np.where(missing, np.nanmedian(X, axis=0), X)
    told = ", ".join(f"{names[j]} {counts[j]}" for j in np.flatnonzero(counts))
    return filled, f" Missing values were replaced by the feature's median: {told}."
