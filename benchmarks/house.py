"""How far a reader has to walk: modules, their size, and the files that one call passes through.

Files are those of the library in which a function was called, counted by a profiler.
"""

from __future__ import annotations

import ast
import sys
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import FrameType

import numpy as np

import hipad
from benchmarks.reporting import Options, table, verdict
from hipad import HIPADClassifier, parse_rules
from hipad.datasets import make_ksvm_s

LIBRARY = Path(hipad.__file__).parent


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
        ["import lines, % of code", verdict(100 * imports / code, 8, at_least=False, digits=1)],
        ["files to parse a rule", files(lambda: parse_rules(next(texts)), 10)],
        ["files of a fit at a given lambda1", files(lambda: _fit(given, data), 35)],
        ["files of an automatic fit", files(lambda: _fit(automatic, data), 35)],
    ]
    return table(["what", "figure"], rows)


def _fit(clf: HIPADClassifier, data: object) -> None:
    clf.fit(data.X_train, data.y_train)  # type: ignore[attr-defined]


def code_lines(path: Path) -> tuple[int, int]:
    """Return the lines of a module that are neither empty nor comments, and those that import."""
    text = path.read_text("utf-8")
    code = [line for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]
    nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Import | ast.ImportFrom)]
    return len(code), sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in nodes)


def files(work: Callable[[], object], goal: int) -> str:
    """Return in how many files of the library functions were called."""
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
    inside = [name for name in seen if name.startswith(str(LIBRARY))]
    return verdict(len(inside), goal, at_least=False, digits=0)
