"""What was measured on: processor, cores, and versions of what everybody uses."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path


def described() -> str:
    """One sentence for the foot of a table."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    return (
        f"{_processor()}, {os.cpu_count()} cores, one thread; Python {platform.python_version()}, "
        f"{libraries}."
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
