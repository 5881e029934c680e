"""What the tests of the commands share: a fit of a small table, and answers as rows."""

from __future__ import annotations

import csv
import io

from hipad.cli import main


def fit(small, tmp_path, *more, lambda1="0.05"):
    target = tmp_path / "model.json"
    words = ["fit", str(small), "--label", "ill", "--model", str(target), *map(str, more)]
    return main([*words, "--lambda1", lambda1]), target


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))
