"""How long an automatic choice takes beside a fit at the values that it chose.

A choice follows a path for each of three lambda2, with all folds; its time is told for one of them:
a third of that of all, and that of a choice with a lambda2 of one's own. Tables as wide as the
product is made for come first, small ones, where a fit takes a few hundredths of a second, last.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks.data import available
from benchmarks.defaults import draw
from benchmarks.reporting import Options, best_of, progress, table, timed, verdict
from hipad import HIPADClassifier
from hipad.datasets import make_ksvm_s

GOAL = 5.0  # fits
REAL = (("rcv1-vw", 500), ("farm-ads", 500), ("gisette-like", 500), ("all-bcrabl", 100))
SMALL = (("pima", 100), ("wpbc60", 100), ("promoters", 100), ("fmri-haxby", 100))


class Case(NamedTuple):
    """A table, and what the classifier is told beside it."""

    name: str
    X: Any
    y: np.ndarray
    told: dict[str, Any]


def run(options: Options) -> str:
    """One table: seconds of a fit and of a choice, and their ratio."""
    cases = (case for case in every_case(options.quick) if options.wants(case.name))
    header = ["data", "a fit, s", "a choice, s", "a third of it / a fit"]
    header += ["with one lambda2, s", "beside a fit"]
    return table(header, [line(case) for case in cases])


def line(case: Case) -> list[str]:
    """What one table takes."""

    def fit(**values: float) -> HIPADClassifier:
        return HIPADClassifier(**case.told, **values).fit(case.X, case.y)

    chosen, first = timed(fit)
    values = {"lambda1": chosen.lambda1_, "lambda2": chosen.lambda2_}
    every = min(first, timed(fit)[1])
    alone = best_of(lambda: fit(lambda2=chosen.lambda2_), 2)
    once = best_of(lambda: fit(**values), 5)
    progress(f"{case.name}: fit {once:.3f} s, choice {every:.2f} s, one lambda2 {alone:.2f} s")
    ratios = [verdict(spent / once, GOAL, at_least=False, digits=1) for spent in (every / 3, alone)]
    return [case.name, f"{once:.3f}", f"{every:.2f}", ratios[0], f"{alone:.2f}", ratios[1]]


def every_case(quick: bool) -> Iterator[Case]:
    """Wide tables, real ones, small ones."""
    size = "10k" if quick else "50k"
    data = make_ksvm_s(size, seed=0)
    rules = {"rules": data.rules, "blocks": data.blocks}
    yield Case(f"ksvm-s-{size}", data.X_train, data.y_train, {})
    yield Case(f"ksvm-s-{size}, rules", data.X_train, data.y_train, rules)
    if not quick:
        plain = {"standardize": False}
        yield Case("ksvm-s-50k, as it is", data.X_train, data.y_train, plain)
        yield Case("ksvm-s-50k, as it is, rules", data.X_train, data.y_train, rules | plain)
        yield dense(500, 50_000)
        yield binary(800, 100_000)
    for name, rows in (*(() if quick else REAL), *SMALL):
        if name == "all-bcrabl" or available(name):
            X, y, _, _ = draw(name, rows, 0)
            yield Case(f"{name}, {len(y)} rows", X, y, {})


def dense(n: int, m: int) -> Case:
    """Normal columns, fifty of which tell."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.5, 1, -1)
    X = rng.standard_normal((n, m)) + 0.3 * np.outer(y, np.arange(m) < 50)
    return Case(f"dense, {n} x {m:,}", X, y, {})


def binary(n: int, m: int) -> Case:
    """Rare marks; sixty of them are twice as frequent in one class."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.5, 1, -1)
    telling = rng.random((n, 60)) < np.where(y > 0, 0.12, 0.05)[:, None]
    rest = sp.random_array((n, m - 60), density=0.01, rng=rng, format="csr")
    rest.data[:] = 1.0
    X = sp.csr_array(sp.hstack([sp.csr_array(telling.astype(float)), rest]))
    return Case(f"binary, {n} x {m:,}", X, y, {})
