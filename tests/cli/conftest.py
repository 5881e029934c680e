"""A small table and rules for the commands."""

from __future__ import annotations

import numpy as np
import pytest

from hipad.cli import experiments as experimenting
from tests.shortening import shorten


@pytest.fixture(autouse=True)
def one_worker(monkeypatch):
    """Experiments run in this process, where a test can see them."""
    monkeypatch.setattr(experimenting, "cpu_count", lambda: 1)


@pytest.fixture
def short_choice(monkeypatch):
    """Automatic choices of a few values."""
    shorten(monkeypatch)


@pytest.fixture
def small(tmp_path):
    """A table with a gap, a text column and a constant one."""
    rng = np.random.default_rng(0)
    lines = ["age,sugar,kind,same,ill"]
    for i in range(40):
        ill = "yes" if i % 2 else "no"
        sugar = "" if i == 4 else f"{rng.normal(5 + 3 * (i % 2)):.3f}"
        lines.append(f"{rng.integers(20, 80)},{sugar},{'ab'[i % 3 == 0]},7,{ill}")
    path = tmp_path / "small.csv"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "some.rules"
    path.write_text("sweet: sugar >= 9 and same >= 7 => yes worth 5 patients\nsugar <= 4 => no\n")
    return path
