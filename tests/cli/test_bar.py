from __future__ import annotations

import io
import sys

import numpy as np

from hipad import HIPADClassifier
from hipad.cli.bar import Bar, counted


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_bars_are_drawn_in_a_terminal_only(monkeypatch):
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        monkeypatch.setattr(sys, "stderr", stream)
        assert list(counted(range(4), "draw")) == [0, 1, 2, 3]
    assert "draw 3 of 4" in terminal.getvalue()
    assert terminal.getvalue().endswith("\x1b[K")
    assert pipe.getvalue() == ""


def test_the_bar_tells_what_a_fit_does():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 3)), np.arange(20) % 2
    terminal = Terminal()
    with Bar(terminal) as bar:
        for record in HIPADClassifier().start(X, y):
            bar.last = 0.0
            bar.progress(record)
    for part in ("choosing lambda1: value 1", "finding features: step 1", "accurate classifier"):
        assert part in terminal.getvalue()
