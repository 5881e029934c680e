"""Do what a user asked for, or say why it cannot be done; the page goes on in either case."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

from hipad.exceptions import HipadError
from ui.state import AppState, SupersededError

LOGGER: Final = logging.getLogger(__name__)


def attempt(state: AppState, action: Callable[[], Any]) -> bool:
    """Do something with data; when it cannot be done, say why and leave everything as it was."""
    state.error = ""
    try:
        action()
    except SupersededError:
        return False
    except HipadError as error:
        state.error = str(error)
    except MemoryError:
        state.error = "expected data that fit in memory, got more: leave out columns or rows"
    except Exception as error:
        # The text of an unforeseen error may carry patient values, its type does not.
        LOGGER.exception("what a user asked for failed")
        state.error = f"this failed inside the program ({type(error).__name__}): nothing changed"
    return not state.error
