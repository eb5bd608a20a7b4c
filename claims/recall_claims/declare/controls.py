"""Planted wrong theories, which the same data must refute.

A control changes one thing in its claim. `times` multiplies the prediction by a constant, `power`
by powers of the sizes, and `at` predicts for other parameters. `reads` changes the observable that
the rule reads. `Control` replaces the whole prediction or rule.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from recall_claims.declare.claim import Claim, Control
from recall_claims.judge.rules import Predict
from recall_claims.model.cell import Cell, Scalar
from recall_claims.model.errors import ClaimError


def times(factor: float, id: str = "", description: str = "") -> Control:
    """Plant a wrong constant: multiply the prediction, or each of several, by `factor`."""

    def predict(cell: Cell, base: Predict) -> Any:
        return _scaled(base(cell), factor, cell)

    return _altered(id or f"times-{factor:g}", description or f"{factor:g} times as large", predict)


def power(id: str = "", description: str = "", /, **powers: float) -> Control:
    """Plant wrong exponents: multiply the prediction by these powers of the cell's parameters.

    If the rule itself gives the exponents, as with reference="asymptotic", shift these instead.
    """
    text = ", ".join(f"{name.replace('_', '-')}{value:+g}" for name, value in powers.items())

    def alter(claim: Claim) -> Claim:
        shifted = claim.rule.with_exponents_off(powers)
        if shifted is not None:
            return replace(claim, rule=shifted)
        return replace(claim, predict=_bound(claim, predict))

    def predict(cell: Cell, base: Predict) -> Any:
        factors = [cell.number(name) ** value for name, value in powers.items()]
        return _scaled(base(cell), math.prod(factors), cell)

    return Control(id or text, description or f"wrong powers: {text}", alter=alter)


def at(id: str, description: str = "", /, **changes: Scalar | Callable[[Cell], Scalar]) -> Control:
    """Plant a prediction for other parameters, given as values or as functions of the cell.

    `at("no-excess", trigger_in_values=False)`;
    `at("a-third-more", samples=lambda cell: round(4 / 3 * cell["samples"]))`.
    """
    told = [name if callable(new) else f"{name} = {new}" for name, new in changes.items()]

    def predict(cell: Cell, base: Predict) -> Any:
        values = {name: new(cell) if callable(new) else new for name, new in changes.items()}
        return base(cell.replace(**values))

    return _altered(id, description or f"predicted at other {', '.join(told)}", predict)


def reads(id: str, description: str, observable: str) -> Control:
    """Plant another observable for the rule to read; the simulation has to return it."""

    def alter(claim: Claim) -> Claim:
        rule: Any = claim.rule
        if not hasattr(rule, "observable"):
            raise ClaimError(f"control {id}: {type(rule).__name__} has no observable= to change")
        return replace(claim, rule=replace(rule, observable=observable))

    return Control(id, description, alter=alter)


def _altered(id: str, description: str, predict: Callable[[Cell, Predict], Any]) -> Control:
    return Control(
        id, description, alter=lambda claim: replace(claim, predict=_bound(claim, predict))
    )


def _bound(claim: Claim, predict: Callable[[Cell, Predict], Any]) -> Predict:
    base = claim.predict
    if base is None:
        raise ClaimError(f"claim {claim.id} has no prediction that its control could change")

    def changed(cell: Cell) -> Any:
        return predict(cell, base)

    # `precheck.check` refuses a control whose prediction equals the claim's.
    changed.changes = base  # type: ignore[attr-defined]
    return changed


def _scaled(found: Any, factor: float, cell: Cell) -> Any:
    if isinstance(found, Mapping):
        return {name: _scaled(value, factor, cell) for name, value in found.items()}
    if isinstance(found, str) or callable(found):
        kind = f"the text {found!r}" if isinstance(found, str) else "a law"
        raise ClaimError(f"the prediction at {cell.id} is {kind}, not a number")
    return factor * float(found)
