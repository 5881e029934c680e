"""The bundled samples as cards: what they are, and how one is loaded in a click."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from hipad.datasets import (
    BLOCK_MEANS,
    LABEL,
    PRESETS,
    DrawSize,
    ksvm_tables,
    make_ksvm_s,
    read_sample,
)
from hipad.exceptions import DataError
from hipad.rules import FeatureIndex
from hipad.rules.names import define_columns
from hipad.utils import count
from ui.dataset import Loaded
from ui.settings import SEED, Choice, Number, Percent, Some, ValueSpan

SIZES: Final = {
    "n_train": Number(4, 2_000),
    "n_test": Number(2, 5_000),
    "n_features": Number(8, 200_000),
    "block_size": Number(1, 5_000),
    "seed": SEED,
}
NOISE: Final = Percent(0, 50)
DRAW: Final = Some({"preset": Choice(tuple(PRESETS)), **SIZES, "noise": ValueSpan(NOISE)})
MOST_ENTRIES: Final = 40_000_000  # that are not zero, in both parts of a draw: some 500 MB


@dataclass(frozen=True)
class Card:
    """A sample to choose; `load` takes the size controls, if it has any."""

    key: str
    title: str
    text: str
    load: Callable[..., Loaded]
    icon: str
    size: DrawSize | None = None  # what a synthetic sample is drawn at unless asked otherwise


def clinical(name: str, settings: dict[str, Any] | None = None, **preparation: Any) -> Loaded:
    """A bundled clinical table, read from its own file as an upload would be."""
    sample = read_sample(name)
    index, blocks = FeatureIndex(sample.feature_names), sample.columns()
    return Loaded(
        name=name,
        table=sample.table,
        sample=name,
        about=f"{sample.description} Source: {sample.source} Licence: {sample.licence}.",
        label=sample.label,
        positive=sample.positive,
        rules=sample.rules,
        settings=settings or {},
        preparation=preparation,
        blocks={block: define_columns(columns, index) for block, columns in blocks.items()},
        row_word="patient",
    )


def synthetic(preset: str, **controls: Any) -> Loaded:
    """A draw of ksvm-s; `controls` are those of `make_ksvm_s`."""
    check_size(preset, controls)
    data = make_ksvm_s(preset, **controls)
    table, test = ksvm_tables(data, preset, **controls)
    index = FeatureIndex(table.number_names)
    return Loaded(
        name=f"ksvm-s-{preset}",
        table=table,
        test=test,
        sample=f"ksvm-s-{preset}",
        about=data.description,
        label=LABEL,
        positive="positive",
        rules=data.rules,
        blocks={block: define_columns(columns, index) for block, columns in data.blocks.items()},
        preparation={"drop_constant": False},  # rules tell of features that training rows lack
        settings={"fewness": "exact", "lambda1": 0.08, "standardize": False},
        recipe={"preset": preset, **controls},
        row_word="sample",
    )


def check_size(preset: str, controls: Mapping[str, Any]) -> None:
    """Refuse a draw that is too large although each of its sizes is allowed."""
    sizes = {name: value for name, value in controls.items() if name in DrawSize._fields}
    size = PRESETS[preset]._replace(**sizes)
    in_a_row = len(BLOCK_MEANS) * size.block_size + max(size.noise) * size.n_features
    entries = (size.n_train + size.n_test) * in_a_row
    if entries > MOST_ENTRIES:
        raise DataError(
            f"expected a table of at most {MOST_ENTRIES:,} entries that are not zero, got up to "
            f"{entries:,.0f}: take fewer samples, fewer features or less noise"
        )


def _synthetic_card(preset: str, words: str) -> Card:
    name, size = f"ksvm-s-{preset}", PRESETS[preset]
    matter = len(BLOCK_MEANS) * size.block_size
    title = f"Synthetic: {matter:,} of {size.n_features:,} features matter"
    text = f"{count(size.n_train, 'training sample')}, {size.n_test:,} test samples ({name}). "
    return Card(name, title, text + words, partial(synthetic, preset), ":material/science:", size)


CARDS: Final = (
    Card(
        "all-bcrabl",
        "Leukaemia: 79 patients, 12,625 gene probes",
        "Which leukaemias carry the BCR/ABL fusion? Two rules on the three probes of one gene. "
        "Only 15 training patients, 64 test patients.",
        lambda: clinical("all-bcrabl", {"fewness": "very few"}, test_fraction=0.8, seed=1),
        ":material/biotech:",
    ),
    Card(
        "pima",
        "Diabetes: 768 women, 8 measurements",
        "Who has diabetes? Two rules on glucose and body mass index. Some values are missing. "
        "Only 16 training patients, 752 test patients.",
        lambda: clinical("pima", test_fraction=0.979),
        ":material/monitor_heart:",
    ),
    _synthetic_card(
        "10k",
        "Two of the four signals are invisible in the training data; only the rules reveal them. "
        "We know the right answer, so you can check.",
    ),
    _synthetic_card(
        "50k", "The paper's largest data set. We know the right answer, so you can check."
    ),
)
