"""Peak memory of one fit, in a process of its own: `python -m benchmarks.memory hipad 50000`.

Prints one line of JSON: megabytes of the data, of the process before the fit, and what the fit
added at its peak. The peak is the kernel's (VmHWM, reset before the fit), so this needs Linux.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.data import ROOT
from benchmarks.rivals import Hipad, Libsvm, Rival
from hipad.datasets import make_ksvm_s

PROCESS = Path("/proc/self")


def megabytes(key: str, process: Path = PROCESS) -> float:
    """VmRSS, what the process holds now, or VmHWM, the most since `reset_peak`."""
    lines = (process / "status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(f"{key}:"))
    return int(line.split()[1]) / 1024


def reset_peak() -> None:
    """Let the peak start from what is held now."""
    (PROCESS / "clear_refs").write_text("5")


def measure(who: str, n_features: int) -> dict[str, float]:
    """Fit once and tell what it took."""
    data = make_ksvm_s("50k", seed=0, n_features=n_features, n_test=2)
    matrix = data.X_train
    size = (matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes) / 2**20
    settings = {"lambda1": 0.08, "standardize": False, "blocks": data.blocks}
    rival: Rival = Hipad(rules=data.rules, settings=settings) if who == "hipad" else Libsvm()
    reset_peak()
    before = megabytes("VmRSS")
    rival.fit(matrix, data.y_train)
    return {"data": size, "before": before, "added": megabytes("VmHWM") - before}


def in_own_process(who: str, n_features: int) -> dict[str, Any]:
    """The same in a fresh process, so that one fit does not hide in another's peak."""
    command = [sys.executable, "-m", "benchmarks.memory", who, str(n_features)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
