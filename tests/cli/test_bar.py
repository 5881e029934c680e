from __future__ import annotations

import io
import sys

import numpy as np
import pytest

from hipad import HIPADClassifier
from hipad.cli.inputs import WIDTH, Bar, counted, drawn


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
        for record in HIPADClassifier().fit_iter(X, y):
            bar.last = 0.0
            bar.progress(record)
    for part in (
        "choosing lambda1 and lambda2: value 1",
        "finding features: step 1",
        "accurate classifier",
    ):
        assert part in terminal.getvalue()


@pytest.mark.parametrize(("done", "signs"), [(0.0, 0), (1 / WIDTH, 1), (1.0, WIDTH), (7.0, WIDTH)])
def test_a_bar_is_as_long_as_what_is_done(done, signs):
    assert drawn(done).count("#") == signs
    assert len(drawn(done)) == len(drawn(0.0))


def test_a_line_is_rewritten_and_cleared_in_a_terminal():
    terminal = Terminal()
    with Bar(terminal) as bar:
        bar.show("first", always=True)
        bar.show("second", 0.5, always=True)
    first, second, cleared = terminal.getvalue().split("\r\x1b[K")[1:]
    assert (first, cleared) == ("first", "")
    assert second == f"{drawn(0.5)}second"


def test_nothing_is_drawn_elsewhere():
    stream = io.StringIO()
    with Bar(stream) as bar:
        bar.show("first", always=True)
    assert stream.getvalue() == ""


def test_drawings_soon_after_each_other_are_left_out():
    terminal = Terminal()
    bar = Bar(terminal)
    for _ in range(1_000):
        bar.show("x")
    assert 1 <= terminal.getvalue().count("x") < 1_000


def test_items_pass_unchanged():
    assert list(counted(iter("abc"), "letter")) == ["a", "b", "c"]
