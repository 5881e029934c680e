"""One place makes every design, and says what it expected."""

import numpy as np
import pytest
import scipy.sparse as sp

from hipad.designs import DenseDesign, SparseDesign, make_design
from hipad.exceptions import DataError
from tests.designs.matrices import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_of_design_follows_the_kind_of_matrix(kind):
    X = KINDS[kind](np.eye(3))
    wanted = SparseDesign if sp.issparse(X) else DenseDesign
    design = make_design(X, mean=[1, 2, 3])
    assert type(design) is wanted
    assert design.mean.tolist() == [1.0, 2.0, 3.0]
    assert design.scale is None


def test_lists_are_matrices_too():
    assert make_design([[1, 2], [3, 4]], scale=[1, 2]).columns([1]).tolist() == [[1.0], [2.0]]


def test_integers_become_float64():
    np.testing.assert_array_equal(make_design(np.eye(2, dtype=int)).gram(), np.eye(2))
    np.testing.assert_array_equal(make_design(sp.eye_array(2, dtype=int)).gram(), np.eye(2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": np.ones(3)}, "expected a matrix"),
        ({"X": np.ones((2, 3)), "mean": np.ones(2)}, "expected 3 finite numbers as mean"),
        ({"X": np.ones((2, 3)), "scale": [1, np.nan, 1]}, "expected 3 finite numbers as scale"),
        ({"X": np.ones((2, 3)), "scale": [1.0, 0.0, 1.0]}, "expected positive scales"),
    ],
)
def test_errors_say_what_was_expected(arguments, message):
    with pytest.raises(DataError, match=message):
        make_design(**arguments)
