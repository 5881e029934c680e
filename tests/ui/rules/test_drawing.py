from __future__ import annotations

from hipad.rules import compile_rules, picture
from ui.rules.drawing import axis_label, bound, draw, row_words

ROWS = picture(compile_rules("a: x0 + 2*x1 >= 3 => positive\nb: x2 <= 1 => negative", n_features=3))


def test_small_values_read_as_at_most():
    assert [bound(row) for row in ROWS] == ["≥ 3", "≤ 1"]
    assert axis_label(ROWS[1]) == "b: ≤ 1 → negative"


def test_a_condition_is_a_sum_in_words():
    assert "x1" in row_words(ROWS[0])
    assert row_words(ROWS[1]).endswith("≤ 1 gives negative")


def test_a_cell_stands_where_its_feature_and_condition_cross():
    chart, text = draw(ROWS)
    (heat,) = chart.data
    assert [list(row) for row in heat.text] == [["2", "1", ""], ["", "", "1"]]
    assert text.count(" gives ") == 2
