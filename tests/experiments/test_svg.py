import math
from xml.etree import ElementTree

from hipad.experiments.report import Mark, Series, chart


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
