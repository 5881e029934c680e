"""Displays draw the numbers that they hold, and hold those of the fit."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn import config_context

from hipad import HIPADClassifier, load_model
from hipad.display import (
    ConvergenceDisplay,
    LearningCurveDisplay,
    PathDisplay,
    RuleReportDisplay,
    StabilityDisplay,
)
from hipad.evaluation.stability import stability
from hipad.exceptions import DataError
from hipad.experiments.runner import Mean
from hipad.experiments.sensitivity import Curve, Worth
from tests.small import data, fit

RULES = "first: x0 >= 0.5 => 1\nsecond: x1 <= 0 => 0"


@pytest.fixture(autouse=True)
def closed():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def clf():
    return HIPADClassifier(RULES, lambda2=1.0).fit(*data(60))


def xy(container):
    return np.asarray(container.lines[0].get_xydata())


def test_path_display_draws_each_point(clf):
    shown = PathDisplay.from_estimator(clf)
    drawn = np.vstack([xy(line) for line in shown.lines_])
    told = {(p.lambda1, p.loss) for p in clf.path_}
    assert {tuple(point) for point in drawn.tolist()} == told
    assert shown.lambda1[shown.chosen] == clf.lambda1_
    bars = shown.lines_[0].lines[2][0].get_segments()
    heights = sorted(abs(b[1][1] - b[0][1]) / 2 for b in bars)
    own = [p.error for p in clf.path_ if p.lambda2 == max(q.lambda2 for q in clf.path_)]
    np.testing.assert_allclose(heights, sorted(own))


def test_path_display_by_features(clf):
    shown = PathDisplay.from_estimator(clf, x="features")
    sizes = np.sort(np.concatenate([xy(line)[:, 0] for line in shown.lines_]))
    assert sizes.tolist() == sorted(p.support_size for p in clf.path_)
    with pytest.raises(DataError, match="choose one"):
        shown.plot(x="loss")


def test_path_display_of_several_classes_asks_for_one():
    X, y = data(60)
    y = np.where((y == 1) & (X[:, 2] > 0), 2, y)
    several = HIPADClassifier(lambda2=1.0).fit(X, y)
    assert PathDisplay.from_estimator(several, label=2).lambda1.size == len(several.path_[2])
    with pytest.raises(DataError, match="one of the classes 0, 1, 2"):
        PathDisplay.from_estimator(several)


def test_path_display_without_a_path():
    with pytest.raises(DataError, match="lambda1='auto'"):
        PathDisplay.from_estimator(fit(rule_trust=None))


def test_rule_report_display_draws_the_counts(clf):
    shown = RuleReportDisplay.from_estimator(clf)
    right, wrong = ([bar.get_width() for bar in bars] for bars in shown.bars_)
    assert right == [len(r.train.right) for r in clf.rule_report_]
    assert wrong == [len(r.train.wrong) for r in clf.rule_report_]
    assert [bar.get_x() for bar in shown.bars_[1]] == right
    trusts = [f"to {100 * r.trust.posterior:.0f} %" for r in clf.rule_report_]
    said = [text.get_text() for text in shown.ax_.texts]
    assert all(trust in text for trust, text in zip(trusts, said, strict=True))
    assert shown.labels == ("first", "second")


def test_rule_report_display_without_rules():
    with pytest.raises(DataError, match="fit with rules"):
        RuleReportDisplay.from_estimator(HIPADClassifier(lambda1=0.1).fit(*data()))


def test_convergence_display_draws_each_step():
    run = HIPADClassifier(RULES, lambda1=0.05, rule_trust=None, method="hipad").fit(*data(60))
    shown = ConvergenceDisplay.from_estimator(run)
    steps = [h for h in run.history_ if h.phase]
    assert shown.objective.tolist() == [h.objective for h in steps]
    sizes = np.concatenate([line.get_ydata() for line in shown.support_ax_.lines[:2]])
    assert sizes.tolist() == [h.support_size for h in steps]
    for phase, line in zip((1, 2), shown.ax_.lines[:2], strict=True):
        own = np.array([h.objective for h in steps if h.phase == phase])
        excess = (own - own.min()) / abs(own.min())
        drawn = np.asarray(line.get_ydata())
        above = excess > drawn.min()
        np.testing.assert_allclose(drawn[above], excess[above])
    border = sum(h.phase == 1 for h in steps) + 0.5
    assert list(shown.ax_.lines[-1].get_xdata()) == [border, border]


def test_convergence_display_on_given_axes(clf):
    figure, axes = plt.subplots(1, 2)
    shown = ConvergenceDisplay.from_estimator(clf, ax=axes[1])
    assert shown.figure_ is figure
    assert len(figure.axes) == 4


def test_learning_curve_display_draws_means_and_intervals():
    means = tuple(Mean(v, v - 0.1, v + 0.2, 3) for v in (0.6, 0.7))
    curve = Curve("HIPAD", (4, 8), means)
    shown = LearningCurveDisplay([curve], Worth(8, 3.0, 1.0, 5.0)).plot()
    assert shown.lines_[0].get_xydata().tolist() == [[8, 0.6], [16, 0.7]]
    (band,) = shown.ax_.collections
    low, high = band.get_paths()[0].vertices[:, 1].min(), band.get_paths()[0].vertices[:, 1].max()
    assert (round(low, 9), round(high, 9)) == (0.5, 0.9)
    assert "about 3 further ones" in shown.ax_.get_title()


def test_learning_curve_display_from_estimator_names_the_classes():
    X, y = data(60)
    labels = np.where(y == 1, "ill", "well")
    clf = HIPADClassifier("x0 >= 0.5 => ill", lambda1=0.05, lambda2=1.0, solver={"tol": 1e-6})
    shown = LearningCurveDisplay.from_estimator(clf, X, labels, sizes=(4, 8), draws=2)
    assert shown.names == ("with rules", "without rules")
    assert np.isfinite(shown.mean).all()
    assert shown.worth is not None
    with pytest.raises(DataError, match="with rules"):
        LearningCurveDisplay.from_estimator(HIPADClassifier(), X, y)
    with pytest.raises(DataError, match="two classes"):
        LearningCurveDisplay.from_estimator(clf, X, np.arange(60) % 3)


def test_stability_display_draws_frequencies(clf):
    found = stability(clf, 10, decoys=False)
    shown = StabilityDisplay(found, ["alpha$", *"bcdef"], ("no", "yes")).plot()
    table = found.table(15)
    assert [bar.get_width() for bar in shown.bars_] == [row.frequency for row in table]
    names = [label.get_text() for label in shown.ax_.get_yticklabels()]
    assert names[[row.column for row in table].index(0)] == r"alpha\$"
    risks = shown.plot(kind="risks")
    drawn = risks.ax_.collections[0].get_segments()
    risk, low, high = found.risk_instability()
    np.testing.assert_allclose([s[0][1] for s in drawn], low)
    np.testing.assert_allclose([s[1][1] for s in drawn], high)
    np.testing.assert_allclose([s[0][0] for s in drawn], risk)


def test_stability_display_tells_what_chance_selects(clf):
    shown = StabilityDisplay.from_estimator(clf, n_refits=10)
    share = shown.found.false_discovery_share(0.5)
    assert f"about {100 * share:.0f} % are there by chance" in shown.ax_.get_xlabel()
    assert [t.get_text() for t in shown.ax_.get_legend().get_texts()] == [
        "speaks for 0", "speaks for 1",
    ]  # fmt: skip


def test_displays_without_matplotlib_say_how_to_get_it():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from hipad.display import PathDisplay\n"
        "from hipad.estimator.path import PathPoint\n"
        "PathDisplay([PathPoint(1.0, 1.0, 0.5, 0.5, 3)]).plot()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'hipad[plots]'" in done.stderr.splitlines()[-1]


class Tags(HTMLParser):
    """The cells of all tables, and whether every tag is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.cells: list[list[str]] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "tr":
            self.cells.append([])
        if tag in ("td", "th"):
            self.cells[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1][-1] += data


def test_tables_of_a_notebook_hold_the_numbers(clf, tmp_path):
    clf.save(tmp_path / "model.json")
    for model in (clf, load_model(tmp_path / "model.json")):
        path = Tags(model.path_._repr_html_()).cells
        assert [row[5] for row in path[1:]] == [f"{p.support_size:,}" for p in model.path_]
        (chosen,) = [row for row in path if "chosen" in row[-1].split(", ")]
        assert chosen[0] == f"{model.lambda1_:.4g}"
        report = Tags(model.rule_report_._repr_html_()).cells
        assert [row[0] for row in report[1:]] == ["first", "second"]
        assert report[1][2] == str(model.rule_report_[0].train)
        certificate = dict(Tags(model.certificate_._repr_html_()).cells)
        assert certificate["objective"] == f"{model.certificate_.primal_objective:.6g}"


def test_tables_of_a_notebook_escape_what_they_show(clf):
    bad = "<script>alert(1)</script>"
    record = replace(clf.rule_report_[0], label=bad, text=bad)
    shown = type(clf.rule_report_)([record])._repr_html_()
    assert bad not in shown
    assert Tags(shown).cells[1][:2] == [bad, bad]
    shown = replace(clf.certificate_, message=bad)._repr_html_()
    assert bad not in shown


def test_a_fitted_model_shows_itself_below_the_diagram(clf):
    fresh = HIPADClassifier(RULES)
    assert "The fitted model" not in fresh._repr_html_()
    shown = clf._repr_html_()
    assert "sk-top-container" in shown
    told = shown[shown.index("<table><caption") :]
    rows = dict(Tags(told).cells)
    assert rows["features"] == f"{clf.support_.size} of 6"
    assert rows["knowledge"] == "2 rules"
    assert rows["classes"] == "0 and 1"
    assert re.search("solved", rows["certificate"])
    with config_context(display="text"):
        assert not hasattr(clf, "_repr_html_")
    y = np.array(["<b>", "well"])[data(60)[1]]
    assert '<td style="text-align:left">&lt;b&gt; and well' in (
        HIPADClassifier(lambda1=0.1).fit(data(60)[0], y)._repr_html_()
    )
