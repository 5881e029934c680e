"""A name for each browser, so that it finds its own work again and nobody else does.

The name is drawn at random and given as a cookie with the first page. Scripts cannot read it, other
sites cannot have it sent, and it says nothing about whoever has it.
"""

from __future__ import annotations

import re
import secrets
from typing import Final

from starlette.datastructures import Headers
from starlette.types import Scope

COOKIE: Final = "hipad_browser"
NAME: Final = re.compile(r"[A-Za-z0-9_-]{43}")
SECONDS: Final = 365 * 24 * 3600


def new_cookie(scope: Scope) -> str:
    """The cookie to give with the answer to a request for a page; empty where one is known."""
    headers = Headers(scope=scope)
    if scope["type"] != "http" or "text/html" not in headers.get("accept", ""):
        return ""
    if NAME.fullmatch(cookies_of(headers).get(COOKIE, "")):
        return ""
    secure = "; Secure" if scope.get("scheme") == "https" else ""
    name = secrets.token_urlsafe(32)
    return f"{COOKIE}={name}; Path=/; Max-Age={SECONDS}; HttpOnly; SameSite=Strict{secure}"


def cookies_of(headers: Headers) -> dict[str, str]:
    """The cookies that a browser sent.

    >>> cookies_of(Headers({"cookie": "a=1; b=2"}))
    {'a': '1', 'b': '2'}
    """
    pairs = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
    return {name: value for name, _, value in pairs if name}
