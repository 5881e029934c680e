import csv
import io

from hipad.experiments.report import Section, fits_csv, page
from hipad.experiments.tasks import Done, Task


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
