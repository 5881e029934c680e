"""The process that reads one file and ends: `apart` starts this file as a script.

It gives up what it does not need (`confinement`) and holds itself to the limits before it looks at
the file, writes the table or a sentence to the folder it was given, and ends at once when its
parent does. Nothing that it prints is kept, for messages of libraries may carry values of the data.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

if TYPE_CHECKING:
    from hipad.data.table import Table


ANSWER: Final = "answer.json"  # {} when the table is there, or {"error": ...} or {"lack": "memory"}
PROGRESS: Final = "progress.json"
STATED: Final = "stated.json"  # how the file is written, as far as that is known
GRACE: Final = 5  # seconds in which the parent may act before the kernel does
FILES: Final = 64  # that may be open
NICE: Final = 5  # steps behind the server, whose clicks come first


class WithoutPandas(MetaPathFinder):
    """Arrow imports pandas where it can, which takes half a second and serves no reader."""

    def find_spec(self, name: str, *_: Any) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("left out of this process", name=name)


def main() -> NoReturn:
    """Read the file that the arguments tell of, where packages are told of too, and end."""
    sys.path[:] = json.loads(sys.argv[1])
    order = json.loads(sys.argv[2])
    folder = Path(order["folder"])
    sys.meta_path.insert(0, WithoutPandas())
    from hipad.data.sandbox import confine

    confine(Path(order["source"]), folder)
    threading.Thread(target=_end_with_parent, args=(folder,), daemon=True).start()
    answer = _read(order, folder)
    (folder / ANSWER).write_text(json.dumps(answer), "ascii")
    os._exit(0)  # without the slow farewell of libraries


def _read(order: dict[str, Any], folder: Path) -> dict[str, str]:
    from hipad.data.file_format import FileFormat, Limits, listening
    from hipad.data.reader import read_table
    from hipad.exceptions import DataError

    limits = Limits(**order["limits"])
    hold_to(limits.memory_bytes, limits.seconds)
    progress = (folder / PROGRESS).open("r+b", buffering=0)

    def report(done: float | None, words: str) -> None:
        progress.seek(0)
        progress.write(json.dumps([done, words]).encode().ljust(100))

    try:
        with listening(report):
            table = read_table(
                Path(order["source"]),
                order["name"],
                limits=limits,
                turn=order.get("turn", "auto"),
                stated=FileFormat.from_dict(json.loads((folder / STATED).read_text("ascii"))),
            )
        report(None, "almost done")
        _hand_over(table, folder)
    except DataError as error:
        return {"lack": "memory"} if _from_memory(error) else {"error": str(error)}
    except MemoryError:
        return {"lack": "memory"}
    except Exception as error:
        # The text of an unforeseen error may carry values, its type does not.
        return {"error": "", "type": type(error).__name__}
    return {}


def _hand_over(table: Table, folder: Path) -> None:
    from hipad.data.sandbox import save_table
    from hipad.exceptions import DataError

    try:
        save_table(table, folder)
    except OSError as error:
        raise DataError(f"there is no room to hand the table over: {error.strerror}") from error


def hold_to(memory_bytes: int, seconds: int) -> None:
    """Let the kernel end this process beyond these bounds, where it can."""
    try:
        import resource
    except ImportError:  # Windows: the parent watches the time
        return
    bounds = {
        "RLIMIT_AS": _mapped_bytes() + memory_bytes,
        "RLIMIT_CPU": seconds + GRACE,
        "RLIMIT_FSIZE": 2 * memory_bytes,
        "RLIMIT_NOFILE": FILES,
        "RLIMIT_CORE": 0,
    }
    for name, bound in bounds.items():
        _, most = resource.getrlimit(getattr(resource, name))
        bound = bound if most == resource.RLIM_INFINITY else min(bound, most)
        try:
            resource.setrlimit(getattr(resource, name), (bound, bound))
        except (ValueError, OSError):  # macOS knows some of them only by name
            continue
    signal.alarm(seconds + GRACE)
    os.nice(NICE)


def _mapped_bytes() -> int:
    """Return address space that the libraries take before anything is read."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 2**30
    return pages * os.sysconf("SC_PAGE_SIZE")


def _from_memory(error: BaseException | None) -> bool:
    """Return whether an error that a reader put into words was for want of memory."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _end_with_parent(folder: Path) -> None:
    """The parent holds the other end of stdin and writes nothing: it ends when the parent does."""
    os.read(0, 1)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


if __name__ == "__main__":
    main()
