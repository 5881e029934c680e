"""What the app relies on in Streamlit beyond its public names: one test for each thing."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests
from streamlit.runtime.session_manager import SessionManager
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from ui.server import lifespan
from ui.server import streamlit_internals as internals

ROOT = Path(__file__).resolve().parents[3]
SOURCES = [ROOT / "app.py", *(ROOT / "pages").glob("*.py"), *(ROOT / "ui").rglob("*.py")]


def names(function: object) -> list[str]:
    return list(inspect.signature(function).parameters)  # type: ignore[arg-type]


def private_imports(source: str) -> list[str]:
    """Parts of Streamlit that a module imports other than `import streamlit as st`."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [a.name for a in node.names if a.name.startswith("streamlit.")]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "streamlit":
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_other_module_imports_parts_of_streamlit(path):
    allowed = path.name == Path(internals.__file__).name
    assert allowed or private_imports(path.read_text("utf-8")) == []


def test_the_search_for_private_imports_finds_them():
    source = "import streamlit as st\nfrom streamlit import config\nimport streamlit.runtime"
    assert private_imports(source) == ["streamlit.config", "streamlit.runtime"]


def context(**parts: object) -> SimpleNamespace:
    return SimpleNamespace(**{"session_id": "one", "script_requests": ScriptRequests(), **parts})


def test_session_id_is_that_of_the_run(monkeypatch):
    assert internals.session_id() is None
    monkeypatch.setattr(internals, "get_script_run_ctx", lambda **_: context())
    assert internals.session_id() == "one"


def test_is_stopped_follows_the_requests_of_the_run(monkeypatch):
    assert not internals.is_stopped()
    run = context()
    monkeypatch.setattr(internals, "get_script_run_ctx", lambda **_: run)
    assert not internals.is_stopped()
    run.script_requests.request_stop()
    assert internals.is_stopped()


def test_is_wanted_until_a_newer_run_is_asked_for():
    runner = SimpleNamespace(_requests=ScriptRequests())
    assert internals.is_wanted(runner)
    runner._requests.request_rerun(RerunData())
    assert not internals.is_wanted(runner)


def test_is_active_without_a_server():
    assert not internals.is_active("one")


def test_discard_upload_removes_the_file(monkeypatch):
    manager = MemoryUploadedFileManager("/upload")
    (address,) = manager.get_upload_urls("one", ["a.csv"])
    manager.add_file("one", SimpleNamespace(file_id=address.file_id, data=b"", name="", type=""))
    monkeypatch.setattr(
        internals, "get_script_run_ctx", lambda **_: context(uploaded_file_mgr=manager)
    )
    assert manager.get_files("one", [address.file_id])
    internals.discard_upload(address.file_id)
    assert not manager.get_files("one", [address.file_id])


def test_a_host_is_allowed_by_its_name():
    assert internals.is_host_allowed("localhost:8501")
    assert not internals.is_host_allowed("evil.example")


def test_sessions_stand_where_they_are_looked_for():
    storage = MemorySessionStorage()
    assert storage._cache.expire() == []
    assert "list_sessions" in vars(SessionManager)
    assert "_session_storage" in inspect.getsource(WebsocketSessionManager.__init__)
    assert "_session_mgr" in inspect.getsource(internals.Runtime.__init__)
    manager = SimpleNamespace(_session_storage=storage, list_sessions=list)
    server = SimpleNamespace(_session_mgr=manager)
    assert internals.expired_sessions(server) == internals.present_sessions(server) == {}


def test_pages_are_left_to_the_script(monkeypatch):
    monkeypatch.setattr(internals.PagesManager, "uses_pages_directory", None)
    internals.leave_pages_to_the_script()
    internals.PagesManager(str(ROOT / "app.py"))
    assert internals.PagesManager.uses_pages_directory is False


def test_what_notes_the_wanted_page_is_there():
    assert all(callable(getattr(internals.PagesManager, name)) for name in lifespan.NOTING)


def test_the_queue_is_cleared_as_it_is_patched():
    clear = getattr(internals.ForwardMsgQueue.clear, "__wrapped__", internals.ForwardMsgQueue.clear)
    assert names(clear) == ["self", "retain_lifecycle_msgs", "fragment_ids_this_run"]


def test_scripts_run_as_they_are_patched():
    run = internals.ScriptRunner._run_script
    assert names(getattr(run, "__wrapped__", run)) == ["self", "rerun_data"]
    assert {"is_auto_rerun", "fragment_id_queue"} <= set(vars(RerunData()))


def test_options_are_read_as_they_are_patched():
    assert "server.address" in internals.config.get_config_options()


def test_open_browser_goes_to_the_address_of_the_server(monkeypatch):
    opened: list[str] = []
    monkeypatch.setattr(internals.cli_util, "open_browser", opened.append)
    internals.open_browser()
    assert opened[0].startswith("http://")


def test_register_component_gives_the_manifest_to_the_server_once(monkeypatch):
    manager = BidiComponentManager()
    monkeypatch.setattr(internals, "get_bidi_component_manager", lambda: manager)
    folder = ROOT / "ui" / "rules"
    for _ in range(2):
        internals.register_component("hipad", "rule_editor", folder)
    assert manager.get_component_asset_root("hipad.rule_editor") == folder / "assets"


def test_keep_file_gives_an_address(monkeypatch):
    from streamlit.runtime.media_file_manager import MediaFileManager

    server = SimpleNamespace(media_file_mgr=MediaFileManager(MemoryMediaFileStorage("/media")))
    monkeypatch.setattr(internals.Runtime, "instance", classmethod(lambda _: server))
    assert internals.keep_file(b"names", "text/plain", "place").startswith("/media/")
