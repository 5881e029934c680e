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
    *colours, grey = theme["chartCategoricalColors"][2:]
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
