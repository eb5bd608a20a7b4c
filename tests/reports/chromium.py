"""Chromium or Chrome without a window, whichever is installed."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
WIDE, PHONE = (1200, 900), (390, 844)


class Browser:
    """One tab."""

    def __init__(self, page: Page) -> None:
        self._page, self._session = page, page.context.new_cdp_session(page)

    def command(self, method: str, **parameters: Any) -> Any:
        """Send a command of the DevTools protocol; return its result."""
        return self._session.send(method, parameters)

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
        screen = {"width": size[0], "height": size[1], "deviceScaleFactor": 1}
        self.command("Emulation.setDeviceMetricsOverride", **screen, mobile=size == PHONE)
        self.command("Emulation.setEmulatedMedia", media="", features=[])
        self._page.goto("about:blank")  # or a fragment would load nothing
        self._page.goto(file.as_uri() + fragment)

    def type(self, text: str) -> None:
        """Put a text into the search field."""
        event = "box.dispatchEvent(new Event('input', { bubbles: true }))"
        field = "document.querySelector('input[type=search]')"
        self.value(f"(box => {{ box.value = {json.dumps(text)}; {event}; }})({field})")

    def click(self, selector: str) -> None:
        """Click the first element that matches."""
        self.value(f"document.querySelector({selector!r}).click()")


@contextmanager
def started() -> Iterator[Browser | None]:
    """A browser, of whatever name it is installed under; None where there is none."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        yield None
        return
    with (
        sync_playwright() as driver,
        driver.chromium.launch(executable_path=program, args=["--no-sandbox"]) as browser,
    ):
        yield Browser(browser.new_page())
