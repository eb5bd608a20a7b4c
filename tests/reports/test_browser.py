"""The page in a real browser: filters, links, plots near and far, dark form, phone, paper.

It is driven by Chrome's DevTools protocol over a WebSocket, without a driver of its own.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from recall_reports import phrases
from recall_reports.record import Record

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

    def open(self, file: Path, size: tuple[int, int] = WIDE) -> None:
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
        self.command("Page.navigate", url=file.as_uri())
        complete = "document.readyState === 'complete' && document.title"
        while not self.value(complete):
            pass

    def click(self, selector: str) -> None:
        """Click the first element that matches."""
        self.value(f"document.querySelector({selector!r}).click()")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser without a window, of whatever name it is installed under."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip(f"LEFT OUT: no real browser is installed (none of {', '.join(NAMES)})")
    profile = tmp_path_factory.mktemp("profile")
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
            found.socket.close()
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stderr.close()


@pytest.fixture(scope="module")
def file(page: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample page as a file."""
    found = tmp_path_factory.mktemp("page") / "report.html"
    found.write_text(page, encoding="utf-8")
    return found


SHOWN = "[...document.querySelectorAll('table.verdicts tr[data-state]:not([hidden])')].length"


def test_the_search_and_the_filters_leave_what_they_name(
    browser: Browser, file: Path, report: Record
) -> None:
    browser.open(file)
    assert browser.value(SHOWN) == len(report.claims)
    for state in {phrases.state(claim) for claim in report.claims} - {"REFUTED"}:
        browser.click(f"form.filter input[value='{state}']")
    refuted = [claim for claim in report.claims if phrases.state(claim) == "REFUTED"]
    assert browser.value(SHOWN) == len(refuted)
    browser.open(file)
    typed = "(box => { box.value = 'A.trigger-signal'; box.dispatchEvent(new Event('input', "
    typed += "{ bubbles: true })); })(document.querySelector('input[type=search]'))"
    browser.value(typed)
    assert browser.value(SHOWN) < len(report.claims)
    assert browser.value("document.getElementById('A.trigger-signal').hidden") is False
    said = browser.value("document.querySelector('form.filter output').textContent")
    assert said == f"{browser.value(SHOWN)} of {len(report.claims)} claims shown"


def test_a_link_leads_to_its_claim(browser: Browser, file: Path, report: Record) -> None:
    browser.open(file)
    for claim in report.claims:
        browser.click(f"table.verdicts a[href='#{claim.id}']")
        top = f"document.getElementById({claim.id!r}).getBoundingClientRect().top"
        end = "document.documentElement.scrollHeight - innerHeight - scrollY"
        assert 0 <= browser.value(top) < 40 or browser.value(end) < 2, claim.id


def test_a_plot_is_laid_out_when_it_is_looked_at(browser: Browser, file: Path) -> None:
    browser.open(file)
    last = "[...document.querySelectorAll('.claim svg.plot')].at(-1)"
    drawn = f"{last}.checkVisibility({{ contentVisibilityAuto: true }})"
    assert browser.value(drawn) is False
    browser.value(f"{last}.scrollIntoView()")
    assert browser.value(drawn) is True
    assert browser.value(f"{last}.getBoundingClientRect().height") > 50


def test_the_dark_form(browser: Browser, file: Path) -> None:
    browser.open(file)
    ground = "getComputedStyle(document.body).backgroundColor"
    assert browser.value(ground) == "rgb(255, 255, 255)"
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.command("Emulation.setEmulatedMedia", media="", features=dark)
    assert browser.value(ground) == "rgb(16, 20, 25)"


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_nothing_scrolls_sideways(browser: Browser, file: Path, size: tuple[int, int]) -> None:
    browser.open(file, size)
    root = "document.documentElement"
    assert browser.value(f"{root}.scrollWidth === {root}.clientWidth") is True


def test_an_ordinary_headline_is_one_line(browser: Browser, file: Path) -> None:
    browser.open(file)
    headline = "No claim fails: 158 SUPPORTED, 5 REFUTED as declared and 3 NOT RUN."
    browser.value(f"document.querySelector('h1').textContent = {headline!r}")
    line = "parseFloat(getComputedStyle(document.querySelector('h1')).lineHeight)"
    assert browser.value(f"document.querySelector('h1').offsetHeight < 1.5 * {line}") is True


def test_paper(browser: Browser, file: Path) -> None:
    browser.open(file)
    printed = browser.command("Page.printToPDF", printBackground=True)
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")
    browser.command("Emulation.setEmulatedMedia", media="print", features=[])
    assert browser.value("getComputedStyle(document.querySelector('nav')).display") == "none"
    every = "[...document.querySelectorAll('.claim svg.plot')].every(plot => "
    every += "plot.checkVisibility({ contentVisibilityAuto: true }))"
    assert browser.value(every) is True
