"""What holds for the tree as a whole: who imports whom, and what never stands in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ("app.py", "pages", "ui", "hipad", "sample_data", "benchmarks")
TEXTS = (".py", ".md", ".toml", ".txt", ".rules", ".json", ".yml", ".yaml", ".cfg", "")

# A room may import itself and those before it; the rooms of one row do not know each other.
LAYERS = (
    ("errors and words",),  # every module that lies beside the folders
    ("data",),
    ("datasets", "designs"),
    ("rules",),
    ("solvers",),
    ("estimator",),
    ("evaluation",),
    ("export",),
    ("experiments",),
    ("reporting",),
    ("cli",),
)
RANK = {name: rank for rank, row in enumerate(LAYERS) for name in row}
PAGES = ("data", "rules", "workbench", "run")  # in ui: a page's parts may use those of pages before

UNSAFE_MODULES = {
    "pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal",
    "socket", "ssl", "urllib", "http", "ftplib", "smtplib", "requests", "httpx", "aiohttp",
}  # fmt: skip
UNSAFE_NAMES = {"joblib.load", "joblib.dump", "joblib.Memory"}  # joblib spreads fits, no more
UNSAFE_CALLS = {"eval", "exec", "compile", "__import__", "unsafe_allow_html"}


def modules(*parts: str) -> list[Path]:
    """Python files below these parts of the tree, in order."""
    found: list[Path] = []
    for part in parts:
        path = ROOT / part
        found += [path] if path.is_file() else sorted(path.rglob("*.py"))
    return found


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Dotted names that a file imports, with their lines; relative ones resolved."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            start = ".".join((*base, *filter(None, [node.module])))
            yield start, node.lineno
            yield from ((f"{start}.{alias.name}", node.lineno) for alias in node.names)


def unsafe(source: str) -> list[str]:
    """Uses of what never stands in the tree: unpickling, evaluation, raw markup, the network."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else None
            found += [name] if name in UNSAFE_CALLS else []
            for keyword in node.keywords:
                raw = keyword.arg in ("unsafe_allow_html", "allow_pickle", "shell")
                off = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
                found += [keyword.arg] if raw and not off else []
        elif isinstance(node, ast.Import):
            unsafe_names = UNSAFE_MODULES | {"joblib"}  # whole, it has `load`
            found += [a.name for a in node.names if a.name.split(".")[0] in unsafe_names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found += [node.module] if node.module.split(".")[0] in UNSAFE_MODULES else []
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found += sorted(names & UNSAFE_NAMES)
    return found


def dotted(path: Path) -> str:
    """A file as Python names it."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def layer(name: str) -> str | None:
    """The layer of a dotted name of the library; None for its root and for other names."""
    top, *parts = name.split(".")
    if top != "hipad" or not parts or parts[0] in ("__init__", "__main__", "__version__"):
        return None
    if parts[0] in RANK:
        return parts[0]
    return LAYERS[0][0] if (ROOT / "hipad" / f"{parts[0]}.py").exists() else None


def backward(package: str, order: tuple[str, ...]) -> list[str]:
    """Imports within a package from one of these folders to a later one."""
    found = []
    for rank, folder in enumerate(order):
        later = tuple(f"{package}.{name}" for name in order[rank + 1 :])
        for path in modules(f"{package.replace('.', '/')}/{folder}"):
            found += [
                f"{path.relative_to(ROOT)}:{line} imports {name}"
                for name, line in imports(path)
                if name.startswith(later)
            ]
    return found


def test_the_library_knows_nothing_of_the_app():
    guilty = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in modules("hipad")
        for name, line in imports(path)
        if name.split(".")[0] in ("streamlit", "plotly", "app", "pages", "ui")
    ]
    assert not guilty


def test_imports_go_one_way():
    guilty = []
    for path in modules("hipad"):
        own = layer(dotted(path))
        for name, line in imports(path):
            other = layer(name)
            if own and other and own != other and RANK[other] >= RANK[own]:
                guilty.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
    assert not guilty


def circles(graph: dict[str, set[str]]) -> list[str]:
    """Modules from which imports lead back to themselves."""
    found = []
    for start in graph:
        reached, ahead = set(), list(graph[start])
        while ahead:
            name = ahead.pop()
            if name not in reached:
                reached.add(name)
                ahead += graph.get(name, ())
        found += [start] if start in reached else []
    return found


def imported_at_once(path: Path) -> set[str]:
    """Modules of the library that a module imports before it can be used."""
    tree = ast.parse(path.read_text("utf-8"))
    found = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("hipad"):
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def test_no_module_imports_another_in_a_circle():
    paths = [path for path in modules("hipad") if path.name != "__init__.py"]
    assert not circles({dotted(path): imported_at_once(path) for path in paths})


def test_the_search_for_circles_finds_them():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]


def test_the_parts_of_a_page_use_those_of_pages_before_it():
    assert not backward("ui", PAGES)


def test_the_search_for_imports_back_finds_them():
    assert backward("ui", PAGES[::-1])


def test_pages_are_on_top():
    guilty = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in modules("ui", "hipad", "pages")
        for name, line in imports(path)
        if name.split(".")[0] in ("app", "pages", "tests", "benchmarks", "examples")
    ]
    assert not guilty


def test_every_folder_of_the_library_has_its_layer():
    folders = {path.name for path in (ROOT / "hipad").iterdir() if (path / "__init__.py").exists()}
    assert folders <= set(RANK)


def test_nothing_unsafe_stands_in_the_tree():
    guilty = {
        str(path.relative_to(ROOT)): found
        for path in modules(*SHIPPED)
        if (found := unsafe(path.read_text("utf-8")))
    }
    assert not guilty


@pytest.mark.parametrize(
    ("source", "safe"),
    [
        ("import pickle", False),
        ("from urllib.request import urlopen", False),
        ("eval('1')", False),
        ("import joblib", False),
        ("from joblib import load", False),
        ("from joblib import Parallel", True),
        ("st.markdown(x, unsafe_allow_html=True)", False),
        ("np.load(f, allow_pickle=flag)", False),
        ("np.load(f, allow_pickle=False)", True),
        ("'we never eval or unpickle: import pickle'", True),
        ("table.eval('a + b')", True),
        ("from hipad.http import x", True),
    ],
)
def test_the_search_for_unsafe_code_finds_it_and_nothing_else(source, safe):
    assert (unsafe(source) == []) is safe


def texts() -> list[Path]:
    """Every text that is handed on; what set-up and tests leave behind is not."""
    left = {".git", ".venv", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"}
    return [
        path
        for path in sorted(ROOT.rglob("*"))
        if path.is_file()
        and path.suffix in TEXTS
        and not left & set(path.relative_to(ROOT).parts)
        and "__pycache__" not in path.parts
    ]


def test_no_path_of_one_machine_stands_in_the_tree():
    machine = re.compile(r"(?<![\w.])/(?:home|root|Users|work|tmp|opt|mnt)/\w")
    guilty = [
        f"{path.relative_to(ROOT)}: {found.group()}"
        for path in texts()
        if path != Path(__file__) and (found := machine.search(path.read_text("utf-8", "replace")))
    ]
    assert not guilty
