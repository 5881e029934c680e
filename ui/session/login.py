"""Login by an identity provider (OpenID Connect), on servers that are set up for one.

With an `[auth]` section in `.streamlit/secrets.toml` nobody sees a page before the provider has
said who it is, and work is kept by account in place of by browser. Without one there is no login.
Streamlit keeps its own cookie for thirty days and does not look at when the provider said so;
here a login counts for `HIPAD_LOGIN_HOURS`.
"""

from __future__ import annotations

import os
import time
from typing import Final

import streamlit as st

from hipad.data.file_format import stated_number
from ui.text import plain

HOURS: Final = stated_number("HIPAD_LOGIN_HOURS", 12, os.environ, least=1)


def is_required() -> bool:
    """Whether this server asks who somebody is."""
    return "is_logged_in" in st.user


def account() -> str:
    """Who is logged in, as the provider names an account for good; empty: nobody.

    Addresses and names may change hands; a provider (`iss`) gives a subject (`sub`) only once.
    """
    if not is_required() or not st.user.is_logged_in:
        return ""
    provider, subject, since = (st.user.get(name) for name in ("iss", "sub", "iat"))
    if not (isinstance(provider, str) and isinstance(subject, str) and provider and subject):
        return ""
    if not isinstance(since, int | float) or time.time() - since > 3600 * HOURS:
        return ""
    return f"{provider}\n{subject}"


def is_open() -> bool:
    """Whether pages may be shown: nobody need log in, or somebody did."""
    return not is_required() or bool(account())


def show() -> None:
    """The page of those who are not logged in."""
    st.title("HIPAD Workbench")
    if st.user.get("is_logged_in"):
        st.warning("The login has ended. Please log in again; the work is kept.")
    st.markdown("This server asks who you are. Your work is kept by your account.")
    st.button("Log in", type="primary", icon=":material/login:", on_click=st.login)


def show_account() -> None:
    """Who is logged in, with a way out."""
    if not is_required():
        return
    name = st.user.get("email") or st.user.get("name") or "your account"
    with st.sidebar:
        st.caption(f"Logged in: {plain(str(name))}")
        st.button("Log out", key="log_out", icon=":material/logout:", on_click=st.logout)
