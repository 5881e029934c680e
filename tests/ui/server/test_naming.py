from __future__ import annotations

import pytest

from ui.server.middleware import COOKIE, NAME, new_cookie


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
