"""Three classes from a file to a model, clicked in a real browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect
from sklearn.datasets import load_iris

from tests.browser.test_path import go, heading, press

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def iris(path: Path) -> Path:
    """A table of three kinds of flowers."""
    found = load_iris()
    rows = zip(found.data[::3], found.target_names[found.target[::3]], strict=True)
    lines = ["sepal length,sepal width,petal length,petal width,species"]
    lines += [",".join([*map(str, x), name]) for x, name in rows]
    path.write_text("\n".join(lines))
    return path


def test_three_classes_are_told_apart(server, visit, tmp_path):
    page = visit(server)
    page.locator("[class*=st-key-upload_table] input[type=file]").set_input_files(
        iris(tmp_path / "iris.csv")
    )
    expect(page.get_by_text("Tell all 3 classes apart")).to_be_visible()
    press(page, "pending_use")
    expect(heading(page, "Preparation")).to_be_visible()
    expect(page.get_by_text("Tell all 3 classes apart")).to_be_visible()
    go(page, "Run")
    expect(page.get_by_text("3 classes (setosa, versicolor, virginica)")).to_be_visible()
    press(page, "all_run")
    expect(heading(page, "Result")).to_be_visible()
    expect(page.get_by_text("Each class against all others")).to_be_visible()
    expect(page.get_by_text("strongest features").first).to_be_visible()
    with page.expect_download() as caught:
        page.get_by_role("button", name="Model (JSON)").click()
    model = json.loads(Path(caught.value.path()).read_text())
    assert model["content"]["classes"]["values"] == ["setosa", "versicolor", "virginica"]
    assert len(model["content"]["models"]) == 3
    go(page, "Data")
    page.get_by_text("Tell all 3 classes apart").click()
    expect(page.get_by_text("Positive class: virginica").first).to_be_visible()
    go(page, "Run")
    press(page, "run")
    expect(heading(page, "Result")).to_be_visible()
    expect(page.get_by_text("not virginica").first).to_be_attached()
