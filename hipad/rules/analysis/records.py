"""One record per rule: what it does on data, how far it holds, how hard it pulls.

The same records serve the classifier's `rule_report_`, the command line and the app. Everything is
given as plain arrays; what is not given is left out of the record.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from hipad.arrays import FloatArray
from hipad.rules.analysis.advice import holding_threshold
from hipad.rules.analysis.box import Patient
from hipad.rules.analysis.guarantee import Prototype, WorstCase, prototype, worst_case
from hipad.rules.analysis.pull import Knobs, Pull, knob_advice
from hipad.rules.analysis.speaking import Heard
from hipad.rules.analysis.statistics import RuleCounts, rule_counts
from hipad.rules.compiling.compiled import CompiledRule

Data = tuple[Any, Any]
"""Rows X in the user's units and their outcomes in {-1, +1}."""

CHANGES: Final = "changes the model"
NOTHING: Final = "adds nothing"
OUTVOTED: Final = "outvoted"
ROUNDING: Final = 1e-9  # relative difference of two margins that is none


@dataclass(frozen=True)
class Effect:
    """What a rule does to a model, by a fit without it at the same settings.

    `changes` says that the fit without it is another model, `covered` and `against` are the weights
    of the training rows that meet the rule and of those that the model decides against it,
    `typical` is the margin of the typical patient who meets it (None if nobody can), and `average`
    that of the average patient, by whom the model says nothing about the rule.

    >>> Effect(changes=False, covered=28.0, against=28.0, typical=-0.7, average=0.1).word
    'outvoted'
    """

    changes: bool
    covered: float
    against: float
    typical: float | None
    average: float

    @property
    def opposed(self) -> bool:
        """True if the model says the opposite about most whom the rule covers, and typically."""
        if self.typical is None or self.typical >= 0:
            return False
        if self.covered:
            return 2 * self.against > self.covered
        return self.typical < self.average - ROUNDING * abs(self.average)

    @property
    def word(self) -> str:
        """One of: changes the model, adds nothing, outvoted."""
        if self.opposed:
            return OUTVOTED
        return CHANGES if self.changes else NOTHING

    def __str__(self) -> str:
        without = "another" if self.changes else "the same"
        if not self.opposed:
            return f"{self.word}: without the rule the model is {without}"
        rows = f"{self.against:.3g} of the {self.covered:.3g} training rows it covers"
        whom = rows if self.covered else "the typical patient who meets it"
        return (
            f"{self.word}: the model decides against it for {whom}; without the rule it is "
            f"{without}"
        )


@dataclass(frozen=True)
class RuleTrust:
    """The probability that a rule belongs into the model: before and after the labelled rows."""

    prior: float
    posterior: float
    rows: float

    def __str__(self) -> str:
        before, after = f"{100 * self.prior:.0f}", f"{100 * self.posterior:.0f}"
        rows = f"the {self.rows:.4g} labelled rows"
        if before == after:
            return f"trust {after} %: {rows} say nothing for or against it"
        verb = "raise" if self.posterior > self.prior else "lower"
        return f"{rows} {verb} the trust in it from {before} to {after} %"


@dataclass(frozen=True)
class RuleRecord:
    """What there is to know of one rule; parts that were not asked for are None.

    `slack` and `residual` are those of the certificate: the rule holds exactly if both are zero.
    Neither says how the rule does on patients: for that read `train`, `test` and `worst`.
    """

    label: str
    text: str
    outcome: str
    sign: float
    remarks: tuple[str, ...]
    train: RuleCounts | None = field(default=None, repr=False)
    test: RuleCounts | None = field(default=None, repr=False)
    prototype: Prototype | None = field(default=None, repr=False)
    worst: WorstCase | None = field(default=None, repr=False)
    holds_from: str | None = None
    slack: float | None = None
    residual: float | None = None
    pull: Pull | None = None
    effect: Effect | None = None
    trust: RuleTrust | None = None
    written: float | None = None  # its weight in patients, where the text gives one
    knobs: Knobs | None = field(default=None, repr=False)
    names: Any = field(default=None, repr=False, compare=False)

    @property
    def lines(self) -> list[str]:
        """The record in sentences."""
        found = [f"{part}: {counts}" for part, counts in self._counts() if counts is not None]
        if self.prototype is not None and self.prototype.feasible:
            found.append(f"prototype margin {self.prototype.margin:.3g}")
        if self.worst is not None:
            found.append(self.worst.sentence(self.names))
        if self.holds_from is not None:
            found.append(f"would hold from '{self.holds_from}' on")
        if self.slack is not None and self.residual is not None:
            found.append(f"slack {self.slack:.3g}, residual {self.residual:.3g}")
        if self.effect is not None:
            found.append(str(self.effect))
        if self.trust is not None:
            found.append(str(self.trust))
        if self.written is not None:
            found.append(self.as_written)
        if self.pull is not None:
            found.append(str(self.pull))
            found += self._advice(self.pull)
        if self.heard is not None and self.heard.fired:
            found.append(self.heard.contradiction("it"))
        return found + list(self.remarks)

    @property
    def heard(self) -> Heard | None:
        """What the training patients say of the rule."""
        return None if self.knobs is None else self.knobs.heard

    @property
    def is_questioned(self) -> bool:
        """Whether a weight is written and the rows that the rule covers speak against it."""
        return self.written is not None and self.heard is not None and self.heard.doubtful

    @property
    def as_written(self) -> str:
        """That a written weight is used as it is, and what speaks against that."""
        weight = "" if self.written is None else f"of {self.written:.4g} patients "
        told = f"its weight {weight}is used as written"
        if not self.is_questioned or self.heard is None:
            return told
        return f"{told}, but {self.heard.contradiction('it')}: leave it out to have it learnt"

    def _advice(self, pull: Pull) -> list[str]:
        if pull.enters or self.knobs is None or pull.limit not in ("worth", "stiffness"):
            return []
        return [f"for a feature of it to enter, {knob_advice(pull, self.knobs)}"]

    def _counts(self) -> list[tuple[str, RuleCounts | None]]:
        return [("training", self.train), ("test", self.test)]

    def __str__(self) -> str:
        return "\n".join([f"{self.label}: {self.text}", *(f"  {line}" for line in self.lines)])

    @property
    def markdown(self) -> str:
        """The record as a heading and a list."""
        return "\n".join([f"**{self.label}** `{self.text}`", "", *(f"- {x}" for x in self.lines)])

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, texts and lists, as JSON can hold them; infinite numbers become None."""
        record: dict[str, Any] = {
            "label": self.label,
            "text": self.text,
            "outcome": self.outcome,
            "sign": self.sign,
            "remarks": list(self.remarks),
            "holds_from": self.holds_from,
            "slack": self.slack,
            "residual": self.residual,
        }
        for part, counts in (("train", self.train), ("test", self.test)):
            record[part] = None if counts is None else _counts_dict(counts)
        if self.prototype is not None:
            record["prototype_margin"] = _finite(self.prototype.margin)
            record["prototype_patient"] = self._named(self.prototype.patient)
        if self.worst is not None:
            record["worst_case"] = _finite(self.worst.value)
            record["worst_patient"] = self._named(self.worst.patient)
            record["holds"] = self.worst.holds
        if self.pull is not None:
            record["pull"] = self.pull.strongest
            record["features_in"] = self.pull.inside
            record["limit"] = self.pull.limit
        if self.effect is not None:
            record["effect"] = self.effect.word
            record["changes_the_model"] = self.effect.changes
        if self.trust is not None:
            record["prior_trust"], record["posterior_trust"] = (
                self.trust.prior,
                self.trust.posterior,
            )
        record["written_weight"] = self.written
        if self.heard is not None:
            record["contradicted_by"] = self.heard.wrong
        return record

    def _named(self, patient: Patient) -> dict[str, float]:
        return patient.named(self.names)


def _counts_dict(counts: RuleCounts) -> dict[str, Any]:
    return {**counts.numbers, "wrong_rows": counts.wrong.tolist()}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def rule_report(
    rules: Sequence[CompiledRule],
    *,
    w: FloatArray | None = None,
    b: float = 0.0,
    lo: FloatArray | float | None = None,
    hi: FloatArray | float | None = None,
    mean: FloatArray | None = None,
    scale: FloatArray | None = None,
    train: Data | None = None,
    test: Data | None = None,
    missing: Any = None,
    pulls: Sequence[Pull | None] | None = None,
    effects: Sequence[Effect | None] | None = None,
    knobs: Sequence[Knobs] | None = None,
    certificates: Iterable[tuple[float | None, float | None]] | None = None,
) -> list[RuleRecord]:
    """Records for rules, classifier (w, b) and box in the user's units.

    `mean` and `scale` are the scaling that training used, `missing` marks the filled-in cells of
    the training rows, `pulls`, `effects` and `knobs` are each rule's pull, what it does to the
    model and what it counts for,
    `certificates` holds (slack, residual) of each rule.
    """
    nothing = [None] * len(rules)
    pairs = list(certificates) if certificates is not None else [(None, None)] * len(rules)
    told = zip(rules, pairs, pulls or nothing, effects or nothing, knobs or nothing, strict=True)
    records = []
    for rule, (slack, residual), pull, effect, own in told:
        parts: dict[str, Any] = {"slack": slack, "residual": residual, "pull": pull, "knobs": own}
        parts["effect"], parts["written"] = effect, rule.rule.worth
        if train is not None:
            parts["train"] = rule_counts(rule, *train, missing=missing)
        if test is not None:
            parts["test"] = rule_counts(rule, *test)
        if w is not None:
            parts |= _guarantees(rule, np.asarray(w, dtype=np.float64), b, lo, hi, mean, scale)
        outcome = rule.outcome or rule.rule.outcome  # the class, however it was written
        text = replace(rule.rule, outcome=outcome).text
        about = (rule.label, text, outcome, rule.sign, rule.remarks)
        records.append(RuleRecord(*about, **parts, names=rule.features))
    return records


def _guarantees(
    rule: CompiledRule,
    w: FloatArray,
    b: float,
    lo: FloatArray | float | None,
    hi: FloatArray | float | None,
    mean: FloatArray | None,
    scale: FloatArray | None,
) -> dict[str, Any]:
    """Prototype, worst case, and the threshold from which a failing rule would hold."""
    found: dict[str, Any] = {
        "prototype": prototype(rule.B, rule.d, rule.sign, w, b, mean, scale),
    }
    if lo is None or hi is None:
        return found
    worst = worst_case(rule.B, rule.d, rule.sign, w, b, lo, hi)
    found["worst"] = worst
    if worst.feasible and not worst.holds and len(rule.d) == 1:
        better = holding_threshold(rule, w, b, lo, hi)
        found["holds_from"] = None if better is None else better.premise
    return found
