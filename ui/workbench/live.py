"""Refits that follow a slider while it is dragged, over a WebSocket of the app's own server.

    1. The page notes what a refit needs (`Scene`) and gives the browser a token of this session.
    2. The browser opens `PATH` and sends the token: {"token": "..."}.
    3. It sends where the sliders stand: {"n": 7, "values": {"threshold_0_0": 3.9}}.
    4. The model is fitted from the last one in a thread, and the answer goes back: {"n": 7, ...}.
    5. The browser sends the next move after the answer, so that moves never queue.

`ui/server/guard.py` stands before this as before everything else: foreign hosts and origins are
refused. The token is random, known to one session only, bound to the browser that it was given to,
and dies with the session's data. What is computed here changes nothing of the session but the last
fitted model, from which the next fit starts; a move counts when the page has taken it.
"""

from __future__ import annotations

import asyncio
import json
import math
import secrets
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakValueDictionary

from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from hipad.exceptions import DataError, HipadError
from ui.dataset import Dataset
from ui.jobs import SCHEDULER
from ui.models import TrainedModel
from ui.server.middleware import COOKIE, cookies_of
from ui.server.streamlit_internals import config
from ui.state import BackgroundWork
from ui.workbench.pictures import Pictures
from ui.workbench.refit import request_of_draft
from ui.workbench.sliders import Slider, ThresholdSlider, Tuning, Value

PATH: Final = "/live-refits"
LONGEST: Final = 20_000  # characters of a message
MOST_OPEN: Final = 4  # connections of one session: a tab that reconnects may have two
TOKEN_SECONDS: Final = 10.0  # until a connection must have shown its token
REFUSED: Final = 1008  # the code of the WebSocket protocol for a breach of policy
WORKERS: Final = ThreadPoolExecutor(2, thread_name_prefix="hipad-live")  # of all sessions


@dataclass(frozen=True, eq=False)
class Scene:
    """What a refit needs, as the page was drawn last."""

    data: Dataset
    base: TrainedModel
    blocks: Mapping[str, str]
    draft: str  # the rules that the sliders write to
    sliders: Mapping[str, Slider]
    tuning: Tuning
    pictures: Pictures


class LiveRefits(BackgroundWork):
    """The refits of one session: its token and its scene."""

    def __init__(self, browser: str) -> None:
        self.token = secrets.token_urlsafe(32)
        self.browser = browser  # the name that its cookie gives it
        self.scene: Scene | None = None
        self.n_open = 0
        _KNOWN[self.token] = self

    def stop(self) -> None:
        """Answer no more."""
        self.scene = None
        _KNOWN.pop(self.token, None)

    def answer(self, message: str) -> dict[str, Any]:
        """Fit the model of a move and return its pictures, or a sentence that says why not."""
        scene = self.scene
        n, values = read_move(message)
        if scene is None:
            return {"n": n, "error": "These data are no longer open."}
        try:
            draft = written(scene.draft, values, scene.sliders, scene.data)
            request = request_of_draft(scene.data, scene.base, draft, scene.blocks)
            with SCHEDULER.page():  # comes before fits that nobody waits for
                model = scene.tuning.fit_without_folds(request, scene.base)
        except HipadError as error:
            return {"n": n, "error": str(error)[:400]}
        except Exception as error:
            # The text of an unforeseen error may carry patient values, its type does not.
            return {
                "n": n,
                "error": f"the refit failed inside the program ({type(error).__name__})",
            }
        if model is None:
            return {"n": n, "later": True}  # the page fits it
        return {"n": n, **scene.pictures.of(model)}


_KNOWN: Final = WeakValueDictionary[str, LiveRefits]()


def written(
    draft: str, values: Mapping[str, Value], sliders: Mapping[str, Slider], data: Dataset
) -> str:
    """Return the rules' text with the sliders at these values, within their ranges.

    Raises DataError for a slider that is not there or a value of another form.
    """
    for name, value in values.items():
        slider = sliders.get(name)
        n_expected = len(slider.sides) if isinstance(slider, ThresholdSlider) else 1
        numbers = sorted(value) if isinstance(value, tuple) else [value]
        if slider is None or len(numbers) != n_expected:
            raise DataError("expected a value of a slider on the page, got another: reload it")
        inside = [min(max(number, slider.low), slider.high) for number in numbers]
        now: Any = inside[0] if n_expected == 1 else tuple(inside)
        draft = slider.write(draft, now, data.read)
    return draft


def read_move(message: str) -> tuple[int, dict[str, Value]]:
    """Return the number of a move and the values of its sliders; ValueError if it is none."""
    if len(message) > LONGEST:
        raise ValueError("too long")
    move = json.loads(message)
    if not isinstance(move, dict) or not isinstance(move.get("n"), int):
        raise ValueError("no move")
    return move["n"], read_values(move.get("values"))


def read_values(values: Any) -> dict[str, Value]:
    """Return values of sliders by name, as a browser sent them; ValueError if they are none."""
    if not isinstance(values, dict):
        raise ValueError("no values")
    found: dict[str, Value] = {}
    for name, value in values.items():
        numbers = value if isinstance(value, list) else [value]
        if not 1 <= len(numbers) <= 2 or not all(map(_is_number, numbers)):
            raise ValueError("no number")
        found[str(name)] = (
            (float(numbers[0]), float(numbers[1])) if len(numbers) == 2 else float(numbers[0])
        )
    return found


def _is_number(value: object) -> bool:
    is_one = isinstance(value, int | float) and not isinstance(value, bool)
    return is_one and abs(value) < 1e300 and math.isfinite(value)  # type: ignore[arg-type]


async def follow(socket: WebSocket) -> None:
    """Serve one browser's connection until it ends."""
    await socket.accept()
    refits = None
    try:
        opening = await asyncio.wait_for(socket.receive_text(), TOKEN_SECONDS)
        refits = known(opening, cookies_of(socket.headers).get(COOKIE, ""))
        if refits is None or refits.n_open >= MOST_OPEN:
            refits = None
            await socket.close(REFUSED)
            return
        refits.n_open += 1
        loop = asyncio.get_running_loop()
        while True:
            message = await socket.receive_text()
            answer = await loop.run_in_executor(WORKERS, refits.answer, message)
            await socket.send_text(json.dumps(answer))
    except (ValueError, KeyError, TimeoutError):  # KeyError: bytes where text was expected
        await socket.close(REFUSED)
    except WebSocketDisconnect:
        pass
    finally:
        if refits is not None:
            refits.n_open -= 1


def known(opening: str, browser: str) -> LiveRefits | None:
    """Return the refits of the token in a first message, if this browser may have them."""
    message = json.loads(opening) if len(opening) <= LONGEST else None
    token = message.get("token") if isinstance(message, dict) else None
    refits = _KNOWN.get(token) if isinstance(token, str) else None
    if refits is None or not secrets.compare_digest(refits.browser.encode(), browser.encode()):
        return None
    return refits


def address() -> str:
    """Return where the browser finds the WebSocket."""
    base = str(config.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}{PATH}" if base else PATH


def routes() -> list[WebSocketRoute]:
    """Return what the app's server has to serve beside Streamlit's own."""
    return [WebSocketRoute(address(), follow)]
