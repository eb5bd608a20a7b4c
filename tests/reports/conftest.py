"""The sample record, a page made from it once for all tests, and a browser to look at it."""

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from recall_reports import html
from recall_reports.record import Record
from tests.reports import sample

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture
def report() -> Record:
    """A fresh copy of the sample record, free to be changed."""
    return sample.record()


@pytest.fixture(scope="session")
def page() -> str:
    """The HTML of the sample record."""
    return html.render(sample.record())


@pytest.fixture(scope="module")
def browser(sockets_freed: None) -> "Iterator[Browser]":
    """Chromium or Chrome without a window, whichever is installed."""
    from playwright.sync_api import sync_playwright  # most tests here need none

    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip(f"LEFT OUT: no real browser is installed (none of {', '.join(NAMES)})")
    with (
        sync_playwright() as driver,
        driver.chromium.launch(executable_path=program, args=["--no-sandbox"]) as found,
    ):
        yield found
