"""Steps the app's pages without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest

from tests.shortening import shorten
from ui.jobs import BackgroundJob
from ui.workbench.cross_validation import KnownFolds

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def short_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are tried, not choices."""
    shorten(monkeypatch)


@pytest.fixture(autouse=True)
def as_on_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once st.navigation was called, a server takes pages from it alone; AppTest forgets that."""
    init = PagesManager.__init__

    def forgetful(self: PagesManager, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        PagesManager.uses_pages_directory = False

    monkeypatch.setattr(PagesManager, "__init__", forgetful)


class App:
    """The app under test, with words for what a user does."""

    def __init__(self) -> None:
        self.at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        self.run()

    @property
    def state(self) -> Any:
        return self.at.session_state["workbench"]

    def run(self) -> App:
        self.at.run()
        assert not self.at.exception, self.at.exception
        return self

    def go(self, page: str) -> App:
        self.at.switch_page(f"pages/{page}.py")
        return self.run()

    def click(self, key: str) -> App:
        self.at.button(key=key).click()
        return self.run()

    def load(self, sample: str) -> App:
        return self.go("data").click(f"sample_{sample}")

    def upload(self, name: str, content: bytes, prefix: str = "upload_") -> App:
        uploaders = [u for u in self.at.file_uploader if (u.key or "").startswith(prefix)]
        uploaders[0].set_value((name, content, "application/octet-stream"))
        self.run()
        for reading in list(self.state.readings.values()):
            reading.wait(60)
        return self.run() if self.state.readings else self

    def finish(self) -> App:
        """Press Run and wait for the end."""
        self.go("run").click("run")
        self.state.job.wait(60)
        return self.run()

    def text(self) -> str:
        """All words on the page."""
        kinds = ("markdown", "caption", "info", "error", "warning", "success", "title", "header")
        words = [element.value for kind in kinds for element in getattr(self.at, kind)]
        return "\n".join([*words, *(f"{m.label} {m.value}" for m in self.at.metric)])

    def largest_element(self) -> int:
        """Bytes of the largest thing sent to the browser."""
        return max(_sizes(self.at._tree))


def _sizes(block: Any) -> Iterator[int]:
    for child in block.children.values():
        if hasattr(child, "children"):
            yield from _sizes(child)
        elif (proto := getattr(child, "proto", None)) is not None:
            yield proto.ByteSize()


@pytest.fixture
def app() -> Iterator[App]:
    app = App()
    yield app
    app.state.stop_work()
    works = [app.state.job, *(made for _, made in app.state.memo.values())]
    works += [
        own.job for judged in works if isinstance(judged, KnownFolds) for own in judged.values()
    ]
    for work in works:
        if isinstance(work, BackgroundJob):
            work.wait(30)
