"""The trial of stated errors itself, and what the docstrings say."""

import importlib
import inspect
import pkgutil
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

import theory
from recall_claims import Block, Cell, Regime, log_integers
from recall_claims.judge.methods import COIN, Deterministic
from recall_claims.predictions import predictions
from tests.calibration import stated_errors
from tests.calibration.stated import Law, Stated
from tests.calibration.stated.entries import ENTRIES
from tests.calibration.stated.untried import UNTRIED

ALPHA = stated_errors.FAMILY / stated_errors.POINTS
CHEAP = next(entry for entry in ENTRIES if entry.name == "memory.linear.half_dim")
SHARE = next(entry for entry in ENTRIES if entry.name == "memory.linear.linear_memory_accuracy")


def within(entry: Stated, points: int = 3) -> stated_errors.Tried:
    return stated_errors.tried(entry, seed=1001, points=points, alpha=ALPHA)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_docstring_states_what_the_table_says(entry: Stated) -> None:
    module = importlib.import_module(entry.function.__module__)
    texts = (inspect.getdoc(entry.function) or "", module.__doc__ or "")
    assert any(" ".join(entry.quote.split()) in " ".join(text.split()) for text in texts)
    if callable(entry.error):
        return
    if entry.error < 1e-5:
        assert "xact" in entry.quote
    else:
        assert f"{entry.error:g}" in entry.quote or f"{100 * entry.error:g}%" in entry.quote


def test_every_prediction_is_tried_or_says_why_not() -> None:
    for module in pkgutil.walk_packages(theory.__path__, "theory."):
        importlib.import_module(module.name)
    names = {f"{found.module}.{found.name}".removeprefix("theory.") for found in predictions()}
    tried = {f"{e.function.__module__}.{e.function.__name__}".partition(".")[2] for e in ENTRIES}
    assert tried.isdisjoint(UNTRIED)
    assert names == tried | set(UNTRIED)


def test_entries_fit_into_the_slots_of_the_level_and_have_names_of_their_own() -> None:
    assert len({entry.name for entry in ENTRIES}) == len(ENTRIES) <= stated_errors.SLOTS


def times(factor: float, law: Law) -> Law:
    return lambda cell: factor * law(cell)


def always(value: float) -> Law:
    return lambda _: value


@pytest.mark.parametrize("entry", [CHEAP, SHARE], ids=lambda entry: entry.name)
def test_right_formula_holds_and_a_wrong_one_fails(entry: Stated) -> None:
    assert within(entry).holds
    for factor in (0.85, 1.15):
        found = within(replace(entry, predict=times(factor, entry.predict)))
        assert not found.holds
        assert found.worst.state == "beyond"
        assert "FAILS" in stated_errors.row(found)


def test_points_are_the_same_again_lie_in_the_regime_and_differ_between_seeds() -> None:
    cells = stated_errors.drawn(SHARE, 7, 5)
    assert cells == stated_errors.drawn(SHARE, 7, 5)
    assert cells != stated_errors.drawn(SHARE, 8, 5)
    assert all(SHARE.regime.searchable(cell) for cell in cells)


def test_a_changed_statement_draws_fresh_points() -> None:
    changed = replace(SHARE, restated=1)
    assert stated_errors.drawn(SHARE, 7, 5) != stated_errors.drawn(changed, 7, 5)


def test_points_are_uniform_in_the_logarithm() -> None:
    regime = Regime("any", {"dim": log_integers(4, 1024)})
    cells = stated_errors.drawn(replace(SHARE, regime=regime), 1, 400)
    logs = np.log2([cell["dim"] for cell in cells])
    assert logs.min() >= 2
    assert logs.max() <= 10
    assert abs(np.median(logs) - 6) < 0.7


def test_a_regime_without_points_is_refused() -> None:
    nowhere = replace(SHARE, regime=replace(SHARE.regime, holds=lambda _: False))
    with pytest.raises(RuntimeError, match="linear_memory_accuracy: 0 points"):
        stated_errors.drawn(nowhere, 0, 1)


def coin(rate: float, **changes: Any) -> Stated:
    """A coin whose chance of success is `rate`."""

    def flip(cell: Cell, block: Block) -> torch.Tensor:
        return torch.tensor([float(rng.random() < rate) for rng in block.rngs])

    plain = replace(
        SHARE,
        name="coin",
        predict=lambda _: 0.5,
        error=0.1,
        regime=Regime("any", {"dim": log_integers(4, 16)}),
        observe=flip,
        method=COIN,
        replicates=400,
        looks=4,
    )
    return replace(plain, **changes)


@pytest.mark.parametrize(
    ("rate", "state"), [(0.5, "inside"), (0.75, "beyond"), (0.25, "beyond"), (0.6, "open")]
)
def test_states_of_a_share(rate: float, state: str) -> None:
    assert within(coin(rate), 1).points[0].state == state


def test_relative_error_is_a_share_of_the_prediction() -> None:
    constant = coin(0.5, relative=True, method=Deterministic(), replicates=1, looks=1)
    for seen, state in ((0.54, "inside"), (0.56, "beyond"), (0.44, "beyond")):
        entry = replace(constant, observe=partial(show, seen))
        assert within(entry, 1).points[0].state == state


def show(value: float, cell: Cell, block: Block) -> torch.Tensor:
    return torch.tensor([value])


@pytest.mark.parametrize("rising", [True, False])
def test_a_critical_value_is_held_to_its_error_at_both_edges(rising: bool) -> None:
    def success(cell: Cell, block: Block) -> torch.Tensor:
        right = (cell["samples"] >= 100) == rising
        return torch.tensor([float(rng.random() < (0.9 if right else 0.1)) for rng in block.rngs])

    plain = coin(0.5, observe=success, scan="samples", rising=rising, replicates=100)
    for predicted, state in ((100.0, "inside"), (80.0, "beyond"), (120.0, "beyond")):
        entry = replace(plain, predict=always(predicted))
        assert within(entry, 1).points[0].state == state


def test_what_is_exact_fails_where_the_interval_leaves_it_out() -> None:
    assert within(coin(0.5, error=0.0), 1).holds
    assert not within(coin(0.65, error=0.0), 1).holds


def test_the_page_keeps_rows_and_counts_failures() -> None:
    rows = {name: stated_errors.row(named(name)) for name in ("b", "a")}
    page = stated_errors.document(rows, 3)
    assert list(stated_errors.rows_in(page)) == ["a", "b"]
    assert "2 entries" in page
    assert "failures: 0" in page


def named(name: str) -> stated_errors.Tried:
    return within(coin(0.5, name=name), 1)
