"""`hipad fit` and `hipad predict` on files that are read by columns."""

from __future__ import annotations

import numpy as np
import pytest

from hipad import HIPADClassifier
from hipad.cli import main
from hipad.data.column_store import open_columns, write_store
from hipad.estimator.model_io import read_model
from tests.cli.commands import rows_of
from tests.data.test_plink import write_bed

N, M = 40, 300


@pytest.fixture
def study(tmp_path):
    """Genotypes, a table with the classes in another order and one row short, and rules."""
    rng = np.random.default_rng(0)
    ill = np.arange(N) % 2 == 1
    share = np.full((N, M), 0.3)
    share[ill, :10] = 0.7
    X = rng.binomial(2, share).astype(np.int8)
    X[rng.random((N, M)) < 0.01] = -127
    write_bed(tmp_path / "g.bed", X)
    rows = [f"p{i},{'ill' if ill[i] else 'well'},c{i // 2}" for i in rng.permutation(N) if i != 7]
    (tmp_path / "labels.csv").write_text("\n".join(["id,status,centre", *rows]))
    (tmp_path / "my.rules").write_text("rs3 >= 1 => ill\nmean(rs5:rs9) >= 1 => ill\n")
    return tmp_path


def fit(study, *more, data="g.bed", labels=True):
    words = ["fit", str(study / data), "--model", str(study / "m.json"), "--lambda1", "0.2"]
    words += ["--labels", str(study / "labels.csv"), "--label", "status"] if labels else []
    return main([*words, *map(str, more)])


def test_a_model_of_genotypes_is_that_of_the_classifier(study, capsys):
    code = fit(study, "--rules", study / "my.rules", "--memory", "64MB")
    captured = capsys.readouterr()
    assert (code, captured.err) == (0, "")
    for part in ("40 rows by 300 columns", "rows without a label: 1", "passes: ", "rule 1: rs3",
                 "certificate: solved", "of 39 right"):  # fmt: skip
        assert part in captured.out
    y = np.array(["ill" if i % 2 else "well" for i in range(N)], dtype=object)
    y[7] = None
    rules = "rs3 >= 1 => ill\nmean(rs5:rs9) >= 1 => ill"
    clf = HIPADClassifier(rules, lambda1=0.2)
    # the words of the rules name the classes: the second one, "well", is not the positive one
    clf.fit(open_columns(study / "g.bed"), y)
    stored = read_model(study / "m.json")
    assert stored.origin.classes == ("well", "ill")
    names = stored.classifier.feature_index_.names
    own = {names[j]: stored.classifier.coef_[0, j] for j in stored.classifier.support_}
    assert own == pytest.approx({f"rs{j}": clf.coef_[0, j] for j in clf.support_}, abs=1e-8)


def test_predict_reads_genotypes_and_fills_gaps_as_in_training(study, capsys):
    assert fit(study) == 0
    capsys.readouterr()
    assert main(["predict", str(study / "m.json"), str(study / "g.bed")]) == 0
    answers = rows_of(capsys.readouterr().out)
    assert [row["patient"] for row in answers] == [f"p{i}" for i in range(N)]
    said = np.array([row["class"] == "ill" for row in answers])
    assert (said == (np.arange(N) % 2 == 1)).mean() > 0.9
    gap = write_bed(study / "gap.bed", np.full((1, M), -127, dtype=np.int8))
    assert main(["predict", str(study / "m.json"), str(gap)]) == 0
    (row,) = rows_of(capsys.readouterr().out)
    stored = read_model(study / "m.json")
    filled = stored.classifier.decision_function(stored.origin.recipe.fill[None, :])[0]
    assert abs(float(row["score of ill"])) == pytest.approx(abs(filled))


def test_phenotypes_of_the_family_file_are_labels(study, capsys):
    assert fit(study, labels=False) == 0
    assert "positive class: case" in capsys.readouterr().out


def test_a_store_gives_the_same_model(study):
    write_store(study / "g.columns", open_columns(study / "g.bed"))
    found = []
    for data in ("g.bed", "g.columns"):
        assert fit(study, data=data, labels=False) == 0
        found.append(read_model(study / "m.json").classifier)
    assert found[0].support_.size
    np.testing.assert_array_equal(found[0].coef_, found[1].coef_)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--split", "0.2"], "expected no --split for a file that is read by columns"),
        (["--memory", "some"], "expected an amount of memory such as 1GB, got 'some'"),
        (["--label", "weight"], "expected --label to be a column of the table, got 'weight'"),
    ],
)
def test_options_that_do_not_fit_are_refused(study, capsys, more, said):
    assert fit(study, *more) == 1
    assert said in capsys.readouterr().err
    assert not (study / "m.json").exists()


def test_a_rule_about_an_unknown_variant_is_refused(study, capsys):
    (study / "bad.rules").write_text("rs9999 >= 1 => ill\n")
    assert fit(study, "--rules", study / "bad.rules") == 1
    assert "no feature or block is called rs9999" in capsys.readouterr().err


@pytest.mark.parametrize("what", ["cut", "missing", "other"])
def test_files_that_do_not_fit_end_in_a_sentence(study, capsys, what):
    bed = study / "g.bed"
    if what == "cut":
        bed.write_bytes(bed.read_bytes()[:-5])
    elif what == "missing":
        bed.with_suffix(".fam").unlink()
    else:
        bed.with_suffix(".bim").write_text("1\trs1\t0\t1\tA\tC\n")
    assert fit(study) == 1
    said = capsys.readouterr().err
    assert {"cut": "the file is cut", "missing": "g.fam", "other": "1 variants in .bim"}[
        what
    ] in said


def test_blocks_of_a_file_name_columns(study, capsys):
    (study / "b.txt").write_text("K = rs5:rs9\n")
    (study / "k.rules").write_text("mean(K) >= 1 => ill\n")
    assert fit(study, "--rules", study / "k.rules", "--blocks", study / "b.txt") == 0
    assert "rule 1: mean(K) >= 1" in capsys.readouterr().out
