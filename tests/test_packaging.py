"""The package as other people get it: a wheel, its core dependencies, and the app on request."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from collections.abc import Sequence
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import hipad
from benchmarks.audit import report
from benchmarks.sbom import read_lock
from benchmarks.serving import serving
from hipad.cli.main import NEEDED
from hipad.utils import SAMPLES
from tests.conftest import IN_CI

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PIMA = SAMPLES / "pima" / "data.csv"
PATIENCE = 300  # seconds: only catches what hangs
BLOCKER = f"""
import sys
class Blocker:
    def find_spec(self, name, *_):
        if name.split(".")[0] in {NEEDED!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocker())
"""


def run(
    command: Sequence[str | Path], folder: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder that is not the source tree."""
    surroundings = {**os.environ, **environment}
    return subprocess.run(
        [str(word) for word in command], cwd=folder, env=surroundings, timeout=PATIENCE,
        capture_output=True, text=True,
    )  # fmt: skip


def said(command: Sequence[str | Path], folder: Path, *, code: int = 0, **environment: str) -> str:
    """What a command says on both channels; it ends with this code."""
    done = run(command, folder, **environment)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """Surroundings in which nothing of `hipad[app]` can be imported, in children neither."""
    (tmp_path / "sitecustomize.py").write_text(BLOCKER)
    return {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT]
    said(build, folder)
    (built,) = folder.glob("*.whl")
    return built


def test_the_version_is_one() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    (cited,) = re.findall(r"^version: (\S+)$", citation, re.MULTILINE)
    assert cited == hipad.__version__
    assert PROJECT["dynamic"] == ["version"]
    newest = re.search(r"^## (\d\S*?),? ", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert newest is not None
    assert newest[1] == hipad.__version__


def test_the_lock_file_is_what_the_package_asks_for() -> None:
    def names(lines: Sequence[str]) -> set[str]:
        return {re.split(r"[=<>~]", line)[0] for line in lines}

    asked = names([*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["app"]])
    text = (ROOT / "requirements.txt").read_text("utf-8")
    pins = read_lock(text)
    assert asked == {pin.name for pin in pins if any("hipad" in by for by in pin.needed_by)}
    assert all(pin.hashes for pin in pins)
    assert all(pin.needed_by for pin in pins)
    assert not re.search(r"https?:|file:|--index|--find|/", text.replace("via", ""))
    extras = {key: names(lines) for key, lines in PROJECT["optional-dependencies"].items()}
    assert extras["app"] == {*NEEDED, *extras["osqp"], *extras["patterns"]}


def test_the_bill_of_materials_is_that_of_the_lock_file() -> None:
    bill = json.loads((ROOT / "sbom.json").read_text("utf-8"))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    told = {(part["name"], part["version"]) for part in bill["components"]}
    pins = read_lock((ROOT / "requirements.txt").read_text("utf-8"))
    assert told == {(pin.name, pin.version) for pin in pins}
    assert all(part["licenses"] for part in bill["components"])
    assert bill["metadata"]["component"]["version"] == hipad.__version__


def test_an_audit_without_data_does_not_call_all_well() -> None:
    unknown = {"name": "a", "version": "1", "skip_reason": "not found"}
    known = {"name": "b", "version": "2", "vulns": [{"id": "CVE-1", "fix_versions": ["3"]}]}
    assert "none of 1 packages could be checked" in report([unknown])
    told = report([unknown, known])
    assert "1 of 2 packages checked, 1 known faults. Not checked: a." in told
    assert "CVE-1" in told


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("import hipad", NEEDED),
        # Arrow and scikit-learn load pandas by themselves where it is installed.
        ("import hipad; hipad.HIPADClassifier, hipad.load_model", set(NEEDED) - {"pandas"}),
        ("from hipad.cli.main import build_parser; build_parser()", set(NEEDED) - {"pandas"}),
    ],
)
def test_an_import_loads_nothing_of_the_app(code: str, unwanted: set[str], tmp_path: Path) -> None:
    code += f"; import sys; print([name for name in {unwanted!r} if name in sys.modules])"
    told = said([sys.executable, "-c", code], tmp_path, PYTHONPATH=str(ROOT))
    assert told.strip() == "[]"


def test_the_blocker_blocks(bare: dict[str, str], tmp_path: Path) -> None:
    told = said([sys.executable, "-c", "import openpyxl"], tmp_path, code=1, **bare)
    assert "No module named 'openpyxl'" in told


def test_fit_and_predict_do_without_the_app(bare: dict[str, str], tmp_path: Path) -> None:
    hipad_command = [sys.executable, "-m", "hipad"]
    fit = ["fit", PIMA, "--label", "Diagnosis", "--lambda1", "0.05", "--model", "model.json"]
    said([*hipad_command, *fit, "--rules", SAMPLES / "pima" / "pima.rules"], tmp_path, **bare)
    assert json.loads((tmp_path / "model.json").read_text("utf-8"))
    said([*hipad_command, "predict", "model.json", PIMA, "--out", "out.csv"], tmp_path, **bare)
    assert len((tmp_path / "out.csv").read_text("utf-8").splitlines()) == 769


@pytest.mark.parametrize("code", [
    "from hipad.datasets import load_sample; load_sample('pima').frame()",
    "from hipad.data import summarise; import numpy as np; summarise(np.eye(2), ['a', 'b'])",
])  # fmt: skip
def test_a_data_frame_without_pandas_is_a_sentence(
    code: str, bare: dict[str, str], tmp_path: Path
) -> None:
    told = said([sys.executable, "-c", code], tmp_path, code=1, **bare)
    assert told.splitlines()[-1].startswith("hipad.exceptions.DataError: ")
    assert told.strip().endswith("pip install 'hipad[app]'")


def workbook(path: Path) -> Path:
    """What every reader takes for a workbook by its content."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return path


def test_a_workbook_without_openpyxl_is_a_sentence(bare: dict[str, str], tmp_path: Path) -> None:
    book = workbook(tmp_path / "book.xlsx")
    code = f"from hipad.data import read_table; read_table({str(book)!r})"
    told = said([sys.executable, "-c", code], tmp_path, code=1, **bare)
    assert "reading an Excel workbook needs openpyxl" in told.splitlines()[-1]
    assert told.strip().endswith("pip install 'hipad[app]'")


def test_the_app_without_its_packages_is_a_sentence(bare: dict[str, str], tmp_path: Path) -> None:
    told = said([sys.executable, "-m", "hipad", "app"], tmp_path, code=1, **bare)
    assert "the app needs streamlit, plotly" in told
    assert "pip install 'hipad[app]'" in told


def test_the_wheel_holds_the_app_and_its_rules_of_safety(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    sources = [ROOT / "app.py", *(ROOT / "ui").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]
    sources += [ROOT / ".streamlit" / "config.toml", ROOT / "ui" / "icon.svg"]
    sources += (ROOT / "ui" / "run" / "replay" / "browser").iterdir()
    sources += (ROOT / "ui" / "rules" / "assets").iterdir()
    assert {f"hipad/bundle/{path.relative_to(ROOT)}" for path in sources} <= held
    assert "hipad/py.typed" in held
    assert not [name for name in held if "__pycache__" in name or name.startswith("tests")]


@pytest.mark.long
@pytest.mark.slow
def test_the_wheel_works_in_a_clean_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "clean", with_pip=True)
    programs = tmp_path / "clean" / ("Scripts" if os.name == "nt" else "bin")
    pip = [programs / "python", "-m", "pip", "install", "--quiet", "--no-compile"]
    installed = run([*pip, wheel], tmp_path, PYTHONPATH="")
    if installed.returncode and not IN_CI and "No matching distribution" in installed.stderr:
        pytest.skip("the package index cannot be reached")
    assert installed.returncode == 0, installed.stderr
    (tmp_path / "work").mkdir()

    def tell(*words: str | Path, code: int = 0) -> str:
        return said(words, tmp_path / "work", code=code, PYTHONPATH="")

    command = programs / "hipad"
    sample = "import hipad.datasets as d; print(d.load_sample('all-bcrabl').X.shape)"
    assert tell(programs / "python", "-c", sample).strip() == "(79, 12625)"
    assert tell(command, "--version").strip() == f"hipad {hipad.__version__}"
    assert "ksvm-s-10k" in tell(command, "reproduce", "--help")
    rules = SAMPLES / "pima" / "pima.rules"
    assert tell(command, "check", rules, "--data", PIMA, "--label", "Diagnosis")
    fit = ("fit", PIMA, "--label", "Diagnosis", "--rules", rules, "--lambda1", "0.05")
    tell(command, *fit, "--model", "model.json")
    assert (tmp_path / "work" / "model.json").exists()
    assert "ModuleNotFoundError" in tell(programs / "python", "-c", "import streamlit", code=1)
    assert "pip install 'hipad[app]'" in tell(command, "app", code=1)
    book = workbook(tmp_path / "book.xlsx")
    refused = tell(command, "fit", book, "--label", "ill", "--model", "m.json", code=1)
    assert "reading an Excel workbook needs openpyxl" in refused


def status(address: str, path: str, host: str | None = None) -> int:
    """The answer of a server to a visitor who calls it by this name."""
    where = urlsplit(address)
    connection = HTTPConnection(where.netloc, timeout=PATIENCE)
    try:
        connection.request("GET", path, headers={"Host": host or where.netloc})
        return connection.getresponse().status
    finally:
        connection.close()


def test_the_app_of_the_wheel_serves_from_any_folder(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    (tmp_path / "elsewhere").mkdir()
    command = [sys.executable, "-m", "hipad", "app", "--no-browser", "--port", "0"]
    installed = {"PYTHONPATH": str(tmp_path / "installed")}
    log, folder = tmp_path / "log.txt", tmp_path / "elsewhere"
    with serving(command, log, folder=folder, environment=installed) as server:
        assert urlsplit(server.address).hostname == "127.0.0.1"
        assert status(server.address, "/_stcore/health") == 200
        assert status(server.address, "/") == 200
        assert status(server.address, "/_stcore/health", host="evil.example") in (400, 403)
    assert "Traceback" not in log.read_text()
    with pytest.raises(OSError, match="refused"):
        status(server.address, "/")  # no server is left behind
