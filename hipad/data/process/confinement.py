"""Take from this process what reading a table does not need: other files, the network, programs.

A reader meets files from anywhere with libraries written in C. Should one of them be led astray,
the kernel still lets it see only the file that it reads, the folder that it writes to, and the
installed packages: kept work and every other file of the account stay out of reach, no connection
can be made, no program started. Linux does this for any account: Landlock (5.13 and newer) for
files and TCP, seccomp for the rest of the network and for programs, on x86-64 and ARM64. Other
systems have no such way without further rights; there limits on memory and time hold alone.

Nothing here can be undone by the process, which is why it is called in the reader only.
"""

from __future__ import annotations

import ctypes
import errno
import importlib.util
import os
import platform
import struct
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

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
