"""Fitted models, the request that makes one, and what a user can export of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import pandas as pd

from hipad import HIPADClassifier
from hipad.data import to_csv
from hipad.estimator.model_io import Origin, save_model, stored_settings
from hipad.estimator.parameters import MemberRecord
from hipad.estimator.problem_factory import largest_lambda1
from hipad.evaluation.comparison import flips
from hipad.evaluation.cross_validation import SealedTest
from hipad.evaluation.metrics import (
    ClassificationReport,
    PositiveClassView,
    Proportion,
    named_outcomes,
)
from hipad.exceptions import RuleError
from hipad.rules import Budget, RuleSet
from hipad.rules.lexer import quote_name
from hipad.solvers import Progress
from hipad.utils import FloatArray, IntArray, number
from ui.dataset import Dataset
from ui.jobs import BackgroundJob, Run, fit_steps
from ui.recording import RecordedRun, seconds_of
from ui.settings import AUTOMATIC, CHOSEN, FEWNESS, RunSettings

Trust = str | tuple[MemberRecord, ...] | None
HARM_SECONDS: Final = 60.0  # for the fits that look for the rule behind a fall,
SUSPICION_SECONDS: Final = 15.0  # and where all rules together do no harm
CLEAR: Final = 0.05  # McNemar's exact test, times the number of rules


@dataclass(frozen=True)
class Harm:
    """Rules that cost more right answers than chance explains, and the one that costs most."""

    right: Proportion  # with the rules
    without: Proportion  # the same settings without them
    interval: tuple[float, float]  # of the difference to those, or to the model without the cause
    cause: str = ""  # the rule whose removal restores most; empty where no single one does
    restored: Proportion | None = None  # without that rule alone
    learnt: Proportion | None = None  # with weights that are learnt, where some are set or written
    rule: int | None = None  # the place of the cause among the rules; None for a statement


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A fitted classifier, what it was fitted with, and how it does on the test patients."""

    name: str
    classifier: HIPADClassifier
    rules: str
    blocks: Mapping[str, str]
    settings: RunSettings
    data_key: str
    classes: tuple[str, str]
    judgement: ClassificationReport
    without_rules: ClassificationReport | None = None  # of a model without rules, tuned for itself
    gain: tuple[float, float] | None = None  # plausible differences to that one, in right answers
    harm: Harm | None = None  # where the test patients show that the rules do clear harm
    trust: Trust = "auto"  # how far rules were to be trusted, or what an earlier fit had learnt
    chosen_by: RunSettings | None = None  # those of the fit whose values are held here
    is_explained: bool = False  # whether what each rule did is known without further fits

    @property
    def oriented(self) -> PositiveClassView:
        """The classifier, seen from the positive class."""
        return PositiveClassView(self.classifier, self.classes)

    @property
    def support(self) -> IntArray:
        return self.oriented.support

    @property
    def weights(self) -> FloatArray:
        return self.oriented.weights

    @property
    def intercept(self) -> float:
        return self.oriented.intercept

    @property
    def own_settings(self) -> RunSettings:
        """The settings with which everything that the model holds is chosen anew."""
        if self.chosen_by is not None:
            return self.chosen_by
        if isinstance(self.trust, tuple):  # of a file that does not say by what it was chosen
            return self.settings.changed(fewness=AUTOMATIC, lambda2="auto")
        return self.settings

    def scores(self, X: Any) -> FloatArray:
        return self.oriented.scores(X)

    def risks(self, scores: FloatArray) -> FloatArray | None:
        """Risks at decision values of this model, where they are there without further fits."""
        ready = self.classifier.risk_source_.ready
        return self.oriented.risks(scores) if ready else None

    @property
    def cutoff_words(self) -> str:
        """From where on the answer is the positive class, for every table of answers."""
        positive, threshold = self.classes[1], self.oriented.threshold
        if threshold is None:
            return f"{positive} above score 0"
        return f"{positive} from risk {number(100 * threshold, 3)} % on"

    def answers(self, scores: FloatArray) -> list[str]:
        """The class that is the answer at each decision value, by the cut-off that is kept."""
        return [self.classes[int(said)] for said in self.oriented.answers(scores)]

    def named(self, name: str) -> TrainedModel:
        """The same model under another name."""
        return replace(self, name=name)


@dataclass(frozen=True, eq=False)
class Request:
    """Everything a fit depends on."""

    data: Dataset
    rules: str
    blocks: Mapping[str, str]
    settings: RunSettings
    name: str = "current"
    trust: Trust = "auto"  # how far rules are trusted, or what an earlier fit learnt of it
    chosen_by: RunSettings | None = None  # those that chose values which are held here
    cutoff: float | None = None  # the risk from which on the answer is positive

    def start(
        self, like: TrainedModel | None = None, *, quick: bool = False, watched: bool = False
    ) -> Run:
        """Begin the fit; `like` is an earlier model on the same data to start from.

        `quick` is for fits that nobody watches, `watched` for those that are played afterwards: the
        model is the same.
        """
        settings, data = self.settings, self.data
        classifier = HIPADClassifier(
            named_outcomes(data.parse(self.rules), data.classes) if settings.use_rules else None,
            blocks=data.blocks,
            lambda1=self.lambda1_value,
            rule_trust=self.trust,
            **settings.parameters,
        )
        X, y = data.learning_rows
        run = classifier.fit_iter(
            X,
            y,
            groups=data.groups,
            warm_start_from=like.classifier if like is not None else None,
            feature_names=data.index,
            interactive=not quick,
            gaps=data.gaps_seen,
        )
        return RecordedRun(run, data) if watched else run

    def model(self, classifier: HIPADClassifier) -> TrainedModel:
        """The fitted classifier with its name and its judgement."""
        judged, classes = self.data.judged, self.data.classes
        if self.cutoff is not None and classifier.risk_source_.known:
            classifier.set_risk_threshold(self.cutoff, positive=classes[1])
        return TrainedModel(
            name=self.name,
            classifier=classifier,
            rules=self.rules,
            blocks=self.blocks,
            settings=self.settings,
            data_key=self.data.key,
            classes=classes,
            judgement=PositiveClassView(classifier, classes).judge(
                judged.X, judged.y, part=judged.part, groups=judged.groups
            ),
            trust=self.trust,
            chosen_by=self.chosen_by,
        )

    def job(self, *, speed: float | None = None, like: TrainedModel | None = None) -> TrainingJob:
        """Return a job that fits this; launch it to begin."""
        return TrainingJob(self, speed=speed, like=like)

    def rule_names(self) -> list[str]:
        """What to call each rule that takes part: those that are on and worth something."""
        try:
            rules = self.data.parse(self.rules) if self.settings.use_rules else RuleSet()
        except RuleError:
            return []
        usual = 0.0 if self.settings.patients == 0 else 1.0
        return [
            label
            for rule, label in zip(rules, rules.labels, strict=True)
            if rule.enabled and (usual if rule.worth is None else rule.worth) > 0
        ]

    @property
    def says_anything(self) -> bool:
        """Whether there are rules or statements at all."""
        known = self.data.parse(self.rules)
        return bool(known or known.statements)

    def made(self, model: TrainedModel) -> bool:
        """Whether a model was fitted with the same data, rules, blocks and settings."""
        asked = (self.data.key, self.rules, dict(self.blocks), self.settings)
        return asked == (model.data_key, model.rules, dict(model.blocks), model.settings)

    def fit(self, like: TrainedModel | None = None, *, quick: bool = False) -> TrainedModel:
        """Fit at once, in the thread that asks: for small changes."""
        run = self.start(like, quick=quick)
        for _ in run:
            pass
        return self.model(run.finish())

    @property
    def lambda1_value(self) -> float | str:
        fewness = self.settings.fewness
        if fewness in CHOSEN:
            return CHOSEN[fewness]
        if fewness in FEWNESS:
            return FEWNESS[fewness] * largest_useful(self.data, self.settings)
        return self.settings.lambda1


def stored_parameters(settings: RunSettings) -> tuple[dict[str, Any], float | None]:
    """Return settings as model files hold them, and the share of the largest useful lambda1.

    Where the settings say how few features in words, lambda1 follows from the data by that share.
    """
    share = FEWNESS.get(settings.fewness)
    lambda1 = CHOSEN.get(settings.fewness, settings.lambda1)
    return stored_settings(HIPADClassifier(None, lambda1=lambda1, **settings.parameters)), share


class TrainingJob(BackgroundJob[TrainedModel]):
    """A job that fits a request and then, as a second event, finds what its rules are worth.

    The outcome is there as soon as the fit is over. `comparison` makes it richer: first by how a
    model without the rules is judged, then by what each rule did, then by the rule that does harm.
    Its history are the steps of the fit without rules.
    """

    def __init__(
        self, request: Request, *, speed: float | None = None, like: TrainedModel | None = None
    ) -> None:
        names = request.rule_names()
        super().__init__(lambda _: self._fit_and_compare(), rule_names=names, speed=speed)
        self.request = request
        self.alone: TrainedModel | None = None  # the model without the rules
        self.comparison: BackgroundJob[TrainedModel] = BackgroundJob(
            fit_steps(lambda: _Comparison(self), lambda found: found)
        )
        self._fit = fit_steps(lambda: request.start(like, watched=True), request.model)

    @property
    def work(self) -> list[BackgroundJob[TrainedModel]]:
        """The fit, and the comparison as soon as it may begin."""
        return [self, self.comparison] if self.is_final else [self]

    def _fit_and_compare(self) -> Iterator[object]:
        yield from self._fit(self)
        self.comparison.launch()  # not where the fit was stopped

    def seen(self) -> None:
        """Note that somebody looks at this job."""
        super().seen()
        self.comparison.seen()

    def stop(self) -> None:
        """End after the present step; the model so far stays."""
        super().stop()
        self.comparison.stop()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the fit, and for the comparison that follows it, to end."""
        ended = super().wait(seconds)
        return ended and (not self.comparison.is_active or self.comparison.wait(seconds))


_NOTHING: Final = np.zeros(0, dtype=int)
FITTED: Final = Progress(  # a step of a comparison: one more model was fitted, unwatched
    0, 0, 0.0, 0, _NOTHING, _NOTHING, 0, 0.0, 0.0, np.zeros(0), 0.0
)


class _Comparison:
    """What is found out after a fit, in the sense of a job: a step for each step or fit."""

    def __init__(self, job: TrainingJob) -> None:
        self._job, self._request = job, job.request
        self._steps = self._generate()

    def __iter__(self) -> Iterator[Progress]:
        return self

    def __next__(self) -> Progress:
        return next(self._steps)

    def stop(self) -> None:
        """Nothing to do: it rests between two steps."""

    def resume(self) -> None:
        """Nothing to do: the next step goes on."""

    def finish(self) -> TrainedModel:
        """Return the model as far as it is explained."""
        return self._model

    @property
    def _model(self) -> TrainedModel:
        assert self._job.outcome is not None
        return self._job.outcome

    def _generate(self) -> Iterator[Progress]:
        compares = self._request.settings.use_rules and self._request.says_anything
        if compares:
            yield from self._fit_alone()
        model = self._model
        classifier = model.classifier
        assert classifier.rule_report_ is not None  # made here, where nobody waits for a page
        assert classifier.knowledge_report_ is not None
        assert classifier.risk_curve_ is not None
        self._job.outcome = replace(model, is_explained=True)
        if compares:
            yield from self._find_harm()

    def _fit_alone(self) -> Iterator[Progress]:
        """Fit what a run without the rules gives, its own number of features included."""
        model, request = self._model, self._request
        settings = request.settings.changed(use_rules=False)
        asked = replace(request, settings=settings)
        run = asked.start(model, watched=True)
        yield from run
        alone = asked.model(run.finish())
        judged, positive = request.data.judged, request.data.classes[1]
        scores = alone.scores(judged.X), model.scores(judged.X)
        change = flips(*scores, judged.y == positive, judged.groups)
        self._job.alone = alone
        self._falls = judged.part == "test" and change.is_fall
        self._job.outcome = replace(model, without_rules=alone.judgement, gain=change.interval)

    def _find_harm(self) -> Iterator[Progress]:
        """Find a rule that costs more right answers on test patients than chance explains.

        All rules together are held against none, and each against the model without it; with
        several rules one of them must be so many times clearer (Bonferroni).
        """
        model, request = self._model, self._request
        judged = request.data.judged
        if judged.part != "test" or model.without_rules is None or model.gain is None:
            return
        rules = request.data.parse(request.rules)
        right, scores = model.judgement.accuracy, model.scores(judged.X)
        is_positive = judged.y == request.data.classes[1]
        left_out = list(_each_left_out(rules))
        harm = Harm(right, model.without_rules.accuracy, model.gain)
        found = self._falls
        expected = len(left_out) * sum(seconds_of(self._job.history).values())
        if not found and (len(left_out) < 2 or expected > SUSPICION_SECONDS):
            return
        budget = Budget(seconds=HARM_SECONDS if found else SUSPICION_SECONDS)
        for place, name, rest in left_out:
            again = replace(request, rules=str(rest)).fit(like=model)
            change = flips(again.scores(judged.X), scores, is_positive, judged.groups)
            found |= change.is_fall and change.p_value * len(left_out) < CLEAR
            best = right if harm.restored is None else harm.restored
            if again.judgement.accuracy.k > best.k:
                restored = again.judgement.accuracy
                harm = replace(
                    harm, cause=name, restored=restored, rule=place, interval=change.interval
                )
            if budget.is_spent:
                break
            yield FITTED
        if not found:
            return
        if not self._falls and harm.restored is None:
            return
        if self._falls:
            harm = replace(harm, interval=model.gain)
        self._job.outcome = replace(model, harm=self._with_learnt_weights(harm, rules))

    def _with_learnt_weights(self, harm: Harm, rules: RuleSet) -> Harm:
        """Add how the rules do with weights that are learnt, where some are set or written."""
        request = self._request
        written = any(rule.enabled and rule.worth is not None for rule in rules)
        if not written and request.settings.patients == "auto":
            return harm
        free = replace(rules, rules=tuple(replace(rule, worth=None) for rule in rules))
        settings = request.settings.changed(patients="auto")
        fitted = replace(request, rules=str(free), settings=settings).fit(like=self._model)
        return replace(harm, learnt=fitted.judgement.accuracy)


def _each_left_out(rules: RuleSet) -> Iterator[tuple[int | None, str, RuleSet]]:
    """Each rule and statement that is on, and all the others."""
    for i, (label, rule) in enumerate(zip(rules.labels, rules, strict=True)):
        if rule.enabled:
            yield i, f"{label}: {rule.text}", rules.without(i)
    for i, statement in enumerate(rules.statements):
        if statement.enabled:
            rest = rules.statements[:i] + rules.statements[i + 1 :]
            yield None, statement.text, replace(rules, statements=rest)


def largest_useful(data: Dataset, settings: RunSettings) -> float:
    """The lambda1 above which the training patients alone let no feature in."""
    return largest_lambda1(
        data.X_train,
        signs(data.y_train, data),
        standardize=settings.standardize,
        class_weight=settings.class_weight,
    )


def signs(y: np.ndarray, data: Dataset) -> FloatArray:
    """+1 for patients of the positive class, -1 for the others."""
    return np.where(y == data.classes[1], 1.0, -1.0)


# --------------------------------------------------------------------------------------------------
# Exports: weights and predictions as CSV, the model as JSON, rules as text.

INTERCEPT: Final = "(intercept)"
BLOCK: Final = "# block "  # a note that tells of a block
NOTE: Final = re.compile(rf"{BLOCK}(?:`(?P<quoted>[^`]+)`|(?P<name>[^`:]+)): (?P<definition>.+)")


def weight_table(model: TrainedModel, data: Dataset) -> pd.DataFrame:
    """One row per feature with a weight, strongest first."""
    kept = model.support
    table = pd.DataFrame(
        {
            "feature": [data.index.name(int(j)) for j in kept],
            "block": data.block_of(kept),
            "weight": model.weights[kept],
            "per standard deviation": model.weights[kept] * data.summary["sd"].to_numpy()[kept],
        }
    )
    order = np.argsort(-table[measure_of(model)].abs().to_numpy(), kind="stable")
    return table.iloc[order].reset_index(drop=True)


def measure_of(model: TrainedModel) -> str:
    """The column by which weights can be compared with each other."""
    return "per standard deviation" if model.settings.standardize else "weight"


def comparable_weights(model: TrainedModel, data: Dataset) -> np.ndarray:
    """Per standard deviation where the features were scaled, else in the user's units."""
    if not model.settings.standardize:
        return model.weights
    return np.asarray(model.weights * data.summary["sd"].to_numpy())


def weights(model: TrainedModel, data: Dataset) -> str:
    """The weights as CSV, and at the end the intercept: a score is their sum over a patient."""
    columns = weight_table(model, data).to_dict("list")
    last = {"feature": INTERCEPT, "block": "", "weight": model.intercept}
    return to_csv({name: [*values, last.get(name, "")] for name, values in columns.items()})


def rules_file(text: str, blocks: Mapping[str, str]) -> str:
    """Rules as text, with the blocks that they may speak of in notes at the top."""
    notes = [f"{BLOCK}{quote_name(name)}: {', '.join(definition.splitlines())}"
             for name, definition in blocks.items()]  # fmt: skip
    return "\n".join([*notes, text.strip(), ""])


def read_rules_file(text: str) -> tuple[str, dict[str, str]]:
    """The rules of a file, and the blocks that its notes tell of.

    >>> read_rules_file("# block K: a, b\\nmean(K) >= 1 => yes")
    ('mean(K) >= 1 => yes', {'K': 'a, b'})
    """
    blocks, rules = {}, []
    for line in text.splitlines():
        found = NOTE.fullmatch(line)
        if found is None:
            rules.append(line)
        else:
            blocks[(found["quoted"] or found["name"]).strip()] = found["definition"].strip()
    return "\n".join(rules), blocks


def answers(model: TrainedModel, data: Dataset, seal: SealedTest | None = None) -> str:
    """Scores, risks and answers of the rows that models are judged by, as CSV.

    `seal` says how often test rows were looked at.
    """
    judged = data.judged
    test, y = judged.part == "test", judged.y
    scores = model.scores(judged.X)
    columns = {
        "patient" if data.ids[int(test)] else "row": data.called(int(test)).tolist(),
        "score": scores.tolist(),
        f"risk of {data.classes[1]}": model.oriented.risks(scores).tolist(),
        "answer": model.answers(scores),
    }
    columns["cut-off"] = [model.cutoff_words] * len(y)
    columns["truth"] = y.tolist()
    columns["part"] = [judged.part] * len(y)
    if test and seal is not None:
        columns["test set"] = [seal.words] * len(y)
    return to_csv(columns)


def model_file(model: TrainedModel, data: Dataset, seal: SealedTest | None = None) -> str:
    """The model as JSON, with what a later table needs to be prepared in the same way."""
    origin = Origin(
        data.label,
        data.classes,
        data.recipe,
        data.decided_by,
        data.group,
        data.file_format,
        data.file,
        *(() if seal is None else (seal.digest, seal.openings)),
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        save_model(model.classifier, path, origin=origin)
        return path.read_text("utf-8")
