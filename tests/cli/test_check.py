from __future__ import annotations

from hipad import load_model
from hipad.cli import main
from tests.cli.commands import fit


def test_check_tells_what_rules_do_and_what_is_odd(small, tmp_path, capsys):
    rules = tmp_path / "odd.rules"
    rules.write_text("a: sugar >= 7 => yes\nb: sugar >= 8 => yes\nc: age >= 500 => no\n")
    assert main(["check", str(rules), "--data", str(small), "--label", "ill"]) == 0
    out = capsys.readouterr().out
    for part in (
        "a: sugar >= 7 => yes",
        "fires on",
        "leave b out",
        "nobody in the range",
        "for ex",
    ):
        assert part in out


def test_check_with_a_model_tells_how_far_rules_hold(small, rules, tmp_path, capsys):
    _, target = fit(small, tmp_path, "--rules", rules, "--positive", "no")
    capsys.readouterr()
    words = ["check", str(rules), "--data", str(small), "--model", str(target)]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "prototype margin" in out
    assert "worst" in out
    held = {r.label: r.worst.value for r in load_model(target).rule_report_}
    assert f"{held['sweet']:.3g}" in out  # the same table, so the same box


def test_check_tells_every_mistake_of_the_rules_at_once(small, tmp_path, capsys):
    rules = tmp_path / "bad.rules"
    rules.write_text("sugar >= => yes\nage >= 3 => no\nmax(age) >= 3 => yes\n")
    assert main(["check", str(rules), "--data", str(small), "--label", "ill"]) == 1
    err = capsys.readouterr().err
    assert err.count("error: ") == 2
    assert "line 1" in err
    assert "line 3" in err
