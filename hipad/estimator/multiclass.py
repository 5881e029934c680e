"""Three classes and more: a model for each class against all others, over the same rows.

1. the rows are scaled once, and their Gram matrix is computed once; only labels and shares differ
2. a rule knows its class. The model of that class has the rule as it is; every other model is
   given that whom it covers is not of its class. A rule that says `not c` has no meaning for
   models other than that of c. A statement that a feature is raised or lowered in a class belongs
   to that class's model: what it means for the others is open, as they may be raised as well. What
   is certain or does not matter is so for all
3. each model is that of a fit to the two classes `c` and `not c`, with its own trust in the rules
4. their decision values are put on a common scale (calibration.py); the class whose value
   is largest is predicted
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from hipad.estimator.calibration import ClassProbabilities, MulticlassCalibration, class_shares
from hipad.estimator.fit import Classifier, FitRun, decision_values, fresh_values, held_out_values
from hipad.estimator.training_data import TrainingData
from hipad.rules import FeaturePrior, Rule, RuleSet
from hipad.rules.compiled_rule import NamedClass, named_class
from hipad.solvers import Certificate, Progress, Status
from hipad.solvers.solution import StepwiseSolver
from hipad.utils import FloatArray

WORSE: Final = (Status.SOLVED, Status.INACCURATE, Status.LIMIT, Status.STOPPED)


class ClassRuns(FitRun[Classifier]):
    """What `HIPADClassifier.fit_iter` returns for several classes: one run after another.

    `label` is the class whose run is under way, `runs` has all of them. What else a run can be
    asked, its data, path or members, is answered by the run under way.
    """

    def __init__(
        self,
        runs: Mapping[Any, FitRun[Any]],
        data: TrainingData,
        written: RuleSet,
        take: Callable[[FitRun[Classifier]], Classifier],
    ) -> None:
        self.runs, self.all_classes, self.written = dict(runs), data, written
        self.label = next(iter(runs))
        self._outcome = take
        StepwiseSolver.__init__(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "label" not in vars(self):
            raise AttributeError(name)
        return getattr(self.runs[self.label], name)

    @property
    def finished(self) -> bool:
        """Whether the runs of all classes went to their end."""
        return all(run.finished for run in self.runs.values())

    def _generate(self) -> Iterator[Progress]:
        for label, run in self.runs.items():
            self.label = label
            yield from run


def class_labels(label: object) -> np.ndarray:
    """The two classes of a model: all others, and the class.

    >>> class_labels("setosa").tolist()
    ['not setosa', 'setosa']
    """
    return np.array([f"not {label}", str(label)])


def rules_of_class(rules: RuleSet, classes: np.ndarray, position: int) -> RuleSet:
    """What rules and statements tell the model of one class; rules that tell it nothing are off.

    >>> from hipad.rules import parse_rules
    >>> rules = parse_rules("x0 >= 1 => a\\nx1 >= 2 => not b\\nx3 is raised in b")
    >>> print(rules_of_class(rules, np.array(["a", "b", "c"]), 2))
    x0 >= 1 => "not c"
    off x1 >= 2 => "not b"
    """
    labels, pair = classes.tolist(), class_labels(classes.tolist()[position])
    found: list[Rule] = []
    for rule in rules.rules:
        named = _named(rule, labels)
        if named is None or (named.negated and named.position != position):
            found.append(replace(rule, enabled=False))
            continue
        own = named.position == position and not named.negated
        found.append(replace(rule, outcome=str(pair[int(own)])))
    stated: list[FeaturePrior] = []
    for one in rules.statements:
        named = _named(one, labels)
        if one.kind not in ("raised", "lowered"):
            stated.append(one)
        elif named is not None and named.position == position:
            stated.append(replace(one, outcome=str(pair[int(not named.negated)])))
    return replace(rules, rules=tuple(found), statements=tuple(stated))


def _named(one: Rule | FeaturePrior, labels: Sequence[object]) -> NamedClass | None:
    """The class that a rule or statement names; None for one that is off, or that is of none."""
    if not one.enabled or (isinstance(one, FeaturePrior) and one.kind not in ("raised", "lowered")):
        return None
    return named_class(one.outcome, labels, place=one.place)


def owners(rules: RuleSet, classes: np.ndarray) -> dict[str, int]:
    """The position of the class that each rule which is on speaks of, by the rule's label."""
    pairs = zip(rules.labels, rules, strict=True)
    found = {label: _named(rule, classes.tolist()) for label, rule in pairs}
    return {label: named.position for label, named in found.items() if named is not None}


def data_of_class(data: TrainingData, position: int) -> TrainingData:
    """The rows of all classes as one class against the rest; the design is shared.

    A row counts in every model as it does in the whole. Were the class to count as much as all
    others, a class far away would count half against its neighbour, whom alone it can be taken for.
    """
    return replace(data, y=np.where(data.y == position, 1.0, -1.0))


def common_scale(models: list[Any], data: TrainingData) -> MulticlassCalibration:
    """The scale on which the models of all classes decide.

    It is learnt from out-of-fold values where the fits have them, else from those of the training
    rows: a fit with given values holds nobody out.
    """
    own = np.column_stack([decision_values(one._data, one._model) for one in models])
    values, rows = own, np.ones(data.y.size, dtype=bool)
    if all(one._model.held_out is not None for one in models):
        held_out = np.column_stack([held_out_values(one._data, one._model) for one in models])
        known = _known_rows(held_out, data)
        if known.any():
            values, rows = held_out, known
    return MulticlassCalibration.fit(values[rows], *_of_rows(data, rows))


class LazyClassCalibration:
    """Makes the risks of several classes when they are first asked for, and keeps them.

    By out-of-fold values, for which folds are fitted where there were none.
    """

    def __init__(
        self,
        origin: tuple[list[Any], TrainingData, MulticlassCalibration] | None = None,
        risks: ClassProbabilities | None = None,
    ) -> None:
        self._origin, self._risks = origin, risks

    @property
    def risks(self) -> ClassProbabilities:
        """Probabilities at decision values."""
        if self._risks is None:
            assert self._origin is not None  # a loaded model has its risks
            self._risks, self._origin = _learnt_risks(*self._origin), None
        return self._risks

    def __getstate__(self) -> dict[str, Any]:
        """With the risks, and without the training rows."""
        return {"_origin": None, "_risks": self.risks}


def _learnt_risks(
    models: list[Any], data: TrainingData, scale: MulticlassCalibration
) -> ClassProbabilities:
    found = [fresh_values(one._data, one._model) for one in models]
    repeats = min(map(len, found))
    values = np.vstack([np.column_stack([one[k] for one in found]) for k in range(repeats)])
    codes = np.tile(data.y.astype(np.intp), repeats)
    rows = np.isfinite(values).all(axis=1)
    if np.unique(codes[rows]).size < len(models):
        return ClassProbabilities.constant(class_shares(data.y.astype(np.intp), data.weights))
    p, counts = (np.tile(one, repeats)[rows] / repeats for one in (data.p, data.weights))
    settings = models[0]._model.plan.selection
    return ClassProbabilities.fit(scale.of(values[rows]), codes[rows], p, counts, settings)


def _known_rows(values: FloatArray, data: TrainingData) -> np.ndarray:
    """Rows whose values are known for all classes; none, where a class has no such row."""
    known = np.isfinite(values).all(axis=1)
    return known & (np.unique(data.y[known]).size == values.shape[1])


def _of_rows(data: TrainingData, rows: np.ndarray) -> tuple[Any, FloatArray, FloatArray]:
    return data.y[rows].astype(np.intp), data.p[rows], data.weights[rows]


def worst_certificate(found: Mapping[Any, Certificate | None]) -> Certificate | None:
    """The certificate of the class that is farthest from its optimum; its message names the class.

    None where a class has none.
    """
    if any(one is None for one in found.values()):
        return None
    label, worst = max(
        ((label, one) for label, one in found.items() if one is not None),
        key=lambda pair: (WORSE.index(pair[1].status), pair[1].gap),
    )
    if not worst.message:
        return worst
    return replace(worst, message=f"class {label}: {worst.message}")
