"""A part of a page that looks at a job again and again while it works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import streamlit as st

from ui.jobs import Job

EVERY: Final = 0.5  # seconds between two looks


def keep_looking(job: Job[Any], draw: Callable[[], None]) -> None:
    """Draw this part now and, while the job works, again and again.

    Looking at a job keeps it alive. When its status changes, the whole page is drawn anew.
    """
    drawn = job.status

    def look() -> None:
        job.seen()
        if job.status is not drawn:
            st.rerun()
        draw()

    st.fragment(look, run_every=EVERY if job.is_active else None)()
