"""Speed on ksvm-s-50k, as ratios in one run with one BLAS thread.

cold        HIPAD-ENK from nothing against LIBSVM on the same rows (with --large also filled)
watched     the same with the ADMM that can be watched, which needs the Gram matrix
refit       after one threshold changed, from the fitted model, against cold and LIBSVM
few rows    16 x 12,625 at a fixed lambda1, with two rules, in a warm process
sweep       one deferred ADMM sweep against one pass over X (one product X't)
exact       the certified elastic net against SGDClassifier and LIBLINEAR
growth      a cold fit in passes over X as the number of features grows
rows        a cold fit as the number of rows grows, by the way that is taken and by the ADMM
memory      what a fit adds to the process at its peak
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.memory import in_own_process
from benchmarks.reporting import Options, best_of, progress, table, timed, verdict
from benchmarks.rivals import Hipad, Liblinear, Libsvm, LinearModel, Rival, Sgd
from hipad import HIPADClassifier
from hipad.datasets import SyntheticData, make_ksvm_s
from hipad.designs import Design, SparseDesign
from hipad.solvers.admm import Admm

LAMBDA1 = 0.08
EDITED = ("mean(K1) >= 4", "mean(K1) >= 3.8")


def run(options: Options) -> str:
    """All tables of speed."""
    data = make_ksvm_s("10k" if options.quick else "50k", seed=0)
    parts = [
        fits(data, options),
        "The elastic-net SVM without rules, to what accuracy and how fast:",
        exact(data, options),
        "Growth of a cold fit with the number of features (200 rows):",
        growth(options),
        "Growth with the number of rows (10,000 sparse columns), in seconds of processor time:",
        rows(options),
        "Peak memory of one fit in a process of its own (ksvm-s, 500 rows):",
        memory(options),
    ]
    return "\n\n".join(parts)


def classifier(data: SyntheticData, rules: str | None = None) -> HIPADClassifier:
    """HIPAD-ENK as the acceptance figures ask for it."""
    return HIPADClassifier(
        rules or data.rules, blocks=data.blocks, lambda1=LAMBDA1, standardize=False
    )


def refit(data: SyntheticData, rules: str, like: HIPADClassifier | None) -> HIPADClassifier:
    """Fit rules to the same rows as a run that can be watched, starting from a fitted model."""
    watch = classifier(data, rules).fit_iter(data.X_train, data.y_train, warm_start_from=like)
    for _ in watch:
        pass
    return watch.finish()


def fits(data: SyntheticData, options: Options) -> str:
    """Cold, refit and sweep, with LIBSVM beside them."""
    X, y, repeats = data.X_train, data.y_train, options.count(7, 3)
    first = classifier(data).fit(X, y)
    cold = best_of(lambda: classifier(data).fit(X, y), repeats)
    progress(f"cold {cold:.3f} s")
    seen = best_of(lambda: refit(data, data.rules, None), repeats)
    progress(f"watched {seen:.3f} s")
    edited = data.rules.replace(*EDITED)
    assert edited != data.rules
    warm = best_of(lambda: refit(data, edited, first), 3 * repeats)
    progress(f"refit {warm:.3f} s")
    one = one_pass(first._data.design, repeats)
    sweep = median_sweep(first, repeats)
    progress(f"sweep {1e3 * sweep:.2f} ms, pass {1e3 * one:.2f} ms")
    few = few_rows(repeats)
    progress(f"few rows {few:.3f} s")
    rows = [
        ["refit / cold", f"{warm:.3f} / {cold:.3f}", at_most(warm / cold, 1 / 3)],
        ["watched / cold", f"{seen:.3f} / {cold:.3f}", f"{seen / cold:.1f}"],
        ["few rows", f"{few:.3f}", at_most(few, 0.03)],
        ["sweep / pass", f"{sweep:.5f} / {one:.5f}", at_most(sweep / one, 0.5)],
    ]
    for form, matrix in [("sparse", X)] + [("filled", X.toarray())] * options.large:
        libsvm = best_of(lambda matrix=matrix: Libsvm().fit(matrix, y), 2)
        progress(f"LIBSVM, {form}: {libsvm:.2f} s")
        rows += [
            [f"LIBSVM, {form} / cold", f"{libsvm:.2f} / {cold:.3f}", verdict(libsvm / cold, 40.0)],
            [f"LIBSVM, {form} / refit", f"{libsvm:.2f} / {warm:.3f}", verdict(libsvm / warm, 150)],
        ]
    return table(["ratio", "seconds", "value"], rows)


def at_most(value: float, goal: float) -> str:
    return verdict(value, round(goal, 3), at_least=False)


def one_pass(design: Design, repeats: int) -> float:
    """Seconds of one product X't."""
    t = np.ones(design.shape[0])
    return best_of(lambda: design.correlate(t), 10 * repeats)


def few_rows(repeats: int) -> float:
    """Seconds of a fit to 16 patients with 12,625 features."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((16, 12_625)), np.arange(16) % 2
    X[:, :5] += y[:, None]
    rules = "x0 >= 1.5 => positive\nx1 <= -1 => negative"
    return best_of(lambda: HIPADClassifier(rules, lambda1=0.3).fit(X, y), 3 * repeats)


def median_sweep(fitted: HIPADClassifier, repeats: int) -> float:
    """Seconds of a usual sweep: of the first ten, without the very first, each at its best."""
    runs = []
    for _ in range(repeats):
        admm = Admm(fitted._model.problem)
        runs.append([timed(admm.sweep)[1] for _ in range(10)])
    return float(np.median(np.min(runs, axis=0)[1:]))


def exact(data: SyntheticData, options: Options) -> str:
    """Time and excess of the objective over the best one found."""
    X, y, repeats = data.X_train, data.y_train, options.count(3, 1)
    lambda1, lambda2 = 0.05, 1.0
    plain = {"lambda1": lambda1, "lambda2": lambda2, "standardize": False}
    plain |= {"selection": {"calibrate": False}, "class_weight": None}
    rivals: list[Rival] = [
        Hipad("ours, exact mode", settings={**plain, "method": "exact"}),
        Hipad("ours, ADMM to convergence", settings={**plain, "method": "admm"}),
        Hipad("ours, HIPAD (its phase 2 drops l1)", settings=plain),
        Sgd(lambda1, lambda2),
        Sgd(lambda1, lambda2, tol=1e-6),
        Liblinear(C=1.0),
    ]
    found = [time_of(rival, X, y, repeats) for rival in rivals]
    values = [model.objective(X, y, lambda1, lambda2) for model, _ in found]
    best, base = min(values), found[0][1]
    rows = []
    for rival, (model, seconds), value in zip(rivals, found, values, strict=True):
        same = rival.name.startswith(("ours, exact", "ours, ADMM", "SGD"))
        excess = f"{(value - best) / best:.1e}" if same else "another problem"
        rows.append(
            [rival.name, f"{seconds:.3f}", f"{seconds / base:.1f}", excess, model.support_size]
        )
    return table(["solver", "seconds", "times ours", "relative excess", "support"], rows)


def time_of(rival: Rival, X: Any, y: np.ndarray, repeats: int) -> tuple[LinearModel, float]:
    """The model and the least time of some fits."""
    runs = [timed(lambda: rival.fit(X, y)) for _ in range(repeats)]
    progress(f"{rival.name}: {min(seconds for _, seconds in runs):.3f} s")
    return runs[0][0], min(seconds for _, seconds in runs)


@dataclass
class PassCount:
    """How often all of X was read by a product."""

    products: int = 0


@contextmanager
def counted_passes() -> Iterator[PassCount]:
    """Count the products X't and Xw of sparse designs in the body."""
    count = PassCount()
    kept = SparseDesign._raw_correlate, SparseDesign._raw_dot

    def correlate(self: SparseDesign, t: np.ndarray) -> np.ndarray:
        count.products += 1
        return kept[0](self, t)

    def dot(self: SparseDesign, w: np.ndarray) -> np.ndarray:
        count.products += 1
        return kept[1](self, w)

    SparseDesign._raw_correlate, SparseDesign._raw_dot = correlate, dot  # type: ignore[method-assign]
    try:
        yield count
    finally:
        SparseDesign._raw_correlate, SparseDesign._raw_dot = kept  # type: ignore[method-assign]


def growth(options: Options) -> str:
    """Passes over X and time in passes, from 10,000 features on."""
    widths = [10_000, 100_000] + [1_000_000] * options.large
    return table(
        ["features", "one pass, ms", "products with X", "Gram matrix, in passes",
         "a fit (without it), in passes", "steps", "support"],
        [growth_row(width) for width in (widths[:1] if options.quick else widths)],
    )  # fmt: skip


def growth_row(n_features: int) -> list[str]:
    """One cold fit."""
    data = make_ksvm_s("10k", seed=0, n_features=n_features, n_test=2)
    X, y = data.X_train, data.y_train
    with counted_passes() as count:
        fitted = classifier(data).fit(X, y)
    seconds = best_of(lambda: classifier(data).fit(X, y), 3)
    design = fitted._data.design
    one = one_pass(design, 1)
    gram = best_of(design._compute_gram, 2)
    progress(f"{n_features} features: {seconds:.2f} s, {count.products} products")
    steps = sum(record.phase == 1 for record in fitted.history_)
    return [
        f"{n_features:,}", f"{1e3 * one:.2f}", str(count.products), f"{gram / one:.0f}",
        f"{seconds / one:.0f}", str(steps), str(fitted.support_.size),
    ]  # fmt: skip


def rows(options: Options) -> str:
    """Fits below and above a thousand rows: no row count may decide how long they take."""
    found, first = [], 0.0
    for n in (900, 1_100) if options.quick else (900, 1_100, 2_000, 3_000):
        rng = np.random.default_rng(0)
        y = np.arange(n) % 2
        X = sp.random(n, 10_000, 0.05, format="lil", random_state=0, data_rvs=rng.standard_normal)
        X[:, :50] = 0.3 * (2 * y[:, None] - 1) + rng.standard_normal((n, 50))
        X, plain = X.tocsr(), {"lambda1": 0.06, "lambda2": 1.0, "standardize": False}
        ways = ("auto", "hipad")
        auto, admm = (
            min(cpu_seconds(HIPADClassifier(method=way, **plain), X, y) for _ in range(3))
            for way in ways
        )
        first = first or auto
        progress(f"{n} rows: {auto:.3f} s")
        found.append([f"{n:,}", f"{auto:.3f}", f"{auto / first:.2f}", f"{admm:.3f}"])
    return table(["rows", "auto", "times that at 900", "ADMM"], found)


def cpu_seconds(clf: HIPADClassifier, X: Any, y: np.ndarray) -> float:
    """Processor time of one fit."""
    start = process_time()
    clf.fit(X, y)
    return process_time() - start


def memory(options: Options) -> str:
    """Ours and LIBSVM."""
    width = 10_000 if options.quick else 50_000
    rows = []
    for who, name in (("hipad", "HIPAD-ENK"), ("libsvm", "LIBSVM, sparse")):
        found = in_own_process(who, width)
        progress(f"{name}: {found['added']:.0f} MB added")
        ratio = found["added"] / found["data"]
        rows.append([name, f"{found['data']:.0f} MB", f"{found['added']:.0f} MB", f"{ratio:.1f}"])
    return table(["fit", "the data", "added at the peak", "times the data"], rows)
