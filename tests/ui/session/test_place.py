from __future__ import annotations

import pytest

from ui.session.place import Place, usual_folder


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
    assert Place.from_environment({"HIPAD_KEEP": word, "HOME": "x"}).is_on is on
