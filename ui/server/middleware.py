"""What stands before the web server: cookies, allowed hosts and origins, headers.

    app = st.App("app.py", middleware=[Middleware(Guard)])

A page of the web can make a browser ask this server: by a name of its own that resolves to this
computer (then `Host` is that name), or straight away (then `Origin` is its own). Either is refused
before anything is looked up. Hosts are those of `server.allowedHosts`; an origin is this server's
own, or one of `server.corsAllowedOrigins`. Every answer forbids other sites to frame it, guessing
of its type, and, to the page that it becomes, any call to another machine; what holds data may not
be kept by a browser.
"""

from __future__ import annotations

import re
import secrets
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui.server.streamlit_internals import config, is_host_allowed

# --------------------------------------------------------------------------------------------------
# Cookies: a random name for each browser, so that it finds its own work again. Scripts cannot read
# it, other sites cannot have it sent.

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


# --------------------------------------------------------------------------------------------------
# Hosts, origins and headers.

# Streamlit's page has an inline script, styles that are made as it goes, and charts that compile
# functions; its tables and downloads use data: and blob: addresses, and a component of our own is a
# script that the page itself makes a blob of. Everything else stays out.
POLICY: Final = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "media-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'self'",
    ]
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

PRIVATE: Final = "/media/"  # charts and downloads, which no disk of a browser should keep


class Guard:
    """Refuses foreign hosts and origins; adds the headers to what it lets through."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        reason = refusal(Headers(scope=scope))
        cookie = "" if reason else new_cookie(scope)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                if PRIVATE in scope["path"]:
                    headers["Cache-Control"] = "no-store"
                if cookie:
                    headers.append("set-cookie", cookie)
            await send(message)

        if not reason:
            await self._app(without_origin(scope), receive, send_with_headers)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": ""})
        else:
            await PlainTextResponse(reason, 403)(scope, receive, send_with_headers)


def refusal(headers: Headers) -> str:
    """Why a request with these headers is not answered; empty when it is."""
    hosts = headers.getlist("host")
    if len(hosts) != 1 or not is_host_allowed(hosts[0]):
        return (
            "This server does not answer to the host name that was asked for. Open it as "
            "localhost, or add the name to server.allowedHosts (see SECURITY.md)."
        )
    if not all(is_own(origin, hosts[0]) for origin in headers.getlist("origin")):
        return (
            "This server does not answer to pages of other sites. If a proxy changes the host "
            "name, add the public address to server.corsAllowedOrigins (see SECURITY.md)."
        )
    return ""


def without_origin(scope: Scope) -> Scope:
    """The request without its Origin header, which was checked before.

    Streamlit would ask a machine outside for this one's public address, to compare the two.
    """
    return {**scope, "headers": [pair for pair in scope["headers"] if pair[0] != b"origin"]}


def is_own(origin: str, host: str) -> bool:
    """Whether a page of this origin may talk to this server.

    >>> is_own("http://localhost:8501", "localhost:8501"), is_own("null", "localhost:8501")
    (True, False)
    """
    if origin in config.get_option("server.corsAllowedOrigins"):
        return True
    return origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower())
