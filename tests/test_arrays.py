from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from hipad import designs as base
from hipad import utils as arrays


@pytest.mark.parametrize(
    ("name", "kind"),
    [("FloatArray", np.float64), ("IntArray", np.int64), ("BoolArray", np.bool_)],
)
def test_each_name_says_what_the_array_holds(name, kind):
    _, dtype = get_args(getattr(arrays, name))
    assert get_args(dtype) == (kind,)


def test_designs_hand_the_same_type_on():
    assert base.FloatArray is arrays.FloatArray
