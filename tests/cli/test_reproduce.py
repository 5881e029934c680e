from __future__ import annotations

from hipad.cli import main


def test_reproduce_shows_our_figures_beside_the_papers(monkeypatch, capsys):
    from hipad.cli import reproduce
    from hipad.datasets import make_ksvm_s

    def small(size, seed):
        return make_ksvm_s(size, seed=seed, n_train=60, n_test=60, n_features=400, block_size=10)

    monkeypatch.setattr(reproduce, "make_ksvm_s", small)
    assert main(["reproduce", "ksvm-s-10k", "--seeds", "2"]) == 0
    title, head, ours, literal, libsvm = capsys.readouterr().out.splitlines()
    assert title == "ksvm-s-10k, mean of 2 draws"
    assert head.split()[:3] == ["method", "in", "the"]
    assert ours.split()[:2] == ["HIPAD-ENK", "0.990"]
    assert literal.startswith("paper's settings  -")
    assert libsvm.split()[:2] == ["LIBSVM", "0.861"]
    assert float(ours.split()[2]) > float(libsvm.split()[2])
