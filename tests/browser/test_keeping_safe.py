"""Kept work in the open: a full disk is told and mended, a table uploaded again is the new one."""

from __future__ import annotations

import sqlite3
import sys
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit, serving
from tests.browser.test_continuing import resume, sidebar, upload
from tests.browser.test_leaving import held
from tests.browser.test_path import go, heading, press

pytestmark = pytest.mark.browser
ROWS = [f"{i % 7},{i % 5},{'sick' if i % 2 else 'well'}" for i in range(60)]
WARNING = "This work could not be kept"


def table(prefix: str) -> str:
    return "\n".join(["patient,a,b,state", *(f"{prefix}{i},{row}" for i, row in enumerate(ROWS))])


def contents(folder: Path) -> list[bytes]:
    """The texts of the tables that are kept."""
    with sqlite3.connect(folder / "kept.sqlite3") as db:
        return [text for (text,) in db.execute("SELECT data FROM part WHERE name = 'text'")]


@pytest.mark.slow
def test_a_table_with_corrected_ids_comes_back_corrected(visit: Visit, tmp_path: Path) -> None:
    with serving(tmp_path / "log.txt") as server:
        page = visit(server)
        for prefix in ("wrong", "right"):
            upload(page, "mine.csv", table(prefix))
            sidebar(page, "mine.csv: 45 patients")
            end = time.monotonic() + 60
            while time.monotonic() < end:
                if (tmp_path / "kept" / "kept.sqlite3").exists() and any(
                    prefix.encode() in text for text in contents(tmp_path / "kept")
                ):
                    break
                time.sleep(0.1)
            page.goto(server)
        resume(page)
        sidebar(page, "mine.csv: 45 patients")
        go(page, "Run")
        press(page, "run")
        expect(heading(page, "Result")).to_be_visible()
    texts = b"".join(contents(tmp_path / "kept"))
    assert b"wrong59" in texts
    assert b"right59" in texts


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


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_the_table_of_a_closed_tab_leaves_memory(visit: Visit, tmp_path: Path) -> None:
    options = {"STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "1"}
    columns = 400
    line = ",".join(str(i % 9) for i in range(columns))
    many = "\n".join(
        [",".join(f"x{j}" for j in range(columns)) + ",state"]
        + [f"{i % 7}{line[1:]},{'sick' if i % 2 else 'well'}" for i in range(12_000)]
    )
    with serving(tmp_path / "log.txt", **options) as server:
        pid = int((tmp_path / "pid.txt").read_text())
        small = visit(server)
        upload(small, "small.csv", table("p"))
        sidebar(small, "small.csv: 45 patients")
        small.context.close()
        time.sleep(8)
        before = held(pid)
        page = visit(server)
        upload(page, "large.csv", many)
        sidebar(page, "large.csv: 9,000 patients")
        with_table = held(pid)
        assert with_table > before + 60
        page.context.close()
        end = time.monotonic() + 90
        while held(pid) > before + 40 and time.monotonic() < end:
            time.sleep(0.5)
        assert held(pid) < before + 40
