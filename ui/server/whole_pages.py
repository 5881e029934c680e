"""A page reaches the browser whole, even if a part of it is drawn anew before it was sent.

Streamlit draws a page in a run of its script and keeps what is to be sent in a queue, from which
the server takes it soon after. A part that looks at a job again and again (a fragment) is drawn
anew in a run of its own. When that begins, Streamlit takes from the queue whatever the part had
drawn before, and with it the box that the part stands in. On a busy machine the page itself may
not have been sent yet: then what stands below the part comes to a place that the browser does not
know ("Bad delta path index 3"), and React takes the whole page away: it stays white. Here such a
run takes nothing from the queue; what it draws comes after, in the place of what was there.
"""

from __future__ import annotations

from functools import wraps
from typing import Final

from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

CLEARING: Final = "clear"

# Streamlit has no public way to this; the version is pinned, and a test fills a real queue.


def send_whole_pages() -> None:
    """From now on a part that is drawn anew takes nothing away from a page that is to be sent."""
    clear = getattr(ForwardMsgQueue, CLEARING)
    if hasattr(clear, "__wrapped__"):
        return

    @wraps(clear)
    def clearing(
        queue: ForwardMsgQueue,
        retain_lifecycle_msgs: bool = False,
        fragment_ids_this_run: list[str] | None = None,
    ) -> None:
        parts: list[str] | None = None if fragment_ids_this_run is None else []
        clear(queue, retain_lifecycle_msgs, parts)

    setattr(ForwardMsgQueue, CLEARING, clearing)
