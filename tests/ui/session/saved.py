"""Sessions with everything in them, to be kept and taken up again."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from hipad.data import Table, read_table
from tests.ui.datasets import with_kept_model
from ui.dataset import Loaded, Preparation
from ui.state import AppState

ROWS = [f"{i % 7},{i % 5},{'sick' if i % 2 else 'well'},né{i % 3}" for i in range(60)]
CSV = "\n".join(["a,b,state,note", *ROWS]).encode()


def begun(table: Table | None = None, **choices: object) -> AppState:
    """A session with a table of its own and two versions of the rules."""
    state = AppState()
    table = table or read_table(CSV, "mine.csv")
    state.load(Loaded("mine.csv", table), Preparation(label="state", **choices))
    state.rules.change("a >= 5 => sick", "one")
    state.rules.change("a >= 5 => sick worth 3 patients", "two")
    state.set_blocks({"both": "a, b"})
    return state


def worked(table: Table | None = None, **choices: object) -> AppState:
    """A session with a run and a kept model too."""
    return with_kept_model(begun(table, **choices))


def sparse_table() -> Table:
    numbers = sp.csr_array(np.arange(40.0).reshape(20, 2) % 3)
    text = {"state": np.array(["sick", "well"] * 10)}
    return Table(numbers, ("a", "b"), text, "made", sha256="s")


def settled(state: AppState) -> AppState:
    """The session when all that goes on in it has come to its end."""
    if state.refitting is not None:
        state.refitting.job.wait(60)
        state.take_refitted()
    if state.job is not None:
        state.job.wait(60)
    return state
