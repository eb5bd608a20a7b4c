"""The claims notice when any one constant, exponent or power of the theory is wrong.

By default nine mutants are tried, which cheap claims notice: one or more of each kind and of each
folder. All others are marked exhaustive.
"""

import os
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from recall_claims.evidence import executors
from recall_claims.evidence.ledger import Ledger
from tests.mutation.judge import Evidence, falsified
from tests.mutation.mutants import Mutant, constants, exponents, powers

BLUNT = {
    "theory.attention.recall.all_tokens_probability x 1.3": "claims test only the dimension at "
    "which it is 1/2, and the factor changes this dimension by less than 3%",
    "theory.factual.trained_transformer.capacity x 1.3": "trained transformers stand at 0.7 of the "
    "line, in the middle of a region from 0.53 to 0.98 that follows it",
}
"""Falsified theories that no claim can distinguish from the right one, and why."""
MUTANTS = {mutant.id: mutant for mutant in (*constants(), *exponents(), *powers())}
FEW = (
    "theory.attention.signal.trigger_signal x 1.3",
    "theory.attention_mlp.noise.trigger_signal x 1.3",
    "theory.factual.sequential_learning.plateau x 1.3",
    "theory.lower_bound.width_information.EXPONENTS[length] +0.25",
    "theory.memory.bits.accuracy_ceiling x 1.3",
    "theory.memory.mlp.critical_width x 1.3",
    "theory.spectral.flows.gradient_error x 1.3",
    "theory.spectral.one_step.recalled_newton x 1.3",
    "theory.attention.signal.trigger_signal x length^+0.25",
)
REST = [name for name in MUTANTS if name not in FEW]


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evidence]:
    """Runs of claims under the default seed."""
    folder = tmp_path_factory.getbasetemp()
    apart = "PYTEST_XDIST_WORKER" in os.environ  # which runs a process per core already
    path = (folder.parent if apart else folder) / "mutation.sqlite"  # its workers share one
    spec = "serial" if apart else executors.resolve("auto", "cpu")
    with Ledger(path) as ledger, executors.make(spec) as executor:
        yield Evidence(ledger, executor)


def tried(names: Iterable[str], *marks: pytest.MarkDecorator) -> Iterator[Any]:
    """Yield parameters; tests of mutants that claims do not notice are expected to fail."""
    for name in names:
        blunt = [pytest.mark.xfail(reason=BLUNT[name])] if name in BLUNT else []
        yield pytest.param(MUTANTS[name], id=name, marks=[*marks, *blunt])


@pytest.mark.parametrize(
    "mutant",
    [*tried(FEW), *tried(REST, pytest.mark.exhaustive)],
)
def test_a_wrong_prediction_is_noticed(mutant: Mutant, evidence: Evidence) -> None:
    assert evidence.notices(mutant)


def test_right_theory_is_not_caught(evidence: Evidence) -> None:
    """The evidence is from earlier tests, and from claims run until one notices a wrong theory."""
    assert evidence.notices(MUTANTS[FEW[0]])
    with falsified(None, *(name for name, _ in evidence.outcomes)) as claims:
        assert evidence.caught(claims, evidence.outcomes) is None
