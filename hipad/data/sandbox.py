"""Read a file in a process of its own that may do nothing else, and transfer the table back."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import importlib.util
import json
import os
import platform
import signal
import struct
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict, fields
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hipad.data import reader_process as child
from hipad.data.file_format import LIMITS, FileFormat, Limits, Listener, Reading
from hipad.data.orientation import Turn
from hipad.data.reader import check_size
from hipad.data.reader_process import ANSWER, GRACE, PROGRESS, STATED
from hipad.data.table import Matrix, Table
from hipad.data.written_numbers import Text
from hipad.exceptions import DataError, unopened

# --------------------------------------------------------------------------------------------------
# A table as named parts of bytes, to hand it from one process to another or to keep it.
#
# Numbers are raw bytes, texts are one run of UTF-8 with the length of each, the rest is JSON. Parts
# are files of a folder, or whatever else `Parts` can be read from. Nothing of them is trusted:
# `load_table` checks every size against the others before it uses it, for the process that wrote
# them read a stranger's table and may have been led astray by it.


FACTS: Final = "facts.json"
BLOCK_BYTES: Final = 2**24  # written at a time, so that no second copy of the table is made
DTYPES: Final = ("<f4", "<f8", "<i4", "<i8")
OTHER: Final = ("numbers", "text", "written", "reading")
PLAIN: Final = tuple(f.name for f in fields(Table) if f.name not in OTHER)
Array = npt.NDArray[Any]


class Parts(Protocol):
    """Where the parts of a table are read from."""

    def size(self, name: str) -> int:
        """Return the bytes of a part."""

    def array(self, name: str, dtype: str) -> Array:
        """Return a part as an array."""

    def open(self, name: str) -> BinaryIO:
        """Return a part to be read from its beginning."""


class Folder:
    """The parts of a table as files; each file with numbers is removed when it has been read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def size(self, name: str) -> int:
        return (self._folder / name).stat().st_size

    def array(self, name: str, dtype: str) -> Array:
        array = np.fromfile(self._folder / name, dtype)
        (self._folder / name).unlink()
        return array

    def open(self, name: str) -> BinaryIO:
        return (self._folder / name).open("rb")


def blocks_of(table: Table) -> Iterator[tuple[str, Any]]:
    """Yield the bytes of a table in blocks, each with the name of the part that it goes on.

    The facts come last, so that they stand for the whole.
    """
    facts: dict[str, Any] = {name: getattr(table, name) for name in PLAIN}
    facts["reading"] = table.reading.to_dict()
    arrays = _arrays(table.numbers)
    columns = [*table.text.values(), *table.written.values()]
    facts["shape"] = list(table.numbers.shape)
    facts["arrays"] = {name: [array.dtype.str, int(array.size)] for name, array in arrays.items()}
    facts["arrays"]["lengths"] = ["<i4", table.n_rows * len(columns)]
    facts["text_names"], facts["written_names"] = list(table.text), list(table.written)
    for name, array in arrays.items():
        yield name, b""
        step = max(1, BLOCK_BYTES // max(1, array[:1].nbytes))
        for start in range(0, len(array), step):
            yield name, np.ascontiguousarray(array[start : start + step]).data
    yield "lengths", b""
    yield "text", b""
    for column in columns:
        cells = [str(cell).encode("utf-8", "surrogatepass") for cell in column.tolist()]
        yield "lengths", np.array([len(cell) for cell in cells], "<i4").data
        yield "text", b"".join(cells)
    yield FACTS, json.dumps(facts).encode("ascii")


def digest_of(table: Table) -> str:
    """Return a name for all that a table holds: another for whatever differs in it."""
    parts: dict[str, Any] = {}
    for name, block in blocks_of(table):
        parts.setdefault(name, hashlib.sha256()).update(block)
    digests = sorted((name, part.hexdigest()) for name, part in parts.items())
    return hashlib.sha256(json.dumps(digests).encode()).hexdigest()


def save_table(table: Table, folder: Path) -> None:
    """Write the parts of a table as files of a folder."""
    with ExitStack() as files:
        opened: dict[str, BinaryIO] = {}
        for name, block in blocks_of(table):
            if name == FACTS:
                files.close()
                (folder / FACTS).write_bytes(block)
                continue
            if name not in opened:
                opened[name] = files.enter_context((folder / name).open("wb"))
            opened[name].write(block)


def load_table(source: Path | Parts, limits: Limits) -> Table:
    """Return the table of some parts; DataError when they do not agree.

    Where the parts are files of a folder, those with numbers are removed as they are read.
    """
    parts = Folder(source) if isinstance(source, Path) else source
    try:
        with parts.open(FACTS) as file:
            facts = json.loads(file.read().decode("ascii"))
        rows, columns = (int(n) for n in facts["shape"])
        names = [str(name) for name in facts["text_names"]]
        said = facts["arrays"].items()
        arrays = {name: _load(parts, name, *size) for name, size in said}
        plain = {name: _plain(facts[name]) for name in PLAIN if name in facts}
        _demand(len(plain["number_names"]) == columns)
        _demand(len({*plain["number_names"], *names}) == columns + len(names))
        _demand(len(plain.get("ids", ())) in (0, rows))
        _demand(len(plain.get("symbols", ())) in (0, columns))
        _demand(set(plain.get("about", ())) <= {*plain["number_names"], *names})
        lengths = arrays.pop("lengths")
        also = [str(name) for name in facts.get("written_names", ())]
        _demand(len(set(also)) == len(also) and {*also} <= {*plain["number_names"], *names})
        every = len(names) + len(also)
        _demand(lengths.shape == (rows * every,) and (lengths >= 0).all())
        numbers = _numbers(arrays, (rows, columns), limits)
        found = list(_texts(parts, lengths, rows, limits))
        text = dict(zip(names, found[: len(names)], strict=True))
        written = dict(zip(also, found[len(names) :], strict=True))
        reading = Reading.from_dict(facts.get("reading", {}))
        return Table(numbers=numbers, text=text, written=written, reading=reading, **plain)
    except DataError:
        raise
    except MemoryError as error:
        raise DataError("it is too large for the memory that is free: leave out columns") from error
    except (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise DataError("it could not be read: what came of it is damaged") from error


def _demand(condition: Any) -> None:
    if not condition:
        raise ValueError("the parts of the table do not agree")


def _arrays(numbers: Matrix) -> dict[str, Array]:
    """Return the arrays that a matrix consists of, in the byte order of files."""
    parts = {"numbers": numbers}
    if sp.issparse(numbers):
        parts = {"values": numbers.data, "indices": numbers.indices, "indptr": numbers.indptr}
    return {
        name: part.astype(part.dtype.newbyteorder("<"), copy=False) for name, part in parts.items()
    }


def _load(parts: Parts, name: str, dtype: str, size: int) -> Array:
    _demand(name in ("numbers", "values", "indices", "indptr", "lengths") and dtype in DTYPES)
    _demand(parts.size(name) == size * np.dtype(dtype).itemsize)
    return parts.array(name, dtype)


def _numbers(arrays: dict[str, Array], shape: tuple[int, int], limits: Limits) -> Matrix:
    if set(arrays) == {"numbers"}:
        limits.check_shape(*shape)
        _demand(arrays["numbers"].dtype.kind == "f")
        return arrays["numbers"].reshape(shape)
    values, indices, indptr = (arrays[name] for name in ("values", "indices", "indptr"))
    limits.check_shape(*shape, cells=values.size)
    _demand(values.dtype.kind == "f" and indices.dtype.kind == indptr.dtype.kind == "i")
    _demand(values.shape == indices.shape and indptr.shape == (shape[0] + 1,))
    _demand(indptr[0] == 0 and indptr[-1] == values.size and (np.diff(indptr) >= 0).all())
    _demand(not indices.size or (indices.min() >= 0 and indices.max() < shape[1]))
    return sp.csr_array((values, indices, indptr), shape=shape)


def _texts(parts: Parts, lengths: Array, rows: int, limits: Limits) -> Iterator[Text]:
    """Yield column by column the cells; an array of them holds as many letters for each as the
    longest.

    That is at least a quarter of the bytes, so the bound on memory holds before they are spread.
    """
    columns = lengths.reshape(-1, rows) if rows else lengths.reshape(0, 0)
    widest = columns.max(axis=1, initial=0).astype(np.int64)
    if (4 * rows * widest).sum() > limits.memory_bytes:
        raise DataError(
            f"reading it needed more than {limits.memory_bytes / 2**30:,.3g} GB for columns of "
            "text: leave out those with long texts"
        )
    _demand(parts.size("text") == lengths.sum(dtype=np.int64))
    with parts.open("text") as file:
        for column in columns:
            blob = file.read(int(column.sum(dtype=np.int64)))
            ends = list(accumulate(column.tolist(), initial=0))
            cells = (blob[a:b] for a, b in pairwise(ends))
            yield np.array([cell.decode("utf-8", "surrogatepass") for cell in cells], dtype=str)


def _plain(value: Any) -> Any:
    """Return a text, a truth value, a number, nothing, or a row of texts."""
    if isinstance(value, list):
        _demand(all(isinstance(item, str) for item in value))
        return tuple(value)
    _demand(value is None or isinstance(value, str | bool | int))
    return value


# --------------------------------------------------------------------------------------------------
# Read a file in a process of its own, so that no file can harm the one that asks for it.
#
#     table = read_apart(content, "mine.csv", progress=show, cancelled=event.is_set)
#
# The process has limits on memory and time (`hipad.data.file_format`). Whatever ends it early, a
# crash, a bomb or a hang, is a DataError here. The table comes back through files in a private
# folder, which is deleted in any case.


LOOK: Final = 0.05  # seconds between two looks at the process
MOST_ANSWER: Final = 2**20  # bytes of a sentence that are worth reading
ROOT: Final = str(Path(__file__).resolve().parents[2])
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
    """Return what `read_table` gives, read in a process of its own.

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
    """Return where the process finds the file: where it is, or in the folder."""
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
    """Return an interpreter that sees this one's packages, but not its input and output."""
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
    """Return the exit code of the process, or None when it took too long."""
    end = time.monotonic() + limits.seconds
    last: Any = None
    while time.monotonic() < end:
        if cancelled is not None and cancelled():
            raise Cancelled(f"{where}reading was cancelled")
        try:
            return process.wait(LOOK)
        except subprocess.TimeoutExpired:
            pass
        if progress is not None and (news := _news(folder)) not in (None, last):
            last = news
            progress(*news)
    return None


def _news(folder: Path) -> Any:
    """Return what the process told last; None where it is only half written."""
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
    """Return why there is no table; None when there is one."""
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
    """Return what the process said at its end; None when it did not come to say anything."""
    try:
        with (folder / ANSWER).open("rb") as file:
            answer = json.loads(file.read(MOST_ANSWER))
    except (OSError, ValueError):
        return None
    return answer if isinstance(answer, dict) else None


def _signals(*names: str) -> set[int]:
    return {int(getattr(signal, name)) for name in names if hasattr(signal, name)}


# --------------------------------------------------------------------------------------------------
# Take from this process what reading a table does not need: other files, the network, programs.
#
# A reader meets files from anywhere with libraries written in C. Should one of them be led astray,
# the kernel still lets it see only the file that it reads, the folder that it writes to, and the
# installed packages: kept work and every other file of the account stay out of reach, no connection
# can be made, no program started. Linux does this for any account: Landlock (5.13 and newer) for
# files and TCP, seccomp for the rest of the network and for programs, on x86-64 and ARM64. Other
# systems have no such way without further rights; there limits on memory and time hold alone.
#
# Nothing here can be undone by the process, which is why it is called in the reader only.


PACKAGES: Final = (
    "hipad", "numpy", "scipy", "pyarrow", "h5py", "openpyxl", "et_xmlfile", "re2", "joblib",
    "sklearn", "threadpoolctl", "osqp",
)  # fmt: skip
SYSTEM: Final = (
    "/usr", "/lib", "/lib64", "/lib32", "/nix/store", "/etc/ld.so.cache", "/etc/localtime",
    "/etc/mime.types", "/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf", "/etc/crypto-policies",
    "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu",
    "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom",
)  # fmt: skip

# Of the kernel's interface: linux/landlock.h, linux/seccomp.h, linux/filter.h, linux/prctl.h.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION_FLAG, PATH_BENEATH = 1, 1
WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE = (1 << bit for bit in range(1, 6))
MAKE_DIR, MAKE_REG, TRUNCATE = 1 << 7, 1 << 8, 1 << 14
READ: Final = READ_FILE | READ_DIR
CHANGE: Final = READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | TRUNCATE
OF_FILES: Final = WRITE_FILE | READ_FILE | TRUNCATE
NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER_MODE = 38, 22, 2
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
X32: Final = 0x40000000  # calls of another convention on the same processor

# Numbers of what is refused: sockets of any kind, other programs, other processes' memory, and ways
# around a filter. By processor: the kernel's name of it, and the numbers.
CALLS: Final = {
    "x86_64": (0xC000003E, (
        41, 42, 43, 44, 46, 49, 50, 53, 288, 307,  # socket and what is done with one
        59, 322,  # execve, execveat
        101, 310, 311, 438, 425, 321, 250, 165, 272, 308,  # ptrace ... io_uring, bpf, mount
    )),
    "aarch64": (0xC00000B7, (
        198, 203, 202, 206, 211, 200, 201, 199, 242, 269,
        221, 281,
        117, 270, 271, 438, 425, 280, 219, 40, 97, 268,
    )),
}  # fmt: skip


def confine(source: Path, folder: Path) -> tuple[str, ...]:
    """Let this thread, and those that it starts, read one source and change one folder.

    Returns what could be taken away: "files", "network", both or nothing. Must be called before
    other threads are started, for each has its own confines.
    """
    if not sys.platform.startswith("linux"):
        return ()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        return ()
    done = []
    if _confine_files(libc, source, folder):
        done.append("files")
    if _refuse_calls(libc):
        done.append("network")
    return tuple(done)


def landlock_version() -> int:
    """Return the version of the kernel's Landlock; 0 where there is none."""
    if not sys.platform.startswith("linux"):
        return 0
    found = ctypes.CDLL(None, use_errno=True).syscall(CREATE_RULESET, None, 0, VERSION_FLAG)
    return max(0, int(found))


def lacking() -> str:
    """Return in words what this system cannot take from a reader; empty where it can take all."""
    lacks = []
    if not landlock_version():
        lacks.append("read other files of this account")
    known = sys.platform.startswith("linux") and platform.machine() in CALLS
    if not known or not Path("/proc/sys/kernel/seccomp").exists():
        lacks.append("use the network")
    return " and ".join(lacks)


def _confine_files(libc: ctypes.CDLL, source: Path, folder: Path) -> bool:
    version = landlock_version()
    if not version:
        return False
    handled = (1 << 13) - 1
    for least, bit in ((2, 13), (3, 14), (5, 15)):
        handled |= (1 << bit) if version >= least else 0
    rules = struct.pack("=QQQ", handled, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = libc.syscall(CREATE_RULESET, rules, size, 0)
    if ruleset < 0:
        return False
    try:
        for path, access in _allowed(source, folder):
            _allow(libc, ruleset, path, access & handled)
        return bool(libc.syscall(RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def _allowed(source: Path, folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield what may be reached, and how."""
    yield source, READ
    yield folder, CHANGE
    yield folder.parent, REMOVE_DIR  # the folder itself goes when the parent process does
    yield Path("/dev/null"), READ | WRITE_FILE
    for path in dict.fromkeys([*map(Path, SYSTEM), *_installed()]):
        yield path, READ


def _installed() -> Iterator[Path]:
    """Yield where Python and the packages are that a reader may import."""
    yield from (Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))
    yield from (Path(prefix) / "lib" for prefix in (sys.prefix, sys.base_prefix))
    for entry in sys.path:
        if Path(entry).name in ("site-packages", "dist-packages", "lib-dynload"):
            yield Path(entry)
    for library in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep):
        if library:
            yield Path(library)
    for name in PACKAGES:
        with suppress(ImportError, ValueError):
            spec = importlib.util.find_spec(name)
            yield from map(Path, (spec and spec.submodule_search_locations) or [])


def _allow(libc: ctypes.CDLL, ruleset: int, path: Path, access: int) -> None:
    try:
        at = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # not there
        return
    try:
        access &= OF_FILES if not path.is_dir() else -1
        rule = struct.pack("=Qi", access, at)
        libc.syscall(ADD_RULE, ruleset, PATH_BENEATH, rule, 0)
    finally:
        os.close(at)


def _refuse_calls(libc: ctypes.CDLL) -> bool:
    """Have the kernel refuse some calls; those of another processor's kind end the process."""
    if platform.machine() not in CALLS or sys.maxsize < 2**32:
        return False
    processor, numbers = CALLS[platform.machine()]
    steps = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, processor), (RETURN, 0, 0, KILL), (LOAD, 0, 0, 0)]
    steps += [(AT_LEAST, len(numbers), 0, X32)] if platform.machine() == "x86_64" else []
    left = len(numbers)
    for number in numbers:
        steps.append((EQUAL, left, 0, number))
        left -= 1
    steps += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)]
    return _install_filter(libc, steps)


def _install_filter(libc: ctypes.CDLL, steps: Iterable[tuple[int, int, int, int]]) -> bool:
    content = b"".join(struct.pack("=HBBI", *step) for step in steps)
    held = ctypes.create_string_buffer(content, len(content))
    program = struct.pack("@HP", len(content) // 8, ctypes.addressof(held))
    return bool(libc.prctl(SET_SECCOMP, FILTER_MODE, program, 0, 0) == 0)
