"""The bundled clinical samples, each a folder of `sample_data/` with its rules, blocks and source.

`data.csv` or `data.npz` holds the table, `<name>.rules` what an expert knows, `blocks.json` the
named blocks of features, and `about.json` where the data come from and under which licence.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from hipad.arrays import IntArray
from hipad.data import Table, column_statistics, prepare, read_table
from hipad.errors import DataError
from hipad.optional import require
from hipad.places import SAMPLES as FOLDER

if TYPE_CHECKING:
    import pandas as pd

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
