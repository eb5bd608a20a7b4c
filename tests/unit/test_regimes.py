"""No regime uses the tested law: a wrong law would exclude its own counterexamples."""

import random
import sys
from collections.abc import Callable
from inspect import unwrap
from types import CodeType, FrameType

import pytest

from recall_claims import Cell, Claim, Regime
from recall_claims.model.predictions import Prediction, predictions
from recall_claims.model.source import On
from tests.every_claim import imported

SEARCHED = {name: claim for name, claim in imported().items() if claim.regime and claim.predict}
ASKS_ITSELF = {
    "theory.attention.capacity.critical_samples": "one condition rules, and accuracies tell which; "
    "no claim searches it, and the claims' grids are fixed"
}


def full_name(entry: Prediction) -> str:
    """Join module and name, because some laws in different folders have the same name."""
    return f"{entry.module}.{entry.name}"


LAWS: dict[CodeType, str] = {unwrap(one.function).__code__: full_name(one) for one in predictions()}
STATED = {full_name(one): one.regime for one in predictions() if one.regime}


def called(run: Callable[..., object]) -> list[str]:
    """List the registered laws that a call uses directly, not through another law."""
    for entry in predictions():
        getattr(entry.function, "cache_clear", lambda: None)()
    found, active = [], 0

    def watch(frame: FrameType, event: str, _: object) -> None:
        nonlocal active
        if frame.f_code in LAWS and event in ("call", "return"):
            if event == "call" and not active:
                found.append(LAWS[frame.f_code])
            active += 1 if event == "call" else -1

    sys.setprofile(watch)
    try:
        run()
    finally:
        sys.setprofile(None)
    return found


def law(claim: Claim, cell: Cell) -> list[str]:
    """List the laws by which a claim predicts."""
    assert claim.predict is not None
    if isinstance(claim.predict, On) and claim.predict.entry:
        return [full_name(claim.predict.entry)]
    return called(lambda: claim.predict and claim.predict(cell))


def asked(regime: Regime, tries: int = 400) -> tuple[set[str], Cell]:
    """Find the laws that a regime calls at random points, and a point inside the regime.

    If no point drawn is inside, the last one is returned.
    """
    draws = random.Random(0)
    found, inside = set(), []
    for _ in range(tries):
        cell = Cell(**{name: draws.choice(v.steps) for name, v in regime.ranges.items()})
        held: list[bool] = []
        found |= {*called(lambda held=held, cell=cell: held.append(regime.admits(cell)))}
        inside += [cell] * any(held)
        if len(inside) > 2:
            break
    return found, (inside or [cell])[0]


@pytest.mark.parametrize("name", SEARCHED)
def test_no_regime_asks_the_law_that_is_tried_in_it(name: str) -> None:
    claim = SEARCHED[name]
    assert claim.regime is not None
    found, cell = asked(claim.regime)
    assert not found & {*law(claim, cell)}


@pytest.mark.parametrize("name", STATED)
def test_no_stated_error_is_left_out_where_it_fails(name: str) -> None:
    found, _ = asked(STATED[name])
    assert (name in found) == (name in ASKS_ITSELF)
