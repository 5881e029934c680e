"""What CONTRIBUTING.md says of an addition is enough: each is made in a copy and seen at work.

The copy is changed in the files that the table names, and in no others. Then the addition is used
as a user would: on a page of the app, or by a command.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = (".git", ".venv", "node_modules", "__pycache__", ".*_cache", ".hypothesis", "*.so")
PATIENCE = 300  # seconds: only catches what hangs


def files_of(change: str) -> set[str]:
    """The files that the table names for a change, as it writes them."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    (row,) = re.findall(rf"^\| {re.escape(change)}[^|]*\|(.+)\|$", text, re.MULTILINE)
    return set(re.findall(r"`([\w./<>]+/[\w.<>/]*|app\.py)`", row))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the tree to change."""
    folder = tmp_path / "tree"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    return folder


def insert(path: Path, before: str, text: str) -> None:
    """Write text into a file, before what stands there once."""
    content = path.read_text("utf-8")
    assert content.count(before) == 1, f"{path.name} has {before!r} {content.count(before)} times"
    path.write_text(content.replace(before, text + before), "utf-8")


def run(folder: Path, *words: str) -> str:
    """Run Python in the copy and return what it prints; it must end well."""
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, timeout=PATIENCE, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4_000:] + done.stderr[-4_000:]
    return done.stdout + done.stderr


def run_page(folder: Path, steps: str) -> str:
    """Step the app of the copy through its pages, as a test of it would."""
    script = folder / "tests" / "pages" / "test_added.py"
    script.write_text(f"def test_added(app):\n{steps}", "utf-8")
    return run(folder, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", str(script))


FUNCTIONS = """    RuleFunction(
        "iqr", "Glucose > 2*iqr(Glucose)", "the training rows' quartile range of", "quartile range",
        ("spread",),
        statistic=lambda values: float(np.percentile(values, 75) - np.percentile(values, 25)),
    ),
    RuleFunction(
        "halfsum", "halfsum(metabolic) >= 140", "half the sum of", "half sum",
        divisor=lambda n: 2.0,
    ),
"""
EXAMPLES = "Glucose > 2*iqr(Glucose) => diabetic\nhalfsum(metabolic) >= 140 => diabetic\n"
RULES = "halfsum(metabolic) >= 140 => diabetic\\nGlucose >= 2*spread(Glucose) => diabetic"


def test_add_rule_function(copy: Path):
    assert files_of("a function of the rule language") == {
        "hipad/rules/functions.py",
        "docs/rules.md",
    }
    insert(copy / "hipad" / "rules" / "functions.py", ")  # fmt: skip\nRULE_FUNCTIONS", FUNCTIONS)
    insert(copy / "docs" / "rules.md", "z(Glucose) > 2 => diabetic\n", EXAMPLES)
    assert "passed" in run(
        copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_docs.py"
    )
    rules = copy / "my.rules"
    rules.write_text(RULES.replace("\\n", "\n"), "utf-8")
    table = "sample_data/pima/data.csv"
    blocks = "sample_data/pima/blocks.json"
    said = run(
        copy, "-m", "hipad", "check", str(rules), "--data", table, "--label", "Diagnosis",
        "--blocks", blocks,
    )  # fmt: skip
    assert "iqr(Glucose) is" in said
    page = run_page(
        copy,
        f"""
    from ui.rules.rule_editor import FUNCTIONS
    assert {{"iqr", "halfsum"}} <= set(FUNCTIONS)
    app.load("pima").go("rules")
    next(a for a in app.at.text_area if a.key.startswith("rules_text_")).set_value("{RULES}")
    app.run()
    print(app.text())
    assert not app.at.error
    app.at.segmented_control(key="rules_view").set_value("Form")
    app.run()
    kinds = next(s for s in app.at.selectbox if s.key.startswith("form_kind_"))
    assert any("half the sum of" in option for option in kinds.options)
    rule = app.at.selectbox(key="form_rule")
    rule.set_value(next(o for o in rule.options if "rule 1" in o))
    app.run()
    kind = next(s for s in app.at.selectbox if s.key.startswith("form_kind_"))
    assert kind.value == "halfsum"
    app.finish()
    assert not app.at.error
""",
    )
    assert "2 rules on, 0 off" in page


FORMAT = '''"""Tables whose cells stand between stars: `*a*b*outcome*`."""

from __future__ import annotations

from hipad.data.file_format import FileFormat, Limits
from hipad.data.orientation import Turn


def looks_like_stars(data: bytes) -> bool:
    """Return whether every line of the beginning stands between stars."""
    lines = data[:1_000].splitlines()[:-1]
    return bool(lines) and all(line[:1] == line[-1:] == b"*" for line in lines)


def as_delimited(data: bytes) -> bytes:
    """Return the same table with tabs."""
    return b"\\n".join(line.strip(b"*").replace(b"*", b"\\t") for line in data.splitlines())
'''
ENTRY = """    Format(
        "STARS",
        lambda file: looks_like_stars(file.data),
        lambda data, limits, turn, stated: _read_text(as_delimited(data), limits, turn, stated),
        is_text=True,
    ),
"""


def test_add_file_format(copy: Path):
    assert files_of("a file format") == {"hipad/data/", "hipad/data/reader.py"}
    (copy / "hipad" / "data" / "stars.py").write_text(FORMAT, "utf-8")
    reader = copy / "hipad" / "data" / "reader.py"
    insert(reader, ")\nFORMATS: Final", ENTRY)
    insert(reader, "from hipad.data.table import Table\n",
           "from hipad.data.stars import as_delimited, looks_like_stars\n")  # fmt: skip
    rows = [f"*{k % 7}*{k * k % 11}*{'sick' if k % 3 else 'well'}*" for k in range(40)]
    table = copy / "table.stars"
    table.write_text("\n".join(["*a*b*outcome*", *rows, ""]), "utf-8")
    rules = copy / "my.rules"
    rules.write_text("a >= 3 => sick\n", "utf-8")
    words = ("--data", str(table), "--label", "outcome")
    assert "a >= 3" in run(copy, "-m", "hipad", "check", str(rules), *words)
    assert "STARS" in run(copy, "-m", "hipad", "fit", "--help")
    page = run_page(
        copy,
        f"""
    app.go("data").upload("table.stars", open({str(table)!r}, "rb").read())
    print(app.text())
    assert not app.at.error
    assert app.state.data.classes == ("well", "sick")
""",
    )
    assert "2 features" in page


def test_add_page(copy: Path):
    assert files_of("a page of the app") == {"pages/<page>.py", "ui/<page>/", "app.py"}
    (copy / "pages" / "greeting.py").write_text(
        '"""A page."""\n\nfrom ui.greeting import words\n\nwords.show()\n', "utf-8"
    )
    (copy / "ui" / "greeting").mkdir()
    (copy / "ui" / "greeting" / "__init__.py").write_text('"""Parts of the page."""\n', "utf-8")
    (copy / "ui" / "greeting" / "words.py").write_text(
        '"""Words."""\n\nimport streamlit as st\n\n\n'
        'def show() -> None:\n    """Greet."""\n    st.title("Good morning")\n',
        "utf-8",
    )
    line = '        st.Page("pages/greeting.py", title="Greeting"),\n'
    insert(copy / "app.py", "    ]\n    st.set_page_config", line)
    page = run_page(copy, '\n    app.go("greeting")\n    print(app.text())\n')
    assert "Good morning" in page


METHOD = '''
def _first_feature(draw: TrainTestSplit, rules: str, options: dict[str, Any]) -> MethodScores:
    """Score by the first feature alone."""
    X = draw.X_test[:, [0]]
    return MethodScores(np.asarray(X.toarray() if sparse.issparse(X) else X).ravel(), support=1)


'''


def test_add_experiment_method(copy: Path):
    assert files_of("a method that experiments compare") == {"hipad/experiments/methods.py"}
    path = copy / "hipad" / "experiments" / "methods.py"
    insert(path, "class Method(NamedTuple)", METHOD)
    entry = '    "first feature": Method(_first_feature, ("learning_curve",)),\n'
    insert(path, "}\n\n\ndef methods_of", entry)
    said = run(
        copy, "-m", "hipad", "curve", "sample_data/pima/data.csv", "--label", "Diagnosis",
        "--rules", "sample_data/pima/pima.rules", "--blocks", "sample_data/pima/blocks.json",
        "--sizes", "8", "16", "--draws", "2",
    )  # fmt: skip
    assert "first feature" in said


COMMAND = '''"""A greeting."""

from __future__ import annotations

import argparse


def add_greet_options(parser: argparse.ArgumentParser) -> None:
    """Whom to greet."""
    parser.add_argument("name")


def run_greet(options: argparse.Namespace) -> int:
    """Greet somebody."""
    print(f"good morning, {options.name}")
    return 0
'''


def test_add_command(copy: Path):
    assert files_of("a command") == {"hipad/cli/", "hipad/cli/main.py"}
    (copy / "hipad" / "cli" / "greet.py").write_text(COMMAND, "utf-8")
    line = '    "greet": Command("greet", "say good morning"),\n'
    insert(copy / "hipad" / "cli" / "main.py", "}\n\n\ndef main", line)
    assert "good morning, you" in run(copy, "-m", "hipad", "greet", "you")
    assert "say good morning" in run(copy, "-m", "hipad", "--help")
