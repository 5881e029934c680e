import subprocess
import sys

import pytest

from hipad.exceptions import DataError
from hipad.utils import require


def test_what_is_there_is_no_matter():
    require(["json", "numpy"], "anything")


def test_all_that_is_missing_is_named_at_once():
    with pytest.raises(DataError) as caught:
        require(["json", "no_such_a", "no_such_b"], "drawing")
    assert str(caught.value).startswith("drawing needs no_such_a, no_such_b, ")
    assert str(caught.value).endswith("pip install 'hipad[app]'")


def test_a_package_that_a_hook_forbids_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)  # as `import openpyxl` fails then
    with pytest.raises(DataError, match="openpyxl"):
        require(["openpyxl"], "reading")


WITHOUT = """
import sys
class Blocker:
    def find_spec(self, name, *_):
        if name.split(".")[0] in ("osqp", "re2"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocker())
import numpy as np
from hipad import HIPADClassifier
from hipad.exceptions import HipadError
from hipad.rules import FeatureIndex, read_blocks
X = np.random.default_rng(0).normal(size=(30, 4))
y = np.where(X[:, 0] > 0, "ill", "well")
index = FeatureIndex(["a", "b", "c", "d"])
def sentence(make):
    try:
        make()
    except HipadError as error:
        return str(error)
    return "done"
options = dict(rules="mean(K) >= 1 => ill", lambda1=0.05, lambda2=1.0)
OSQP = {"phase2_solver": "osqp"}
"""


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("read_blocks('K = a, b\\nL = c:d', index)", ["done"]),
        ("HIPADClassifier(blocks={'K': [0, 1]}, **options).fit(X, y).predict(X)", ["done"]),
        (
            "read_blocks('K = a*', index)",
            ["needs re2", "pip install 'hipad[patterns]'", "name the features"],
        ),
        ("read_blocks('K = /^(a+)+$/', index)", ["needs re2", "pip install 'hipad[patterns]'"]),
        (
            "HIPADClassifier(blocks={'K': [0, 1]}, solver=OSQP, **options).fit(X, y)",
            ["OSQP needs osqp", "pip install 'hipad[osqp]'"],
        ),
    ],
)
def test_osqp_and_re2_are_needed_only_where_they_are_used(code, words):
    script = f"{WITHOUT}print(sentence(lambda: {code}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [word for word in words if word not in done.stdout] == []
