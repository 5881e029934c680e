"""Uploaded bytes that nobody needs any more, and their removal from the server's memory.

Streamlit keeps what a browser sent until its session ends, and learns of an ended session only when
the next visitor comes. Here a file goes as soon as it is taken, and what closed sessions left goes
within a minute.
"""

from __future__ import annotations

import threading
import time
from typing import Any, Final

import streamlit as st
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

EVERY: Final = 30.0  # seconds between two rounds


def discard(file_id: str) -> None:
    """Remove an upload of this session."""
    context = get_script_run_ctx()
    manager = None if context is None else context.uploaded_file_mgr
    if context is not None and isinstance(manager, MemoryUploadedFileManager):
        manager.remove_file(context.session_id, file_id)


@st.cache_resource(show_spinner=False)
def start_sweeping() -> None:
    """Start the rounds, once on a server."""
    if runtime.exists():
        threading.Thread(
            target=_rounds, args=(runtime.get_instance(),), name="hipad-sweeper", daemon=True
        ).start()


def _rounds(server: runtime.Runtime) -> None:
    while server.state != runtime.RuntimeState.STOPPED:
        time.sleep(EVERY)
        sweep(server)


def sweep(server: Any) -> None:
    """Remove the uploads of sessions without a browser."""
    manager = server.uploaded_file_mgr
    for session in list(manager.file_storage):
        if not server.is_active_session(session):
            manager.remove_session_files(session)
