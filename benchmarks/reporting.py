"""What all parts share: options, timing, markdown tables, and the sections of the README."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

README = Path(__file__).with_name("README.md")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Options:
    """How much to measure."""

    quick: bool = False
    large: bool = False
    draws: int | None = None
    data: tuple[str, ...] = ()
    seed: int = 0
    write: bool = False  # also what a part writes beside its section

    def wants(self, name: str) -> bool:
        """Whether this data set was asked for; all are, if none was named."""
        return not self.data or name in self.data

    def count(self, usual: int, quick: int = 2) -> int:
        """How many draws or seeds."""
        return self.draws or (quick if self.quick else usual)


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """What the work returns, and its processor seconds.

    Everybody has one thread, so these are seconds on the wall of a quiet machine; on a shared one
    the wall would measure the neighbours.
    """
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def best_of(work: Callable[[], object], repeats: int) -> float:
    """Least seconds of several runs: what the machine can do when nobody disturbs it."""
    return min(timed(work)[1] for _ in range(repeats))


def progress(text: str) -> None:
    """A line for whoever waits."""
    print(f"  {text}", file=sys.stderr, flush=True)


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A markdown table; numbers are given as texts."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def verdict(value: float, goal: float, *, at_least: bool = True, digits: int = 3) -> str:
    """The value, and whether it meets its goal."""
    met = value >= goal if at_least else value <= goal
    sign = ">=" if at_least else "<="
    return f"{value:.{digits}f} (goal {sign} {goal:g}: {'met' if met else '**missed**'})"


def mean_and_error(values: Sequence[float] | np.ndarray, digits: int = 3) -> str:
    """Mean and standard error over draws."""
    numbers = np.asarray(values, dtype=float)
    if numbers.size < 2:
        return f"{numbers.mean():.{digits}f}"
    error = numbers.std(ddof=1) / np.sqrt(numbers.size)
    return f"{numbers.mean():.{digits}f} ± {error:.{digits}f}"


def write_section(name: str, text: str, readme: Path = README) -> None:
    """Replace what stands between the marks of a part, or add it at the end."""
    section = f"<!-- {name} -->\n{text}\n<!-- /{name} -->"
    old = readme.read_text("utf-8") if readme.exists() else ""
    pattern = re.compile(rf"<!-- {name} -->.*?<!-- /{name} -->", re.DOTALL)
    if pattern.search(old):
        new = pattern.sub(lambda _: section, old)
    else:
        new = f"{old.rstrip()}\n\n{section}\n"
    readme.write_text(new, "utf-8")
