"""A state that somebody still holds, holds nothing itself once its session is let go."""

from __future__ import annotations

import gc
import weakref

from tests.ui.session.saved import begun
from ui.server.lifespan import stop_work
from ui.state import KEY


def test_the_table_goes_although_the_state_is_still_held() -> None:
    state = begun()
    assert state.loaded is not None
    table, data = weakref.ref(state.loaded.table), weakref.ref(state.data)
    stop_work({KEY: state})
    gc.collect()
    assert table() is None
    assert data() is None
    assert not state.rules.text
