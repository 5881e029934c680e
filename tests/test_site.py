"""The documentation keeps its promises: its lines run, its commands are read, its figures stand in
the benchmarks, and no page is out of reach."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import nbformat
import pytest

from hipad.cli.main import build_parser
from tests.conftest import IN_CI

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
MADE = ("examples", "generated", "jupyter_execute")  # by `make docs`
PAGES = sorted(p for p in DOCS.rglob("*.md") if p.relative_to(DOCS).parts[0] not in MADE)
GALLERY = sorted((DOCS / "gallery").glob("plot_*.py"))
NOTEBOOK = DOCS / "tutorials" / "analyst.ipynb"
RUN = ("start.md", "howto.md", "evaluation.md", "tutorials/researcher.md")
PATIENCE = 600  # seconds: only catches what hangs


def name_of(path: Path) -> str:
    return path.relative_to(DOCS).as_posix()


def fenced(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", RUN)
def test_the_lines_of_a_page_run_one_after_the_other(page, tmp_path):
    code = "\n".join(fenced((DOCS / page).read_text("utf-8"), "python"))
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", code],
        cwd=tmp_path, timeout=PATIENCE, capture_output=True, text=True,
        env={"PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_every_page_with_python_is_run_or_tested_elsewhere():
    with_python = {name_of(p) for p in PAGES if fenced(p.read_text("utf-8"), "python")}
    assert with_python == {*RUN, "losses.md"}


def commands() -> list[str]:
    """The calls of `hipad` in the pages and the README, without what follows the hash."""
    texts = [path.read_text("utf-8") for path in (*PAGES, ROOT / "README.md")]
    lines = "\n".join(block for text in texts for block in fenced(text, "sh")).splitlines()
    return sorted({line.split("#")[0].strip() for line in lines if line.startswith("hipad ")})


@pytest.mark.parametrize("command", commands())
def test_a_command_of_the_documentation_is_read(command):
    words = re.findall(r"'([^']*)'|(\S+)", command)[1:]
    given = ["".join(pair) for pair in words]
    build_parser().parse_args(given)


def test_there_are_commands():
    assert len(commands()) >= 10


def test_the_gallery_is_large_enough_and_every_example_says_what_it_shows():
    assert len(GALLERY) >= 12
    for path in GALLERY:
        tree = ast.parse(path.read_text("utf-8"))
        title, line, *_ = (ast.get_docstring(tree) or "").splitlines()
        assert re.fullmatch(r"=+", line), path.name
        assert len(line) >= len(title), path.name
        imported = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module]
        tops = {n.module.split(".")[0] for n in imported if n.module}
        assert tops <= {"hipad", "sklearn"}, path.name  # what an installed package has


def imported_names() -> list[tuple[str, str]]:
    """What examples, the notebook and pages import from the library."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    sources += [path.read_text("utf-8") for path in GALLERY]
    sources += [code for page in PAGES for code in fenced(page.read_text("utf-8"), "python")]
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    return sorted({
        (node.module, alias.name)
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("hipad")
        for alias in node.names
    })  # fmt: skip


@pytest.mark.parametrize(("module", "name"), imported_names())
def test_what_the_documentation_imports_is_there(module, name):
    assert hasattr(import_module(module), name)


@pytest.mark.parametrize("path", GALLERY[:1], ids=lambda path: path.stem)
def test_an_example_of_the_gallery_runs(path, tmp_path):
    run_example(path, tmp_path)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("path", GALLERY[1:], ids=lambda path: path.stem)
def test_every_example_of_the_gallery_runs(path, tmp_path):
    run_example(path, tmp_path)


def run_example(path: Path, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning:hipad", str(path)],
        cwd=folder, timeout=PATIENCE, capture_output=True, text=True,
        env={"PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not list(folder.iterdir())


def test_the_notebook_is_kept_without_outputs():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.long
@pytest.mark.slow
def test_the_notebook_runs_and_shows_tables_and_pictures(tmp_path, monkeypatch):
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(
        notebook, timeout=PATIENCE, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    shown = [out.get("data", {}) for cell in notebook.cells for out in cell.get("outputs", [])]
    tables = [data["text/html"] for data in shown if "text/html" in data]
    assert any("What became of each rule" in table for table in tables)
    assert any("Certificate: solved" in table for table in tables)
    assert any("The fitted model" in table for table in tables)
    assert sum("image/png" in data for data in shown) >= 3


def links(path: Path) -> set[str]:
    text = path.read_text("utf-8")
    found = set(re.findall(r"\]\((?!https?:|mailto:|#)([^)\s#]*)", text))
    trees = re.findall(r"```\{toctree\}(.*?)```", text, re.DOTALL)
    listed = [name for tree in trees for name in pages_of(tree)]
    return {link for link in found if link} | set(listed)


def pages_of(tree: str) -> list[str]:
    """The pages of a table of contents, with titles of their own or without."""
    return re.findall(r"^(?:[\w ]+ <)?([\w/]+)>?$", tree, re.MULTILINE)


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_of_a_page_point_at_what_is_there(path):
    for link in links(path):
        there = [path.parent / link, *(path.parent / f"{link}{end}" for end in (".md", ".ipynb"))]
        made = (path.parent / link).resolve().relative_to(ROOT).parts
        assert any(p.exists() for p in there) or made[:2] in {("docs", m) for m in MADE}, link


def test_every_page_is_in_a_table_of_contents():
    found = {DOCS / "index.md"}
    waiting = [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        text = page.read_text("utf-8")
        for tree in re.findall(r"```\{toctree\}(.*?)```", text, re.DOTALL):
            for line in pages_of(tree):
                target = page.parent / f"{line}.md"
                if target.exists() and target not in found:
                    found.add(target)
                    waiting.append(target)
    assert found == set(PAGES)


def test_figures_of_the_comparison_stand_in_the_benchmarks():
    told = re.findall(
        r"\d\.\d{3} ± \d\.\d{3}|\d\d\.\d ± \d\.\d", (DOCS / "comparison.md").read_text()
    )
    measured = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
    assert len(told) >= 12
    assert [figure for figure in told if figure not in measured] == []


@pytest.mark.long
@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_asks_no_other_machine(tmp_path):
    pytest.importorskip("sphinx", reason="make docs installs sphinx")
    if not IN_CI and not (ROOT / ".venv").exists():
        pytest.skip("there is no .venv to build in")
    copy = tmp_path / "tree"
    keep = shutil.ignore_patterns(".git", ".venv", "build", *MADE, "__pycache__", ".*_cache")
    shutil.copytree(ROOT, copy, ignore=keep, symlinks=True)
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", "docs", "site"],
        cwd=copy, timeout=4 * PATIENCE, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    asked = re.compile(r"<(?:script|img|link|iframe)[^>]+(?:src|href)=\"(?:https?:)?//([^\"/]+)")
    for page in (copy / "site").rglob("*.html"):
        assert asked.findall(page.read_text("utf-8")) == [], page.name
