"""A fitted model with what is known of it, and the job that makes one.

scikit-learn sorts class names, a clinician says which one is positive. Here scores and weights
always point to the clinician's positive class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from hipad import HIPADClassifier
from hipad.errors import RuleError
from hipad.estimator.labels import named_outcomes
from hipad.estimator.sparsity import largest_lambda1
from hipad.rules import RuleSet, parse_rules
from hipad.solver import AdmmSettings, Status
from hipad.solver.admm.penalties import Penalties
from ui.dataset import Dataset
from ui.jobs import Job, Run
from ui.judgement import Judgement, judge
from ui.settings import AUTOMATIC, EXACT, FEWNESS, RunSettings


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted classifier, what it was fitted with, and how it does on the test patients."""

    name: str
    classifier: HIPADClassifier
    rules: str
    blocks: Mapping[str, str]
    settings: RunSettings
    data_key: str
    classes: tuple[str, str]
    judgement: Judgement
    without_rules: Judgement | None = None  # of a model with the same sparsity and no rules

    @property
    def orientation(self) -> float:
        """+1 where the classifier's second class is the positive one, -1 otherwise."""
        return 1.0 if str(self.classifier.classes_[1]) == self.classes[1] else -1.0

    @property
    def support(self) -> np.ndarray:
        """Columns with a weight."""
        columns: np.ndarray = self.classifier.support_
        return columns

    @property
    def weights(self) -> np.ndarray:
        """One weight per feature, in the user's units, above zero towards the positive class."""
        return self.orientation * self.classifier.coef_[0]

    def scores(self, X: Any) -> np.ndarray:
        """Decision values, above zero for the positive class."""
        return self.orientation * self.classifier.decision_function(X)

    def named(self, name: str) -> Model:
        return replace(self, name=name)


@dataclass(frozen=True, eq=False)
class Request:
    """Everything a fit depends on."""

    data: Dataset
    rules: str
    blocks: Mapping[str, str]
    settings: RunSettings
    name: str = "current"

    def start(self, like: Model | None = None) -> Run:
        """Begin the fit; `like` is an earlier model on the same data to start from."""
        settings, data = self.settings, self.data
        classifier = HIPADClassifier(
            named_outcomes(self.rules, data.classes) if settings.use_rules else None,
            blocks=data.blocks,
            lambda1=self._lambda1(),
            lambda2=settings.lambda2,
            patients=settings.patients,
            stiffness=settings.stiffness,
            scope=settings.scope,
            class_weight=class_weight(settings),
            calibrate=settings.calibrate,
            method=settings.method,
            engine=settings.engine,
            standardize=settings.standardize,
            switch=settings.switch,
            tol=settings.tolerance,
            max_iter=settings.max_sweeps,
        )
        watch = classifier.start(
            data.X_train,
            data.y_train,
            like=like.classifier if like is not None else None,
            feature_names=data.index,
        )
        if settings.mu != "auto":
            penalties = Penalties(*[float(settings.mu)] * 4)
            own = replace(watch.run.plan.settings, admm=AdmmSettings(penalties=penalties))
            watch.run.plan = replace(watch.run.plan, settings=own)
        return watch

    def model(self, classifier: HIPADClassifier) -> Model:
        """The fitted classifier with its name and its judgement."""
        return Model(
            name=self.name,
            classifier=classifier,
            rules=self.rules,
            blocks=self.blocks,
            settings=self.settings,
            data_key=self.data.key,
            classes=self.data.classes,
            judgement=judge(classifier, self.data),
        )

    def job(self, *, speed: float | None = None, like: Model | None = None) -> Job[Model]:
        """A job that fits this; launch it to begin."""
        names = self.rule_names()
        return Job(lambda: self.start(like), self._compared, rule_names=names, speed=speed)

    def rule_names(self) -> list[str]:
        """What to call each rule that takes part: those that are on and worth something."""
        try:
            rules = parse_rules(self.rules) if self.settings.use_rules else RuleSet()
        except RuleError:
            return []
        usual = 0.0 if self.settings.patients == 0 else 1.0
        return [
            label
            for rule, label in zip(rules, rules.labels, strict=True)
            if rule.enabled and (usual if rule.worth is None else rule.worth) > 0
        ]

    def made(self, model: Model) -> bool:
        """Whether a model was fitted with just this."""
        asked = (self.data.key, self.rules, dict(self.blocks), self.settings)
        return asked == (model.data_key, model.rules, dict(model.blocks), model.settings)

    def fit(self, like: Model | None = None) -> Model:
        """Fit at once, for small changes that take a blink."""
        run = self.start(like)
        for _ in run:
            pass
        return self.model(run.finish())

    def _compared(self, classifier: HIPADClassifier) -> Model:
        """The model with its rule report, beside one that was not told the rules."""
        model = self.model(classifier)
        assert classifier.rule_report_ is not None  # made here, where nobody waits for a page
        stopped = classifier.certificate_.status is Status.STOPPED
        if stopped or not self.settings.use_rules or not parse_rules(self.rules):
            return model
        settings = self.settings.changed(
            use_rules=False, fewness=EXACT, lambda1=classifier.lambda1_
        )
        alone = replace(self, settings=settings).fit(like=model)
        return replace(model, without_rules=alone.judgement)

    def _lambda1(self) -> float | str:
        fewness = self.settings.fewness
        if fewness == AUTOMATIC:
            return "auto"
        if fewness in FEWNESS:
            return FEWNESS[fewness] * largest_useful(self.data, self.settings)
        return self.settings.lambda1


def largest_useful(data: Dataset, settings: RunSettings) -> float:
    """The lambda1 above which the training patients alone let no feature in."""
    return largest_lambda1(
        data.X_train,
        signs(data.y_train, data),
        standardize=settings.standardize,
        class_weight=class_weight(settings),
        lambda2=settings.lambda2,
    )


def class_weight(settings: RunSettings) -> Literal["balanced"] | None:
    """Whether each class counts one half, as the classifier is told it."""
    return "balanced" if settings.balanced else None


def signs(y: np.ndarray, data: Dataset) -> np.ndarray:
    """+1 for patients of the positive class, -1 for the others."""
    return np.where(y == data.classes[1], 1.0, -1.0)
