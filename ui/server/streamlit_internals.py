"""What the app uses of Streamlit that is not public, all in one place.

The version is pinned to one minor (`pyproject.toml`). To take the next one, change the bound, run
`make lock UPGRADE=--upgrade` and `tests/ui/server/test_streamlit_internals.py`: each test holds one
thing that is relied on here. No other module imports a part of Streamlit below its top level.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from streamlit import cli_util, config, runtime
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest
from streamlit.runtime import Runtime
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType
from streamlit.web.server import server_util
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

__all__ = [
    "ForwardMsgQueue",
    "PagesManager",
    "Runtime",
    "ScriptRunner",
    "config",
    "discard_upload",
    "expired_sessions",
    "is_active",
    "is_host_allowed",
    "is_stopped",
    "is_wanted",
    "keep_file",
    "leave_pages_to_the_script",
    "open_browser",
    "present_sessions",
    "register_component",
    "server_runtime",
    "session_id",
]


# --------------------------------------------------------------------------------------------------
# The run of this thread and its session.


def session_id() -> str | None:
    """The session that this thread draws for; None outside of a run."""
    context = get_script_run_ctx(suppress_warning=True)
    return None if context is None else context.session_id


def is_stopped() -> bool:
    """Whether the run of this thread was told to stop."""
    context = get_script_run_ctx(suppress_warning=True)
    requests = None if context is None else context.script_requests
    return requests is not None and requests._state is ScriptRequestType.STOP


def is_wanted(runner: Any) -> bool:
    """Whether a runner of scripts may go on: nobody stopped it or asked for a newer run."""
    return bool(runner._requests._state is ScriptRequestType.CONTINUE)


def is_active(session: str) -> bool:
    """Whether a tab has this session open."""
    return runtime.exists() and bool(runtime.get_instance().is_active_session(session))


def discard_upload(file_id: str) -> None:
    """Remove an upload from the server's memory, where it would stay until the session ends."""
    context = get_script_run_ctx(suppress_warning=True)
    manager = None if context is None else context.uploaded_file_mgr
    if context is not None and isinstance(manager, MemoryUploadedFileManager):
        manager.remove_file(context.session_id, file_id)


# --------------------------------------------------------------------------------------------------
# The server.


def server_runtime() -> Runtime:
    """What the sessions of this server belong to."""
    return runtime.get_instance()


def expired_sessions(server: Runtime) -> dict[str, Any]:
    """Closed sessions whose time to come back is over, by their names; each is told once."""
    manager: Any = server._session_mgr
    expired = manager._session_storage._cache.expire()
    return {name: info.session for name, info in expired}


def present_sessions(server: Runtime) -> dict[str, Any]:
    """Sessions that are open or may come back, by their names."""
    manager: Any = server._session_mgr
    return {info.session.id: info.session for info in manager.list_sessions()}


def leave_pages_to_the_script() -> None:
    """Never run a file of `pages/` by its address alone, past what `app.py` does before it.

    Streamlit does so until the first call of `st.navigation`.
    """
    PagesManager.uses_pages_directory = False


def open_browser() -> None:
    """Show the app to whoever started it, as `streamlit run` does for plain scripts."""
    address = server_util.get_display_address(config.get_option("server.address") or "localhost")
    cli_util.open_browser(server_util.get_url(address))


# --------------------------------------------------------------------------------------------------
# Components and files for the browser.


def register_component(package: str, part: str, folder: Path) -> None:
    """Let the running server serve a component's files, in `folder/assets`."""
    manager = get_bidi_component_manager()
    if manager.get_component_asset_root(f"{package}.{part}") is None:
        found = ComponentConfig(part, asset_dir="assets")
        manager.register_from_manifest(ComponentManifest(package, "1", [found]), folder)


def keep_file(content: bytes, kind: str, place: str) -> str:
    """The address at which the browser may fetch this content while the page is shown."""
    return str(Runtime.instance().media_file_mgr.add(content, kind, place))
