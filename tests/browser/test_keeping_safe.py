"""Kept work in the open: a full disk is told on every page, and tried again."""

from __future__ import annotations

import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, Visit, serving
from tests.browser.test_continuing import sidebar, upload
from tests.browser.test_path import go, press

pytestmark = pytest.mark.browser
WARNING = "This work could not be saved"
RULE = "Glucose >= 126 => diabetic"


def is_kept(file: Path, words: bytes) -> bool:
    """Whether the one kept work holds these words."""
    if not file.exists():
        return False
    with closing(sqlite3.connect(file)) as db:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'work'").fetchall():
            return False
        found = db.execute("SELECT content FROM work").fetchall()
    return len(found) == 1 and words in found[0][0]


def until_kept(file: Path, words: bytes) -> None:
    end = time.monotonic() + PATIENCE / 1000
    while not is_kept(file, words):
        assert time.monotonic() < end, f"{words!r} was not kept"
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="takes room from a process that runs")
def test_a_full_disk_is_told_on_the_page_and_tried_again(visit: Visit, tmp_path: Path) -> None:
    import resource

    with serving(tmp_path / "log.txt") as server:
        pid = int((tmp_path / "pid.txt").read_text())
        page = visit(server)
        press(page, "sample_pima")
        sidebar(page, "8 features")
        kept = tmp_path / "kept" / "kept.sqlite3"
        until_kept(kept, b"high_risk")
        _, most = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, most))
        go(page, "Rules")
        page.get_by_role("button", name="Import").click()
        upload(page, "mine.rules", RULE, key="rules_file")
        expect(page.get_by_text("1 rule on, 0 off")).to_be_visible()
        expect(page.get_by_text(WARNING)).to_be_visible()
        go(page, "Data")
        expect(page.get_by_text(WARNING)).to_be_visible()
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))
        expect(page.get_by_text(WARNING)).not_to_be_attached()
        assert is_kept(kept, RULE.encode())  # what was told stays until the newest is written
