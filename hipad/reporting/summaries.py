"""What of the findings stands in tables: flow of rows, who they are, weights, rules, settings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy import sparse

from hipad.data import column_statistics
from hipad.data.preprocessing import MissingValues
from hipad.data.roles import labels_of
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.parameters import CHOICES
from hipad.evaluation.comparison import learnt_weight
from hipad.evaluation.intervals import wilson_interval
from hipad.evaluation.sample_size import SampleSize, required_sample_size
from hipad.exceptions import DataError
from hipad.reporting.analysis import Arranged, Findings
from hipad.reporting.study import RuleProvenance
from hipad.rules import RuleRecord
from hipad.utils import FloatArray, count, listed, number, percent

MOST_FEATURES: Final = 40  # in the table of who the rows are, and in that of weights
ALL_FEATURES: Final = 30  # so few stand there whether or not the model has them


# --------------------------------------------------------------------------------------------------
# Rows.


@dataclass(frozen=True)
class FlowStep:
    """So many rows, and what they are; `lost` are those that leave the way here."""

    words: str
    n: int
    lost: bool = False


def flow(found: Findings) -> list[FlowStep]:
    """Return the way from the rows of the file to those that a model learns from and is judged by.

    What is lost and what stays add up: the rows of the file are those without a label, those
    dropped, the test rows and the training rows.
    """
    rows = found.arranged
    if rows is None:
        return []
    train, study = rows.train, found.study
    labels = labels_of(train.table, train.options.label)
    blank = int((labels == "").sum())
    from_file = study.held_back.kind == "file"
    n_test = 0 if rows.test is None else len(rows.test.rows)
    dropped = rows.n_rows - blank - len(rows.y_train) - (0 if from_file else n_test)
    steps = [FlowStep("rows in the table", rows.n_rows)]
    if blank:
        steps.append(FlowStep(f"without a value in {train.options.label}", blank, lost=True))
    if dropped:
        steps.append(FlowStep("dropped in preparation", dropped, lost=True))
    if n_test:
        words = "test rows, of a file of their own" if from_file else "held back as test rows"
        steps.append(FlowStep(words, n_test, lost=not from_file))
    steps.append(FlowStep("training rows", len(rows.y_train)))
    for name, n in class_counts(rows.y_train, rows.classes).items():
        steps.append(FlowStep(f"of these of class {name}", n))
    if rows.groups_train is not None:
        n = int(np.unique(rows.groups_train).size)
        steps.append(FlowStep(f"patients among the training rows, by {train.group}", n))
    if rows.n_unlabelled:
        steps.append(FlowStep("rows without a label, learnt from by rules only", rows.n_unlabelled))
    return steps


def class_counts(labels: np.ndarray, classes: tuple[str, str]) -> dict[str, int]:
    """Return how many rows each class has, the negative first."""
    return {name: int((labels == name).sum()) for name in classes}


@dataclass(frozen=True)
class FeatureRow:
    """A feature among the training rows: mean and deviation of all and of each class, and gaps.

    `difference` is that of the classes' means in pooled standard deviations; `test` is the mean of
    the test rows, NaN without any.
    """

    name: str
    overall: tuple[float, float]
    negative: tuple[float, float]
    positive: tuple[float, float]
    difference: float
    missing: int
    least: float
    largest: float
    test: float = math.nan
    in_model: bool = False


@dataclass(frozen=True)
class TableOne:
    """Who the training rows are; `left_out` counts the features that do not stand in it."""

    rows: tuple[FeatureRow, ...]
    left_out: int


def table_one(found: Findings) -> TableOne:
    """Return who the training rows are, by class: of many features those of the model and rules."""
    rows = found.arranged
    if rows is None:
        return TableOne((), 0)
    total = len(rows.train.feature_names)
    shown = features_shown(found)
    measured = _measured(rows.X_train, rows.train.gaps, shown)
    test = None
    if rows.test is not None and found.assessment is not None and found.assessment.source == "test":
        test = _measured(rows.X_test, rows.test.gaps, shown)
    positive = rows.y_train == rows.classes[1]
    support = set(found.classifier.support_.tolist())
    lines = []
    for k, column in enumerate(shown.tolist()):
        values = measured[:, k]
        parts = [_moments(part) for part in (values, values[~positive], values[positive])]
        pooled = math.sqrt((parts[1][1] ** 2 + parts[2][1] ** 2) / 2)
        apart = parts[2][0] - parts[1][0]
        known = values[np.isfinite(values)]
        lines.append(
            FeatureRow(
                name=rows.index.name(column),
                overall=parts[0],
                negative=parts[1],
                positive=parts[2],
                difference=apart / pooled if pooled > 0 else math.nan,
                missing=int(np.isnan(values).sum()),
                least=float(known.min()) if known.size else math.nan,
                largest=float(known.max()) if known.size else math.nan,
                test=math.nan if test is None else _moments(test[:, k])[0],
                in_model=column in support,
            )
        )
    return TableOne(tuple(lines), total - len(lines))


def features_shown(found: Findings) -> np.ndarray:
    """Return the features that tables speak of: all of few, else the strongest of the model."""
    n = found.classifier.n_features_in_
    if n <= ALL_FEATURES:
        return np.arange(n)
    return np.sort([row.column for row in weights(found)[:MOST_FEATURES]]).astype(int)


def _measured(X: Any, gaps: MissingValues | None, columns: np.ndarray) -> FloatArray:
    part = X[:, columns]
    dense = part.toarray() if sparse.issparse(part) else np.array(part, dtype=float)
    values = np.asarray(dense, dtype=float)
    if not gaps:
        return values
    return np.asarray(gaps.put_into(values, columns), dtype=float)


def _moments(values: FloatArray) -> tuple[float, float]:
    known = values[np.isfinite(values)]
    if not known.size:
        return math.nan, math.nan
    return float(known.mean()), float(known.std(ddof=1)) if known.size > 1 else math.nan


def training_ranges(found: Findings) -> dict[str, tuple[float, float]]:
    """Return the least and largest value of each column of numbers that the model reads."""
    rows = found.arranged
    if rows is None:
        return {}
    names = set(rows.train.recipe.number_names)
    support = found.classifier.support_
    seen = {}
    for start in range(0, len(support), 500):
        columns = support[start : start + 500]
        values = _measured(rows.X_train, rows.train.gaps, columns)
        for k, column in enumerate(columns.tolist()):
            name, known = rows.index.name(column), values[:, k][np.isfinite(values[:, k])]
            if name in names and known.size:
                seen[name] = (float(known.min()), float(known.max()))
    return seen


def missing_total(rows: Arranged) -> tuple[int, int]:
    """Return how many cells of the training rows have no value, and in how many features."""
    gaps = rows.train.gaps
    if not gaps:
        return 0, 0
    mask = gaps.mask(np.arange(len(rows.train.feature_names)))
    return int(mask.sum()), int(mask.any(axis=0).sum())


# --------------------------------------------------------------------------------------------------
# The model.


@dataclass(frozen=True)
class WeightRow:
    """A feature of the model: its weight, and that per standard deviation of the training rows."""

    column: int
    name: str
    weight: float
    per_deviation: float


def weights(found: Findings) -> list[WeightRow]:
    """Return the features of the model, strongest first, towards the positive class above zero."""
    view = found.view
    support = view.support
    names = found.classifier.feature_index_
    own = view.weights[support]
    scale = np.full(len(support), math.nan)
    if found.arranged is not None and len(support):
        part = found.arranged.X_train[:, support]
        scale = column_statistics(part).sd
    size = (
        np.abs(own * scale)
        if _is_scaled(found.classifier) and np.isfinite(scale).all()
        else abs(own)
    )
    order = np.argsort(-size, kind="stable")
    return [
        WeightRow(int(support[k]), names.name(int(support[k])), float(own[k]),
                  float(own[k] * scale[k]))
        for k in order
    ]  # fmt: skip


def _is_scaled(clf: HIPADClassifier) -> bool:
    return bool(clf.standardize)


def weight_measure(found: Findings) -> str:
    """Return by which measure weights are compared with each other."""
    scaled = _is_scaled(found.classifier) and found.arranged is not None
    return "per standard deviation" if scaled else "per unit"


SETTINGS: Final = {
    "lambda1": "how few features (larger: fewer)",
    "lambda2": "how correlated features share their weight",
    "rule_weight": "how many rows a rule counts for",
    "rho": "how closely rules are followed",
    "rule_trust": "how the trust in rules is found",
    "method": "which algorithm",
    "class_weight": "how the classes are weighed",
    "standardize": "whether columns are scaled to deviation 1",
    "prevalence": "share of the second class where the model is used",
    "max_features": "the most features",
    "cv": "folds of the choice of lambda1 and lambda2",
    "random_state": "seed of the fit",
}


def settings(found: Findings) -> list[tuple[str, str, str]]:
    """Return the settings of the fit: name, value, what it means; and values that were learnt."""
    clf, lines = found.classifier, []
    usual = HIPADClassifier().get_params(deep=False)
    for name, value in clf.get_params(deep=False).items():
        if name in ("rules", "blocks") or (name not in SETTINGS and value == usual.get(name)):
            continue
        shown = _setting(value)
        if name in CHOICES and isinstance(value, str):
            shown = f"{value} ({CHOICES[name].get(value, '')})"
        lines.append((name, shown, SETTINGS.get(name, "")))
    lines.append(("lambda1, as used", number(float(clf.lambda1_)), "chosen or given"))
    lines.append(("lambda2, as used", number(float(clf.lambda2_)), "chosen or given"))
    return lines


def _setting(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value, 6)
    if isinstance(value, dict):
        return ", ".join(f"{name} = {_setting(own)}" for name, own in value.items())
    if isinstance(value, tuple | list):
        return f"{len(value):,} values of an earlier fit"
    return str(value)


def algorithm(found: Findings) -> list[str]:
    """Return which algorithm ran and how far, and what its certificate proves, in sentences."""
    clf = found.classifier
    steps = dict.fromkeys((0, 1, 2), 0)
    for record in clf.history_:
        steps[record.phase] = steps.get(record.phase, 0) + 1
    lines = [f"Solver: {clf.solver_ or 'not recorded'}."]
    if steps[0]:
        lines.append(f"Values of lambda1 and lambda2 were chosen in {count(steps[0], 'step')}.")
    if steps[1] or steps[2]:
        lines.append(
            f"Phase 1, which features: {count(steps[1], 'step')}; phase 2, which weights: "
            f"{count(steps[2], 'step')}."
        )
    certificate = clf.certificate_
    lines.append(f"Certificate: {certificate}.")
    lines.append(
        "The certificate bounds how far the objective is from its smallest value, whatever found "
        "the weights; it says nothing of how well the model predicts."
    )
    if certificate.message:
        lines.append(f"Note: {certificate.message}.")
    return lines


def sample_size(found: Findings) -> SampleSize | None:
    """Return Riley's criteria for the features of this model at its AUC; None where unknown."""
    if found.assessment is None:
        return None
    rows = found.assessment.rows
    area = rows.measure("roc_auc").value
    try:
        size = required_sample_size(
            max(int(found.classifier.support_.size), 1), float(rows.positive.mean()), auc=area
        )
    except DataError:  # an AUC of one half or less, or of 1
        return None
    return size


# --------------------------------------------------------------------------------------------------
# Rules.


@dataclass(frozen=True)
class RuleSummary:
    """What stands in the tables of rules."""

    record: RuleRecord
    provenance: RuleProvenance
    share: tuple[float, float, float]  # right where it applies, with its interval; NaN for none
    common: float  # the share of its outcome among the training rows
    weight: str
    trust: str
    effect: str

    @property
    def applies(self) -> str:
        """To how many training rows it applies, and on how many it is right."""
        train = self.record.train
        if train is None or not len(train.fired):
            return "none" if train is not None else ""
        return f"{len(train.fired):,} of {train.n_rows:,}"

    @property
    def right(self) -> str:
        """Of these the share that is right, with its interval."""
        value, low, high = self.share
        if math.isnan(value):
            return ""
        train = self.record.train
        assert train is not None
        return f"{len(train.right):,} ({percent(value)}; {percent(low)} to {percent(high)})"


def rule_summaries(found: Findings) -> list[RuleSummary]:
    """Return one summary a rule, in the order of the text."""
    rows = found.arranged
    lines = []
    for i, record in enumerate(found.classifier.rule_report_):
        share, common = (math.nan, math.nan, math.nan), math.nan
        if record.train is not None and len(record.train.fired):
            k, n = len(record.train.right), len(record.train.fired)
            share = (k / n, *wilson_interval(k, n))
        if rows is not None:
            common = float(np.mean(rows.y_train == record.outcome))
        effect = "" if record.effect is None else record.effect.word
        lines.append(
            RuleSummary(
                record=record,
                provenance=found.study.notes.of_rule(record.text),
                share=share,
                common=common,
                weight=_weight(found, record, i),
                trust=_trust(record),
                effect=effect,
            )
        )
    return lines


def _weight(found: Findings, record: RuleRecord, i: int) -> str:
    """Return how many rows a rule counts for, and who says so."""
    row = found.study.row_word
    if record.written is not None:
        return f"{number(record.written)} {row}s, as written"
    learnt = learnt_weight(found.classifier.members_, i) if found.classifier.members_ else None
    if learnt is not None:
        return f"{number(learnt, 3)} {row}s, learnt"
    if record.weights is not None:
        return f"{number(record.weights.sigma * record.weights.n_samples, 3)} {row}s"
    return "not recorded"


def _trust(record: RuleRecord) -> str:
    if record.trust is None:
        return ""
    before, after = percent(record.trust.prior, 0), percent(record.trust.posterior, 0)
    return f"{before} before, {after} after the labels"


def never_seen(found: Findings) -> list[str]:
    """Return the labels of rules that apply to no training row."""
    return [
        record.label
        for record in found.classifier.rule_report_
        if record.train is not None and not len(record.train.fired)
    ]


def rules_changed(found: Findings) -> str:
    """Say in a sentence which rules change the model, which add nothing, which are outvoted."""
    by: dict[str, list[str]] = {}
    for record in found.classifier.rule_report_:
        if record.effect is not None:
            by.setdefault(record.effect.word, []).append(record.label)
    return "; ".join(f"{word}: {listed(labels)}" for word, labels in by.items())
