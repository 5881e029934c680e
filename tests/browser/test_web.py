"""What the real server answers to requests that no page of its own would send."""

from __future__ import annotations

import http.client
import socket
from urllib.parse import urlsplit

import pytest

from benchmarks.serving import ROOT
from ui.server.middleware import HEADERS

pytestmark = pytest.mark.browser

SECRETS = ("Traceback", "site-packages", ".py", str(ROOT))
UPLOAD = "/_stcore/upload_file/some-session/some-file"


def ask(
    server: str, path: str, method: str = "GET", *, headers: dict[str, str] | None = None
) -> http.client.HTTPResponse:
    """One request with exactly these headers, and a Host that the server knows."""
    netloc = urlsplit(server).netloc
    connection = http.client.HTTPConnection(netloc, timeout=30)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in {"Host": netloc, **(headers or {})}.items():
        connection.putheader(name, value)
    connection.endheaders()
    return connection.getresponse()


def upgrade(server: str, **headers: str) -> int:
    """Status of the answer to a WebSocket upgrade."""
    asked = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Protocol": "streamlit",
        **headers,
    }
    return ask(server, "/_stcore/stream", headers=asked).status


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/rules"),
        ("GET", "/_stcore/health"),
        ("GET", "/_stcore/metrics"),
        ("GET", "/_stcore/host-config"),
        ("GET", "/media/0000.csv"),
        ("GET", "/component/x/y"),
        ("PUT", UPLOAD),
        ("DELETE", UPLOAD),
        ("OPTIONS", UPLOAD),
    ],
)
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8501", "user@localhost"])
def test_a_foreign_host_is_refused_everywhere(
    server: str, method: str, path: str, host: str
) -> None:
    answer = ask(server, path, method, headers={"Host": host})
    assert answer.status == 403
    assert "server.allowedHosts" in answer.read().decode()


@pytest.mark.parametrize("host", ["localhost", "localhost:9", "127.0.0.1:9", "[::1]:9", "[::1]"])
def test_this_computer_is_answered_by_each_of_its_names(server: str, host: str) -> None:
    answer = ask(server, "/_stcore/health", headers={"Host": host})
    assert (answer.status, answer.read()) == (200, b"ok")
    assert upgrade(server, Host=host, Origin=f"http://{host}") == 101


def test_two_hosts_are_refused(server: str) -> None:
    address = urlsplit(server)
    request = f"GET / HTTP/1.1\r\nHost: {address.netloc}\r\nHost: evil.example\r\n\r\n"
    with socket.create_connection((address.hostname, address.port), timeout=30) as raw:
        raw.sendall(request.encode())
        assert int(raw.recv(1_000).split()[1]) in (400, 403)


def test_a_websocket_needs_a_known_host_and_its_own_origin(server: str) -> None:
    own = urlsplit(server).netloc
    assert upgrade(server) == 101
    assert upgrade(server, Origin=f"http://{own}") == 101
    assert upgrade(server, Host="evil.example") == 403
    assert upgrade(server, Host="evil.example", Origin="http://evil.example") == 403
    for origin in ("http://evil.example", "null", "http://localhost:1", f"ftp://{own}", "http://["):
        assert upgrade(server, Origin=origin) == 403


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS"])
def test_a_page_of_another_site_gets_no_answer(server: str, method: str) -> None:
    answer = ask(server, UPLOAD, method, headers={"Origin": "http://evil.example"})
    assert answer.status == 403
    assert not answer.headers["Access-Control-Allow-Origin"]


def test_an_upload_needs_the_token_of_its_page(server: str) -> None:
    assert ask(server, UPLOAD, "PUT").status == 403
    assert ask(server, UPLOAD, "DELETE").status == 403


@pytest.mark.parametrize("path", ["/", "/rules", "/_stcore/health", "/media/0", "/static/none.js"])
def test_every_answer_carries_the_headers(server: str, path: str) -> None:
    given = ask(server, path).headers
    assert {name: given[name] for name in HEADERS} == HEADERS


@pytest.mark.parametrize("path", ["/media/0", "/media/0000.csv", "/any/media/0"])
def test_no_browser_keeps_what_holds_data(server: str, path: str) -> None:
    assert ask(server, path).headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "path",
    [
        "/app/static/",
        "/app/static/config.toml",
        "/static/",
        "/static/none.js",
        "/static/..%2f..%2fapp.py",
        "/media/..%2f..%2f..%2fetc%2fpasswd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/component/none/index.html",
        "/_stcore/none",
        "/_stcore/upload_file/a/b",
        "/_stcore/agent/interact",
        "//evil.example/",
    ],
)
def test_no_listing_and_no_paths_in_what_is_not_there(server: str, path: str) -> None:
    own = urlsplit(server).netloc
    answer = ask(server, path)
    text = answer.read().decode()
    is_front_page = "<title>Streamlit</title>" in text
    goes_within = urlsplit(answer.headers["Location"] or server).netloc in ("", own)
    assert answer.status >= 300 or is_front_page
    assert goes_within
    assert is_front_page or not any(secret in text for secret in SECRETS), text
    assert "root:" not in text
