import numpy as np
import pytest

from hipad.cli.accuracy import accuracy_line
from hipad.evaluation.metrics import wilson_interval


def test_every_class_is_counted_in_the_order_given():
    y = np.array(["b", "a", "b", "b"])
    line = accuracy_line("test rows", y, np.array(["b", "b", "a", "b"]), ("a", "b"))
    assert line.startswith("test rows: 2 of 4 right, 50.0 % (")
    assert line.endswith("; a 0 of 1, b 2 of 3")


@pytest.mark.parametrize(("right", "n"), [(0, 7), (7, 7), (1500, 2000)])
def test_the_interval_is_wilsons(right, n):
    y = np.repeat("a", n)
    line = accuracy_line("rows", y, np.where(np.arange(n) < right, "a", "b"), ("a", "b"))
    low, high = wilson_interval(right, n)
    assert f"({100 * low:.1f} to {100 * high:.1f})" in line
    assert f"{right:,} of {n:,} right" in line
