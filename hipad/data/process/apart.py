"""Read a file in a process of its own, so that no file can harm the one that asks for it.

    table = read_apart(content, "mine.csv", progress=show, cancelled=event.is_set)

The process has limits on memory and time (`hipad.data.limits`). Whatever ends it early, a crash, a
bomb or a hang, is a DataError here. The table comes back through files in a private folder, which
is deleted in any case.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from hipad.data.file_format import FileFormat
from hipad.data.genes.turning import Turn
from hipad.data.limits import LIMITS, Limits
from hipad.data.process import child
from hipad.data.process.child import ANSWER, GRACE, PROGRESS, STATED
from hipad.data.process.handing import load_table
from hipad.data.process.telling import Listener
from hipad.data.reading import check_size
from hipad.data.table import Table
from hipad.errors import DataError, unopened

LOOK: Final = 0.05  # seconds between two looks at the process
MOST_ANSWER: Final = 2**20  # bytes of a sentence that are worth reading
ROOT: Final = str(Path(__file__).resolve().parents[3])
ONE_THREAD: Final = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # the others reserve memory that they do not use
}


class Cancelled(DataError):
    """Reading was cancelled by whoever asked for it."""


def read_apart(
    source: bytes | str | Path,
    filename: str = "",
    *,
    limits: Limits = LIMITS,
    turn: Turn = "auto",
    stated: FileFormat | None = None,
    progress: Listener | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Table:
    """What `read_table` gives, read in a process of its own.

    `progress` hears the share done, where it is known, and words; `cancelled` is asked often, and
    ends the process as soon as it says True.
    """
    if not isinstance(source, bytes):
        filename = filename or Path(source).name
    where = f"{filename}: " if filename else ""
    with tempfile.TemporaryDirectory(prefix="hipad-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        path = _source(source, folder, where, limits)
        del source  # the caller's bytes may go while the table comes
        process = _start(path, filename, folder, limits, turn, stated or FileFormat())
        try:
            code = _wait(process, folder, limits, progress, cancelled, where)
        finally:
            _end(process)
        sentence = _sentence(folder, code, limits)
        if sentence is not None:
            raise DataError(sentence if sentence.startswith(where) else where + sentence)
        try:
            return load_table(folder, limits)
        except DataError as error:
            raise DataError(f"{where}{error}") from error


def _source(source: bytes | str | Path, folder: Path, where: str, limits: Limits) -> Path:
    """Where the process finds the file: where it is, or in the folder."""
    try:
        if isinstance(source, bytes):
            check_size(len(source), limits)
            path = folder / "source"
            path.write_bytes(source)
            return path
        check_size(Path(source).stat().st_size, limits)
        with Path(source).open("rb"):
            return Path(source).resolve()
    except DataError as error:
        raise DataError(f"{where}{error}") from error
    except (OSError, ValueError) as error:
        raise unopened(folder if isinstance(source, bytes) else source, error) from error


def _start(
    source: Path, filename: str, folder: Path, limits: Limits, turn: Turn, stated: FileFormat
) -> subprocess.Popen[bytes]:
    """An interpreter that sees this one's packages, but not its input and output."""
    (folder / PROGRESS).touch()
    (folder / STATED).write_text(json.dumps(stated.to_dict()), "ascii")
    path = [entry for entry in sys.path if entry]
    path += [] if ROOT in path else [ROOT]
    order = {
        "source": str(source),
        "name": filename,
        "folder": str(folder),
        "limits": asdict(limits),
        "turn": turn,
    }
    return subprocess.Popen(
        [sys.executable, "-I", child.__file__, json.dumps(path), json.dumps(order)],
        stdin=subprocess.PIPE,  # stays open and empty: the process ends when it closes
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={**os.environ, **ONE_THREAD},
        start_new_session=True,
    )


def _wait(
    process: subprocess.Popen[bytes],
    folder: Path,
    limits: Limits,
    progress: Listener | None,
    cancelled: Callable[[], bool] | None,
    where: str,
) -> int | None:
    """The exit code of the process, or None when it took too long."""
    end = time.monotonic() + limits.seconds
    told: Any = None
    while time.monotonic() < end:
        if cancelled is not None and cancelled():
            raise Cancelled(f"{where}reading was cancelled")
        try:
            return process.wait(LOOK)
        except subprocess.TimeoutExpired:
            pass
        if progress is not None and (news := _news(folder)) not in (None, told):
            told = news
            progress(*news)
    return None


def _news(folder: Path) -> Any:
    """What the process told last; None where it is only half written."""
    try:
        done, words = json.loads((folder / PROGRESS).read_bytes()[:200])
    except (OSError, ValueError, TypeError):
        return None
    share = min(max(done, 0.0), 1.0) if isinstance(done, float) else None
    return share, str(words)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and all it started, whatever state they are in."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    if process.stdin is not None:
        process.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):  # the kernel may be slow to bury it
        process.wait(GRACE)


def _sentence(folder: Path, code: int | None, limits: Limits) -> str | None:
    """Why there is no table; None when there is one."""
    slow = f"it took longer than {limits.seconds:,} s: leave out columns or rows, or save it as NPZ"
    large = (
        f"reading it needed more than {limits.memory_bytes / 2**30:,.3g} GB: "
        "leave out columns or rows"
    )
    if code is None or -code in _signals("SIGXCPU", "SIGALRM"):
        return slow
    if -code in _signals("SIGKILL", "SIGXFSZ"):  # by the kernel, for want of memory or disk
        return large
    answer = _answer(folder)
    if answer == {}:
        return None
    if answer is None or not isinstance(answer.get("error", ""), str):
        return "it could not be read: it is damaged, or made to do harm; save it again"
    if answer.get("lack") == "memory":
        return large
    return answer["error"] or "it could not be read: it is damaged in a way not foreseen here"


def _answer(folder: Path) -> dict[str, Any] | None:
    """What the process said at its end; None when it did not come to say anything."""
    try:
        with (folder / ANSWER).open("rb") as file:
            answer = json.loads(file.read(MOST_ANSWER))
    except (OSError, ValueError):
        return None
    return answer if isinstance(answer, dict) else None


def _signals(*names: str) -> set[int]:
    return {int(getattr(signal, name)) for name in names if hasattr(signal, name)}
