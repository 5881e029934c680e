"""SECURITY.md tells the truth: each limit that it names exists, with the default it states."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest
from streamlit import config

from hipad.data.file_format import PREFIX, Limits
from ui.session.store import StorageConfig

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "SECURITY.md").read_text("utf-8")
STATED = dict(re.findall(r"^\| `([\w.]+)` \| ([^|]+?) \|", TEXT, re.MULTILINE))
CONFIG = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
JOBS = {"HIPAD_JOBS": "RUN_SLOTS._value", "HIPAD_UNSEEN_SECONDS": "UNSEEN_SECONDS"}


def number(text: str) -> int:
    return int(text.replace(",", ""))


def test_every_limit_of_a_file_is_stated_with_its_default() -> None:
    defaults = {PREFIX + field.name.upper(): field.default for field in fields(Limits)}
    stated = {name: number(text) for name, text in STATED.items() if name.startswith(PREFIX)}
    assert stated == defaults


@pytest.mark.parametrize("name", [field.name for field in fields(Limits)])
def test_every_limit_of_a_file_can_be_set_as_stated(name: str) -> None:
    limits = Limits.from_environment({PREFIX + name.upper(): "4e9"})
    assert getattr(limits, name) == 4_000_000_000


@pytest.mark.parametrize("variable", JOBS)
@pytest.mark.parametrize("value", [None, "7"])
def test_the_limits_of_runs_are_as_stated(variable: str, value: str | None) -> None:
    environment = {name: text for name, text in os.environ.items() if name not in JOBS}
    environment |= {variable: value} if value else {}
    code = f"from ui import jobs; print(jobs.{JOBS[variable]})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, check=True
    )
    assert float(done.stdout) == float(value or STATED[variable])


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HIPAD_JOBS", "many"),
        ("HIPAD_JOBS", "0"),
        ("HIPAD_READERS", "-1"),
        ("HIPAD_UNSEEN_SECONDS", "nan"),
        ("HIPAD_KEEP", "of"),
        ("HIPAD_LIMIT_SECONDS", "soon"),
    ],
)
def test_the_app_refuses_a_bad_variable_in_a_sentence(variable: str, value: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true"],
        cwd=ROOT,
        env={**os.environ, variable: value, "STREAMLIT_SERVER_PORT": "0"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 1
    assert "error: expected " in done.stderr
    assert f" in {variable}, got '{value}'" in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


def test_the_limits_of_kept_work_are_as_stated() -> None:
    place = StorageConfig.from_environment({"HOME": str(ROOT)})
    assert place.is_on
    assert STATED["HIPAD_KEEP"] == "on"
    assert number(STATED["HIPAD_KEEP_WORKS"]) == place.most_works
    assert number(STATED["HIPAD_KEEP_BYTES"]) == place.most_bytes
    other = {"HIPAD_KEEP": "off", "HIPAD_KEEP_FOLDER": "x", "HIPAD_KEEP_BYTES": "4e9"}
    assert StorageConfig.from_environment(other) == StorageConfig(
        Path("x"), False, most_bytes=4_000_000_000
    )


def test_every_environment_variable_of_the_code_is_named() -> None:
    sources = [path for top in ("hipad", "ui") for path in (ROOT / top).rglob("*.py")]
    found = {
        name for path in sources for name in re.findall(r'"(HIPAD_[A-Z_]+[A-Z])"', path.read_text())
    }
    assert found
    assert found <= set(STATED)


@pytest.mark.parametrize("option", [name for name in STATED if name.startswith("server.")])
def test_every_option_of_the_web_server_is_as_stated(option: str) -> None:
    assert option in config._config_options_template
    value = CONFIG["server"].get(option.removeprefix("server."), [])
    words = ", ".join(value) if isinstance(value, list) else str(value)
    assert (words or "none") == STATED[option]


def test_hosts_can_be_set_by_the_environment_as_stated() -> None:
    found = re.search(r'(STREAMLIT_SERVER_ALLOWED_HOSTS)="([^"]+)"', TEXT)
    assert found is not None
    variable, hosts = found.groups()
    done = subprocess.run(
        [sys.executable, "-m", "streamlit", "config", "show"],
        cwd=ROOT,
        env={**os.environ, variable: hosts},
        capture_output=True,
        text=True,
        check=True,
    )
    shown = re.search(r"^\s*allowedHosts = (\[.*?\])", done.stdout, re.MULTILINE | re.DOTALL)
    assert shown is not None
    assert re.findall(r'"([^"]+)"', shown[1]) == hosts.split()


def test_what_guards_the_web_is_switched_on() -> None:
    server = CONFIG["server"]
    assert server["enableCORS"]
    assert server["enableXsrfProtection"]
    assert not server["enableStaticServing"]
    assert not server["enableAgentApi"]
    assert CONFIG["client"]["showErrorDetails"] == "type"
    assert not CONFIG["browser"]["gatherUsageStats"]


def test_the_readme_leads_here() -> None:
    assert "(SECURITY.md)" in (ROOT / "README.md").read_text("utf-8")
    for link in re.findall(r"\]\(([^)]+)\)", TEXT):
        assert (ROOT / link).exists(), link
