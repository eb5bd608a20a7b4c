"""Chromium or Chrome without a window, driven by its DevTools protocol over a WebSocket."""

import asyncio
import json
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tornado.websocket import WebSocketClientConnection, websocket_connect

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
WIDE, PHONE = (1200, 900), (390, 844)


class Browser:
    """One tab."""

    def __init__(self, address: str, runner: asyncio.Runner) -> None:
        self.runner, self.sent = runner, 0
        self.socket: WebSocketClientConnection = runner.run(self._connect(address))

    @staticmethod
    async def _connect(address: str) -> WebSocketClientConnection:
        return await websocket_connect(address, max_message_size=1 << 28)

    def command(self, method: str, **parameters: Any) -> Any:
        """Send a command; return its result."""
        return self.runner.run(asyncio.wait_for(self._command(method, parameters), timeout=60))

    async def _command(self, method: str, parameters: dict[str, Any]) -> Any:
        self.sent += 1
        message = {"id": self.sent, "method": method, "params": parameters}
        await self.socket.write_message(json.dumps(message))
        while True:
            answer = await self.socket.read_message()
            assert answer is not None, "the browser has gone"
            found = json.loads(answer)
            if found.get("id") == self.sent:
                assert "error" not in found, found
                return found["result"]

    async def close(self) -> None:
        """Leave no socket open that a test would find later."""
        self.socket.close()
        while await self.socket.read_message() is not None:
            pass

    def value(self, expression: str) -> Any:
        """What an expression of JavaScript comes to, once the page has settled."""
        found = self.command(
            "Runtime.evaluate",
            expression=f"{SETTLED}.then(() => {{ return {expression}; }})",
            awaitPromise=True,
            returnByValue=True,
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def open(self, file: Path, size: tuple[int, int] = WIDE, fragment: str = "") -> None:
        """Load a file into a window of this size."""
        width, height = size
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=size == PHONE,
        )
        self.command("Emulation.setEmulatedMedia", media="", features=[])
        self.command("Page.navigate", url="about:blank")  # or a fragment would load nothing
        self.command("Page.navigate", url=file.as_uri() + fragment)
        complete = "document.readyState === 'complete' && document.title"
        while not self.value(complete):
            pass

    def type(self, text: str) -> None:
        """Put a text into the search field."""
        event = "box.dispatchEvent(new Event('input', { bubbles: true }))"
        field = "document.querySelector('input[type=search]')"
        self.value(f"(box => {{ box.value = {json.dumps(text)}; {event}; }})({field})")

    def click(self, selector: str) -> None:
        """Click the first element that matches."""
        self.value(f"document.querySelector({selector!r}).click()")


@contextmanager
def started(profile: Path) -> Iterator[Browser | None]:
    """A browser, of whatever name it is installed under; None where there is none."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        yield None
        return
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0")
    process = subprocess.Popen(
        [program, *options, f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        said = (re.search(r"ws://(127\.0\.0\.1:\d+)/", line) for line in process.stderr)
        at = next(filter(None, said), None)
        assert at is not None, f"{program} did not start"
        with urllib.request.urlopen(f"http://{at[1]}/json") as answer:
            tabs = json.load(answer)
        [address] = [tab["webSocketDebuggerUrl"] for tab in tabs if tab["type"] == "page"]
        with asyncio.Runner() as runner:
            found = Browser(address, runner)
            yield found
            runner.run(asyncio.wait_for(found.close(), timeout=30))
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stderr.close()
