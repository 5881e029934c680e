"""Whose work it is: browsers have names that nobody else knows, and each sees its own work only.

The name is a cookie that the server gives (`ui/server/naming.py`); scripts of a page cannot read
it. On a server that only this computer can reach, a new browser may also take up work that no tab
has open: there is one person, with several browsers. Behind a proxy, or open to other computers,
there may be many.
"""

from __future__ import annotations

import hashlib
from typing import Final

import streamlit as st
from streamlit import config, runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.server.naming import COOKIE, NAME

HERE: Final = ("127.0.0.1", "localhost", "::1", "[::1]")
FORWARDED: Final = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip")
HOLDERS: dict[str, str] = {}  # the session that has a work open, by the work's name


def owner() -> str:
    """A name for this browser's folder, from which its cookie cannot be guessed; empty: none."""
    cookie = st.context.cookies.get(COOKIE)
    known = isinstance(cookie, str) and NAME.fullmatch(cookie)
    return hashlib.sha256(str(cookie).encode()).hexdigest()[:32] if known else ""


def is_one_person() -> bool:
    """Whether only this computer can reach the server, and nobody stands between."""
    hosts = config.get_option("server.allowedHosts")
    asked = (st.context.headers.get("Host") or "").rpartition(":")[0]
    return (
        config.get_option("server.address") in HERE
        and bool(hosts)
        and set(hosts) <= set(HERE)
        and not config.get_option("server.corsAllowedOrigins")
        and asked in HERE
        and not any(name in st.context.headers for name in FORWARDED)
    )


def hold(name: str) -> None:
    """This session has a work open."""
    context = get_script_run_ctx()
    if context is not None:
        HOLDERS[name] = context.session_id


def is_held(name: str) -> bool:
    """Whether another tab has a work open now."""
    holder, context = HOLDERS.get(name), get_script_run_ctx()
    if holder is None or not runtime.exists() or (context and context.session_id == holder):
        return False
    return bool(runtime.get_instance().is_active_session(holder))
