from __future__ import annotations

import tomllib

import pytest
import streamlit as st
from hypothesis import given, strategies

from hipad.utils import ROOT
from ui import charts

THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["theme"]


@pytest.fixture(params=["light", "dark"])
def theme(request, monkeypatch):
    monkeypatch.setattr(charts, "is_dark", lambda: request.param == "dark")
    options = {
        f"theme.{name}.{option}": value
        for name, values in THEME.items()
        if isinstance(values, dict)
        for option, value in values.items()
    }
    monkeypatch.setattr(st, "get_option", options.__getitem__)
    return THEME[request.param]


def test_the_colours_are_those_of_the_theme(theme):
    assert list(charts.palette()) == theme["chartCategoricalColors"]
    assert charts.colour(0) == theme["chartCategoricalColors"][0]
    assert charts.colour(-1) == theme["chartCategoricalColors"][-1]


@pytest.mark.parametrize("n", [0, 1, 5, 6, 7, 30])
def test_blocks_have_a_colour_each_until_only_grey_is_left(theme, n):
    *colours, grey = theme["chartCategoricalColors"][3:]
    found = charts.block_colours([f"K{i}" for i in range(n)])
    assert list(found) == [f"K{i}" for i in range(n)]
    assert list(found.values()) == [*colours[:n], *[grey] * (n - len(colours))]


def test_without_a_theme_there_are_colours_too(monkeypatch):
    monkeypatch.setattr(charts, "is_dark", lambda: False)
    monkeypatch.setattr(st, "get_option", lambda name: None)
    assert len(set(charts.palette())) > 6
    assert charts.theme_option("backgroundColor") is None
    red, green, blue = parts_of(charts.colour(-1))
    assert red == green == blue


def parts_of(colour):
    return colour.removeprefix("rgb(").removesuffix(")").replace(" ", "").split(",")


@given(strategies.text(max_size=60))
def test_names_are_never_markup_in_a_chart(name):
    text = charts.label(name)
    assert "<" not in text
    assert ">" not in text
    assert len(text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")) <= 24


def test_names_that_are_cut_alike_stay_apart():
    chart = charts.figure("t", x="x", y="y")
    charts.name_rows(chart, ["a" * 30 + "1", "a" * 30 + "2"])
    assert list(chart.layout.yaxis.tickvals) == [0, 1]
    assert chart.layout.yaxis.ticktext[0] == chart.layout.yaxis.ticktext[1]


@pytest.fixture(params=["light", "dark"])
def listed(request, monkeypatch):
    monkeypatch.setattr(charts, "palette", lambda: tuple(found))
    found = THEME[request.param]["chartCategoricalColors"]
    return found


def luminance(colour: str) -> float:
    """How light a colour is, as the guidelines for web content measure it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_measured_as_the_guidelines_do():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_a_class_has_one_colour_and_what_speaks_for_it_has_the_same(listed):
    assert charts.sign_colour(0.3) == charts.class_colour(1)
    assert charts.sign_colour(-0.3) == charts.class_colour(0)
    assert charts.sign_colour(0.0) == charts.rest_colour() == listed[-1]
    assert [colour for _, colour in charts.sign_colours()][::2] == [
        charts.class_colour(0),
        charts.class_colour(1),
    ]


@pytest.mark.parametrize("n", [1, 5, 30])
def test_no_group_has_the_colour_of_a_class(listed, n):
    found = set(charts.group_colours([f"K{i}" for i in range(n)]).values())
    taken = {charts.class_colour(0), charts.class_colour(1), charts.current_colour()}
    assert not found & taken
    assert len(set(listed)) == len(listed)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_colour_stands_out_from_its_ground(theme):
    ground = THEME[theme]["backgroundColor"]
    assert min(contrast(c, ground) for c in THEME[theme]["chartCategoricalColors"]) >= 3
