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
