"""What each constant and choice of the settings is worth, in points, with its interval.

Each line changes one field of `SelectionSettings` or `RuleSettings` and compares with the defaults
on the same draws. A positive worth says that the default is better. The figures are points of
balanced accuracy, for probabilities hundredths of log loss. The interval is twice the standard
error over draws, with the tables and families as they are; "noise" says that it holds 0, "worth"
that the default is better by more, "costs" that the variant is; below ten draws none is given.

Without rules: the nine tables of the defaults with 100 training rows and the five simulated
families of `benchmarks defaults` with 80. With rules: the tables and families of `benchmarks trust`
with 8 labelled rows a class, in every other draw with the outcome of every rule flipped.

Every result is kept in a file among the temporary ones (or HIPAD_ABLATE_RESULTS): a run that was
stopped goes on where it ended, and the table says how many draws each line rests on.
"""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.data import available, labelled, rest_of
from benchmarks.defaults import FAMILIES, REAL, TRAINING, draw
from benchmarks.reporting import Options, progress, table
from benchmarks.rule_tables import rule_table, table_names, with_flipped_rules
from benchmarks.trust import balanced
from hipad import HIPADClassifier
from hipad.estimator.fit import FitRun, LazyCalibration, Model
from hipad.estimator.settings import RULE_SETTINGS, SELECTION, RuleSettings, SelectionSettings
from hipad.solvers.solution import single_thread

RESULTS: Final = Path(
    os.environ.get("HIPAD_ABLATE_RESULTS", Path(tempfile.gettempdir()) / "hipad-ablate.jsonl")
)
ROWS, PER_CLASS, TESTING = 100, 8, 1500
ENOUGH: Final = 10  # draws on every set, for a verdict
OUTER: Final = 0.7  # share of a class that may be labelled
TOLD: Final = ", with rules"
DEFAULT: Final = "default"


@dataclass(frozen=True)
class Variant:
    """A changed field. `again` says what of the default fit it changes.

    "choice": the pair that is taken on the same paths. "weighing": the shares of the same
    candidates. "risks": the probabilities of the same model. "fit": everything.
    """

    name: str
    again: str
    selection: SelectionSettings = SELECTION
    rule_settings: RuleSettings = RULE_SETTINGS


def chosen(name: str, again: str, **values: Any) -> Variant:
    """A variant of `SelectionSettings`."""
    return Variant(name, again, selection=replace(SELECTION, **values))


def ruled(name: str, again: str, **values: Any) -> Variant:
    """A variant of `RuleSettings`."""
    return Variant(name, again, rule_settings=replace(RULE_SETTINGS, **values))


WITHOUT_RULES: Final = (
    chosen("choice: plain one standard error", "choice", choice="one_se"),
    chosen("choice: least loss", "choice", choice="least_loss"),
    chosen("sharpness 1 instead of 2", "choice", sharpness=1.0),
    chosen("sharpness 4 instead of 2", "choice", sharpness=4.0),
    chosen("no caution with few rows", "choice", caution=0.0),
    chosen("no preference of sparser models", "choice", sparing=0.0, negligible=0.0),
    chosen("no least error of a difference", "choice", least_error=1e-12),
    chosen("usual_slope 1 instead of 0.25 (log loss)", "risks", usual_slope=1.0),
    chosen("no_signal 0 instead of 0.5 (log loss)", "risks", no_signal=0.0),
    chosen("one lambda2, 1", "fit", ridges=(1.0,)),
    chosen("folds never repeated", "fit", judged_rows=0.0),
    chosen("columns never damped", "fit", damping_errors=1e6),
    chosen("equal steps of lambda1", "fit", widening=1.0),
    chosen("18 values of lambda1 instead of 9", "fit", n_lambda1=18),
    chosen("paths never left early", "fit", patience=100),
    chosen("outlying scores count in full", "fit", outlier=1e6),
    chosen("10 folds instead of 5", "fit", n_folds=10),
)
WITH_RULES: Final = (
    ruled("log_odds 1 instead of 2", "weighing", log_odds=1.0),
    ruled("log_odds 4 instead of 2", "weighing", log_odds=4.0),
    ruled("max_score without limit", "weighing", max_score=1e6),
    ruled("no least probability", "weighing", least_probability=0.0),
    ruled("no candidate without one rule", "weighing", max_single=0),
    ruled("one candidate weight, 0.5", "weighing", shares=(0.5,)),
    ruled("choice without votes of rules", "fit", vote=0.0),
    ruled("every row counts as evidence", "fit", near=1e-9, least_evidence=0.0),
    ruled("rho_factor 1 instead of 3", "fit", rho_factor=1.0),
    ruled("rho_factor 10 instead of 3", "fit", rho_factor=10.0),
)


@dataclass(frozen=True)
class Case:
    """Training and test rows of one draw, with rules where it has some."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    rules: str = ""
    blocks: Any = None
    names: Any = None

    @cached_property
    def run(self) -> FitRun[HIPADClassifier]:
        """The fit at the defaults."""
        return self._run(Variant(DEFAULT, "fit"))

    def score(self, variant: Variant) -> float:
        """Balanced accuracy in points, of the probabilities the log loss; larger is better."""
        if variant.again == "risks":
            model = replace(self.model, plan=replace(self.run.plan, selection=variant.selection))
            return self._log_loss(LazyCalibration((self.run.data, model)))
        if variant.again == "fit":
            return self._accuracy(self._run(variant).model())
        plan = replace(
            self.run.plan, selection=variant.selection, rule_settings=variant.rule_settings
        )
        again: FitRun[HIPADClassifier] = FitRun(self.run.data, plan, interactive=False)
        done = {member.candidate: member for member in self.run.members}
        for member in again.members:
            earlier = done[member.candidate]
            member.choice.take_results(earlier.choice)
            member.chosen = True
            if variant.again == "weighing":
                member.hipad = earlier.hipad
        return self._accuracy(again.run())

    def baselines(self) -> dict[str, float]:
        """The scores of the defaults."""
        return {
            "accuracy": self._accuracy(self.model),
            "log loss": self._log_loss(LazyCalibration((self.run.data, self.model))),
        }

    @cached_property
    def model(self) -> Model:
        """The model at the defaults."""
        return self.run.model()

    def _run(self, variant: Variant) -> FitRun[HIPADClassifier]:
        clf = HIPADClassifier(
            self.rules or None,
            blocks=self.blocks,
            selection=variant.selection,
            rule_settings=variant.rule_settings,
        )
        run = clf.fit_iter(self.X, self.y, feature_names=self.names, interactive=False)
        return run.to_end()

    def _values(self, model: Model) -> np.ndarray:
        values = self.X_test[:, model.features] @ model.coef + model.intercept
        return np.asarray(values, dtype=float).ravel()

    def _accuracy(self, model: Model) -> float:
        return 100 * balanced(self._values(model), self.y_test)

    def _log_loss(self, source: LazyCalibration) -> float:
        risks = source.curve.risks(self._values(self.model))
        right = np.where(self.y_test > 0, risks, 1.0 - risks)
        return 100 * float(np.mean(np.log(np.maximum(right, 1e-9))))


def cases(rules: bool) -> dict[str, Callable[[int], Case]]:
    """Each table or family by name, with what makes a draw of it."""
    if rules:
        return {
            name + TOLD: lambda seed, name=name: _with_rules(name, seed, flipped=seed % 2 == 1)
            for name in table_names()
        }
    names = ["ksvm-s", "all-bcrabl", *(name for name in REAL if available(name))]
    found = {name: lambda seed, name=name: Case(*draw(name, ROWS, seed)) for name in names}
    families = {name: lambda seed, name=name: _of_family(name, seed) for name in FAMILIES}
    return {**found, **families}


def _of_family(name: str, seed: int) -> Case:
    rng, size = np.random.default_rng(seed), TRAINING + TESTING
    share = 0.2 if name == "unbalanced" else 0.5
    y = np.where(np.arange(size) % 10 < 10 * share, 1, -1)
    X = FAMILIES[name](rng, y)
    return Case(X[:TRAINING], y[:TRAINING], X[TRAINING:], y[TRAINING:])


def _with_rules(name: str, seed: int, *, flipped: bool) -> Case:
    whole, rng = rule_table(name, seed), np.random.default_rng([seed, PER_CLASS, 5])
    counts = [min(PER_CLASS, int(OUTER * np.count_nonzero(whole.y == s))) for s in (-1, 1)]
    train = labelled(whole.y, (counts[0], counts[1]), rng)
    test = rng.permutation(rest_of(whole.y, train))[:TESTING]
    written = with_flipped_rules(whole) if flipped else whole
    parts = (whole.X[train], whole.y[train], whole.X[test], whole.y[test])
    return Case(*parts, written.rules, written.blocks, written.names)


def run(options: Options) -> str:
    """The table, over all results that are there after this run."""
    draws = options.count(20)
    measure(draws, options)
    found = kept()
    parts = [lines(found, WITHOUT_RULES, rules=False), lines(found, WITH_RULES, rules=True)]
    head = ["changed", "worth of the default", "", "least", "most", "draws"]
    return table(head, [row for part in parts for row in part])


def measure(draws: int, options: Options) -> None:
    """Measure what is not yet kept: first, on all draws, what needs no further paths."""
    found, every = kept(), range(draws)
    parts = ((False, True), (True, False), (True, True))  # with rules, with fits anew
    order = [(seed, False, False) for seed in every]
    order += [(seed, *part) for seed in every for part in parts]
    with RESULTS.open("a", encoding="utf-8") as file:
        for seed, rules, costly in order:
            variants = WITH_RULES if rules else WITHOUT_RULES
            asked = [one for one in variants if (one.again == "fit") == costly]
            for name, make in cases(rules).items():
                if not options.wants(name):
                    continue
                for key, value in _measured(name, seed, make, asked, found):
                    found[name, seed, key] = value
                    file.write(json.dumps([name, seed, key, value]) + "\n")
                    file.flush()


def _measured(
    name: str,
    seed: int,
    make: Callable[[int], Case],
    variants: Iterable[Variant],
    found: dict[tuple[str, int, str], float],
) -> Iterator[tuple[str, float]]:
    """The scores of one draw that are not kept yet."""
    missing = [one for one in variants if (name, seed, one.name) not in found]
    if not missing:
        return
    with warnings.catch_warnings(), single_thread():
        warnings.simplefilter("ignore")
        case = make(seed)
        if (name, seed, "accuracy") not in found:
            yield from case.baselines().items()
        for variant in missing:
            yield variant.name, case.score(variant)
    progress(f"{name}, draw {seed}: {len(missing)} variants")


def kept() -> dict[tuple[str, int, str], float]:
    """What earlier runs measured."""
    if not RESULTS.exists():
        return {}
    rows = map(json.loads, RESULTS.read_text("utf-8").splitlines())
    return {(name, seed, key): value for name, seed, key, value in rows}


def lines(
    found: dict[tuple[str, int, str], float], variants: Sequence[Variant], *, rules: bool
) -> Iterator[list[str]]:
    """One line for each variant."""
    for variant in variants:
        base = "log loss" if variant.again == "risks" else "accuracy"
        by_set: dict[str, list[float]] = {}
        for (name, seed, key), value in found.items():
            if key == variant.name and name in cases(rules):
                by_set.setdefault(name, []).append(found[name, seed, base] - value)
        if not by_set:
            continue
        draws = min(map(len, by_set.values()))
        means = np.array([np.mean(values) for values in by_set.values()])
        variances = [np.var(v, ddof=1) / len(v) if len(v) > 1 else np.nan for v in by_set.values()]
        worth, error = float(means.mean()), float(np.sqrt(np.sum(variances)) / len(means))
        verdict = "noise" if not abs(worth) > 2 * error else "worth" if worth > 0 else "costs"
        verdict = verdict if draws >= ENOUGH else "too few draws"
        yield [
            variant.name,
            f"{worth:+.2f} +- {2 * error:.2f}",
            verdict,
            f"{means.min():+.1f}",
            f"{means.max():+.1f}",
            f"{draws} on {len(means)} sets",
        ]
