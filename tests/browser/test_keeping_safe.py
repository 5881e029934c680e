"""Kept work in the open: a full disk is told on every page, and tried again."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit, serving
from tests.browser.test_continuing import sidebar, upload
from tests.browser.test_path import go, press

pytestmark = pytest.mark.browser
WARNING = "This work could not be kept"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="takes room from a process that runs")
def test_a_full_disk_is_told_on_the_page_and_tried_again(visit: Visit, tmp_path: Path) -> None:
    import resource

    with serving(tmp_path / "log.txt") as server:
        pid = int((tmp_path / "pid.txt").read_text())
        page = visit(server)
        press(page, "sample_pima")
        sidebar(page, "8 features")
        _, most = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, most))
        go(page, "Rules")
        page.get_by_role("button", name="Import").click()
        upload(page, "mine.rules", "Glucose >= 126 => diabetic", key="rules_file")
        expect(page.get_by_text(WARNING)).to_be_visible()
        go(page, "Data")
        expect(page.get_by_text(WARNING)).to_be_visible()
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))
        expect(page.get_by_text(WARNING)).not_to_be_attached()
        with sqlite3.connect(tmp_path / "kept" / "kept.sqlite3") as db:
            ((content,),) = db.execute("SELECT content FROM work").fetchall()
        assert b"Glucose >= 126 => diabetic" in content
