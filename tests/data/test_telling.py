"""How far reading has come: told now and then, and only to whoever listens."""

import pytest

from hipad.data import limits as telling
from hipad.data.limits import PAUSE, listening, tell_rows


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test moves by hand."""

    class Clock:
        now = 1_000.0

        def monotonic(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(telling, "time", clock)
    monkeypatch.setattr(telling, "_next_time", 0.0)
    return clock


def test_a_listener_hears_the_share_and_words(clock):
    heard = []
    with listening(lambda *told: heard.append(told)):
        tell_rows(1_500, 6_000)
    assert heard == [(0.25, "1,500 of 6,000 rows read")]


def test_it_hears_now_and_then_only(clock):
    heard = []
    with listening(lambda done, words: heard.append(done)):
        for done in range(10):
            tell_rows(done, 10)
            clock.now += 0.3 * PAUSE
    assert heard == [0.0, 0.4, 0.8]


def test_nothing_is_told_outside_and_the_listener_before_comes_back(clock):
    outer, inner = [], []
    with listening(lambda *told: outer.append(told)):
        with pytest.raises(ValueError, match="broken"), listening(lambda *told: inner.append(told)):
            raise ValueError("broken")
        tell_rows(1, 2)
    clock.now += 2 * PAUSE
    tell_rows(2, 2)
    assert (len(outer), len(inner)) == (1, 0)


def test_an_empty_file_is_no_division_by_zero(clock):
    heard = []
    with listening(lambda done, words: heard.append(done)):
        tell_rows(0, 0)
    assert heard == [0.0]
