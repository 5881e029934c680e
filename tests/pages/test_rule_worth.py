"""The Workbench says what each rule adds, and whether it is strong enough by itself."""

from __future__ import annotations

from ui.workbench.refit import slider_request


def test_each_rule_is_left_out_in_turn(app):
    app.load("pima").finish().go("workbench")
    app.click("bench_adds")
    _, job = app.state.memo["rule ablation"]
    job.wait(60)
    app.run()
    assert not job.is_active
    assert [left.label for left in job.outcome.done] == ["high_risk", "low_risk"]
    (table,) = [frame.value for frame in app.at.dataframe if "it adds" in frame.value.columns]
    assert table["rule"].tolist() == ["high_risk", "low_risk"]
    model = slider_request(app.state, app.state.pinned_model).fit()
    assert job.outcome.done[0].with_rule == model.judgement.accuracy.value


def test_a_moved_slider_asks_for_it_anew(app):
    app.load("pima").finish().go("workbench").click("bench_adds")
    _, job = app.state.memo["rule ablation"]
    (first, *_) = [s for s in app.at.slider if s.key.startswith("bench_threshold")]
    first.set_value(first.value + first.step)
    app.run()
    assert "rule ablation" not in app.state.memo
    assert job.stop_requested.is_set()
    job.wait(60)


def test_a_worth_of_nothing_is_not_heard_and_a_large_one_is(app):
    app.load("pima").finish().go("workbench")
    worth = next(s for s in app.at.slider if s.key.startswith("bench_worth"))
    key = worth.key
    worth.set_value(0.0)
    app.run()
    assert "weight of at least" in app.text()
    app.at.slider(key=key).set_value(worth.max)
    app.run()
    assert "Strong enough to add features without support from the data" in app.text()
