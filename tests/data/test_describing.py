from __future__ import annotations

import numpy as np
import pytest

from hipad.data import read_table
from hipad.data.orientation import LabelRows, label_rows, likely_class, with_labels
from hipad.exceptions import DataError
from tests.data.gene_files import CLASSES, KINDS, mtx, tenx_zip


def test_the_likeliest_class_is_named_so_and_has_two_values():
    text = {
        "gender": np.array(["f", "m"]),
        "disease stage": np.array(["1", "2", "3"]),
        "disease": np.array(["a", "b", ""]),
    }
    assert likely_class(text) == "disease"
    assert likely_class({"gender": text["gender"]}) is None


def test_rows_of_words_are_told_from_rows_of_numbers():
    rows = [["class", "a", "b"], *([f"g{i}", "1", "2"] for i in range(9)), ["x", "", "c"]]
    assert label_rows(rows) == [0]
    assert label_rows([["a", "b", "c"]] * 9) == []  # a table of texts


def test_cells_of_label_rows_follow_the_columns():
    found = LabelRows(["id", "s", "s", "t"], [["class", "a", "b"]])
    assert found.of(["t", "s.2"]) == {"class": ["", "b"]}


def test_classes_come_from_a_second_file_by_the_patients_ids():
    counts = read_table(tenx_zip())
    found = with_labels(counts, read_table(CLASSES))
    assert found.text["disease"].tolist() == KINDS
    assert (found.label, found.about) == ("disease", ("disease",))
    assert found.sha256 not in (counts.sha256, "")
    lacking = with_labels(counts, read_table(b"\n".join(CLASSES.splitlines()[:8])))
    assert lacking.text["disease"].tolist().count("") == 5
    assert "5 patients not in the second file" in lacking.remarks


def test_without_ids_the_order_counts():
    found = with_labels(read_table(mtx()), read_table(b"y,z\n" + b"a,c\nb,d\n" * 15))
    assert found.text["y"].tolist() == ["a", "b"] * 15


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"id,y\nq1,a\nq2,b\n", "patients' IDs"),
        (
            b"id,age\n" + b"".join(b"GSM%d,%d\n" % (i, i) for i in range(12)),
            "beside 'id', got 'age'",
        ),
    ],
)
def test_a_second_file_that_does_not_fit_is_refused(content, words):
    with pytest.raises(DataError, match=words):
        with_labels(read_table(tenx_zip()), read_table(content))
