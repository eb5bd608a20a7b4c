"""The claims notice when any one constant or exponent of the theory is wrong.

A sample of the falsified theories is tried by default; all of them take an hour (-m thorough).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from recall_claims.evidence import executors
from recall_claims.evidence.ledger import Ledger
from tests.mutation.judge import Evidence, falsified
from tests.mutation.mutants import Mutant, constants, exponents, powers

NUMBERS = [*constants(), *exponents()]
SAMPLE = NUMBERS[:: len(NUMBERS) // 10]


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evidence]:
    """Runs of claims under the default seed."""
    path = tmp_path_factory.mktemp("evidence") / "ledger.sqlite"
    spec = executors.resolve("auto", "cpu", nested=False)
    with Ledger(path) as ledger, executors.make(spec) as executor:
        yield Evidence(ledger, executor)


def name(mutant: Mutant) -> str:
    return mutant.id


@pytest.mark.parametrize("mutant", SAMPLE, ids=name)
def test_wrong_number_is_noticed(mutant: Mutant, evidence: Evidence) -> None:
    assert evidence.notices(mutant)


@pytest.mark.thorough
@pytest.mark.parametrize("mutant", [m for m in NUMBERS if m not in SAMPLE], ids=name)
def test_any_wrong_number_is_noticed(mutant: Mutant, evidence: Evidence) -> None:
    assert evidence.notices(mutant)


@pytest.mark.thorough
@pytest.mark.parametrize("mutant", [*powers()], ids=name)
def test_wrong_power_of_a_size_is_noticed(mutant: Mutant, evidence: Evidence) -> None:
    assert evidence.notices(mutant)


def test_right_theory_is_not_caught(evidence: Evidence) -> None:
    """On all that the tests before this one have drawn."""
    assert evidence.outcomes
    with falsified(None, *(name for name, _ in evidence.outcomes)) as claims:
        assert evidence.caught(claims, evidence.outcomes) is None
