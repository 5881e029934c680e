from __future__ import annotations

import subprocess
from argparse import Namespace
from importlib import import_module

import pytest

from hipad.cli import main
from hipad.exceptions import DataError
from hipad.utils import APP

app = import_module("hipad.cli.main")  # the package has a function of this name


def test_the_app_is_started_with_streamlit(monkeypatch):
    calls = []
    monkeypatch.setattr(subprocess, "call", lambda words, cwd: calls.append(words) or 0)
    assert main(["app", "--port", "9000", "--no-browser"]) == 0
    assert calls[0][1:5] == ["-m", "streamlit", "run", str(app.APP)]
    assert "--server.port=9000" in calls[0]
    assert app.APP.is_file()


@pytest.mark.parametrize(
    ("port", "no_browser", "options"),
    [
        (None, False, []),
        (0, False, ["--server.port=0"]),
        (8600, True, ["--server.port=8600", "--server.headless=true"]),
    ],
)
def test_options_become_streamlits(port, no_browser, options):
    command = app.streamlit_call(Namespace(port=port, no_browser=no_browser))
    assert command[1:5] == ["-m", "streamlit", "run", str(APP)]
    assert command[5:] == options


def test_what_is_missing_is_told_and_nothing_is_started(monkeypatch):
    monkeypatch.setattr(app, "NEEDED", ("json", "no_such_package"))
    monkeypatch.setattr(app.subprocess, "call", pytest.fail)
    with pytest.raises(DataError, match=r"^the app needs no_such_package, .*hipad\[app\]"):
        app.run_app(Namespace(port=None, no_browser=True))


def test_the_app_runs_where_its_settings_lie_and_ends_with_ctrl_c(monkeypatch):
    def stopped(_command, cwd):
        assert (cwd / ".streamlit" / "config.toml").exists()
        raise KeyboardInterrupt

    monkeypatch.setattr(app.subprocess, "call", stopped)
    assert app.run_app(Namespace(port=None, no_browser=True)) == 0
