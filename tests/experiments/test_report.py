from __future__ import annotations

import csv
import io
import math
from xml.etree import ElementTree

from hipad.experiments.report import (
    Mark,
    Section,
    Series,
    along_lambda1,
    chart,
    choice_sentence,
    curve_section,
    figure_section,
    fits_csv,
    honest_sentence,
    page,
    paper_section,
    sweep_section,
    tuning_sections,
)
from hipad.experiments.reproduction import TABLE1, FewRows, figure_tasks, table_lines, table_tasks
from hipad.experiments.runner import Done, ResultsCache, Task, mean_of, perform
from hipad.experiments.sensitivity import (
    curve_tasks,
    curves,
    sweep,
    sweep_tasks,
    threshold_versions,
    worth_of_rules,
)
from hipad.experiments.tuning import SettingPoint
from tests.experiments.small import table

# --------------------------------------------------------------------------------------------------
# Sections.


def made(tasks, **figures) -> list[Done]:
    return [Done(task, str(k), figures) for k, task in enumerate(tasks)]


def test_what_was_not_reached_is_said():
    entries = TABLE1[5:8]
    found = made(table_tasks(entries), accuracy=0.5, support=10)
    section = paper_section("Table 1", table_lines(entries, found))
    told = " ".join(section.sentences)
    assert "Not reached: gisette-like: 50.0 %" in told
    assert "gisette-like for gisette" in told
    assert "Iman and Davenport" in told
    assert len(section.rows) == 9


def test_the_figure_tells_its_sweeps():
    (done,) = perform(figure_tasks(), {"figure 1": FewRows()}, ResultsCache())
    section = figure_section(done)
    assert f"after {done.figures['settled']} sweeps" in section.sentences[0]
    assert "<svg" in section.picture


def test_a_curve_ends_with_what_the_rules_are_worth():
    found = made(curve_tasks(table(), draws=3, sizes=(4, 8)), balanced=0.7)
    section = curve_section("Curves", curves(found), worth_of_rules(found))
    assert section.rows[0][0] == "8"
    assert section.head[1] == "with rules"
    assert "worth about 0" in section.sentences[0]


def test_a_sweep_says_whether_it_harms():
    versions = threshold_versions(table().rules, 0, [1, 2])
    found = made(sweep_tasks(table(), versions, draws=3), balanced=0.7, support=4)
    section = sweep_section("What if", "threshold", sweep(found, versions))
    assert section.sentences == ["No version harms beyond chance."]
    assert [row[0] for row in section.rows] == ["1", "2"]


def test_a_curve_that_is_not_done_has_gaps():
    found = made(curve_tasks(table(), draws=1, sizes=(4, 8)), balanced=0.7)
    section = curve_section("Curves", curves(found[:5]), None)
    assert [row[0] for row in section.rows] == ["8", "16"]
    assert section.rows[1] == ["16", "70.0", "-", "-", "-"]


# --------------------------------------------------------------------------------------------------
# Tuning sections.


def point(lambda1: float, lambda2: float, score: float, agrees: float) -> SettingPoint:
    parts = (mean_of([score - 0.01, score + 0.01]), mean_of([3.0, 4.0]), mean_of([agrees] * 2))
    params = {"lambda1": lambda1, "lambda2": lambda2}
    return SettingPoint(params, *parts, mean_of([0.0, 0.0]), mean_of([0.5, 0.7]))


POINTS = [point(0.1, 1, 0.9, 0.5), point(0.01, 1, 0.9, 1.0), point(0.1, 10, 0.6, 1.0)]


def test_lines_go_along_lambda1():
    lines = along_lambda1(POINTS)
    assert [p.lambda1 for p in lines["lambda2 1"]] == [0.01, 0.1]
    assert len(lines["lambda2 10"]) == 1


def test_it_is_said_what_the_rules_had_to_do_with_the_choice():
    told = choice_sentence(POINTS)
    assert told.startswith("Chosen: lambda1 0.01, lambda2 1")
    assert "keeps 50 % of the rules about their typical patient, not 100 %" in told
    assert "alone" not in choice_sentence(POINTS[2:])


def test_the_sections_have_a_line_for_each_setting_and_two_pictures():
    first, second = tuning_sections("Settings", POINTS, mean_of([0.8, 0.9]))
    assert len(first.rows) == 3
    assert "Honest estimate: 85.0 %" in first.sentences[1]
    assert first.picture.startswith("<svg")
    assert second.picture.startswith("<svg")


def test_without_fits_nothing_is_claimed():
    assert honest_sentence(mean_of([])) == ""
    (section,) = tuning_sections("Settings", [], mean_of([]))
    assert section.sentences == ["No setting has been judged."]


# --------------------------------------------------------------------------------------------------
# Handout.


def test_every_fit_is_a_line():
    fits = [
        Done(Task("contest", "=d", s, {"rules": "@x"}), str(s), {"accuracy": 0.5, "sizes": [1, 2]})
        for s in (1, 0)
    ]
    rows = list(csv.DictReader(io.StringIO(fits_csv(fits))))
    assert [row["seed"] for row in rows] == ["0", "1"]
    assert rows[0]["data"] == "'=d"
    assert rows[0]["rules"] == "'@x"
    assert "sizes" not in rows[0]


def test_the_page_is_whole_and_escaped():
    text = page("<script>", [Section("a & b", ["<i>"], ["x"], [["<td>"]], "<svg></svg>")])
    assert "<script>" not in text
    assert "&lt;i&gt;" in text
    assert "<figure><svg></svg></figure>" in text
    assert "http://" not in text.replace("http://www.w3.org", "")


# --------------------------------------------------------------------------------------------------
# Svg.


def test_a_chart_is_valid_and_its_texts_are_escaped():
    line = Series("<b>&", [8, 16, 32], [0.5, math.nan, 0.7], [0.4, 0.5, 0.6], [0.6, 0.7, math.nan])
    text = chart(
        [line], title="a < b", x_title="x", y_title="y", marks=[Mark(16, "here")], log_x=True
    )
    root = ElementTree.fromstring(text)
    words = [node.text for node in root.iter() if node.text]
    assert "<b>&" in words
    assert "here" in words
    assert "<b>" not in text


def test_one_point_and_none_are_no_error():
    assert "<svg" in chart([Series("a", [1], [2])], title="t", x_title="x", y_title="y")
    assert chart([], title="t", x_title="x", y_title="y") == ""
