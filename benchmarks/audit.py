"""Known faults of the packages that the app runs with, as pip-audit finds them in public data.

What is asked for are names and versions of the lock file. Where the data cannot be had, because
there is no network or the package index has none, the table says so instead of calling all well.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.reporting import Options, table

LOCK = Path(__file__).resolve().parents[1] / "requirements.txt"
COMMAND = [
    sys.executable, "-m", "pip_audit", "--requirement", str(LOCK), "--require-hashes",
    "--disable-pip", "--format", "json", "--progress-spinner", "off", "--timeout", "20",
]  # fmt: skip


def run(options: Options) -> str:
    """The table of known faults."""
    try:
        done = subprocess.run(COMMAND, capture_output=True, text=True, timeout=600, check=False)
        found = json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        return "The data on known faults could not be had from here: nothing was checked."
    return report(found)


def report(found: list[dict[str, Any]]) -> str:
    """What was checked, what not, and every fault."""
    skipped = [each["name"] for each in found if "skip_reason" in each]
    checked = len(found) - len(skipped)
    if not checked:
        return (
            f"The package index has no data on known faults: none of {len(found)} packages could "
            "be checked."
        )
    faults = [
        [each["name"], each["version"], fault["id"], ", ".join(fault["fix_versions"]) or "none yet"]
        for each in found
        for fault in each.get("vulns", [])
    ]
    text = f"{checked} of {len(found)} packages checked, {len(faults)} known faults."
    text += f" Not checked: {', '.join(skipped)}." if skipped else ""
    return f"{text}\n\n{table(['package', 'version', 'fault', 'mended in'], faults)}".rstrip()
