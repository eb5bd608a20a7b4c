"""A ledger for each test of the library."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recall_claims.evidence.ledger import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "ledger.sqlite") as opened:
        yield opened
