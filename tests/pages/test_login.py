"""With a login configured no page is shown to a stranger, whatever address is asked for."""

from __future__ import annotations

import time

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import ROOT
from ui.session import login


class User(dict):
    __getattr__ = dict.__getitem__


@pytest.fixture
def claims(monkeypatch):
    found = User(is_logged_in=False)
    monkeypatch.setattr(login.st, "user", found)
    return found


def test_a_stranger_sees_the_login_alone(claims):
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    assert not at.exception
    assert [button.label for button in at.button] == ["Log in"]
    assert "workbench" not in at.session_state
    with pytest.raises(ValueError, match="navigation page"):  # there is none but this one
        at.switch_page("pages/rules.py")


def test_who_is_logged_in_sees_the_pages_and_a_way_out(claims):
    claims |= {"is_logged_in": True, "iss": "https://p.example", "sub": "1", "iat": time.time()}
    claims["email"] = "a*b*@c.example"
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    assert not at.exception
    assert at.button(key="log_out")
    assert "workbench" in at.session_state
