"""What a closed tab held goes back to the system."""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from benchmarks.memory import megabytes
from tests.browser.conftest import PATIENCE, Visit, serving
from tests.browser.test_continuing import AT_REST, sidebar
from tests.browser.test_path import press

pytestmark = pytest.mark.browser
ROWS, COLUMNS = 250, 40_000
SIZE = 80  # megabytes of the table as the app holds it


def table() -> bytes:
    """Whole numbers, which make a small file."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (ROWS, COLUMNS)).astype(np.float64)
    labels = np.array(["ill", "well"])[np.arange(ROWS) % 2]
    content = io.BytesIO()
    names = np.array([f"g{j}" for j in range(COLUMNS)])
    np.savez_compressed(content, X=X, y=labels, feature_names=names)
    return content.getvalue()


def load(page: Page, content: bytes) -> None:
    expect(page.locator(AT_REST)).to_be_attached()  # boxes of a page being drawn go again
    box = page.locator("[class*=st-key-upload_] input[type=file]")
    file = {"name": "wide.npz", "mimeType": "application/octet-stream", "buffer": content}
    box.set_input_files(file)
    sidebar(page, "wide.npz")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads what a process holds in /proc")
def test_the_table_of_a_closed_tab_leaves_memory(visit: Visit, tmp_path: Path) -> None:
    """Also that of the last visitor, without waiting for the next one."""
    with serving(tmp_path / "log.txt", STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="2") as server:
        process = Path("/proc") / (tmp_path / "pid.txt").read_text()
        page = visit(server)
        press(page, "sample_pima")  # what is loaded once is the server's own
        sidebar(page, "8 features")
        page.context.close()
        before = megabytes("VmRSS", process)
        page = visit(server)
        load(page, table())
        held = megabytes("VmRSS", process) - before
        assert held > SIZE
        page.context.close()
        end = time.monotonic() + PATIENCE / 1000
        while (left := megabytes("VmRSS", process) - before) > 0.5 * held:
            assert time.monotonic() < end, f"{left:.0f} of {held:.0f} MB are still held"
            time.sleep(0.5)
