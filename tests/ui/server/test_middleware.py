from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.datastructures import Headers
from streamlit import config

from tests.ui.server.event_loops import run_apart
from ui.server.middleware import COOKIE, HEADERS, NAME, Guard, new_cookie, refusal


def asked(accept: str = "text/html", cookie: str = "", scheme: str = "http") -> dict:
    headers = [(b"accept", accept.encode()), (b"cookie", cookie.encode())]
    return {"type": "http", "scheme": scheme, "headers": headers}


def test_a_page_brings_a_name_that_nobody_can_guess_or_read():
    one, two = (new_cookie(asked()) for _ in range(2))
    name = one.split(";")[0].removeprefix(f"{COOKIE}=")
    assert NAME.fullmatch(name)
    assert one != two
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {part.strip() for part in one.split(";")}
    assert "Secure" not in one
    assert "Secure" in new_cookie(asked(scheme="https"))
    assert new_cookie(asked(cookie=f"a=b; {COOKIE}={name}")) == ""


@pytest.mark.parametrize("bad", ["", "x", "../" * 15, "a" * 42, "a" * 44, "é" * 43])
def test_another_name_is_replaced(bad):
    assert new_cookie(asked(cookie=f"{COOKIE}={bad}"))


def test_other_requests_bring_none():
    assert new_cookie(asked(accept="*/*")) == ""
    assert new_cookie({**asked(), "type": "websocket"}) == ""


HOST = "hipad.example.org"


@pytest.fixture(autouse=True)
def hosts() -> Iterator[None]:
    """A server that is known by one public name, and to one page of another origin."""
    options = {
        "server.allowedHosts": [HOST],
        "server.corsAllowedOrigins": ["https://front.example"],
    }
    before = {name: config.get_option(name) for name in options}
    for name, value in options.items():
        config.set_option(name, value)
    yield
    for name, value in before.items():
        config.set_option(name, value)


def answers(kind: str = "http", **headers: str) -> tuple[list[Any], list[Any]]:
    """What the application behind is asked, and what is sent back."""
    asked: list[Any] = []
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        asked.append(scope)
        if kind == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": kind, "method": "GET", "path": "/", "headers": pairs}
    run_apart(Guard(app)(scope, receive, send))
    return asked, sent


@pytest.mark.parametrize("origin", [f"https://{HOST}", f"http://{HOST}", "https://front.example"])
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_own_pages_are_let_through_without_their_origin(kind: str, origin: str) -> None:
    asked, _ = answers(kind, host=HOST, origin=origin)
    assert asked[0]["headers"] == [(b"host", HOST.encode())]


@pytest.mark.parametrize("origin", ["https://evil.example", "null", f"https://{HOST}.evil.example"])
def test_other_pages_never_reach_the_application(origin: str) -> None:
    for kind in ("http", "websocket"):
        asked, sent = answers(kind, host=HOST, origin=origin)
        assert not asked
        assert sent[0].get("status", 403) == 403


def test_what_is_sent_carries_the_headers() -> None:
    for headers in ({"host": HOST}, {"host": "evil.example"}):
        _, sent = answers(**headers)
        given = Headers(raw=sent[0]["headers"])
        assert {name: given[name] for name in HEADERS} == HEADERS


def test_a_request_without_a_host_is_refused() -> None:
    assert refusal(Headers())
    assert not refusal(Headers({"host": HOST}))


def test_the_life_of_the_server_passes() -> None:
    asked, _ = answers("lifespan")
    assert asked
