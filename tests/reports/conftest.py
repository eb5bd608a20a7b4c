"""The sample record, a page made from it once for all tests, and a browser to look at it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from recall_reports import html
from recall_reports.record import Record
from tests.reports import sample

if TYPE_CHECKING:
    from tests.reports.chromium import Browser


@pytest.fixture
def report() -> Record:
    """A fresh copy of the sample record, free to be changed."""
    return sample.record()


@pytest.fixture
def bare(report: Record) -> Record:
    """The sample record without cells and plots, of which a page is made quickly."""
    for claim in report.claims:
        claim.cells, claim.plot = [], None
    return report


@pytest.fixture(scope="session")
def page() -> str:
    """The HTML of the sample record."""
    return html.render(sample.record())


@pytest.fixture(scope="module")
def browser(sockets_freed: None) -> "Iterator[Browser]":
    """A browser without a window."""
    from tests.reports.chromium import NAMES, started  # most tests here need no Playwright

    with started() as found:
        if found is None:
            pytest.skip(f"LEFT OUT: no real browser is installed (none of {', '.join(NAMES)})")
        yield found
