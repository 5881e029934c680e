"""Data and draws: real tables for measuring, and few labelled rows out of many.

The real tables are not part of the project. They are looked for in `../shared/data`, or where the
variable HIPAD_BENCHMARK_DATA says; what needs them is left out where they are absent.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hipad.datasets import load_sample

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("HIPAD_BENCHMARK_DATA", ROOT.parent / "shared" / "data"))


@dataclass(frozen=True)
class Table:
    """Rows, labels and names; `split` are training and test rows where the source has them."""

    name: str
    X: np.ndarray
    y: np.ndarray
    names: tuple[str, ...] | None
    split: tuple[np.ndarray, np.ndarray] | None = None
    blocks: dict[str, np.ndarray] | None = None
    rules: str = ""


def available(name: str) -> bool:
    """Whether a real table is there."""
    return (FOLDER / f"{name}.npz").exists()


def real_table(name: str, rules: str = "") -> Table:
    """A dense table for measuring, labels in {-1, +1}."""
    with np.load(FOLDER / f"{name}.npz", allow_pickle=False) as file:
        names = tuple(map(str, file["features"])) if "features" in file.files else None
        split = (file["train_idx"], file["test_idx"]) if "train_idx" in file.files else None
        return Table(name, file["X"], file["y"].astype(int), names, split, rules=rules)


def sample_table(name: str) -> Table:
    """A bundled sample with its rules, labels in {-1, +1}."""
    sample = load_sample(name)
    y = np.where(sample.y == sample.positive, 1, -1)
    rules = signed_outcomes(sample.rules, sample.y, sample.positive)
    return Table(name, sample.X, y, sample.feature_names, blocks=dict(sample.blocks), rules=rules)


def signed_outcomes(rules: str, labels: np.ndarray, positive: str) -> str:
    """The same rules for labels in {-1, +1}."""
    for label in np.unique(labels):
        outcome = "positive" if label == positive else "negative"
        for written in (f'=> "{label}"', f"=> {label}"):
            rules = rules.replace(written, f"=> {outcome}")
    return rules


def labelled(y: np.ndarray, counts: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """So many rows of the negative and the positive class, at random."""
    parts = [
        rng.choice(np.flatnonzero(y == sign), count, replace=False)
        for sign, count in zip((-1, 1), counts, strict=True)
    ]
    return np.sort(np.concatenate(parts))


def at_prevalence(y: np.ndarray, size: int) -> tuple[int, int]:
    """How a draw of this size divides between the classes when it keeps their shares."""
    positives = min(max(round(size * float(np.mean(y > 0))), 1), size - 1)
    return size - positives, positives


def rest_of(y: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The other rows."""
    return np.setdiff1d(np.arange(y.size), rows)
