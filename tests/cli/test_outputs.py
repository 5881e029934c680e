from __future__ import annotations

from hipad.cli import main
from tests.cli.commands import fit


def test_no_command_writes_over_what_it_reads(small, rules, tmp_path, capsys):
    _, model = fit(small, tmp_path)
    link = tmp_path / "link"
    link.symlink_to(model)
    hard = tmp_path / "hard.csv"
    hard.hardlink_to(small)
    before = {path: path.read_bytes() for path in (model, small, rules)}
    predict = ["predict", str(model), str(small), "--out"]
    learn = ["fit", str(small), "--label", "ill", "--rules", str(rules), "--model"]
    for words, target in (
        (predict, model),
        (predict, link),
        (predict, small),
        (predict, hard),
        (learn, small),
        (learn, hard),
        (learn, rules),
        ([*learn[:-1], "--test", str(model), "--model"], model),
    ):
        capsys.readouterr()
        assert main([*words, str(target)]) == 1
        assert "this command reads it" in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in before}
    assert link.is_symlink()
