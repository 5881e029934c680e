"""A part of a page that looks at jobs again and again while they work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import streamlit as st

from ui.jobs import Job

EVERY: Final = 0.5  # seconds between two looks


def keep_looking(jobs: Job[Any] | Sequence[Job[Any]], draw: Callable[[], None]) -> None:
    """Draw this part now and, while one of the jobs works, again and again.

    Looking at a job keeps it alive. When a status changes, the whole page is drawn anew.
    """
    watched = [jobs] if isinstance(jobs, Job) else list(jobs)
    drawn = [job.status for job in watched]

    def look() -> None:
        for job in watched:
            job.seen()
        if [job.status for job in watched] != drawn:
            st.rerun()
        draw()

    busy = any(job.is_active for job in watched)
    st.fragment(look, run_every=EVERY if busy else None)()
