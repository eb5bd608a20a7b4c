"""Peak memory, where the system counts it one way or another."""

import sys
from pathlib import Path

import pytest

from recall_claims.evidence import memory


def test_both_counts_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    first = memory.peak_memory()
    monkeypatch.setattr(memory, "STATUS", Path("nowhere"))
    second = memory.peak_memory()
    assert first is not None
    assert second is not None
    # A process that another one started has at least that one's peak by the second count.
    assert 50 < first < 1.1 * second


def test_a_system_that_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "STATUS", Path("nowhere"))
    monkeypatch.setitem(sys.modules, "resource", None)
    assert memory.peak_memory() is None
