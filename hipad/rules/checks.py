"""Static checks of rules over the box of plausible values, and of blocks on data."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage

from hipad.designs import column_moments
from hipad.rules.compiled_rule import CompiledRule, ScaledRule
from hipad.rules.guarantees import Box, BoxPoint
from hipad.rules.overlap import Pairs, Regions
from hipad.rules.weights import (
    RuleEvidence,
    RuleGradient,
    RuleWeights,
    shortest_patient,
    weight_advice,
)
from hipad.utils import Budget, FloatArray, IntArray, count, listed

# --------------------------------------------------------------------------------------------------
# Static checks of rules over the box of plausible values: warnings, never refusals.
#
# Each finding says in a sentence what is odd, names the rules, shows a witness patient where there
# can be one, and what to do. The rules need no data beyond the box and, for their strength, the
# weights of the objective.


MAX_LISTED = 3  # rules that meet more opponents than this get one finding for all of them


@dataclass(frozen=True)
class Finding:
    """Something the author of the rules should know.

    `kind` is one of empty, unseen, always, average, duplicate, subsumed, conflict, contradicted,
    weak, unchecked.
    """

    kind: str
    severity: str
    rules: tuple[str, ...]
    sentence: str
    remedy: str
    witness: BoxPoint | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.severity}: {self.sentence}; {self.remedy}"


def check_rules(
    rules: Sequence[CompiledRule],
    lo: FloatArray | float,
    hi: FloatArray | float,
    *,
    scaled: Sequence[ScaledRule] | None = None,
    evidence: Sequence[RuleEvidence | None] | None = None,
    weights: Sequence[RuleWeights] | None = None,
    gradients: Sequence[RuleGradient] | None = None,
    budget: Budget | None = None,
) -> tuple[Finding, ...]:
    r"""Look for rules that contradict, repeat or outvote each other, are empty or too weak.

    Parameters
    ----------
    rules : sequence of CompiledRule
        In the user's units.
    lo, hi : float or ndarray of shape (n_features,)
        The least and the largest plausible value of each feature.
    scaled : sequence of ScaledRule, default=None
        The rules in scaled units (`RuleColumns.representative`).
    evidence : sequence of RuleEvidence, default=None
        What training patients say of each rule.
    weights : sequence of RuleWeights, default=None
        How strongly each rule acts; checked if `gradients` are given.
    gradients : sequence of RuleGradient, default=None
        The gradient of each rule at zero.
    budget : Budget, default=None
        How much work it may be. When it ends, a finding of kind "unchecked" says how many
        rules it did not reach.

    Returns
    -------
    tuple of Finding
        Each has a kind, the rules it is of, a sentence and a remedy.

    See Also
    --------
    compile_rules : Makes the rules linear.

    Examples
    --------
    >>> from hipad import check_rules, compile_rules
    >>> rules = compile_rules("a: x0 >= 2 => positive\nb: x0 >= 3 => positive", n_features=1)
    >>> [(finding.kind, finding.rules) for finding in check_rules(rules, 0.0, 9.0)]
    [('subsumed', ('b', 'a'))]
    """
    regions = Regions.of(rules, Box(lo, hi))
    pairs = Pairs(regions, budget or Budget())
    conflicts = list(_conflicts(rules, regions, pairs))  # first, they matter most
    found = [
        *_single_findings(rules, regions, pairs),
        *_containments(rules, regions, pairs),
        *conflicts,
    ]
    found[:0] = _unchecked(rules, pairs.missed)
    if evidence is not None:
        found += _contradicted_findings(rules, evidence)
    if scaled is not None:
        found += _average_findings(rules, scaled)
    if weights is not None and gradients is not None:
        found += _weak_findings(rules, weights, gradients)
    return tuple(found)


def _single_findings(
    rules: Sequence[CompiledRule], regions: Regions, pairs: Pairs
) -> Iterator[Finding]:
    for i in pairs.reached:
        rule, region = rules[i], regions.regions[i]
        if region.point is None and _is_impossible(rule):
            yield Finding(
                "empty",
                "warning",
                (rule.label,),
                f"nobody can meet '{rule.rule.premise}' of {rule.label}",
                "correct or remove a condition",
            )
        elif region.point is None:
            yield Finding(
                "unseen",
                "note",
                (rule.label,),
                f"{rule.label} speaks of patients beyond the range of these data, so they neither "
                "support nor contradict it",
                "leave it as it is if that is meant; if not, check the threshold and its units",
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


def _is_impossible(rule: CompiledRule) -> bool:
    """Return True if nobody meets the premise, whatever the values."""
    (region,) = Regions.of([rule], Box(-np.inf, np.inf)).regions
    return region.point is None


def _containments(
    rules: Sequence[CompiledRule], regions: Regions, pairs: Pairs
) -> Iterator[Finding]:
    """Yield rules that say nothing beyond others of the same outcome."""
    for i in pairs.alive:
        same = [j for j in pairs.near(i) if rules[i].sign == rules[j].sign]
        wider = [j for j in same if pairs.inside(i, j)]
        equal = [j for j in wider if pairs.inside(j, i)]
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


def _conflicts(rules: Sequence[CompiledRule], regions: Regions, pairs: Pairs) -> Iterator[Finding]:
    """Yield rules of opposite outcome that can fire together."""
    against = [j for j in pairs.alive if rules[j].sign < 0]
    for i in (i for i in pairs.alive if rules[i].sign > 0):
        met = pairs.meeting(i, against)
        apart = len(met) <= MAX_LISTED
        for group in [[j] for j in met] if apart else [met]:
            others = tuple(rules[j].label for j in group)
            yield Finding(
                "conflict",
                "note",
                (rules[i].label, *others),
                f"some patients meet both {rules[i].label} and "
                f"{listed(others, limit=MAX_LISTED)}, which say the opposite",
                "decide which should win there, and give it more worth or the other a limit",
                regions.meeting(i, group[0]),
            )


def _unchecked(rules: Sequence[CompiledRule], missed: set[int]) -> Iterator[Finding]:
    if missed:
        yield Finding(
            "unchecked",
            "note",
            (),
            f"{len(missed):,} of {count(len(rules), 'rule')} were not compared with all others, "
            "which would take too long",
            "switch off or leave out rules to have the rest compared",
        )


def _contradicted_findings(
    rules: Sequence[CompiledRule], evidence: Sequence[RuleEvidence | None]
) -> Iterator[Finding]:
    for rule, said in zip(rules, evidence, strict=True):
        if said is not None and said.doubtful:
            written = rule.rule.worth is not None
            worth = "its written weight stays" if written else "its trust is learnt from all rows"
            yield Finding(
                "contradicted",
                "warning",
                (rule.label,),
                f"{said.contradiction(rule.label)} ({worth})",
                "check the outcome, the threshold and the units, or leave the rule out",
            )


def _average_findings(
    rules: Sequence[CompiledRule], scaled: Sequence[ScaledRule]
) -> Iterator[Finding]:
    for rule, representative in zip(rules, scaled, strict=True):
        z = shortest_patient(representative.B, representative.d)
        if z is not None and not z.any():
            yield Finding(
                "average",
                "warning",
                (rule.label,),
                f"the middle between the classes already meets '{rule.rule.premise}' of "
                f"{rule.label}, so the rule acts on no feature",
                "tighten the threshold beyond the middle",
            )


def _weakness(rule: CompiledRule, gradient: RuleGradient) -> str:
    if gradient.strongest > gradient.lambda1:
        return f"the patients point the other way than {rule.label}, so none of its features enters"
    return (
        f"{rule.label} has a gradient of {gradient.strongest:.3g} at zero, not above "
        f"lambda1 = {gradient.lambda1:.3g}, so "
        f"no feature enters for its {gradient.limit}"
    )


def _weak_findings(
    rules: Sequence[CompiledRule], weights: Sequence[RuleWeights], gradients: Sequence[RuleGradient]
) -> Iterator[Finding]:
    for rule, own, gradient in zip(rules, weights, gradients, strict=True):
        if not gradient.enters and gradient.limit in ("worth", "stiffness"):
            yield Finding(
                "weak",
                "warning",
                (rule.label,),
                _weakness(rule, gradient),
                weight_advice(gradient, own),
            )


# --------------------------------------------------------------------------------------------------
# Blocks and data: groups of features that rise and fall together, and features in two blocks.


def suggest_blocks(
    X: Any, *, least_correlation: float = 0.6, smallest: int = 3, most_features: int = 1_500
) -> dict[str, IntArray]:
    """Find groups of features that rise and fall together, among those that vary most.

    Parameters
    ----------
    X : array or sparse matrix
        One row per sample.
    least_correlation : float, default=0.6
        The least mean correlation of the features of a group.
    smallest : int, default=3
        The fewest features of a group.
    most_features : int, default=1500
        How many columns are compared, so that no matrix of all pairs is built.

    Returns
    -------
    dict of str to ndarray
        The columns of each group.

    See Also
    --------
    HIPADClassifier : Takes blocks, which rules may name.

    Examples
    --------
    >>> import numpy as np
    >>> from hipad import suggest_blocks
    >>> rng = np.random.default_rng(0)
    >>> shared = rng.normal(size=(50, 1))
    >>> X = np.hstack([shared + 0.1 * rng.normal(size=(50, 4)), rng.normal(size=(50, 6))])
    >>> [columns.tolist() for columns in suggest_blocks(X).values()]
    [[0, 1, 2, 3]]
    """
    X = X if sparse.issparse(X) else np.asarray(X)
    _, spread = column_moments(X)
    varying = np.sort(np.argsort(-spread, kind="stable")[:most_features])
    varying = varying[spread[varying] > 0]
    if len(varying) < 2:
        return {}
    far = 1.0 - _correlations(X, varying)
    tree = linkage(far[np.triu_indices(len(varying), 1)], "average")
    groups = fcluster(tree, 1.0 - least_correlation, "distance")
    sizes = np.bincount(groups)
    members = [varying[groups == g] for g in np.flatnonzero(sizes >= smallest)]
    members.sort(key=lambda columns: int(columns[0]))
    return {f"B{n}": columns for n, columns in enumerate(members, 1)}


def _correlations(X: Any, columns: IntArray) -> FloatArray:
    part = X[:, columns]
    dense = np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)
    dense = np.nan_to_num(dense - np.nanmean(dense, axis=0))
    dense /= np.maximum(np.abs(dense).max(axis=0), np.finfo(float).tiny)  # squares stay in range
    dense /= np.maximum(np.linalg.norm(dense, axis=0), np.finfo(float).tiny)
    return np.clip(dense.T @ dense, -1.0, 1.0)


def block_overlaps(blocks: Mapping[str, IntArray]) -> list[tuple[str, str, IntArray]]:
    """Pairs of blocks with the columns that they share, largest share first.

    >>> block_overlaps({"a": np.array([0, 1]), "b": np.array([1, 2]), "c": np.array([7])})
    [('a', 'b', array([1]))]
    """
    shared = [
        (a, b, np.intersect1d(blocks[a], blocks[b], assume_unique=True))
        for a, b in itertools.combinations(blocks, 2)
    ]
    return sorted((pair for pair in shared if len(pair[2])), key=lambda pair: -len(pair[2]))
