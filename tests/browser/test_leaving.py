"""Memory of a closed tab goes back to the system while nobody visits."""

from __future__ import annotations

import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.browser.conftest import serving
from tests.browser.test_web import ask

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc"),
]

MEGABYTES = 150
PROTOCOL = [Subprotocol("streamlit")]


def held(pid: int) -> float:
    """Megabytes that the process holds now."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024


def session_id(client: ClientConnection) -> str:
    """Start the script, as a page does, and learn the name of the session."""
    message = BackMsg()
    message.rerun_script.query_string = ""
    client.send(message.SerializeToString())
    while True:
        evidence = ForwardMsg()
        evidence.ParseFromString(client.recv(60))  # type: ignore[arg-type]
        if evidence.WhichOneof("type") == "new_session":
            return evidence.new_session.initialize.session_id


def upload(server: str, session: str, megabytes: int) -> int:
    """Send a file that no widget asked for; the status of the answer."""
    cookie = ask(server, "/_stcore/health").headers["Set-Cookie"].split(";")[0]
    token = cookie.partition("=")[2]
    head = b'--x\r\nContent-Disposition: form-data; name="f"; filename="f.csv"\r\n\r\n'
    connection = HTTPConnection(urlsplit(server).netloc, timeout=120)
    connection.request(
        "PUT",
        f"/_stcore/upload_file/{session}/file",
        head + b"1" * megabytes * 2**20 + b"\r\n--x--\r\n",
        {
            "Cookie": cookie,
            "X-Xsrftoken": token,
            "Content-Type": "multipart/form-data; boundary=x",
        },
    )
    return connection.getresponse().status


def test_a_closed_session_and_its_upload_are_let_go(tmp_path: Path) -> None:
    options = {"STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "1"}
    with serving(tmp_path / "log.txt", **options) as server:
        pid = int((tmp_path / "pid.txt").read_text())
        stream = server.replace("http", "ws") + "/_stcore/stream"
        with connect(stream, subprotocols=PROTOCOL, max_size=None, open_timeout=60) as client:
            name = session_id(client)
            before = held(pid)
            assert upload(server, name, MEGABYTES) == 204
            assert held(pid) > before + MEGABYTES * 0.9
        end = time.monotonic() + 60
        while held(pid) > before + MEGABYTES * 0.5 and time.monotonic() < end:
            time.sleep(0.5)
        assert held(pid) < before + MEGABYTES * 0.5
