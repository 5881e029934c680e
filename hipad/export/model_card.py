"""A model card: what a model is for, how it was made and where it ends, as Markdown."""

from __future__ import annotations

import json

from hipad import __version__
from hipad.estimator.model_io import StoredModel
from hipad.export.scoring import NumberTerm, ScoringFormula
from hipad.utils import count, number

MOST_LISTED = 20


def to_card(stored: StoredModel, formula: ScoringFormula) -> str:
    """Return the card of a model, with the front matter that model hubs read.

    Figures on held-out rows are not in a model file, so the card names where they belong and makes
    none up.

    Parameters
    ----------
    stored : StoredModel
        The model as read from its file.
    formula : ScoringFormula
        The same model over raw columns.
    """
    clf = stored.classifier
    negative, positive = formula.classes
    front = [
        "---",
        "library_name: hipad",
        "pipeline_tag: tabular-classification",
        "tags:",
        *(f"- {tag}" for tag in ("support-vector-machine", "expert-rules", "sparse")),
        f"model_name: {json.dumps(f'{positive} against {negative}')}",
        "---",
    ]
    features = count(clf.support_.size, "feature")
    answer = "the score is above zero"
    if formula.threshold is not None:
        answer = f"the risk is at least {formula.threshold:.1%}"
    sections = [
        f"# {_plain(positive)} against {_plain(negative)}",
        "",
        f"A sparse linear classifier of `{_plain(formula.outcome)}` with {features} of "
        f"{clf.n_features_in_:,}, fitted with HIPAD Workbench {__version__}. The answer is "
        f"{_plain(positive)} where {answer}.",
        "",
        "## How it was made",
        "",
        f"- Solver: {clf.solver_ or 'not recorded'}.",
        f"- Penalties: lambda1 = {number(clf.lambda1_)}, lambda2 = {number(clf.lambda2_)}.",
        f"- Certificate: {_plain(str(clf.certificate_))}.",
        f"- Training data (SHA-256): `{clf.data_sha256_}`.",
        "",
        "## Rules of experts",
        "",
        *_rules(stored),
        "",
        "## Features",
        "",
        "| column | weight | stands for a missing value |",
        "| --- | --- | --- |",
        *_features(formula),
        "",
        "## Performance",
        "",
        "Figures on rows that the model has not seen belong here: the Results page gives them with "
        "intervals. None is stated by the model file itself.",
        "",
        "## Limits",
        "",
        "- Risks hold where rows come from the same population as the training rows; elsewhere "
        "state the prevalence, and recalibrate.",
        "- Values outside the range seen in training are extrapolated along a line.",
        "- The model describes associations. It does not say what would happen if a value were "
        "changed.",
    ]
    return "\n".join([*front, "", *sections]) + "\n"


def _rules(stored: StoredModel) -> list[str]:
    records = stored.classifier.rule_report_
    if not records:
        return ["None."]
    found = []
    for record in records:
        found.append(f"- `{_plain(record.text)}`")
        found += [f"  - {_plain(line)}" for line in record.lines]
    return found


def _features(formula: ScoringFormula) -> list[str]:
    rows = [
        (abs(term.weight), term.column, term.weight, _stand_in(term)) for term in formula.numbers
    ]
    rows += [
        (abs(weight), f"{category.column} = {level}", weight, "counts zero")
        for category in formula.categories
        for level, weight in category.weights
    ]
    rows.sort(key=lambda row: (-row[0], row[1]))
    shown = [
        f"| {_plain(name)} | {number(weight)} | {gap} |"
        for _, name, weight, gap in rows[:MOST_LISTED]
    ]
    if len(rows) > MOST_LISTED:
        shown.append(f"| and {len(rows) - MOST_LISTED:,} more | | |")
    return shown


def _stand_in(term: NumberTerm) -> str:
    return "no answer" if term.fill is None else number(term.fill)


def _plain(words: str) -> str:
    """Return a name from a file as text that no Markdown reader takes for markup."""
    one_line = " ".join(words.split())
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]<>()#|!&" else sign for sign in one_line)
