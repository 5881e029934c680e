from __future__ import annotations

import pytest

from hipad.exceptions import DataError
from ui.session.store import StorageConfig, usual_folder


@pytest.mark.parametrize(
    ("system", "environment", "folder"),
    [
        ("linux", {"HOME": "/me"}, "/me/.local/state/hipad-workbench"),
        ("linux", {"HOME": "/me", "XDG_STATE_HOME": "/s"}, "/s/hipad-workbench"),
        ("darwin", {"HOME": "/me"}, "/me/Library/Application Support/hipad-workbench"),
        ("win32", {"HOME": "/me", "LOCALAPPDATA": "/l"}, "/l/hipad-workbench"),
    ],
)
def test_the_folder_is_the_one_that_the_system_has(system, environment, folder):
    assert usual_folder(environment, system).as_posix() == folder


@pytest.mark.parametrize(("word", "on"), [("on", True), ("OFF", False), ("0", False), ("", True)])
def test_keeping_can_be_switched_off(word, on):
    assert StorageConfig.from_environment({"HIPAD_KEEP": word, "HOME": "x"}).is_on is on


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("HIPAD_KEEP", "of"),
        ("HIPAD_KEEP_WORKS", "many"),
        ("HIPAD_KEEP_WORKS", "-1"),
        ("HIPAD_KEEP_BYTES", "inf"),
        ("HIPAD_KEEP_BYTES", ""),
        ("HIPAD_KEEP_FOLDER", "~nobody-of-this-name/x"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_sentence(variable, text):
    with pytest.raises(DataError, match=f"expected .* in {variable}, got '{text}'.*: "):
        StorageConfig.from_environment({variable: text, "HOME": "x"})
