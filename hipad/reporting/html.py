"""The report of a study: one HTML page that needs nothing else, on a screen, a phone or paper.

    text = report_page(found)                      # of `hipad.reporting.analysis.analyse`

Every part of the page is an `Html`; whatever else is put into an element is text and is escaped
there, in one place. The page asks for nothing, and its policy forbids it to.
"""

from __future__ import annotations

import base64
import math
import shlex
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from typing import Any, Final
from unicodedata import category

import numpy as np

from hipad import __version__
from hipad.data.roles import positive_line
from hipad.evaluation.curves import (
    Bins,
    Curve,
    calibration_bins,
    calibration_curve,
    decision_curve,
    risk_distribution,
    roc_curve,
)
from hipad.evaluation.intervals import Estimate
from hipad.evaluation.metrics import METRICS, ScoredRows
from hipad.evaluation.new_rows import sets_of, undecided
from hipad.evaluation.stability import Stability
from hipad.exceptions import DataError
from hipad.experiments.report import circumstances
from hipad.export.calculator import calculator_parts
from hipad.export.scoring import ScoringFormula
from hipad.reporting import svg_charts
from hipad.reporting.analysis import Findings
from hipad.reporting.guidelines import TRIPOD, ItemAnswer, probast_signals, tripod_answers
from hipad.reporting.repeat import command, figures, script
from hipad.reporting.study_file import write_study
from hipad.reporting.summaries import (
    MOST_FEATURES,
    RuleSummary,
    algorithm,
    flow,
    rule_summaries,
    settings,
    table_one,
    training_ranges,
    weight_measure,
    weights,
)
from hipad.utils import UNSEEN, FloatArray, count, number, one_line, percent

MOST_BYTES: Final = 3_000_000
MOST_SCRIPT: Final = 200_000  # letters that are shown; a longer one is only saved
MOST_CALCULATED: Final = 300  # fields that a person can be asked for
MOST_RULES: Final = 100  # that are told one by one
LONGEST_NAME: Final = 120
LONGEST_TEXT: Final = 20_000
COVERAGE: Final = 0.9
OFTEN: Final = 0.5
FEWEST_BINS, MOST_BINS, ROWS_A_BIN = 4, 10, 15
TOP: Final = 20  # weights and stable features that are drawn
POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)


# --------------------------------------------------------------------------------------------------
# Elements: what is no `Html` is text.


class Html(str):
    """Markup that is done."""

    __slots__ = ()


Part = str | Html | None


def element(name: str, *parts: Part, **attributes: str) -> Html:
    """Return an element; texts in it and values of attributes are escaped.

    >>> element("p", "a < b", element("b", "!"), class_="x")
    '<p class="x">a &lt; b<b>!</b></p>'
    """
    text = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
    )
    return Html(f"<{name}{text}>{joined(parts)}</{name}>")


def joined(parts: Iterable[Part]) -> Html:
    """Return parts one after another."""
    return Html("".join(p if isinstance(p, Html) else shown(p) for p in parts if p is not None))


def shown(text: str, longest: int = LONGEST_TEXT) -> Html:
    """Return a text as it is to be read: escaped, without signs that are not seen."""
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return Html(escape("".join(c if c == "\n" or category(c) not in UNSEEN else " " for c in cut)))


def named(name: str) -> Html:
    """Return a name from a file."""
    return element("bdi", one_line(name, LONGEST_NAME))


def table(head: Sequence[str], rows: Iterable[Sequence[Part]], *, kind: str = "") -> Html:
    """Return a table; on a phone each row becomes a card whose cells have the heads beside them."""
    cells = joined(element("th", name, scope="col") for name in head)
    lines = []
    for row in rows:
        first, *rest = row
        line = [element("th", first, scope="row")]
        line += [
            element("td", cell, data_head=name) for name, cell in zip(head[1:], rest, strict=True)
        ]
        lines.append(element("tr", joined(line)))
    body = element("tbody", joined(lines))
    return element("table", element("thead", element("tr", cells)), body, class_=kind)


def items(lines: Iterable[Part], **attributes: str) -> Html:
    """Return a list."""
    return element("ul", joined(element("li", line) for line in lines), **attributes)


def figure(picture: str, title: str, text: str) -> Html:
    """Return a chart with its heading and what it shows in a sentence."""
    caption = element("figcaption", element("strong", title), element("span", text))
    return element("figure", Html(picture), caption)


def section(key: str, title: str, *parts: Part) -> Html:
    """Return a part of the page with its heading."""
    return element("section", element("h2", title), *parts, id=f"part-{key}")


# --------------------------------------------------------------------------------------------------
# The page.


def report_page(found: Findings, *, made: datetime | None = None) -> str:
    """Return the report of a study as one HTML file.

    Parameters
    ----------
    found : Findings
        What was found: see `hipad.reporting.analysis.analyse`.
    made : datetime, default=None
        When it is made; None is now.
    """
    page = _page(found, made or datetime.now(UTC), calculator=True)
    if len(page.encode()) > MOST_BYTES:  # names of thousands of letters
        page = _page(found, made or datetime.now(UTC), calculator=False)
    return page


def _page(found: Findings, made: datetime, *, calculator: bool) -> str:
    parts = [
        ("summary", "Summary", _summary),
        ("data", "Data", _data),
        ("rules", "Rules", _rules),
        ("knowledge", "Expert knowledge", _knowledge),
        ("model", "Model", _model),
        ("performance", "Performance", _performance),
        ("stability", "Stability", _stability),
        ("calculator", "Calculator", _calculator if calculator else _no_calculator),
        ("testing", "Test set and versions tried", _testing),
        ("limits", "Limits of use", _limits),
        ("tripod", "TRIPOD+AI", _tripod),
        ("probast", "PROBAST+AI", _probast),
        ("repeat", "Repeat it", _repeat),
        ("software", "Software", _software),
    ]
    title = found.study.notes.title or _usual_title(found)
    bodies = [section(key, head, make(found)) for key, head, make in parts]
    links = items(element("a", head, href=f"#part-{key}") for key, head, _ in parts)
    nav = element("nav", element("details", element("summary", "Contents"), links, open=""))
    top = element(
        "header",
        element("h1", one_line(title, 300)),
        element("p", f"Report of {made:%Y-%m-%d %H:%M} UTC, HIPAD Workbench {__version__}."),
    )
    script = Html(_script())
    style = Html(files("hipad.reporting").joinpath("report.css").read_text("utf-8"))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        + joined([element("title", one_line(title, 300)), element("style", style)])
        + "</head>\n"
        + element("body", nav, element("main", top, *bodies), element("script", script))
        + "\n</html>\n"
    )


def _script() -> str:
    return files("hipad.reporting").joinpath("report.js").read_text("utf-8")


def _usual_title(found: Findings) -> str:
    return f"{found.classes[1]} against {found.classes[0]}"


def _interval(one: Estimate, *, share: bool = False) -> str:
    """Return a figure with its interval."""
    if math.isnan(one.value):
        return "–"
    tell = percent if share else lambda value: number(value, 3)
    return f"{tell(one.value)} ({tell(one.low)} to {tell(one.high)})"


# --------------------------------------------------------------------------------------------------
# Summary.


def _summary(found: Findings) -> Html:
    notes, parts = found.study.notes, []
    if notes.question:
        parts.append(element("p", element("strong", "Question. "), notes.question, class_="text"))
    parts.append(element("p", *verdict(found), class_="verdict"))
    if found.assessment is not None:
        cards = [
            ("Balanced accuracy", "balanced_accuracy", True),
            ("Area under ROC", "roc_auc", False),
            ("Sensitivity", "sensitivity", True),
            ("Specificity", "specificity", True),
        ]
        lines = []
        for title, name, share in cards:
            one = found.assessment.rows.measure(name)
            value = "–" if math.isnan(one.value) else (
                percent(one.value) if share else number(one.value, 3)
            )  # fmt: skip
            ends = "" if math.isnan(one.value) else (
                f"{percent(one.low)} to {percent(one.high)}" if share
                else f"{number(one.low, 3)} to {number(one.high, 3)}"
            )  # fmt: skip
            lines.append(
                element("div", element("span", title), element("b", value), element("small", ends))
            )
        parts.append(element("div", *lines, class_="cards"))
        parts.append(element("p", source_words(found), class_="note"))
    if notes.remarks:
        parts.append(element("p", element("strong", "Notes. "), notes.remarks, class_="text"))
    return joined(parts)


def verdict(found: Findings) -> list[Part]:
    """Return the result in a sentence or two."""
    if found.assessment is None:
        return [
            "This report is made of a model file alone, without data: it has no figure of how "
            "well the model predicts. Give the data to get them."
        ]
    one = found.assessment
    right = one.rows.measure("accuracy")
    k = round(right.value * len(one.rows))
    whose = {
        "test": "of the test set, which the model has not seen,",
        "cross-validated": "of the training set, each judged by a model fitted without it,",
    }[one.source]
    lines: list[Part] = [
        f"Of {one.whom} {whose} the model puts ",
        element("strong", f"{k:,} in the right class: {percent(right.value)}"),
        f" (95 % interval {percent(right.low)} to {percent(right.high)}). ",
    ]
    if found.differences:
        points, low, high = (
            100 * v
            for v in (
                found.differences[0].difference.value,
                found.differences[0].difference.low,
                found.differences[0].difference.high,
            )
        )
        span = f"({low:+.1f} to {high:+.1f})"
        if low <= 0 <= high:
            lines.append(
                f"The rules change balanced accuracy by {points:+.1f} points {span}: within what "
                "chance explains."
            )
        else:
            verb = "gain" if points > 0 else "cost"
            lines.append(f"The rules {verb} {abs(points):.1f} points of balanced accuracy {span}.")
    return lines


def source_words(found: Findings) -> str:
    """Say which rows the figures are of, and whether the test set is sealed."""
    study = found.study
    assert found.assessment is not None
    if found.assessment.source == "test":
        words = "no record" if study.seal is None else study.seal.words
        return f"Figures are of the test set ({words}). Intervals are of 95 %.{kept_words(found)}"
    if found.arranged is None or found.arranged.test is None:
        return (
            "There is no test set: every figure comes from training data, by cross-validation "
            "that repeats the whole fit. Intervals are of 95 %." + kept_words(found)
        )
    return (
        "The test set is sealed for this version: every figure comes from training data, by "
        "cross-validation that repeats the whole fit. Intervals are of 95 %." + kept_words(found)
    )


def kept_words(found: Findings) -> str:
    """Name the cut-off that was chosen, if one was."""
    return "" if found.view.threshold is None else f" {answer_words(found)}"


# --------------------------------------------------------------------------------------------------
# Data.


def _data(found: Findings) -> Html:
    rows, study = found.arranged, found.study
    parts: list[Part] = []
    files_: list[tuple[Part, ...]] = [
        (named(one.name), one.role, element("code", one.sha256 or "not recorded", class_="hash"))
        for one in study.tables
    ]
    if study.sample:
        drawn = ", ".join(f"{name} = {value}" for name, value in study.draw.items())
        digest = "" if rows is None else rows.train.table.sha256
        words = f"sample of the software{f' ({drawn})' if drawn else ''}"
        files_.append((named(study.sample), words, element("code", digest, class_="hash")))
    if files_:
        parts.append(table(("file", "what it is for", "SHA-256"), files_))
    parts.append(
        element("p", "SHA-256 of the prepared training rows: ",
                element("code", found.classifier.data_sha256_, class_="hash"))
    )  # fmt: skip
    if rows is None:
        return joined([*parts, element("p", "The rows are not at hand.")])
    parts += [element("h3", "Flow of rows"), _flow(found)]
    line = positive_line(rows.classes, study.decided_by)
    parts.append(element("p", line[:1].upper() + line[1:] + "."))
    parts += [element("h3", "The training rows, by class"), _table_one(found)]
    steps = [str(step) for step in rows.train.steps]
    parts.append(element("h3", "What was done to the data"))
    parts.append(items(steps) if steps else element("p", "Nothing was changed."))
    lines = [
        (named(name), str(role.role), role.reason)
        for name, role in list(rows.train.roles.items())[:MOST_FEATURES]
    ]
    if lines:
        parts.append(element("h3", "Columns that are no features"))
        parts.append(table(("column", "role", "why"), lines))
    return joined(parts)


def _flow(found: Findings) -> Html:
    return element(
        "ol",
        *(
            element("li", element("b", f"{step.n:,}"), " ", step.words,
                    class_="lost" if step.lost else "kept")
            for step in flow(found)
        ),
        class_="flow",
    )  # fmt: skip


def _table_one(found: Findings) -> Html:
    summary, classes = table_one(found), found.classes
    has_test = any(not math.isnan(row.test) for row in summary.rows)
    head = ["feature", "all", classes[0], classes[1], "difference", "range", "missing"]
    head += ["test rows"] if has_test else []

    def cells(row: Any) -> list[Part]:
        first: Part = named(row.name)
        if row.in_model:
            first = joined([first, " ", element("abbr", "●", title="has a weight in the model")])
        parts: list[Part] = [first, *(_spread(each) for each in
                                      (row.overall, row.negative, row.positive))]  # fmt: skip
        apart = "–" if math.isnan(row.difference) else f"{row.difference:+.2f}"
        span = "–" if math.isnan(row.least) else f"{number(row.least)} to {number(row.largest)}"
        parts += [apart, span, f"{row.missing:,}"]
        return parts + ([number(row.test)] if has_test else [])

    words = (
        "Mean (standard deviation) of measured values; the difference is that of the classes in "
        "standard deviations. ● has a weight in the model."
    )
    if summary.left_out:
        words += f" {summary.left_out:,} further features are left out."
    one_lined = [one_line(name, 40) for name in head]
    return joined(
        [
            table(one_lined, map(cells, summary.rows), kind="wide"),
            element("p", words, class_="note"),
        ]
    )


def _spread(pair: tuple[float, float]) -> str:
    mean, deviation = pair
    if math.isnan(mean):
        return "–"
    return number(mean) if math.isnan(deviation) else f"{number(mean)} ({number(deviation, 3)})"


# --------------------------------------------------------------------------------------------------
# Rules and expert knowledge.


def _rules(found: Findings) -> Html:
    summary = rule_summaries(found)
    stated = found.classifier.knowledge_report_
    if not summary and not stated:
        return element("p", "There are no rules: the model was learnt from data alone.")
    parts: list[Part] = []
    if summary:
        head = ("rule", "outcome", "applies to", "right", "weight", "trust", "effect")
        lines = [
            (joined([element("b", one_line(one.record.label, 60)), " ",
                     element("code", one.record.text)]),
             named(one.record.outcome), one.applies, one.right, one.weight, one.trust, one.effect)
            for one in summary[:MOST_RULES]
        ]  # fmt: skip
        parts.append(table(head, lines, kind="wide"))
        bars = [_bar(one, found) for one in summary[:TOP] if found.arranged is not None]
        if bars:
            text = (
                "A rule whose dot lies to the right of its line says more than chance. Rules "
                "that apply to no training row are judged by what they do to the model alone."
            )
            row = found.study.row_word
            parts.append(figure(svg_charts.rules_chart(bars, row), "Rules on the rows", text))
        details = [
            element(
                "details",
                element("summary", one_line(one.record.label, 60)),
                items(one.record.lines),
            )
            for one in summary[:MOST_RULES]
        ]
        parts += [element("h3", "What each rule did, in detail"), *details]
        if len(summary) > MOST_RULES:
            parts.append(element("p", f"{len(summary) - MOST_RULES:,} further rules are left out."))
    if stated:
        parts.append(element("h3", "Statements about features"))
        parts += [
            joined([element("p", element("code", one.text)), items(one.lines)])
            for one in stated[:MOST_RULES]
        ]
    if found.study.rules.strip():
        parts.append(element("h3", "The rules as they were written"))
        parts.append(element("pre", shown(found.study.rules)))
    if found.study.blocks:
        parts.append(element("h3", "Blocks"))
        named_ = list(found.study.blocks.items())[:MOST_FEATURES]
        parts.append(
            table(("block", "features"), [(named(k), one_line(v, 400)) for k, v in named_])
        )
    return joined(parts)


def _bar(one: RuleSummary, found: Findings) -> svg_charts.RuleBar:
    train, (_, low, high) = one.record.train, one.share
    right, fired = (0, 0) if train is None else (len(train.right), len(train.fired))
    return svg_charts.RuleBar(
        one.record.label, right, fired, low, high,
        0.0 if math.isnan(one.common) else one.common, one.record.outcome == found.classes[1],
    )  # fmt: skip


SEEN: Final = {"before": "before", "after": "after", "": "not stated"}


def _knowledge(found: Findings) -> Html:
    summary = rule_summaries(found)
    if not summary:
        return element("p", "No expert knowledge went into the model.")
    words = (
        "Reporting guidelines have no item for expert knowledge. For each rule: who said it, when, "
        "before or after seeing these data, its source, its weight, what the data said, what it "
        "changed. Who wrote a rule after seeing the data has used them twice."
    )
    head = (
        "rule", "who", "when", "data seen", "source", "weight", "what the data said",
        "what it changed",
    )  # fmt: skip
    lines = []
    for one in summary[:MOST_RULES]:
        own = one.provenance
        said = "nothing: it applies to none of the rows"
        if one.right:
            said = f"applies to {one.applies} rows, right on {one.right}"
        if one.record.train is None:
            said = "not at hand"
        if one.trust:
            said += f"; trust {one.trust}"
        effect = "" if one.record.effect is None else str(one.record.effect)
        lines.append(
            (element("code", one.record.text), own.who or "not stated", own.when or "not stated",
             SEEN[own.saw_data], own.source or "not stated", one.weight, said, effect)
        )  # fmt: skip
    return joined([element("p", words), table(head, lines, kind="wide")])


# --------------------------------------------------------------------------------------------------
# The model.


def answer_words(found: Findings) -> str:
    """Say from where on the answer is the positive class."""
    threshold, positive = found.view.threshold, found.classes[1]
    if threshold is None:
        return f"The answer is {positive} where the score is above 0."
    return f"The answer is {positive} from risk {number(100 * threshold, 3)} % on."


def _model(found: Findings) -> Html:
    rows = weights(found)
    measure = weight_measure(found)
    scaled = measure == "per standard deviation"
    parts: list[Part] = [
        element(
            "p",
            f"{count(len(rows), 'feature')} of {found.classifier.n_features_in_:,} have a weight. "
            f"The score is their weighted sum and the intercept "
            f"{number(found.view.intercept, 6)}. {answer_words(found)}",
        )
    ]
    if rows:
        top = rows[:TOP]
        drawn = [row.per_deviation if scaled else row.weight for row in top]
        names = [row.name for row in top]
        text = f"The {count(len(top), 'strongest weight')}, {measure}."
        picture = svg_charts.weights_chart(names, drawn, found.classes, measure)
        parts.append(figure(picture, "Weights", text))
        lines = [
            (named(row.name), number(row.weight, 6),
             "–" if math.isnan(row.per_deviation) else number(row.per_deviation))
            for row in rows[:MOST_CALCULATED]
        ]  # fmt: skip
        whole = table(("feature", "weight", "per standard deviation"), lines)
        many = element("details", element("summary", "All weights"), whole)
        parts.append(many if len(lines) > TOP else whole)
        if len(rows) > MOST_CALCULATED:
            parts.append(element("p", f"{len(rows) - MOST_CALCULATED:,} weaker ones are left out."))
    parts += [element("h3", "Which algorithm ran"), items(algorithm(found))]
    if found.repeats is not None:
        words = (
            "The model was fitted again for this report and came out the same."
            if found.repeats
            else "The model was fitted again for this report and came out otherwise than the one "
            "that was saved: other software, or other data. The figures are of the new one."
        )
        parts.append(element("p", words, class_="" if found.repeats else "warn"))
    parts += [
        element("h3", "Settings"),
        table(("setting", "value", "meaning"),
              [(element("code", name), value, words) for name, value, words in settings(found)]),
    ]  # fmt: skip
    return joined(parts)


# --------------------------------------------------------------------------------------------------
# Performance.


def _performance(found: Findings) -> Html:
    one = found.assessment
    if one is None:
        return element("p", "No rows, no figures: see the summary.")
    own_name = "model" if one.without is None else "with rules"
    models = {own_name: one.rows}
    if one.without is not None:
        models["without rules"] = one.without
    head = ("figure", "what it says", *models)
    lines = [
        (name.replace("_", " "), metric.words.replace("row", one.noun),
         *(_interval(rows.measure(name)) for rows in models.values()))
        for name, metric in METRICS.items()
    ]  # fmt: skip
    parts: list[Part] = [
        element("p", source_words(found), class_="note"),
        table(head, lines, kind="figures"),
    ]
    if found.corrected is not None:
        summary = found.corrected
        parts.append(
            element(
                "p",
                f"Corrected for the choice among {summary.versions:,} versions, balanced accuracy "
                f"is {_interval(summary.corrected, share=True)}; uncorrected it is "
                f"{percent(summary.uncorrected)}.",
            )
        )
    if found.differences:
        parts.append(element("h3", "What the rules change"))
        parts.append(
            table(
                ("figure", "without rules", "with rules", "difference"),
                [(d.name.replace("_", " "),
                  _interval(d.first), _interval(d.second), _interval(d.difference))
                 for d in found.differences],
            )
        )  # fmt: skip
        parts.append(
            element("p", "The model without rules was tuned for itself on the same rows.",
                    class_="note")
        )  # fmt: skip
    parts.append(element("div", *_pictures(found, own_name), class_="pictures"))
    parts += [element("h3", "Cannot say"), *_cannot_say(found, own_name)]
    return joined(parts)


def _pictures(found: Findings, name: str) -> Iterator[Html]:
    one = found.assessment
    assert one is not None
    rows, other, noun = one.rows, one.without, one.noun
    area, slope = rows.measure("roc_auc"), rows.measure("calibration_slope")
    sensitivity, specificity = rows.measure("sensitivity"), rows.measure("specificity")
    yield figure(
        svg_charts.roc_chart(
            roc_curve(rows), None if other is None else roc_curve(other), name,
            (sensitivity, specificity),
        ),
        "ROC curve",
        f"A positive {noun} scores above a negative one in {percent(area.value)} of pairs "
        f"({percent(area.low)} to {percent(area.high)}). Shaded: 95 % band.",
    )  # fmt: skip
    if not rows.has_risks:
        return
    ratio = rows.measure("observed_expected")
    yield figure(
        svg_charts.calibration_chart(smooth_calibration(rows), bins_of(rows), noun),
        "Calibration",
        f"On the diagonal risks are right. Slope {_interval(slope)}; positive {noun}s observed "
        f"for each one expected: {_interval(ratio)}.",
    )
    decision = decision_curve(rows)
    useful = decision.useful_range
    text = (
        f"On these {noun}s the model serves better than acting on all or on nobody at risks from "
        f"{percent(useful[0], 0)} to {percent(useful[1], 0)}."
        if useful is not None
        else "At no risk does the model serve better than acting on all or on nobody."
    )
    yield figure(
        svg_charts.decision_chart(decision, None if other is None else decision_curve(other), name),
        "Decision curve",
        f"Net benefit: found positives less the harm of false alarms. {text}",
    )
    risks = rows.risks
    assert risks is not None
    means = [float(risks[rows.positive == side].mean()) for side in (True, False)]
    yield figure(
        svg_charts.risk_chart(risk_distribution(rows), found.classes, noun),
        "Risks by class",
        f"The mean risk is {percent(means[0])} among {noun}s of the positive class and "
        f"{percent(means[1])} among the others.",
    )


def bins_of(rows: ScoredRows) -> Bins:
    """Return groups of about as many rows each, as the Results page draws them."""
    return calibration_bins(rows, int(np.clip(len(rows) // ROWS_A_BIN, FEWEST_BINS, MOST_BINS)))


def smooth_calibration(rows: ScoredRows) -> Curve | None:
    """Return the smooth curve, None where so few rows, or so few risks, allow none."""
    try:
        return calibration_curve(rows)
    except (DataError, np.linalg.LinAlgError):
        return None


def _cannot_say(found: Findings, name: str) -> Iterator[Html]:
    one = found.assessment
    assert one is not None
    if one.p_values is None:
        yield element("p", f"There are too few training {one.noun}s of a class to tell.")
        return
    models = {name: one.p_values}
    if one.p_values_without is not None:
        models["without rules"] = one.p_values_without
    bars = [(title, _answer_shares(values)) for title, values in models.items()]
    own = undecided(one.p_values, COVERAGE, one.rows.groups)
    text = (
        f"To err for at most {percent(1 - COVERAGE, 0)} of each class, the model answers for "
        f"{percent(1 - own.value)} of the {one.noun}s and cannot say for "
        f"{_interval(own, share=True)}."
    )
    if one.most_coverage + 1e-12 < COVERAGE:
        text += (
            f" There are too few labelled {one.noun}s to rule out a class at more than "
            f"{percent(one.most_coverage)}."
        )
    yield figure(svg_charts.answers_chart(bars, found.classes), "Answers", text)


def _answer_shares(p_values: FloatArray) -> tuple[float, float, float]:
    inside = sets_of(p_values, COVERAGE)
    alone = inside.sum(axis=1) == 1
    negative, positive = (float(np.mean(alone & inside[:, k])) for k in (0, 1))
    return negative, 1.0 - negative - positive, positive


# --------------------------------------------------------------------------------------------------
# Stability.


def _stability(found: Findings) -> Html:
    own = found.stability
    if own is None or found.assessment is None:
        return element("p", "The model was not fitted again to parts of the rows.")
    noun = found.assessment.noun
    text = (
        f"{count(own.done, 'refit')}, each to a random half of the training rows: the risk of a "
        f"{noun} moves by {100 * own.mean_spread:.1f} points on average, and "
        f"{percent(own.mean_flip_share)} of answers change."
    )
    other = found.stability_without
    if other is not None:
        text += (
            f" Without the rules a risk moves by {100 * other.mean_spread:.1f} points, and "
            f"{percent(other.mean_flip_share)} of answers change."
        )
    often = int(np.count_nonzero(own.frequency >= OFTEN))
    text += f" {often:,} of {own.frequency.size:,} features are selected by at least half."
    if own.decoy_refits:
        text += (
            f" By decoys (shuffled copies of the features) about "
            f"{percent(own.false_discovery_share(OFTEN), 0)} of these are selected by chance."
        )
    names = found.classifier.feature_index_
    lines = [
        (named(names.name(row.column)), percent(row.frequency, 0), percent(row.positive_share, 0))
        for row in own.table(TOP)
    ]
    head = ("feature", "selected in", f"of these, for {one_line(found.classes[1], 30)}")
    return joined(
        [
            element("p", text),
            element("div", *_instability(own, found.assessment.rows.positive, noun),
                    class_="pictures"),
            table(head, lines),
        ]
    )  # fmt: skip


def _instability(own: Stability, positive: np.ndarray, noun: str) -> Iterator[Html]:
    risk, low, high = own.risk_instability()
    widest = percent(float(np.max(high - low)), 0)
    yield figure(
        svg_charts.risk_instability_chart(risk, low, high, noun),
        "Risk",
        f"Each line holds 95 % of the refits' risks of a {noun}; the longest is {widest}.",
    )
    at, share = own.classification_instability()
    sure = percent(float(np.mean(share < 0.05)), 0)
    yield figure(
        svg_charts.answer_instability_chart(at, share, noun),
        "Answer",
        f"The answer of {sure} of the {noun}s changes in fewer than one of 20 refits.",
    )
    try:
        lines = own.calibration_instability(positive)
        thresholds, benefits = own.decision_instability(positive)
    except (DataError, np.linalg.LinAlgError):  # too few rows, or too few different risks
        return
    if lines:
        yield figure(
            svg_charts.calibration_instability_chart(lines[:100]),
            "Calibration of refits",
            "One line per refit. The wider the bundle, the less the risks can be relied on.",
        )
    yield figure(
        svg_charts.decision_instability_chart(thresholds, benefits[:100]),
        "Net benefit of refits",
        "One line per refit: where they lie apart, so does the benefit.",
    )


# --------------------------------------------------------------------------------------------------
# Calculator.


def _calculator(found: Findings) -> Html:
    try:
        formula = ScoringFormula.of(found.stored)
    except DataError as error:
        return element("p", f"{error}.")
    terms = len(formula.numbers) + len(formula.categories)
    if not terms:
        return element("p", "The model has no feature: everybody gets the same risk.")
    ranges = training_ranges(found)
    parts: list[Part] = []
    if not ranges:
        parts.append(
            element("p", "The range of the training values is not at hand: values outside it "
                    "cannot be pointed out.", class_="note")
        )  # fmt: skip
    if terms > MOST_CALCULATED:
        parts.append(
            element("p", f"The model reads {terms:,} values; those left empty are filled as in "
                    "training.", class_="note")
        )  # fmt: skip
    parts.append(
        element("p", "For research, not a medical device. One row at a time; nothing is sent "
                "anywhere.", class_="note")
    )  # fmt: skip
    made = calculator_parts(formula, ranges, heading="h3")
    return element("div", *parts, Html(made), class_="calculator")


def _no_calculator(_: Findings) -> Html:
    return element("p", "The model's names are too long for a page: export it as a calculator.")


# --------------------------------------------------------------------------------------------------
# Test set, limits, guidelines, software.


def _testing(found: Findings) -> Html:
    study, parts = found.study, []
    kind = study.held_back.kind
    if kind == "none":
        parts.append(element("p", "No test rows were held back."))
    elif study.seal is None:
        parts.append(
            element("p", "There are test rows. No record tells who looked at them when: treat "
                    "figures on them with care.")
        )  # fmt: skip
    else:
        words = study.seal.words
        parts.append(element("p", f"Test set: {words}."))
        lines = [(one.when, f"{one.edits:,}", one.reason) for one in study.seal.openings]
        if lines:
            parts.append(table(("opened", "after so many edits", "why"), lines))
    parts.append(
        element("p", f"Versions of rules and settings that were run: {study.edits:,}; "
                f"cross-validated among them: {len(study.versions):,}. Whoever chooses among "
                "versions by what they show makes every uncorrected figure too good.")
    )  # fmt: skip
    return joined(parts)


def _limits(found: Findings) -> Html:
    lines = [
        "Risks hold where patients come from the same population as the training rows. Elsewhere "
        "the prevalence must be stated and the risks calibrated again.",
        "Values outside the range of the training rows are continued along a line, without "
        "evidence.",
        "The model describes associations. It does not say what would happen if a value were "
        "changed.",
        "It was evaluated on the rows named here alone. Before it is used in care it is to be "
        "evaluated on patients of other places and times.",
    ]
    rows = found.arranged
    if rows is not None:
        fewest = min(int((rows.y_train == name).sum()) for name in rows.classes)
        if fewest < 50:
            lines.append(
                f"Only {fewest:,} training rows are of the rarer class: figures are rough."
            )
    if found.assessment is not None and found.assessment.source == "cross-validated":
        lines.append("Figures are cross-validated: they are of models like this one, on its own "
                    "training rows.")  # fmt: skip
    return items(lines)


def _tripod(found: Findings) -> Html:
    answers = tripod_answers(found)
    status = [one.status for one in answers]
    kinds = dict.fromkeys(status)
    text = "; ".join(f"{status.count(kind)} {kind}" for kind in kinds)
    words = (
        f"All {len(TRIPOD)} sub-items of TRIPOD+AI (BMJ 2024;385:e078378) by their numbers; the "
        f"questions are in words of our own. Of these {text}."
    )
    head = ("item", "topic", "question", "answer")
    lines = [
        (one.item.number, f"{one.item.section}: {one.item.topic}", one.item.question,
         _item_answer(one))
        for one in answers
    ]  # fmt: skip
    return joined([element("p", words), table(head, lines, kind="wide items")])


def _item_answer(one: ItemAnswer) -> Html:
    parts: list[Part] = [element("span", one.status, class_=f"tag {_tag(one)}")]
    if one.answer:
        parts.append(element("div", one.answer))
    if one.written:
        parts.append(element("div", element("b", "Authors: "), one.written, class_="text"))
    return joined(parts)


def _tag(one: ItemAnswer) -> str:
    return {
        "filled by the run": "done",
        "answered": "done",
        "drafted, to be confirmed": "draft",
        "not answered yet": "open",
    }[one.status]


def _probast(found: Findings) -> Html:
    words = (
        "Evidence of the run on the analysis domain of PROBAST+AI (BMJ 2025;388:e082505), in words "
        "of our own. The judgement is that of the assessor; participants, predictors and outcome "
        "are for people to judge."
    )
    lines = [
        (signal.question, signal.part, signal.points, signal.evidence)
        for signal in probast_signals(found)
    ]
    head = ("question", "part", "the evidence", "what it is")
    return joined([element("p", words), table(head, lines, kind="wide items")])


def _repeat(found: Findings) -> Html:
    """The study and the script to take along; without rows there is no figure to repeat."""
    if found.assessment is None:
        return element("p", "No figures were computed: there is nothing to repeat.")
    stored, text = write_study(found.study), script(found)
    sentence = (
        f"Both hold every decision and no row of the data. The script compares "
        f"{count(len(figures(found)), 'figure')} with those of this report, to the last digit."
    )
    links = [_file("study.hipad", stored), _file("repeat.py", text.encode("ascii"))]
    words = ["opens in the app, and makes this report again:", "needs Python and HIPAD Workbench:"]
    calls = [command(found.study), _call(found)]
    lines = [
        joined([link, element("span", f" {word}"), element("pre", element("code", call))])
        for link, word, call in zip(links, words, calls, strict=True)
    ]
    whole = element("details", element("summary", "The script"),
                    element("pre", element("code", Html(escape(text)))))  # fmt: skip
    parts: list[Part] = [element("p", sentence), items(lines)]
    return joined([*parts, whole] if len(text) < MOST_SCRIPT else parts)


def _call(found: Findings) -> str:
    names = [shlex.quote(one.name or "FILE") for one in found.study.tables]
    return " ".join(["python", "repeat.py", *names])


def _file(name: str, content: bytes) -> Html:
    """A link by which the browser saves a file that lies in the page itself."""
    held = base64.b64encode(content).decode("ascii")
    return element("a", name, href=f"data:application/octet-stream;base64,{held}", download=name)


def _software(found: Findings) -> Html:
    study = found.study
    plan = study.analysis
    seeds = (
        f"Seeds: test rows {study.held_back.seed}, folds {plan.fold_seed} ({plan.folds} folds), "
        f"refits {plan.refit_seed} ({plan.refits} refits)."
    )
    return joined([element("p", seeds), items(circumstances())])
