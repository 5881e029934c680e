"""The bundled samples as cards: what they are, and how one is loaded in a click."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from hipad.data import Table, read_table
from hipad.datasets import load_sample, make_ksvm_s
from hipad.datasets.ksvm import PRESETS
from hipad.errors import DataError
from hipad.places import SAMPLES as FOLDER
from hipad.rules import FeatureIndex
from hipad.rules.compiling.definitions import define_columns
from ui.dataset import Loaded
from ui.fields import SEED, Choice, Number, Percent, Some, Span

LABEL: Final = "class"
SIZES: Final = {
    "n_train": Number(4, 2_000),
    "n_test": Number(2, 5_000),
    "n_features": Number(8, 200_000),
    "block_size": Number(1, 5_000),
    "seed": SEED,
}
NOISE: Final = Percent(0, 50)
DRAW: Final = Some({"preset": Choice(tuple(PRESETS)), **SIZES, "noise": Span(NOISE)})
MOST_ENTRIES: Final = 40_000_000  # that are not zero, in both parts of a draw: some 500 MB


@dataclass(frozen=True)
class Card:
    """A sample to choose; `load` takes the size controls, if it has any."""

    key: str
    title: str
    text: str
    load: Callable[..., Loaded]
    icon: str


def clinical(name: str, settings: dict[str, Any] | None = None, **preparation: Any) -> Loaded:
    """A bundled clinical table, read from its own file as an upload would be."""
    sample = load_sample(name)
    index = FeatureIndex(sample.feature_names)
    path = next(path for path in (FOLDER / name).glob("data.*"))
    table = read_table(path)
    described = sample.description.partition(" Missing values were replaced")[0]  # here by a step
    label = table.label or next(n for n in table.names if n not in sample.feature_names)
    return Loaded(
        name=name,
        table=table,
        sample=name,
        about=f"{described} Source: {sample.source} Licence: {sample.licence}.",
        label=label,
        positive=sample.positive,
        rules=sample.rules,
        settings=settings or {},
        preparation=preparation,
        blocks={block: define_columns(columns, index) for block, columns in sample.blocks.items()},
    )


def synthetic(preset: str, **controls: Any) -> Loaded:
    """A draw of ksvm-s; `controls` are those of `make_ksvm_s`."""
    check_size(preset, controls)
    data = make_ksvm_s(preset, **controls)
    names = tuple(f"x{j}" for j in range(data.X_train.shape[1]))
    index = FeatureIndex(names)
    digest = hashlib.sha256(repr((preset, sorted(controls.items()))).encode()).hexdigest()
    table = Table(
        numbers=data.X_train,
        number_names=names,
        text={LABEL: _class_names(data.y_train)},
        format="synthetic",
        label=LABEL,
        sha256=digest,
    )
    return Loaded(
        name=f"ksvm-s-{preset}",
        table=table,
        test=replace(table, numbers=data.X_test, text={LABEL: _class_names(data.y_test)}),
        sample=f"ksvm-s-{preset}",
        about=data.description,
        label=LABEL,
        positive="positive",
        rules=data.rules,
        blocks={block: define_columns(columns, index) for block, columns in data.blocks.items()},
        preparation={"drop_constant": False},  # rules tell of features that training rows lack
        settings={"fewness": "exact", "lambda1": 0.08, "standardize": False},
        recipe={"preset": preset, **controls},
    )


def check_size(preset: str, controls: Mapping[str, Any]) -> None:
    """Refuse a draw that is too large although each of its sizes is allowed."""
    usual = dict(zip(("n_train", "n_test", "n_features"), PRESETS[preset], strict=True))
    sizes = {"block_size": 50, "noise": (0.05, 0.10), **usual, **controls}
    rows = sizes["n_train"] + sizes["n_test"]
    entries = rows * (4 * sizes["block_size"] + max(sizes["noise"]) * sizes["n_features"])
    if entries > MOST_ENTRIES:
        raise DataError(
            f"expected a draw of at most {MOST_ENTRIES:,} entries that are not zero, got up to "
            f"{entries:,.0f}: take fewer patients, fewer features or less noise"
        )


def _class_names(y: np.ndarray) -> np.ndarray:
    return np.where(y > 0, "positive", "negative")


CARDS: Final = (
    Card(
        "all-bcrabl",
        "Leukaemia genes",
        "79 patients, 12,625 gene probes: does a leukaemia carry the BCR/ABL fusion? Only every "
        "fifth patient is used to learn; an expert knows which three probes rise.",
        lambda: clinical("all-bcrabl", {"fewness": "very few"}, test_fraction=0.8, seed=1),
        ":material/genetics:",
    ),
    Card(
        "pima",
        "Diabetes",
        "768 women, 8 measurements, gaps included: who has diabetes? "
        "Two rules on glucose and body mass index.",
        lambda: clinical("pima"),
        ":material/glucose:",
    ),
    Card(
        "ksvm-s-10k",
        "ksvm-s-10k",
        "Synthetic: 200 patients, 10,000 features. The training rows hide what the rules know.",
        lambda **controls: synthetic("10k", **controls),
        ":material/science:",
    ),
    Card(
        "ksvm-s-50k",
        "ksvm-s-50k",
        "Synthetic: 500 patients, 50,000 features, the paper's largest.",
        lambda **controls: synthetic("50k", **controls),
        ":material/science:",
    ),
)
