"""Static checks of rules over the box of plausible values: warnings, never refusals.

Each finding says in a sentence what is odd, names the rules, shows a witness patient where there
can be one, and what to do. The rules need no data beyond the box, the average patient and, for the
knobs, the weights of the objective.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hipad.rules.box import Box, Patient
from hipad.rules.compile import CompiledRule
from hipad.rules.pull import Knobs, Pull
from hipad.rules.regions import Region, Regions
from hipad.rules.rows import FloatArray
from hipad.rules.words import listed

MAX_LISTED = 3  # rules that meet more opponents than this get one finding for all of them


@dataclass(frozen=True)
class Finding:
    """Something the author of the rules should know.

    `kind` is one of empty, always, average, duplicate, subsumed, conflict, silenced.
    """

    kind: str
    severity: str
    rules: tuple[str, ...]
    sentence: str
    remedy: str
    witness: Patient | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.severity}: {self.sentence}; {self.remedy}"


def check_rules(
    rules: Sequence[CompiledRule],
    lo: FloatArray | float,
    hi: FloatArray | float,
    *,
    mean: FloatArray | None = None,
    knobs: Sequence[Knobs] | None = None,
    pulls: Sequence[Pull] | None = None,
) -> tuple[Finding, ...]:
    """Every finding on rules in the user's units; the knobs are checked if their pulls are given.

    >>> from hipad.rules.compile import compile_rules
    >>> rules = compile_rules("a: x0 >= 2 => positive\\nb: x0 >= 3 => positive", n_features=1)
    >>> [(finding.kind, finding.rules) for finding in check_rules(rules, 0.0, 9.0)]
    [('subsumed', ('b', 'a'))]
    """
    regions = Regions.of(rules, Box(lo, hi))
    alive = [i for i, region in enumerate(regions.regions) if region.point is not None]
    found = [
        *_single_findings(rules, regions),
        *_containments(rules, regions, alive),
        *_conflicts(rules, regions, alive),
    ]
    if mean is not None:
        found += _average_findings(rules, mean)
    if knobs is not None and pulls is not None:
        found += _silenced_findings(rules, knobs, pulls)
    return tuple(found)


def _single_findings(rules: Sequence[CompiledRule], regions: Regions) -> Iterator[Finding]:
    for i, (rule, region) in enumerate(zip(rules, regions.regions, strict=True)):
        if region.point is None:
            yield Finding(
                "empty",
                "warning",
                (rule.label,),
                f"nobody in the range of plausible values meets '{rule.rule.premise}' "
                f"of {rule.label}",
                "loosen a threshold, or check the units",
            )
        elif region.is_whole_box:
            yield Finding(
                "always",
                "warning",
                (rule.label,),
                f"{rule.label} fires for every patient in the range of plausible values",
                "tighten a threshold, or leave the rule out",
                regions.witness(i),
            )


def _containments(
    rules: Sequence[CompiledRule], regions: Regions, alive: list[int]
) -> Iterator[Finding]:
    """Rules that say nothing beyond others of the same outcome."""
    shared = _share_columns(regions.regions)
    for i in alive:
        same = [j for j in alive if j != i and rules[i].sign == rules[j].sign and shared[i, j]]
        wider = [j for j in same if regions.inside(i, j)]
        equal = [j for j in wider if regions.inside(j, i)]
        if any(j > i for j in equal):
            yield _duplicate(rules, regions, i, [j for j in equal if j > i])
        if len(wider) > len(equal):
            yield _subsumed(rules, regions, i, [j for j in wider if j not in equal])


def _duplicate(
    rules: Sequence[CompiledRule], regions: Regions, i: int, equal: list[int]
) -> Finding:
    labels = (rules[i].label, *(rules[j].label for j in equal))
    return Finding(
        "duplicate",
        "warning",
        labels,
        f"{listed(labels)} fire for the same patients and say the same",
        "keep one of them, and give it the worth of all",
        regions.witness(i),
    )


def _subsumed(rules: Sequence[CompiledRule], regions: Regions, i: int, wider: list[int]) -> Finding:
    label, others = rules[i].label, tuple(rules[j].label for j in wider)
    return Finding(
        "subsumed",
        "note",
        (label, *others),
        f"whoever meets {label} meets {listed(others, limit=MAX_LISTED)} too, which says the same",
        f"leave {label} out, unless its patients should count more",
        regions.witness(i),
    )


def _share_columns(regions: Sequence[Region]) -> npt.NDArray[np.bool_]:
    """Which pairs of regions name a common feature."""
    columns = np.concatenate([region.columns for region in regions] or [np.empty(0, int)])
    indptr = np.cumsum([0] + [len(region.columns) for region in regions])
    width = int(columns.max(initial=0)) + 1
    names = sparse.csr_array((np.ones(len(columns)), columns, indptr), (len(regions), width))
    return np.asarray((names @ names.T).toarray() > 0)


def _conflicts(
    rules: Sequence[CompiledRule], regions: Regions, alive: list[int]
) -> Iterator[Finding]:
    """Rules of opposite outcome that can fire together."""
    against = [j for j in alive if rules[j].sign < 0]
    for i in (i for i in alive if rules[i].sign > 0):
        meetings = [(j, patient) for j in against if (patient := regions.meeting(i, j))]
        apart = len(meetings) <= MAX_LISTED
        for group in [[pair] for pair in meetings] if apart else [meetings]:
            others = tuple(rules[j].label for j, _ in group)
            yield Finding(
                "conflict",
                "note",
                (rules[i].label, *others),
                f"some patients meet both {rules[i].label} and "
                f"{listed(others, limit=MAX_LISTED)}, which say the opposite",
                "decide which should win there, and give it more worth or the other a limit",
                group[0][1],
            )


def _average_findings(rules: Sequence[CompiledRule], mean: FloatArray) -> Iterator[Finding]:
    for rule in rules:
        average = np.asarray(mean, dtype=np.float64)[rule.columns]
        if rule.fires(_one_row(rule, average))[0]:
            yield Finding(
                "average",
                "warning",
                (rule.label,),
                f"the average patient already meets '{rule.rule.premise}' of {rule.label}, so the "
                "rule can move the intercept but no feature",
                "tighten the threshold beyond the average",
                Patient(rule.columns, average),
            )


def _one_row(rule: CompiledRule, values: FloatArray) -> Any:
    indptr = np.array([0, len(values)])
    return sparse.csr_array((values, rule.columns, indptr), shape=(1, rule.B.shape[1]))


def _silenced_findings(
    rules: Sequence[CompiledRule], knobs: Sequence[Knobs], pulls: Sequence[Pull]
) -> Iterator[Finding]:
    for rule, own, pull in zip(rules, knobs, pulls, strict=True):
        if pull.silenced and pull.limit in ("worth", "stiffness"):
            yield Finding(
                "silenced",
                "warning",
                (rule.label,),
                f"{rule.label} pulls with {pull.strongest:.3g}, not above lambda1 = "
                f"{pull.lambda1:.3g}, so it is ignored for its {pull.limit}",
                knob_advice(pull, own),
            )


def knob_advice(pull: Pull, knobs: Knobs) -> str:
    """Which knobs must turn, and how far, for the pull to exceed lambda1."""
    steps = []
    if knobs.sigma <= pull.sigma_needed:
        patients = pull.sigma_needed * knobs.n_samples
        steps.append(f"make it worth more than {patients:.3g} patients")
    if knobs.rho <= pull.rho_needed and not knobs.rho_follows:
        steps.append(f"raise its stiffness above {pull.rho_needed:.3g}")
    return f"{listed(steps)}, or lower lambda1 below {pull.strongest:.3g}"
