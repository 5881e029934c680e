from __future__ import annotations

import numpy as np
import pytest

from hipad.rules import read_rules
from ui.rules.checks import checked_rules
from ui.rules.rule_table import strong_enough


def write(app, text):
    """Type the rules' text anew."""
    area = next(a for a in app.at.text_area if a.key.startswith("rules_text_"))
    area.set_value(text)
    return app.run()


def form(app, rule=None):
    """Go to the form, with this rule in it."""
    app.at.segmented_control(key="rules_view").set_value("Form")
    app.run()
    if rule is not None:
        app.at.selectbox(key="form_rule").set_value(rule)
        app.run()
    return app


def version_box(app):
    return next(s for s in app.at.selectbox if s.key.startswith("rules_history_"))


def field(app, kind, name):
    return next(w for w in getattr(app.at, kind) if (w.key or "").startswith(f"form_{name}_"))


def submit(app):
    next(
        b for b in app.at.button if b.label in ("Apply", "Add this rule") and "Form" in b.key
    ).click()
    return app.run()


def test_without_data_it_says_where_to_get_some(app):
    assert "No data yet" in app.go("rules").text()


@pytest.mark.parametrize("sample", ["pima", "all-bcrabl", "ksvm-s-10k"])
def test_the_rules_of_a_sample_are_explained(app, sample):
    app.load(sample).go("rules")
    text = app.text()
    assert not app.at.error
    assert "2 rules on, 0 off" in text
    assert "Findings" in [header.value for header in app.at.subheader]
    assert app.largest_element() < 2**20


def test_data_without_rules_say_what_to_write(app):
    app.load("pima").go("rules")
    write(app, "")
    assert "No rule yet" in app.text()
    assert app.at.button(key="rules_undo").disabled is False


def test_every_mistake_is_shown_where_it_stands(app):
    app.load("pima").go("rules")
    write(
        app,
        "Glucose >= 126 => diabetic\nGlukose >= 126 => diabetic\nGlucose*BMI >= 2 => healthy",
    )
    assert "2 lines cannot be used yet; 1 rule can be used" in app.at.error[0].value
    text = app.text()
    assert "Line 2, column 1" in text
    assert "did you mean Glucose" in text
    assert "not linear" in text
    assert "Glukose >= 126 => diabetic\n^" in [code.value for code in app.at.code]


def test_broken_text_alone_leaves_the_page_working(app):
    app.load("pima").go("rules")
    write(app, "this is ** not ` a rule\n\x00 <b>")
    assert app.at.error
    form(app)
    assert app.at.selectbox(key="form_rule").options == ["＋ new rule"]


def test_undo_redo_and_a_named_history(app):
    app.load("pima").go("rules")
    first = app.state.rules.text
    write(app, first.replace("high_risk", "sugar"))
    write(app, app.state.rules.text + "\nnew: Age >= 60 => diabetic")
    assert app.state.rules.edits[-1].what == "added new"
    app.click("rules_undo").click("rules_undo")
    assert app.state.rules.text == first
    app.click("rules_redo")
    assert "sugar" in app.state.rules.text
    box = version_box(app)
    assert (box.value, box.options[-1]) == ("3. added sugar", "1. empty")
    box.set_value(box.options[-1])
    app.run()
    assert app.state.rules.at == 0


def test_version_box_is_another_one_when_an_edit_gets_another_name(app):
    app.load("pima").go("rules")
    write(app, app.state.rules.text + "\nAge >= 60")
    before = version_box(app)
    assert before.options[0] == "3. text edited"
    app.state.rules.amend(app.state.rules.text + " => diabetic", "added rule 3")
    after = version_box(app.run())
    assert after.options[0] == "3. added rule 3"
    assert before.key != after.key


def test_version_box_and_text_area_that_are_gone_change_nothing(app):
    app.load("pima").go("rules")
    reports = []  # of widgets that the browser may send once more
    for n in range(3):
        area = next(a for a in app.at.text_area if a.key.startswith("rules_text_"))
        reports += [version_box(app)._widget_state, area._widget_state]
        write(app, f"{app.state.rules.text}\nAge >= 6{n} => diabetic")
        reports += [area._widget_state]
    app.click("rules_undo").click("rules_redo")
    before = (app.state.rules.at, app.state.rules.text)
    for report in reports:
        told = app.at._tree.get_widget_states()
        told.widgets.append(report)
        app.at._run(told)
        assert (app.state.rules.at, app.state.rules.text) == before


def test_the_text_survives_a_visit_to_another_page(app):
    app.load("pima").go("rules")
    write(app, "Glucose >= 140 => diabetic")
    app.go("data").go("rules")
    area = next(a for a in app.at.text_area if a.key.startswith("rules_text_"))
    assert area.value == "Glucose >= 140 => diabetic"


def test_import_adds_or_replaces_and_refuses_what_is_not_text(app):
    app.load("pima").go("rules")
    before = app.state.rules.text
    app.upload("bad.rules", b"\xff\xfe\x00", prefix="rules_file")
    assert "expected a text file" in app.at.error[0].value
    assert app.state.rules.text == before
    app.upload("mine.rules", b"Age >= 60 => diabetic\r\n", prefix="rules_file")
    assert app.state.rules.text == "Age >= 60 => diabetic"
    app.at.toggle(key="rules_instead").set_value(False)
    app.run().upload("more.rules", b"BMI >= 40 => diabetic", prefix="rules_file")
    assert len(read_rules(app.state.rules.text).rules) == 2
    assert app.state.rules.edits[-1].what == "import of more.rules"


def test_the_form_changes_one_rule_and_nothing_else(app):
    app.load("pima").go("rules")
    write(app, "# my rules\nfirst: Glucose   >= 126 => diabetic\nAge<=30 => healthy # young")
    form(app, "rule 3")
    field(app, "number_input", "low").set_value(25.0)
    field(app, "toggle", "own").set_value(True)
    field(app, "number_input", "worth").set_value(7.0)
    submit(app)
    lines = app.state.rules.text.splitlines()
    assert lines[:2] == ["# my rules", "first: Glucose   >= 126 => diabetic"]
    assert lines[2] == "Age <= 25 => healthy worth 7 patients  # young"


def test_the_form_adds_a_rule_with_names_that_need_backticks(app):
    app.load("all-bcrabl").go("rules")
    write(app, "")
    form(app)
    field(app, "selectbox", "kind").set_value("mean")
    field(app, "text_input", "of").set_value("1636_g_at, ABL1")
    field(app, "selectbox", "relation").set_value("between")
    field(app, "number_input", "low").set_value(8.0)
    submit(app)
    assert "expected a number" in app.at.error[0].value
    field(app, "number_input", "high").set_value(9.5)
    submit(app)
    assert app.state.rules.text == 'mean(`1636_g_at`, ABL1) between 8 and 9.5 => "BCR/ABL"'


def test_the_form_says_when_a_name_is_unknown_and_deletes(app):
    app.load("pima").go("rules")
    before = app.state.rules.text
    form(app, "＋ new rule")
    field(app, "text_input", "of").set_value("Glukose")
    field(app, "number_input", "low").set_value(1.0)
    submit(app)
    assert "Glucose" in app.at.error[0].value
    assert app.state.rules.text == before
    app.at.selectbox(key="form_rule").set_value("high_risk")
    app.run().click("form_delete")
    assert read_rules(app.state.rules.text).rules.labels == ("low_risk",)


def test_conflicts_come_with_a_patient(app):
    app.load("pima").go("rules")
    write(app, "a: Glucose >= 120 => diabetic\nb: Age <= 40 => healthy")
    assert "which say the opposite" in app.text()
    assert any("Example patient" in e.label for e in app.at.expander)
    findings = checked_rules(app.state).findings
    (conflict,) = [f for f in findings if f.kind == "conflict"]
    patient = conflict.witness.named(app.state.data.index)
    assert patient["Glucose"] >= 120
    assert patient["Age"] <= 40


def test_a_suggestion_is_taken_by_a_click_only(app):
    app.load("pima").go("rules")
    write(app, "a: Glucose >= 60 => diabetic")
    before = app.state.rules.text
    assert "Suggestions" in [header.value for header in app.at.subheader]
    assert app.state.rules.text == before
    app.click("suggestion_0")
    (rule,) = read_rules(app.state.rules.text).rules
    assert rule.conditions[0].sides[1][0].coefficient > 100


def test_a_weak_rule_names_its_knob(app):
    app.load("pima")
    app.state.settings = app.state.settings.changed(fewness="few")
    app.state.rules.change("a: BloodPressure >= 80 => diabetic worth 1 patient", "quiet")
    app.go("rules")
    assert "ake it worth more than" in app.text()
    (check,) = checked_rules(app.state).checks
    assert not check.gradient.enters
    app.click(f"suggestion_{len(check.better)}")
    (check,) = checked_rules(app.state).checks
    assert check.gradient.enters


def test_a_weak_rule_is_heard_with_the_data(app):
    app.load("pima")
    app.state.settings = app.state.settings.changed(fewness="few")
    app.state.rules.change("a: Glucose >= 180 => diabetic worth 1 patient", "quiet")
    (check,) = checked_rules(app.state).checks
    assert strong_enough(check) == "yes, with the data"
    assert not [f for f in checked_rules(app.state).findings if f.kind == "weak"]


def test_counts_equal_a_count_by_hand(app):
    app.load("ksvm-s-10k")
    app.state.rules.change("mean(K1) >= 0.1 => positive\noff x5 <= 0 => negative", "mine")
    data = app.state.data
    first, second = checked_rules(app.state).checks
    for counts, X, y in (
        (first.train, data.X_train, data.y_train),
        (first.test, data.X_test, data.y_test),
    ):
        means = X[:, data.blocks["K1"]].toarray().mean(axis=1)
        assert counts.fired.tolist() == np.flatnonzero(means >= 0.1).tolist()
        assert len(counts.right) == np.sum(y[means >= 0.1] == "positive")
    assert second.gradient is None
    assert len(second.train.fired) == np.sum(data.X_train[:, [5]].toarray() <= 0)


def test_fifty_thousand_columns_send_nothing_large(app):
    app.load("ksvm-s-50k").go("rules")
    write(app, app.state.rules.text + "\nsum(x0:x49999) >= 3 => positive\nx70000 >= 2 => positive")
    assert len(app.at.error) == 1
    assert app.largest_element() < 2**20
    app.at.text_input(key="rules_find").set_value("x4999")
    assert app.run().largest_element() < 2**20
    assert form(app).largest_element() < 2**20


def test_names_with_markup_are_shown_as_they_are(app):
    name = "**bold** $y$"
    cells = "".join(f"{i},{i * i},{'no' if i % 2 else 'yes'}\n" for i in range(20))
    app.upload("markup.csv", f'"{name}",z,label\n{cells}'.encode())
    app.state.rules.change(f"`{name}` >= 3 => yes\n`{name}` <= 9 => no", "mine")
    app.go("rules")
    shown = [line for line in app.text().splitlines() if "bold" in line]
    assert shown
    assert all("\\*\\*bold" in line for line in shown)


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ("Glukose >= 126 => diabetic", "Glucose >= 126 => diabetic"),
        ("Glucose >= 126; BMI >= 30 => diabetic", "Glucose >= 126 and  BMI >= 30 => diabetic"),
        ("Glucose >= 126 => diabetes", "Glucose >= 126 => diabetic"),
        ("metabolic > 3 => healthy", "mean(metabolic) > 3 => healthy"),
        ("high Glucose => diabetic", "Glucose >= p75(Glucose) => diabetic"),
        ("Glucose >= 126", "Glucose >= 126 => healthy"),
    ],
)
def test_remedy_button_writes_a_line_that_can_be_used(app, line, mended):
    app.load("pima").go("rules")
    write(app, f"# mine\nBMI >= 30 => diabetic\n{line}")
    app.at.button(key="remedy_0_0").click()
    app.run()
    assert app.state.rules.text == f"# mine\nBMI >= 30 => diabetic\n{mended}"
    assert not app.at.error
    assert not [button for button in app.at.button if str(button.key).startswith("remedy_")]


def test_manual_is_one_press_away_and_examples_can_be_used(app):
    app.load("pima").go("rules")
    examples = next(code.value for code in app.at.code if "=>" in code.value)
    assert len(examples.splitlines()) == 6
    app.at.button(key="rules_manual").click()
    app.run()
    assert any("one thing per line" in each.value for each in app.at.markdown)
    write(app, examples)
    assert not app.at.error
