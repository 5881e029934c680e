"""Run the measurements: `python -m benchmarks` all of them, `python -m benchmarks speed` one.

Each part prints its tables as it goes; with `--write` they also replace the part's section of
benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
import time
from collections.abc import Sequence

from threadpoolctl import threadpool_limits

from benchmarks.reporting import Options, write_section

PARTS = (
    "speed", "against", "phase2", "rules", "accuracy", "defaults", "choices", "fewlabels", "curves",
    "knowledge",
    "trust", "real", "reading", "fuzz", "app", "keys", "sessions", "calm", "grid", "risks", "worth",
    "doubt", "order", "classes", "patients", "coverage", "audit", "units",
    "house", "ablate", "plan",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, run the parts asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="few draws and small sizes")
    parser.add_argument("--large", action="store_true", help="also a million features")
    parser.add_argument("--draws", type=int, help="number of draws or seeds, instead of each usual")
    parser.add_argument("--data", action="append", default=[], help="this data set only")
    parser.add_argument("--seed", type=int, default=0, help="of the folds of real data")
    parser.add_argument("--write", action="store_true", help="put the tables into the README")
    given = parser.parse_args(arguments)
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"expected parts of {', '.join(PARTS)}, got {', '.join(sorted(unknown))}")
    for part in given.parts or present():
        options = Options(
            given.quick, given.large, given.draws, tuple(given.data), given.seed, given.write
        )
        run_part(part, options, given.write)
    return 0


def present() -> list[str]:
    """The parts whose module is there."""
    return [part for part in PARTS if importlib.util.find_spec(f"benchmarks.{part}")]


def run_part(name: str, options: Options, write: bool) -> None:
    """Run one part with one BLAS thread for everybody, print its tables."""
    print(f"\n## {name}\n", flush=True)
    start = time.perf_counter()
    with threadpool_limits(limits=1):
        text = importlib.import_module(f"benchmarks.{name}").run(options)
    print(text)
    print(f"\n({name} took {time.perf_counter() - start:.0f} s)", flush=True)
    if write:
        write_section(name, text)


if __name__ == "__main__":
    sys.exit(main())
