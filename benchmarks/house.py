"""How far a reader has to walk: modules, their size, and the files that one call passes through.

Files are those of the library, for the app also its own, in which a function was called or that
were run as a page, counted by a profiler.
"""

from __future__ import annotations

import ast
import sys
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import numpy as np
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest

import hipad
from benchmarks.reporting import Options, table, verdict
from hipad import HIPADClassifier, parse_rules
from hipad.datasets import make_ksvm_s

LIBRARY = Path(hipad.__file__).parent
START = PagesManager.__init__
APP = (LIBRARY.parent / "app.py", LIBRARY.parent / "ui", LIBRARY.parent / "pages")


def run(options: Options) -> str:
    """Return the sizes of the library's modules, and the files of a parse and of two fits."""
    paths = [path for path in sorted(LIBRARY.rglob("*.py")) if path.name != "__init__.py"]
    lines = np.array([len(path.read_text("utf-8").splitlines()) for path in paths])
    code, imports = map(sum, zip(*(code_lines(path) for path in paths), strict=True))
    data = make_ksvm_s(n_train=40, n_test=10, n_features=200, block_size=5, seed=0)
    given = HIPADClassifier(data.rules, blocks=data.blocks, lambda1=0.08)
    automatic = HIPADClassifier(data.rules, blocks=data.blocks)
    texts = (f"mean(K1) >= {number} => positive" for number in count())  # none was seen before
    median, most = int(np.median(lines)), int(lines.max())
    rows = [
        ["modules", verdict(len(paths), 90, at_least=False, digits=0)],
        ["lines of a module, median and most", f"{median}, {most}"],
        ["lines in all", f"{lines.sum():,}"],
        ["lines of the app (ui/)", f"{_lines_below(APP[1]):,}"],
        ["import lines, % of code", verdict(100 * imports / code, 8, at_least=False, digits=1)],
        ["files to parse a rule", files(lambda: parse_rules(next(texts)), 10)],
        ["files of a fit at a given lambda1", files(lambda: _fit(given, data), 35)],
        ["files of an automatic fit", files(lambda: _fit(automatic, data), 35)],
        ["files from a sample to a run in the app", files(_run_sample, 120, (LIBRARY, *APP))],
    ]
    return table(["what", "figure"], rows)


def _fit(clf: HIPADClassifier, data: object) -> None:
    clf.fit(data.X_train, data.y_train)  # type: ignore[attr-defined]


def _run_sample() -> None:
    """Load the sample pima, with its rules, and press Run, as a user of the app does."""
    with patch.object(PagesManager, "__init__", _on_a_server):
        app = AppTest.from_file(str(APP[0]), default_timeout=300).run()
        app.switch_page("pages/data.py").run()
        app.button(key="sample_pima").click().run()
        app.switch_page("pages/run.py").run()
        app.button(key="run").click().run()
        app.session_state["workbench"].job.wait(300)
        app.run()
    if app.exception:
        raise RuntimeError(f"expected a run without an error, got {app.exception[0].value}")


def _on_a_server(pages: PagesManager, *args: Any, **kwargs: Any) -> None:
    """Take pages from st.navigation alone, as a server does once that was called."""
    START(pages, *args, **kwargs)
    PagesManager.uses_pages_directory = False


def _lines_below(folder: Path) -> int:
    return sum(len(path.read_text("utf-8").splitlines()) for path in folder.rglob("*.py"))


def code_lines(path: Path) -> tuple[int, int]:
    """Return the lines of a module that are neither empty nor comments, and those that import."""
    text = path.read_text("utf-8")
    code = [line for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]
    nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Import | ast.ImportFrom)]
    return len(code), sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in nodes)


def files(work: Callable[[], object], goal: int, places: tuple[Path, ...] = (LIBRARY,)) -> str:
    """Return in how many files of these places functions were called."""
    work()  # imports and caches are not counted
    seen: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            seen.add(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    inside = [name for name in seen if name.startswith(tuple(map(str, places)))]
    return verdict(len(inside), goal, at_least=False, digits=0)
