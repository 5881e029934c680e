"""One calm user among many busy ones: how long each click takes.

25 sessions run ksvm-s-10k, again and again, each a second after its last result. One more user has
Pima, its rules and a run, and clicks from page to page. Everybody speaks the browser's protocol
over a WebSocket, the timers of pages included, so what is measured is the server and not 26
browsers on the same machine. A click lasts from the request to the end of the page's script. The
same clicks are timed before the others come.
"""

from __future__ import annotations

import asyncio
import secrets
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from benchmarks.reporting import Options, progress, table, verdict
from benchmarks.serving import serving, streamlit
from ui.server.middleware import COOKIE

BUSY, CALM = "ksvm-s-10k", "pima"  # samples
PAGES = ("Data", "Rules", "Run", "Workbench")
GOAL = 2.0  # seconds
REST = 1.0  # seconds between a result and the next run, and between two clicks
PATIENCE = 900.0
END = "script_finished"


@dataclass
class Visitor:
    """A session as a browser has it: what is on its page, and the timers of its parts."""

    socket: ClientConnection
    pages: dict[str, str] = field(default_factory=dict)  # hashes by title
    page: str = ""
    buttons: dict[str, str] = field(default_factory=dict)  # identities by key
    headings: set[str] = field(default_factory=set)  # since the script began
    timers: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    drawn: set[str] = field(default_factory=set)  # timers since the script began
    ended: int = 0  # runs of the whole script
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, *, button: str = "", page: str = "", fragment: str = "") -> None:
        """Have the script run, as a click or a timer does."""
        message = BackMsg()
        asked = message.rerun_script
        asked.page_script_hash = self.pages.get(page, self.page)
        asked.fragment_id, asked.is_auto_rerun = fragment, bool(fragment)
        if button:
            asked.widget_states.widgets.add(id=self.buttons[button], trigger_value=True)
        await self.socket.send(message.SerializeToString())

    async def click(self, **what: str) -> float:
        """The seconds from a click to the end of the script that it starts."""
        began, before = time.perf_counter(), self.ended
        self.stop_timers(list(self.timers))  # as a browser does when its page is left
        await self.ask(**what)
        await self.until(lambda: self.ended > before)
        return time.perf_counter() - began

    async def run(self, button: str) -> None:
        """Press a button that starts a run, and watch until there is a result."""
        self.headings.clear()
        await self.ask(button=button)
        await self.until(lambda: "Result" in self.headings and not self.timers)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until what the server sends fulfils a condition."""
        while not condition():
            self.changed.clear()
            await asyncio.wait_for(self.changed.wait(), PATIENCE)

    async def listen(self) -> None:
        """Take in what the server sends."""
        async for content in self.socket:
            message = ForwardMsg()
            message.ParseFromString(content if isinstance(content, bytes) else content.encode())
            self.hear(message)
            self.changed.set()

    def hear(self, message: Any) -> None:
        """Note one message."""
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.drawn.clear()
        elif kind == "navigation":
            self.page = message.navigation.page_script_hash
            self.pages = {
                each.page_name: each.page_script_hash for each in message.navigation.app_pages
            }
        elif kind == "auto_rerun":
            self.start_timer(message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "stop_auto_rerun":
            self.stop_timers([message.stop_auto_rerun.fragment_id])
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            element = message.delta.new_element
            if element.WhichOneof("type") == "button":
                self.buttons[element.button.id.split("-", 2)[-1]] = element.button.id
            elif element.WhichOneof("type") == "heading":
                self.headings.add(element.heading.body)
        elif message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY and kind == END:
            self.ended += 1
            self.stop_timers([name for name in self.timers if name not in self.drawn])

    def start_timer(self, fragment: str, seconds: float) -> None:
        """Ask for a part of the page again and again."""

        async def tick() -> None:
            while True:
                await asyncio.sleep(seconds)
                await self.ask(fragment=fragment)

        self.stop_timers([fragment])
        self.drawn.add(fragment)
        self.timers[fragment] = asyncio.create_task(tick())

    def stop_timers(self, fragments: list[str]) -> None:
        """Ask for these parts no more."""
        for name in fragments:
            if timer := self.timers.pop(name, None):
                timer.cancel()


@asynccontextmanager
async def visiting(address: str) -> AsyncIterator[Visitor]:
    """A session whose first page is drawn; its work is kept, as everybody's is."""
    async with connect(
        address.replace("http", "ws", 1) + "/_stcore/stream",
        subprotocols=[Subprotocol("streamlit")],
        additional_headers={"Cookie": f"{COOKIE}={secrets.token_urlsafe(32)}"},
        max_size=None,
        open_timeout=PATIENCE,
        ping_interval=None,
    ) as socket:
        visitor = Visitor(socket)
        listening = asyncio.create_task(visitor.listen())
        try:
            await visitor.click()
            yield visitor
        finally:
            visitor.stop_timers(list(visitor.timers))
            listening.cancel()


async def work(address: str, results: list[float]) -> None:
    """Be busy until told to end."""
    async with visiting(address) as visitor:
        button = f"show_{BUSY}"
        while True:
            began = time.perf_counter()
            await visitor.run(button)
            results.append(time.perf_counter() - began)
            button = "run"
            await asyncio.sleep(REST)


async def clicks(visitor: Visitor, rounds: int) -> list[float]:
    """The seconds of each click on the way through all pages."""
    taken = []
    for _ in range(rounds):
        for page in PAGES:
            taken.append(await visitor.click(page=page))
            progress(f"{page}: {taken[-1]:.2f} s")
            await asyncio.sleep(REST)
    return taken


async def measure(address: str, count: int, rounds: int) -> tuple[list[float], ...]:
    """Clicks alone, clicks among the others, and how long their runs took."""
    results: list[float] = []
    async with visiting(address) as calm:
        await calm.run(f"show_{CALM}")
        await clicks(calm, 1)  # what is loaded at the first visit of a page
        alone = await clicks(calm, 2)
        async with asyncio.TaskGroup() as group:
            others = [group.create_task(work(address, results)) for _ in range(count)]
            await asyncio.sleep(5 * REST)
            among = await clicks(calm, rounds)
            for other in others:
                other.cancel()
    return alone, among, results


def run(options: Options) -> str:
    """The table."""
    count, rounds = options.count(25, 3), 2 if options.quick else 5
    with tempfile.TemporaryDirectory() as folder:
        kept = {"HIPAD_KEEP": "on", "HIPAD_KEEP_FOLDER": f"{folder}/kept"}
        with serving(streamlit(), Path(folder) / "log.txt", environment=kept) as server:
            alone, among, results = asyncio.run(measure(server.address, count, rounds))
            seconds = server.seconds()
    median = float(np.median(among))
    rows = [
        ["nobody else: median click", f"{np.median(alone):.2f} s"],
        [f"{count} others: median click, s", f"{verdict(median, GOAL, at_least=False, digits=2)}"],
        [f"{count} others: slowest of {len(among)} clicks", f"{max(among):.2f} s"],
        ["runs that the others finished meanwhile", f"{len(results)}"],
        ["median time of such a run", f"{np.median(results):.1f} s" if results else "none"],
        ["processor time of the server", f"{seconds:.0f} s"],
    ]
    return table(["a calm user", "value"], rows)
