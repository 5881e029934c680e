"""Reporting guidelines: what a run answers of TRIPOD+AI and PROBAST+AI, and what people must.

TRIPOD+AI: Collins, Moons, Dhiman and others, BMJ 2024;385:e078378, all 52 sub-items under their
numbers. PROBAST+AI: Moons, Damen, Kaul and others, BMJ 2025;388:e082505, the topics of its analysis
domain that a run has evidence on. All questions are in words of our own: whoever fills in a form
for a journal takes the wording from the papers.

An item is answered by the run ("run"), drafted for its authors to confirm ("draft"), or asked of
them ("asked"). What authors write stands beside what the run says, never in its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from hipad import __version__
from hipad.evaluation.metrics import METRICS
from hipad.reporting.analysis import Findings
from hipad.reporting.summaries import (
    flow,
    missing_total,
    rules_changed,
    sample_size,
    table_one,
    weights,
)
from hipad.utils import count, listed, number, percent

Kind = Literal["run", "draft", "asked"]
Status = Literal["filled by the run", "drafted, to be confirmed", "answered", "not answered yet"]
FEW_EVENTS: Final = 100  # of the rarer class among the rows that judge: fewer leave wide intervals


@dataclass(frozen=True)
class Item:
    """One sub-item of TRIPOD+AI.

    Attributes
    ----------
    number : str
        Its number in the paper.
    section, topic : str
        Where it stands there.
    question : str
        What it asks, in words of our own.
    kind : "run", "draft" or "asked"
        Who answers it.
    draft : callable
        What the findings say of it; "" where they say nothing.
    """

    number: str
    section: str
    topic: str
    question: str
    kind: Kind
    draft: Callable[[Findings], str] = lambda _: ""


@dataclass(frozen=True)
class ItemAnswer:
    """An item, what the run says of it, and what the authors wrote."""

    item: Item
    answer: str
    written: str

    @property
    def status(self) -> Status:
        """How far it is answered."""
        if self.written:
            return "answered"
        if self.answer:
            return "filled by the run" if self.item.kind == "run" else "drafted, to be confirmed"
        return "not answered yet"


def tripod_answers(found: Findings) -> list[ItemAnswer]:
    """Return every item of TRIPOD+AI with what is known of it, in the order of the paper."""
    written = found.study.notes.answers
    return [ItemAnswer(item, item.draft(found), written.get(item.number, "")) for item in TRIPOD]


# --------------------------------------------------------------------------------------------------
# What the findings say, item by item. Without rows (a model file alone) most say nothing.


def _outcome(found: Findings) -> str:
    origin = found.stored.origin
    return "the class" if origin is None or not origin.label else origin.label


def _title(found: Findings) -> str:
    negative, positive = found.classes
    return (
        f"Development of a sparse linear model with expert rules that tells {positive} from "
        f"{negative} ({_outcome(found)})."
    )


def _figure(found: Findings, name: str) -> str:
    if found.assessment is None:
        return ""
    one = found.assessment.rows.measure(name)
    if math.isnan(one.value):
        return ""
    return f"{number(one.value, 3)} (95 % interval {number(one.low, 3)} to {number(one.high, 3)})"


def _whose(found: Findings) -> str:
    if found.assessment is None:
        return ""
    n = found.assessment.whom
    if found.assessment.source == "test":
        return f"{n} of the opened test set"
    return f"{n} of the training set, cross-validated"


def _abstract(found: Findings) -> str:
    if found.assessment is None:
        return ""
    return (
        f"{_title(found)} Rows judged: {_whose(found)}. AUROC {_figure(found, 'roc_auc')}; "
        f"calibration slope {_figure(found, 'calibration_slope')}. {_features(found)}"
    )


def _features(found: Findings) -> str:
    clf = found.classifier
    return f"{count(clf.support_.size, 'feature')} of {clf.n_features_in_:,} have a weight."


def _objectives(found: Findings) -> str:
    kind = "development with internal validation"
    if found.study.held_back.kind == "file" and found.study.is_open:
        kind = "development, and evaluation on rows of another file"
    asked = found.study.notes.question
    return f"{asked + ' ' if asked else ''}The run is a {kind} of one model."


def _sources(found: Findings) -> str:
    study = found.study
    if study.sample:
        return f"The sample {study.sample}, which comes with the software."
    named = [f"{one.name} (SHA-256 {one.sha256 or 'not recorded'})" for one in study.tables]
    return f"Files: {listed(named)}." if named else ""


def _preparation(found: Findings) -> str:
    if found.arranged is None:
        return ""
    steps = [str(step) for step in found.arranged.train.steps]
    text = f"Steps of preparation: {'; '.join(steps)}." if steps else "No step changed the table."
    return f"{text} The same steps were applied to all rows, whatever group they belong to."


def _outcome_blinding(found: Findings) -> str:
    negative, positive = found.classes
    return f"Outcome: column {_outcome(found)}, {positive} against {negative}."


def _candidates(found: Findings) -> str:
    clf = found.classifier
    return (
        f"All {count(clf.n_features_in_, 'feature')} of the prepared table were candidates; none "
        "was selected by its relation to the outcome before the fit. The penalty lambda1 keeps "
        f"{clf.support_.size:,}, and the certificate of the fit says how sure that choice is."
    )


def _predictors(found: Findings) -> str:
    names = [row.name for row in weights(found)]
    return f"Features of the model: {listed(names, limit=20)}." if names else "None has a weight."


def _sample_size(found: Findings) -> str:
    if found.arranged is None:
        return ""
    rows = found.arranged
    events = int((rows.y_train == rows.classes[1]).sum())
    text = f"{count(len(rows.y_train), 'training row')}, {events:,} of them {rows.classes[1]}."
    size = sample_size(found)
    if size is None:
        return text
    return (
        f"{text} Riley's criteria for the {size.parameters:,} features of this model at its AUC "
        f"and prevalence ask for {size.n:,} rows with {size.events:,} events; counted by the "
        "features that were candidates they ask for more."
    )


def _missing(found: Findings) -> str:
    if found.arranged is None:
        return ""
    cells, features = missing_total(found.arranged)
    imputation = found.arranged.train.options.missing
    if imputation == "drop rows":
        return "Rows with gaps were dropped."
    if not cells:
        return f"No training value is missing. A gap in a later row is filled by the {imputation}."
    return (
        f"{cells:,} training values in {count(features, 'feature')} are missing and were filled by "
        f"the {imputation} of the training rows, as later gaps are. Rules do not speak of filled "
        "values."
    )


def _partition(found: Findings) -> str:
    if found.arranged is None:
        return ""
    study, plan = found.study, found.study.analysis
    kind = study.held_back.kind
    test = {
        "split": f"A share of {percent(study.held_back.share)} of each class was held back by "
        f"random draw (seed {study.held_back.seed}).",
        "file": "Test rows are those of a file of their own.",
        "none": "No test rows were held back.",
    }[kind]
    if kind != "none" and study.seal is not None:
        test += f" The test set is {study.seal.words}."
    return (
        f"{test} Figures of the training rows are of a {plan.folds}-fold cross-validation that "
        "repeats the whole fit, with everything that it chooses."
    )


def _handling(found: Findings) -> str:
    scaled = "scaled to mean 0 and deviation 1" if found.classifier.standardize else "not scaled"
    return (
        f"Columns are {scaled}; each acts linearly on the score, without interactions. Text "
        "columns become one column for each level."
    )


def _model(found: Findings) -> str:
    clf = found.classifier
    chosen = "lambda1 and lambda2 were chosen by cross-validation on the training rows"
    if not isinstance(clf.lambda1, str):
        chosen = f"lambda1 was given ({number(float(clf.lambda1_))})"
    return (
        "A linear support vector machine with an elastic net penalty and expert rules as "
        f"constraints; the score becomes a risk by calibration on held-out rows. {chosen}; the "
        f"trust in rules is learnt from the same rows. Solver: {clf.solver_}."
    )


def _clusters(found: Findings) -> str:
    if found.arranged is None:
        return ""
    rows = found.arranged
    if rows.groups_train is None:
        return "No column names clusters; every row was taken as independent."
    n = int(np.unique(rows.groups_train).size)
    return (
        f"Rows with the same {rows.train.group} ({n:,} groups) stay together in every split, and "
        "every interval counts them as one cluster. Figures were not compared between centres."
    )


def _measures(found: Findings) -> str:
    names = [name.replace("_", " ") for name in METRICS]
    return (
        f"Figures: {listed(names, limit=20)}, each with a 95 % interval. Plots: ROC, calibration, "
        "decision curve, risks by class, instability. The model is compared with one without the "
        "rules, tuned for itself, on the same rows."
    )


def _updating(found: Findings) -> str:
    return (
        "The model was not updated after its evaluation. Its risks were calibrated once, by "
        "held-out scores of the training rows."
    )


def _applied(found: Findings) -> str:
    return (
        "Scores are the weighted sum of features and the intercept of this report; risks follow by "
        f"the calibration curve of the model file (hipad {__version__}). The calculator of this "
        "report uses the same formula."
    )


def _imbalance(found: Findings) -> str:
    weight = found.classifier.class_weight
    if weight == "balanced":
        return (
            "Each class counts one half in the fit; risks were calibrated afterwards at the "
            "prevalence of the training rows. No row was added, copied or left out."
        )
    if weight is None:
        return "Nothing was done: every row counts the same."
    return "The classes have weights of their own; risks were calibrated afterwards."


def _fairness(found: Findings) -> str:
    return (
        "The fit uses no step for fairness. Figures by subgroup are to be looked at for every "
        "column that names a group of people."
    )


def _output(found: Findings) -> str:
    cut, positive = found.view.threshold, found.classes[1]
    where = "the score is above 0" if cut is None else f"the risk is at least {percent(cut)}"
    return f"A score, a risk of {positive} and an answer: {positive} where {where}."


def _differences(found: Findings) -> str:
    if found.arranged is None or found.arranged.test is None:
        return "There are no rows for evaluation beside those of the development."
    if found.study.held_back.kind == "file":
        return "The test rows are of another file: state how they were recruited."
    return (
        "The test rows are a random part of the same table, so that they do not differ by design."
    )


def _data_sharing(found: Findings) -> str:
    return (
        "The data are named by their SHA-256 in this report and are not part of it. State where "
        "they can be had."
    )


def _code(found: Findings) -> str:
    return f"HIPAD Workbench {__version__}, open source; the part Repeat it has the commands."


def _flow(found: Findings) -> str:
    return "; ".join(f"{step.words}: {step.n:,}" for step in flow(found))


def _characteristics(found: Findings) -> str:
    summary = table_one(found)
    if not summary.rows:
        return ""
    more = f"; {summary.left_out:,} features that the model does not use are left out"
    return f"See the table of the training rows by class{more if summary.left_out else ''}."


def _compared(found: Findings) -> str:
    if found.assessment is None:
        return ""
    if found.assessment.source != "test":
        return "Not compared, as no test rows are opened."
    return "The table of the training rows by class has the means of the test rows beside them."


def _numbers(found: Findings) -> str:
    if found.arranged is None:
        return ""
    rows = found.arranged
    lines = [("development", rows.y_train)]
    if rows.y_test is not None and found.study.is_open:
        lines.append(("evaluation", rows.y_test))
    parts = [
        f"{what}: {len(y):,} rows, {int((y == rows.classes[1]).sum()):,} of them {rows.classes[1]}"
        for what, y in lines
    ]
    return f"{'; '.join(parts)}. Tuning used the rows of the development alone."


def _specification(found: Findings) -> str:
    return (
        f"{_features(found)} All weights, the intercept and the calculator stand in this report; "
        "the model file has them to the last digit."
    )


def _performance(found: Findings) -> str:
    if found.assessment is None:
        return ""
    return (
        f"Of {_whose(found)}: AUROC {_figure(found, 'roc_auc')}, sensitivity "
        f"{_figure(found, 'sensitivity')}, specificity {_figure(found, 'specificity')}, Brier "
        f"score {_figure(found, 'brier')}, calibration slope {_figure(found, 'calibration_slope')}."
    )


def _heterogeneity(found: Findings) -> str:
    if found.arranged is None or found.arranged.groups_train is None:
        return "Not examined: no column names clusters."
    return "Clusters widen the intervals; figures for each of them are not shown."


def _interpretation(found: Findings) -> str:
    changed = rules_changed(found)
    text = f"Rules: {changed}. " if changed else ""
    if found.differences:
        one = found.differences[0].difference
        text += (
            f"With the rules balanced accuracy differs by {100 * one.value:+.1f} points "
            f"({100 * one.low:+.1f} to {100 * one.high:+.1f}) from a model without them."
        )
    return text


def _limits(found: Findings) -> str:
    lines = []
    if found.arranged is not None:
        lines.append(f"{count(len(found.arranged.y_train), 'training row')}")
    if found.assessment is not None and found.assessment.source == "cross-validated":
        lines.append("figures of one data set, by cross-validation, not of new patients")
    if found.stability is not None:
        lines.append(
            f"a risk moves by {100 * found.stability.mean_spread:.1f} points from refit to refit"
        )
    return f"{listed(lines).capitalize()}." if lines else ""


def _poor_input(found: Findings) -> str:
    return (
        "A missing value is replaced as in training, and the calculator says so; values outside "
        "those of the training rows are pointed out. A level of a text column that was never seen "
        "counts zero."
    )


def _users(found: Findings) -> str:
    n = found.classifier.support_.size
    return (
        f"Users type {count(n, 'value')} or load a table; no statistical knowledge is needed to "
        "read the answer, but its limits must be known."
    )


def _next(found: Findings) -> str:
    return "The model is to be evaluated on patients of other places and later times before use."


TRIPOD: Final[tuple[Item, ...]] = (
    Item("1", "Title", "Title", "Does the title name development or evaluation, whom the model is "
         "for, and the outcome?", "draft", _title),
    Item("2", "Abstract", "Abstract", "Does a structured summary tell the essentials?",
         "draft", _abstract),
    Item("3a", "Introduction", "Background", "Which clinical decision is it for, diagnosis or "
         "prognosis, and which models are there already?", "asked"),
    Item("3b", "Introduction", "Background", "Who are the patients, where in their care is the "
         "model used, and by whom?", "asked"),
    Item("3c", "Introduction", "Background", "Which inequalities in health between groups of "
         "people are known here?", "asked"),
    Item("4", "Introduction", "Objectives", "What was the aim: to develop a model, to evaluate "
         "one, or both?", "draft", _objectives),
    Item("5a", "Methods", "Data", "Where do the data come from, why these, and how representative "
         "are they?", "draft", _sources),
    Item("5b", "Methods", "Data", "When were patients recruited, and until when followed?",
         "asked"),
    Item("6a", "Methods", "Participants", "In which setting, and in how many centres where?",
         "asked"),
    Item("6b", "Methods", "Participants", "Who was eligible and who was not?", "asked"),
    Item("6c", "Methods", "Participants", "Which treatments did they have, and how was that "
         "dealt with?", "asked"),
    Item("7", "Methods", "Data preparation", "What was done to the data and their quality, and "
         "was it the same for all groups of people?", "run", _preparation),
    Item("8a", "Methods", "Outcome", "What exactly is the outcome, at which time, and how was it "
         "found out?", "draft", _outcome_blinding),
    Item("8b", "Methods", "Outcome", "Where its assessment is a judgement: by whom, with which "
         "training?", "asked"),
    Item("8c", "Methods", "Outcome", "Was it assessed without knowledge of the predictors?",
         "asked"),
    Item("9a", "Methods", "Predictors", "How were the first predictors chosen, before the model?",
         "run", _candidates),
    Item("9b", "Methods", "Predictors", "What is each predictor, when and how was it measured, "
         "blind to what?", "draft", _predictors),
    Item("9c", "Methods", "Predictors", "Where measuring one is a judgement: by whom, with which "
         "training?", "asked"),
    Item("10", "Methods", "Sample size", "How was the number of patients arrived at, and is it "
         "enough?", "draft", _sample_size),
    Item("11", "Methods", "Missing data", "What was done about missing values, and why were data "
         "left out?", "run", _missing),
    Item("12a", "Methods", "Analysis", "Which data served development and which evaluation?",
         "run", _partition),
    Item("12b", "Methods", "Analysis", "In which form did predictors enter: scaled, transformed, "
         "cut?", "run", _handling),
    Item("12c", "Methods", "Analysis", "Which kind of model, built in which steps, tuned and "
         "validated how?", "run", _model),
    Item("12d", "Methods", "Analysis", "How were differences between clusters such as hospitals "
         "dealt with?", "run", _clusters),
    Item("12e", "Methods", "Analysis", "By which measures and plots was the model judged, and "
         "against which others?", "run", _measures),
    Item("12f", "Methods", "Analysis", "Was the model updated after its evaluation?",
         "run", _updating),
    Item("12g", "Methods", "Analysis", "How were predictions computed when it was evaluated?",
         "run", _applied),
    Item("13", "Methods", "Class imbalance", "What was done about unequal classes, and were risks "
         "calibrated again?", "run", _imbalance),
    Item("14", "Methods", "Fairness", "What was done so that the model is fair?",
         "draft", _fairness),
    Item("15", "Methods", "Model output", "What does it give out, and by which threshold does it "
         "decide?", "run", _output),
    Item("16", "Methods", "Training and evaluation", "How do the data of development and "
         "evaluation differ?", "draft", _differences),
    Item("17", "Methods", "Ethics", "Which committee approved it, and how did patients consent?",
         "asked"),
    Item("18a", "Open science", "Funding", "Who paid, and with which part in the study?", "asked"),
    Item("18b", "Open science", "Conflicts of interest", "Which interests do the authors have?",
         "asked"),
    Item("18c", "Open science", "Protocol", "Where is the protocol, or was there none?", "asked"),
    Item("18d", "Open science", "Registration", "Where is it registered, or is it not?", "asked"),
    Item("18e", "Open science", "Data sharing", "Where can the data be had?",
         "draft", _data_sharing),
    Item("18f", "Open science", "Code sharing", "Where can the code be had?", "draft", _code),
    Item("19", "Patients and public", "Involvement", "How did patients and the public take part?",
         "asked"),
    Item("20a", "Results", "Participants", "How many patients were there at each step, with and "
         "without the outcome?", "run", _flow),
    Item("20b", "Results", "Participants", "Who were they, with how many missing values?",
         "run", _characteristics),
    Item("20c", "Results", "Participants", "How do patients of the evaluation differ from those "
         "of the development?", "draft", _compared),
    Item("21", "Results", "Model development", "How many patients and events were in each "
         "analysis?", "run", _numbers),
    Item("22", "Results", "Model specification", "What is the whole model, so that others can "
         "use it?", "run", _specification),
    Item("23a", "Results", "Performance", "How good is it, with intervals, also in subgroups?",
         "run", _performance),
    Item("23b", "Results", "Performance", "How does that differ between clusters?",
         "draft", _heterogeneity),
    Item("24", "Results", "Model updating", "What came of an update, if there was one?",
         "run", _updating),
    Item("25", "Discussion", "Interpretation", "What do the results mean, also for fairness, "
         "beside earlier studies?", "draft", _interpretation),
    Item("26", "Discussion", "Limitations", "What limits the study, and what follows from that?",
         "draft", _limits),
    Item("27a", "Discussion", "Usability", "What if values are missing or poor when the model is "
         "used?", "run", _poor_input),
    Item("27b", "Discussion", "Usability", "What must its users do, and know?", "draft", _users),
    Item("27c", "Discussion", "Usability", "What is to be studied next?", "draft", _next),
)  # fmt: skip

# --------------------------------------------------------------------------------------------------
# PROBAST+AI: the topics of the analysis domain on which a run has evidence. The judgement is left
# to the assessor; "speaks for" and "speaks against" say where the evidence points.

Points = Literal["speaks for", "speaks against", "to be judged"]


@dataclass(frozen=True)
class Signal:
    """A topic of PROBAST+AI's analysis domain: the evidence of the run, and where it points."""

    part: Literal["development", "evaluation"]
    question: str
    points: Points
    evidence: str


def probast_signals(found: Findings) -> list[Signal]:
    """Return what the run has to say on the analysis domain of PROBAST+AI."""
    return [*_development(found), *_evaluation(found)]


def _development(found: Findings) -> list[Signal]:
    rows = found.arranged
    lines: list[Signal] = []

    def add(question: str, points: Points, evidence: str) -> None:
        lines.append(Signal("development", question, points, evidence))

    size = sample_size(found)
    if rows is not None:
        enough = size is not None and len(rows.y_train) >= size.n
        add("Were there enough patients with the outcome to develop the model?",
            "speaks for" if enough else "speaks against", _sample_size(found))  # fmt: skip
    add("Did predictors enter in an appropriate form?", "to be judged", _handling(found))
    if rows is not None:
        lost = sum(step.n for step in flow(found) if step.lost and "dropped" in step.words)
        add("Were all enrolled patients analysed?", "speaks against" if lost else "speaks for",
            f"{count(lost, 'row')} of known class dropped. {_flow(found)}.")  # fmt: skip
        dropped = rows.train.options.missing == "drop rows"
        add("Were missing values handled appropriately?",
            "speaks against" if dropped else "to be judged",
            f"{_missing(found)} Single values were filled, not several drawn.")  # fmt: skip
    add("Was univariable selection of predictors avoided?", "speaks for", _candidates(found))
    add("Where classes were balanced, were risks calibrated again?", "speaks for",
        _imbalance(found))  # fmt: skip
    add("Was overfitting dealt with in building and tuning the model?", "speaks for",
        f"{_model(found)} The penalties shrink the weights.")  # fmt: skip
    if rows is not None:
        add("Were clusters, censoring and other complexities taken into account?",
            "speaks for" if rows.groups_train is not None else "to be judged",
            f"{_clusters(found)} Times of follow-up are not modelled.")  # fmt: skip
    add("Do the reported predictors and weights belong to the final model?", "speaks for",
        f"{_features(found)} The tables of this report are written from the fitted model itself"
        + (", and fitting again gave the same one." if found.repeats else "."))  # fmt: skip
    return lines


def _evaluation(found: Findings) -> list[Signal]:
    assessment = found.assessment
    if assessment is None:
        return []
    lines: list[Signal] = []

    def add(question: str, points: Points, evidence: str) -> None:
        lines.append(Signal("evaluation", question, points, evidence))

    positive = int(assessment.rows.positive.sum())
    rarer = min(positive, len(assessment.rows) - positive)
    add("Were there enough patients with the outcome to judge the model?",
        "speaks for" if rarer >= FEW_EVENTS else "speaks against",
        f"{_whose(found)}: {rarer:,} of the rarer class; below {FEW_EVENTS} intervals are "
        "wide.")  # fmt: skip
    study = found.study
    if assessment.source == "test":
        seal = study.seal
        openings = 0 if seal is None else len(seal.openings)
        once = openings <= 1 and not (seal is not None and seal.demonstration)
        add("Were patients of the evaluation kept out of everything that was learnt?",
            "speaks for" if once else "speaks against",
            f"Test set: {'no record' if seal is None else seal.words}. Preparation, tuning and "
            "rule weights were learnt from the training rows alone.")  # fmt: skip
    else:
        add("Were patients of the evaluation kept out of everything that was learnt?",
            "speaks for",
            f"The whole fit was repeated without each of {study.analysis.folds} folds: scaling, "
            "tuning, trust in rules, calibration. Medians that fill gaps were learnt "
            "once.")  # fmt: skip
    add("Were discrimination, calibration and usefulness all judged?", "speaks for",
        _performance(found))  # fmt: skip
    tried = max(study.edits, len(study.versions))
    if found.corrected is not None:
        evidence = (
            f"{count(found.corrected.versions, 'version')} were judged on these rows; the figure "
            f"corrected for the choice is {percent(found.corrected.corrected.value)}, uncorrected "
            f"{percent(found.corrected.uncorrected)}."
        )
        add("Was optimism of trying several versions dealt with?", "speaks for", evidence)
    else:
        add("Was optimism of trying several versions dealt with?",
            "to be judged" if tried > 1 else "speaks for",
            f"Versions of rules and settings that were run: {tried:,}.")  # fmt: skip
    if found.stability is not None:
        add("Is the model stable under other samples of the same patients?", "to be judged",
            f"{count(found.stability.done, 'refit')} to halves of the rows: a risk moves by "
            f"{100 * found.stability.mean_spread:.1f} points on average, and "
            f"{percent(found.stability.mean_flip_share)} of answers change.")  # fmt: skip
    add("Was the model judged as it will be used?", "to be judged",
        f"{_applied(found)} Risks hold at the prevalence of the training rows.")  # fmt: skip
    return lines
