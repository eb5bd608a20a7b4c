"""The suite's record, the sample record, and a page made from it once for all tests."""

import pytest

from recall_reports import html
from recall_reports.record import Record
from tests import figures
from tests.reports import sample


@pytest.fixture
def report() -> Record:
    """A new copy of the sample record, which a test may change."""
    return sample.record()


@pytest.fixture(scope="session")
def page() -> str:
    return html.render(sample.record())


@pytest.fixture(scope="session")
def baseline() -> Record:
    """The suite's committed record, which no test may change."""
    return figures._record("reports/baseline.json")
