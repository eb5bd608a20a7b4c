"""The claims notice when any one constant or exponent of the theory is wrong.

Not all do since components stop one by one: a ladder whose rungs are 15 per cent away from its
prediction tells no formula from one that is 30 per cent off, unless a control made it draw more.
Until these claims have nearer rungs, all of this is thorough, and some of it fails.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from recall_claims.evidence import executors
from recall_claims.evidence.ledger import Ledger
from tests.every_claim import imported
from tests.mutation.judge import Evidence, fresh_caches, reread
from tests.mutation.mutants import Mutant, constants, exponents, powers


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evidence]:
    """A run of the suite under the default seed."""
    path = tmp_path_factory.mktemp("evidence") / "ledger.sqlite"
    spec = executors.resolve("auto", "cpu", nested=False)
    with Ledger(path) as ledger, executors.make(spec) as executor:
        yield Evidence(ledger, executor)


@pytest.mark.thorough
def test_right_theory_is_not_caught(evidence: Evidence) -> None:
    for claims in (imported(), reread()):
        with fresh_caches():
            assert [name for name in evidence.outcomes if evidence.catches(claims[name])] == []


def name(mutant: Mutant) -> str:
    return mutant.id


@pytest.mark.thorough
@pytest.mark.parametrize("mutant", [*constants()], ids=name)
def test_wrong_constant_is_refuted(
    mutant: Mutant, evidence: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert caught(mutant, evidence, monkeypatch)


@pytest.mark.thorough
@pytest.mark.parametrize("mutant", [*exponents()], ids=name)
def test_wrong_exponent_is_refuted(
    mutant: Mutant, evidence: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert caught(mutant, evidence, monkeypatch)


@pytest.mark.thorough
@pytest.mark.parametrize("mutant", [*powers()], ids=name)
def test_wrong_power_of_a_size_is_refuted(
    mutant: Mutant, evidence: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert caught(mutant, evidence, monkeypatch)


def caught(mutant: Mutant, evidence: Evidence, monkeypatch: pytest.MonkeyPatch) -> bool:
    asked: set[str] = set()
    while True:
        with fresh_caches(), monkeypatch.context() as falsified:
            mutant.patch(falsified)
            claims = reread(mutant) if mutant.frozen else imported()
            if evidence.catcher(mutant, claims, asked) is not None:
                return True
        more = evidence.extend(mutant)
        if more is None:
            return False
        asked.discard(more)
