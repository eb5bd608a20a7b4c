"""Planted wrong theories, which the same data must refute.

A control states what it changes in its claim. The prediction changes by a constant (`times`), by
powers of the sizes (`power`) or by other parameters (`at`). `reads` changes the observable that the
rule reads, `Control` the prediction or rule as a whole.
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
    """The prediction times a constant; of several, each."""

    def predict(cell: Cell, base: Predict) -> Any:
        return _scaled(base, cell, factor)

    return _altered(id or f"times-{factor:g}", description or f"{factor:g} times as large", predict)


def power(id: str = "", description: str = "", /, **powers: float) -> Control:
    """A wrong exponent: the prediction times these powers of the cell's parameters.

    A rule that names its exponents itself (`Exponents` about numbers) has them shifted instead.
    """
    text = ", ".join(f"{name.replace('_', '-')}{value:+g}" for name, value in powers.items())

    def alter(claim: Claim) -> Claim:
        shifted = claim.rule.with_exponents_off(powers)
        if shifted is not None:
            return replace(claim, rule=shifted)
        return replace(claim, predict=_bound(claim, predict))

    def predict(cell: Cell, base: Predict) -> Any:
        factors = [cell.number(name) ** value for name, value in powers.items()]
        return _scaled(base, cell, math.prod(factors))

    return Control(id or text, description or f"exponents off: {text}", alter=alter)


def at(id: str, description: str = "", /, **changes: Scalar | Callable[[Cell], Scalar]) -> Control:
    """The prediction for other parameters: values, or functions of the cell.

    `at("no-excess", trigger_in_values=False)`;
    `at("a-third-more", samples=lambda cell: round(4 / 3 * cell["samples"]))`.
    """
    told = [name if callable(new) else f"{name} = {new}" for name, new in changes.items()]

    def predict(cell: Cell, base: Predict) -> Any:
        values = {name: new(cell) if callable(new) else new for name, new in changes.items()}
        return base(cell.replace(**values))

    return _altered(id, description or f"predicted at other {', '.join(told)}", predict)


def reads(id: str, description: str, observable: str) -> Control:
    """The claim's rule on another observable, which the simulation returns for this control."""

    def alter(claim: Claim) -> Claim:
        rule: Any = claim.rule  # the rules that can be planted so have an observable
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

    # What it predicts if it changes nothing after all: see `check`.
    changed.changes = base  # type: ignore[attr-defined]
    return changed


def _scaled(predict: Predict, cell: Cell, factor: float) -> Any:
    """The prediction, or each of several, times a factor."""
    found = predict(cell)
    if isinstance(found, Mapping):
        return {name: factor * value for name, value in found.items()}
    if isinstance(found, str) or callable(found):
        kind = f"the text {found!r}" if isinstance(found, str) else "a law"
        raise ClaimError(f"the prediction at {cell.id} is {kind}, not a number")
    return factor * float(found)
