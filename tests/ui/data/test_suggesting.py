from __future__ import annotations

from dataclasses import replace

import numpy as np

from hipad.rules import FeatureIndex
from hipad.rules.names import block_members
from tests.ui.pima import session
from ui.data.features import suggestions


def test_groups_get_free_names_and_columns_of_the_whole_table():
    """Column 2 was left out in preparation: the definition must not name it."""
    state = session()
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 1)) + 0.1 * rng.standard_normal((50, 5))
    every = FeatureIndex(["B2", "g1", "left", "g3", "g4", "g5"])
    data = replace(state.data, X_train=X, every=every, kept=np.array([0, 1, 3, 4, 5]))
    state.blocks = {"B1": "g1"}
    found = suggestions(state, data)
    assert list(found) == ["B3"]
    assert block_members(found["B3"], every).tolist() == [0, 1, 3, 4, 5]
