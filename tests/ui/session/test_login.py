"""Login by an identity provider: who is let in, and whose work it is."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from ui.session import autosave, login

CLAIMS = {"iss": "https://provider.example", "sub": "17", "email": "a@b.example"}


class User(dict):
    """`st.user`, whose claims are attributes as well."""

    __getattr__ = dict.__getitem__


@pytest.fixture
def user(monkeypatch):
    """Say who is logged in; None is a server without a login."""

    def become(**claims: Any) -> None:
        context = SimpleNamespace(cookies={}, headers={"Host": "localhost:8501"})
        fake = SimpleNamespace(user=User(claims), context=context)
        monkeypatch.setattr(login, "st", fake)
        monkeypatch.setattr(autosave, "st", fake)

    return become


def logged_in(**claims: Any) -> dict[str, Any]:
    return {"is_logged_in": True, "iat": time.time(), **CLAIMS, **claims}


def test_without_a_provider_there_is_no_login(user):
    user()
    assert not login.is_required()
    assert login.is_open()
    assert autosave.owner() == ""  # no cookie in this test


def test_nobody_is_let_in_before_the_provider_said_who_it_is(user):
    user(is_logged_in=False)
    assert login.is_required()
    assert not login.is_open()
    assert autosave.owner() == ""


def test_work_is_kept_by_account_and_not_by_address_or_browser(user):
    user(**logged_in())
    assert login.is_open()
    mine = autosave.owner()
    assert len(mine) == 32
    user(**logged_in(email="new@b.example", name="New Name"))
    assert autosave.owner() == mine
    user(**logged_in(sub="18"))
    assert autosave.owner() != mine
    user(**logged_in(iss="https://other.example"))
    assert autosave.owner() != mine


@pytest.mark.parametrize("wrong", [{"sub": None}, {"sub": ""}, {"iss": 3}, {"iat": None}])
def test_claims_that_name_nobody_let_nobody_in(user, wrong):
    user(**logged_in(**wrong))
    assert not login.is_open()
    assert autosave.owner() == ""


def test_a_login_ends(user):
    user(**logged_in(iat=time.time() - 3600 * login.HOURS - 1))
    assert not login.is_open()
    user(**logged_in(iat=time.time() - 3600 * login.HOURS + 60))
    assert login.is_open()


def test_where_there_is_a_login_nobody_takes_up_the_work_of_others(user):
    user(**logged_in())
    assert not autosave.is_one_person()
