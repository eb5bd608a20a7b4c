"""The claims notice when any one constant, exponent or power of the theory is wrong.

A sample of the falsified theories is tried by default; the rest is thorough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from recall_claims.evidence import executors
from recall_claims.evidence.ledger import Ledger
from tests.mutation.judge import Evidence, falsified
from tests.mutation.mutants import Mutant, constants, exponents, powers

BLUNT = {
    "theory.attention.recall.all_tokens_probability x 1.3": "only where it is 1/2 is it tested, in "
    "d: 1.3 times as many failures of single tokens are 2% there",
}
"""Falsified theories that no claim can tell from the right one, and why."""
NUMBERS = [*constants(), *exponents()]
SAMPLE = NUMBERS[:: len(NUMBERS) // 10]


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evidence]:
    """Runs of claims under the default seed."""
    path = tmp_path_factory.mktemp("evidence") / "ledger.sqlite"
    spec = executors.resolve("auto", "cpu", nested=False)
    with Ledger(path) as ledger, executors.make(spec) as executor:
        yield Evidence(ledger, executor)


def tried(mutants: Iterable[Mutant]) -> list[Any]:
    """Parameters, of which those that claims are blunt to are expected to fail."""
    return [
        pytest.param(
            mutant,
            id=mutant.id,
            marks=pytest.mark.xfail(reason=BLUNT[mutant.id]) if mutant.id in BLUNT else (),
        )
        for mutant in mutants
    ]


@pytest.mark.parametrize("mutant", tried(SAMPLE))
def test_wrong_number_is_noticed(mutant: Mutant, evidence: Evidence) -> None:
    assert evidence.notices(mutant)


@pytest.mark.thorough
@pytest.mark.parametrize("mutant", tried(m for m in NUMBERS if m not in SAMPLE))
def test_any_wrong_number_is_noticed(mutant: Mutant, evidence: Evidence) -> None:
    assert evidence.notices(mutant)


@pytest.mark.thorough
@pytest.mark.parametrize("mutant", tried(powers()))
def test_wrong_power_of_a_size_is_noticed(mutant: Mutant, evidence: Evidence) -> None:
    assert evidence.notices(mutant)


def test_right_theory_is_not_caught(evidence: Evidence) -> None:
    """On all that the tests before this one have drawn."""
    assert evidence.outcomes
    with falsified(None, *(name for name, _ in evidence.outcomes)) as claims:
        assert evidence.caught(claims, evidence.outcomes) is None
