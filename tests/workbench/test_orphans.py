from __future__ import annotations

from types import SimpleNamespace

from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from workbench.orphans import sweep


def test_uploads_of_closed_sessions_go_and_others_stay():
    manager = MemoryUploadedFileManager("/upload")
    for session in ("open", "closed"):
        manager.add_file(session, UploadedFileRec("1", "a.csv", "text/csv", b"1,2"))
    sweep(SimpleNamespace(uploaded_file_mgr=manager, is_active_session=lambda s: s == "open"))
    assert list(manager.file_storage) == ["open"]
    assert len(manager.file_storage["open"]) == 1
