"""The folders of the tree are described, and documents name only what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = (
    "README.md",
    "CONTRIBUTING.md",
    "docs/architecture.md",
    "docs/losses.md",
    "docs/math.md",
    "docs/tutorials/contributor.md",
)


def modules(*tops: str) -> list[Path]:
    """Modules below these folders, without what belongs to a package itself."""
    found = [path for top in tops for path in sorted((ROOT / top).rglob("*.py"))]
    return [path.relative_to(ROOT) for path in found if not path.name.startswith("__")]


def named_files(text: str) -> set[str]:
    """Files and folders that a text names in `code` or in links; patterns and addresses are not."""
    marked = re.findall(r"`([^`\n]+)`", text) + re.findall(r"\]\(([^)#\s]+)", text)
    likely = re.compile(r"[\w.-]+(?:/[\w.-]+)*/?")
    return {
        word
        for word in marked
        if likely.fullmatch(word) and ("/" in word or word.endswith((".py", ".md", ".toml")))
    }


def exists(word: str, document: Path) -> bool:
    """Whether a text may name this: from the root, from its own folder, or a room of a package."""
    rooms = [path for path in (ROOT / "hipad").iterdir() if path.is_dir()]
    bases = [ROOT, document.parent, ROOT / "hipad", ROOT / "ui", *rooms]
    return any((base / word).exists() for base in bases)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_name_only_what_is_there(name):
    document = ROOT / name
    words = named_files(document.read_text("utf-8"))
    assert words or name == "docs/math.md"
    assert [word for word in sorted(words) if not exists(word, document)] == []


def test_the_search_for_names_of_files_finds_them():
    text = "`hipad/solvers/admm.py`, [a](docs/math.md), `pages/<page>.py`, `hipad.data`, `a / b`"
    assert named_files(text) == {"hipad/solvers/admm.py", "docs/math.md"}


def test_every_room_is_described():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    rooms = {path.parent for path in modules("hipad", "ui", "benchmarks") if len(path.parts) > 2}
    tops = {room.parts[1] for room in rooms if room.parts[0] == "hipad"}
    assert [room for room in sorted(tops) if f"{room}/" not in text] == []
