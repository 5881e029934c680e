from __future__ import annotations

import pytest

from tests.ui.test_charts import THEME
from ui import charts


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
    assert not found & {charts.class_colour(0), charts.class_colour(1)}
    assert len(set(listed)) == len(listed)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_colour_stands_out_from_its_ground(theme):
    ground = THEME[theme]["backgroundColor"]
    assert min(contrast(c, ground) for c in THEME[theme]["chartCategoricalColors"]) >= 3
