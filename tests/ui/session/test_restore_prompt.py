from __future__ import annotations

from tests.ui.session.saved import worked
from ui.session.restore_prompt import saved_label
from ui.session.saved_session import snapshot
from ui.session.store import StoredSession


def test_an_offer_says_what_there_is():
    kept = StoredSession("a", "b", snapshot(worked()).work, saved=1_000.0)
    told = saved_label(kept, now=1_000.0 + 2 * 3600)
    assert told == r"**mine\.csv**: 1 rule, a run, 1 kept model, 2 hours ago"
