from __future__ import annotations

import numpy as np
import pytest

from hipad.cli import main
from hipad.experiments.methods import Synthetic

SIZES = (("n_train", 60), ("n_test", 60), ("n_features", 400), ("block_size", 10))


@pytest.fixture
def small(monkeypatch):
    """ksvm-s made small."""
    small = {f"ksvm-s-{size}": Synthetic(f"ksvm-s-{size}", sizes=SIZES) for size in ("10k", "50k")}
    monkeypatch.setattr("hipad.experiments.report.synthetic_data", lambda: small)


def test_our_figures_stand_beside_the_papers(small, capsys, tmp_path):
    page, fits = tmp_path / "page.html", tmp_path / "fits.csv"
    asked = ["reproduce", "ksvm-s-10k", "--seeds", "2", "--html", str(page), "--csv", str(fits)]
    assert main(asked) == 0
    title, head, ours, _admm, libsvm, *_ = capsys.readouterr().out.splitlines()
    assert title == "Table 2: rules on synthetic data"
    assert head.split()[:3] == ["data", "method", "accuracy"]
    assert ours.split()[:2] == ["ksvm-s-10k", "HIPAD"]
    assert "99.0" in ours
    assert float(ours.split()[2]) > float(libsvm.split()[2])
    assert "<table>" in page.read_text()
    assert len(fits.read_text().splitlines()) == 1 + 2 * 3


def test_a_second_run_repeats_no_fit(small, tmp_path, monkeypatch, capsys):
    asked = ["reproduce", "ksvm-s-10k", "--seeds", "1", "--results", str(tmp_path / "r.jsonl")]
    assert main(asked) == 0
    first = capsys.readouterr().out

    def no_fit(*_: object) -> None:
        raise AssertionError("a fit was repeated")

    monkeypatch.setattr("hipad.experiments.runner.do", no_fit)
    assert main(asked) == 0
    assert capsys.readouterr().out == first


def test_table_one_takes_a_folder_of_the_users(tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(60) % 2, 1, -1)
    X = rng.standard_normal((60, 10)) + y[:, None]
    rows = (" ".join(f"{j + 1}:{v:.3f}" for j, v in enumerate(row)) for row in X)
    lines = [f"{label} {row}" for label, row in zip(y, rows, strict=True)]
    (tmp_path / "colon-cancer").write_text("\n".join(lines) + "\n")
    assert main(["reproduce", "table1", "--seeds", "1", "--data", str(tmp_path)]) == 0
    assert "colon-cancer  HIPAD" in capsys.readouterr().out


def test_a_folder_without_data_is_refused_in_a_sentence(tmp_path, capsys):
    assert main(["reproduce", "table1", "--data", str(tmp_path)]) == 1
    assert "none of the data sets of table 1" in capsys.readouterr().err


def test_figure_one_is_drawn(tmp_path, capsys):
    page = tmp_path / "figure.html"
    assert main(["reproduce", "figure1", "--html", str(page)]) == 0
    assert "The features settle after" in capsys.readouterr().out
    assert "<svg" in page.read_text()
