"""The claims notice when any one constant or exponent of the theory is wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.mutation.judge import Evidence, fresh_caches, gather, imported, reread
from tests.mutation.mutants import Mutant, constants, exponents, powers

TIER = os.environ.get("MUTATION_TIER", "smoke")


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """One run of the suite under the default seed; nothing is simulated after it."""
    ledger = os.environ.get("MUTATION_LEDGER")
    path = Path(ledger) if ledger else tmp_path_factory.mktemp("evidence") / "ledger.sqlite"
    return gather(TIER, 0, path)


def name(mutant: Mutant) -> str:
    return mutant.id


@pytest.mark.parametrize("mutant", constants(), ids=name)
def test_wrong_constant_is_refuted(
    mutant: Mutant, evidence: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert caught(mutant, evidence, monkeypatch)


@pytest.mark.parametrize("mutant", exponents(), ids=name)
def test_wrong_exponent_is_refuted(
    mutant: Mutant, evidence: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert caught(mutant, evidence, monkeypatch)


@pytest.mark.parametrize("mutant", powers(), ids=name)
def test_wrong_power_of_a_size_is_refuted(
    mutant: Mutant, evidence: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert caught(mutant, evidence, monkeypatch)


def caught(mutant: Mutant, evidence: Evidence, monkeypatch: pytest.MonkeyPatch) -> bool:
    with fresh_caches(), monkeypatch.context() as falsified:
        mutant.patch(falsified)
        claims = reread() if mutant.frozen else imported()
        return evidence.catcher(mutant, claims) is not None
