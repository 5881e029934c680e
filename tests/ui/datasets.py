"""A small table and the dataset made of it."""

from __future__ import annotations

import numpy as np

from hipad.data import Table
from ui.data.loading import build
from ui.dataset import Loaded, Preparation
from ui.state import AppState

BLOCKS = {"first": "a, b", "second": "b, c", "constant": "same", "lost": "zzz"}


def table(n=40, *, labelled=True):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((n, 4)), np.ones(n)])
    X[3, 1] = np.nan
    text = {"state": np.where(np.arange(n) % 2, "ill", "well")} if labelled else {}
    return Table(X, ("a", "b", "c", "d", "same"), text, "made", sha256="s")


def made(blocks=BLOCKS, **preparation):
    chosen = Preparation(label="state", positive="ill", **preparation)
    return build(Loaded("made", table()), chosen, blocks)


SICK = ["ill", "well"] * 4


def loaded(**text):
    text = {name: np.array(values) for name, values in text.items()}
    return Loaded("made", Table(np.arange(8.0)[:, None], ("a",), text, "made", sha256="s"))


def with_kept_model(state: AppState) -> AppState:
    """The session after a run whose model is kept and pinned."""
    state.launch()
    state.job.wait(60)
    state.keep(state.model.named("mine"))
    state.pinned = "mine"
    return state
