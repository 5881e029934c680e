from __future__ import annotations

import subprocess

from hipad.cli import app, main


def test_the_app_is_started_with_streamlit(monkeypatch):
    calls = []
    monkeypatch.setattr(subprocess, "call", lambda words, cwd: calls.append(words) or 0)
    assert main(["app", "--port", "9000", "--no-browser"]) == 0
    assert calls[0][1:5] == ["-m", "streamlit", "run", str(app.APP)]
    assert "--server.port=9000" in calls[0]
    assert app.APP.is_file()
