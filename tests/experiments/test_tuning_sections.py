from __future__ import annotations

from hipad.experiments.report import (
    along_lambda1,
    choice_sentence,
    honest_sentence,
    tuning_sections,
)
from hipad.experiments.tasks import mean_of
from hipad.experiments.tuning import SettingPoint


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
