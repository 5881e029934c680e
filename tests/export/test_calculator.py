"""The calculator answers as the model does, offline, and shows names as text."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import sync_playwright

from benchmarks.serving import chromium_path
from hipad.export import ScoringFormula
from hipad.export.calculator import to_calculator
from hipad.export.scoring import CategoryTerm, NumberTerm, RiskLine

HOSTILE = '</script><img src=x onerror="window.broken=1">'


@pytest.fixture
def calculator(tmp_path):
    """Open the calculator of a formula from disk; any request beyond that file fails the test."""
    path = chromium_path()
    if path is None:
        pytest.skip("no chromium here")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 400, "height": 800})
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: asked.append(str(error)))

        def open_page(formula: ScoringFormula, ranges=None):
            file = tmp_path / "calculator.html"
            file.write_text(to_calculator(formula, ranges), "utf-8")
            page.goto(file.as_uri())
            return page

        yield open_page
        assert [url for url in asked if not url.startswith("file:")] == []
        browser.close()


@pytest.mark.browser
def test_answers_are_those_of_the_model(calculator, formula, rows, truth):
    page = calculator(formula)
    found = page.evaluate("rows => rows.map((row) => hipad.answer(row))", rows)
    np.testing.assert_allclose([one["score"] for one in found], truth["score"], atol=1e-9)
    np.testing.assert_allclose([one["risk"] for one in found], truth["risk"], atol=1e-9)


@pytest.mark.browser
def test_typed_values_are_read_and_what_is_odd_is_pointed_out(calculator):
    terms = (NumberTerm("x", 2.0, 1.0), NumberTerm("y", 1.0, None))
    kinds = CategoryTerm(HOSTILE, ((HOSTILE, 1.0),), answers_gaps=True)
    formula = ScoringFormula("z", (HOSTILE, "ill"), terms, (kinds,), -3.0, RiskLine(1.0, 0.0))
    page = calculator(formula, {"x": (0.0, 2.0)})
    assert page.inner_text("#answer") == "No answer: a value is missing."
    page.fill("#value-1", "0,5")
    assert page.inner_text("#answer") == HOSTILE
    assert page.inner_text("#risk") == "Risk of ill: 37.8 %"
    page.fill("#value-0", "4")
    assert page.inner_text("#note-0") == "outside what the model has seen (0 to 2)"
    assert page.inner_text("#answer") == "ill"
    page.select_option("#value-2", HOSTILE)
    assert HOSTILE in page.inner_text("#reasons")
    page.fill("#value-0", "many")
    assert "not a number" in page.inner_text("#note-0")
    assert page.evaluate("window.broken") is None
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
