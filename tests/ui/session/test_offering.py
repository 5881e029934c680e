from __future__ import annotations

from tests.ui.session.kept import worked
from ui.session.offering import words
from ui.session.store import Kept
from ui.session.work import snapshot


def test_an_offer_says_what_there_is():
    kept = Kept("a", "b", snapshot(worked()).work, saved=1_000.0)
    told = words(kept, now=1_000.0 + 2 * 3600)
    assert told == r"**mine\.csv**: 1 rule, a run, 1 kept model, 2 hours ago"
