from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from ui.rules.rule_editor import FOLDER

SOURCES = Path(__file__).resolve().parents[4] / "web" / "editor"
ASSETS = FOLDER / "assets"


def test_what_is_shipped_was_built_from_the_sources():
    digest = hashlib.sha256((SOURCES / "package-lock.json").read_bytes())
    for path in sorted((SOURCES / "src").iterdir()):
        digest.update(path.read_bytes())
    assert f"sources {digest.hexdigest()}" in (ASSETS / "editor.js").read_text("utf-8")[:200]


def test_the_script_is_small():
    assert (ASSETS / "editor.js").stat().st_size < 600_000


def test_every_package_in_it_ships_its_licence():
    licences = (ASSETS / "LICENSES.txt").read_text("utf-8")
    wanted = json.loads((SOURCES / "package.json").read_text("utf-8"))["dependencies"]
    for name, version in wanted.items():
        assert f"{name} {version} (MIT)" in licences
    assert licences.count("Permission is hereby granted") == licences.count("(MIT)")


@pytest.mark.parametrize("path", sorted((SOURCES / "src").glob("*.js")), ids=lambda path: path.name)
def test_words_of_the_data_are_never_taken_for_markup(path):
    code = path.read_text("utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", code)
