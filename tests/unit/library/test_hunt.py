"""A search of a regime finds violations, shrinks them, and confirms them on fresh evidence."""

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from dataclasses import replace
from random import Random
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import recall_claims as rc
from recall_claims.declare.claim import Observe
from recall_claims.evidence.executors import SerialExecutor
from recall_claims.evidence.hunt_tables import HuntTables, alpha_of
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Settings
from recall_claims.evidence.simulate import simulate
from recall_claims.hunt import campaign
from recall_claims.hunt.corners import corners
from recall_claims.hunt.probe import alone, probe
from recall_claims.hunt.search import TimeIsUp, Turn, _Search, search
from recall_claims.judge.methods import Array
from recall_claims.model.region import Verdict
from tests.unit.library.made import declared

SIZES = {"dim": rc.log_range(8, 512), "length": rc.log_range(4, 256)}
OPTIONS = {"tied": (False, True)}
REGIME = rc.Regime(
    "any sizes", {**SIZES, **OPTIONS}, holds=lambda cell: cell["length"] <= 4 * cell["dim"]
)


def normal(block: rc.Block, mean: float, deviation: float = 0.2) -> Array:
    return np.array([rng.normal(mean, deviation * mean) for rng in block.rngs])


def in_regime(
    id: str, regime: rc.Regime, cells: Sequence[rc.Cell], **changes: Any
) -> Callable[[Observe], rc.Claim]:
    """Declare a claim with a regime. By default it predicts that the mean is the dimension."""
    given: dict[str, Any] = {"replicates": (64, 1024), "predict": lambda cell: cell.number("dim")}
    return declared(id, {"standard": cells}, regime=regime, **{**given, **changes})


def of_dimension(
    id: str, regime: rc.Regime = REGIME, factor: float = 1.0, deviation: float = 0.2
) -> rc.Claim:
    """Make a claim whose simulated mean is ``factor`` times the dimension.

    In the claim T.wrong the mean is 1.5 times the dimension in cells where `tied` is True and
    `length` is above 2 `dim`.
    """

    @in_regime(id, regime, rc.grid(dim=(16, 64), length=(8, 16)))
    def mean(cell: rc.Cell, block: rc.Block) -> Array:
        """The mean is the dimension."""
        wrong = id == "T.wrong" and cell.get("tied") and cell["length"] > 2 * cell["dim"]
        return normal(block, cell["dim"] * (1.5 if wrong else factor), deviation)

    return mean


FEW = rc.Regime("two sizes", {"dim": (16, 64), "length": (8, 16)})
right, wrong = (of_dimension(f"T.{name}") for name in ("right", "wrong"))
few, large = of_dimension("T.few", FEW), of_dimension("T.large", FEW, factor=1.5)
noisy = of_dimension("T.noisy", factor=1.25, deviation=2.0)  # replicates hardly decide


@in_regime("T.bent", REGIME, rc.grid(dim=(16, 64), length=8), rule=rc.Exponents({"dim": 1.0}, 0.1))
def bent(cell: rc.Cell, block: rc.Block) -> Array:
    """The mean is proportional to the dimension, unless the dimension is small."""
    return normal(block, max(cell["dim"], 16), 0.02)


SHARE = rc.WinnerShare(rc.Region(0.9, 1.0), method=rc.Deterministic())


@in_regime("T.winner", REGIME, rc.grid(dim=16, length=8), rule=SHARE, predict=lambda _: "dim")
def winner(cell: rc.Cell, block: rc.Block) -> dict[str, Array]:
    """The dimension is larger than the length."""
    return {name: np.full(block.replicates, float(cell[name])) for name in ("dim", "length")}


@in_regime(
    "T.critical",
    rc.Regime("any dimension", {"dim": range(5, 61)}),
    rc.grid(dim=10, samples=(18, 22)),
    rule=rc.CriticalLocation(rc.Region(0.9, 1.1)),
    predict=lambda cell: 2 * cell.number("dim"),
)
def critical(cell: rc.Cell, block: rc.Block) -> Array:
    """Half of the trials succeed with 2 `dim` samples, unless the dimension is large."""
    middle = cell["dim"] * (2 if cell["dim"] < 40 else 3)
    return np.array([float(rng.normal(cell["samples"], 1.0) > middle) for rng in block.rngs])


def hunted(one: rc.Claim, ledger: Ledger, seconds: float) -> campaign.Trail:
    given = [one], Settings(), ledger, SerialExecutor(), seconds
    [trail] = campaign.hunt(*given, clock=time.process_time)  # whatever else runs here
    return trail


def found(one: rc.Claim, ledger: Ledger) -> campaign.Confirmation:
    """Hunt for up to a minute, and return the violation that is confirmed."""
    confirmation = hunted(one, ledger, 60).confirmation
    assert confirmation is not None
    return confirmation


def test_a_violation_is_found_shrunk_confirmed_on_fresh_draws_and_kept(ledger: Ledger) -> None:
    first = found(wrong, ledger)
    point = first.probe.point
    # No parameter can go one step lower: the shortest sequence, the smallest dimension.
    assert point["tied"] is True
    assert point["dim"] == 8
    lengths = SIZES["length"].steps
    assert point["length"] == next(step for step in lengths if isinstance(step, int) and step > 16)
    assert first.outcome is not None
    looks = 7
    assert first.outcome.alpha == pytest.approx(alpha_of(1) / looks)
    [part] = first.outcome.decision.components
    assert part.estimate == pytest.approx(1.5, abs=0.1)
    streams = {name for (name,) in ledger.ask("SELECT DISTINCT registration FROM blocks")}
    assert streams == {f"hunt 1 {first.probe.key}", f"again 1 {first.probe.key}"}
    again = hunted(wrong, ledger, 60)  # continues from the first hunt
    assert again.confirmation is not None
    assert again.confirmation.number == 1, "no second error probability"
    assert (again.confirmation.probe.point, again.turns) == (point, 0)


def test_a_violation_that_other_code_showed_refutes_nothing(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = found(wrong, ledger)
    tables = HuntTables(ledger, 0)
    assert campaign._trail(wrong, tables).confirmation is not None
    monkeypatch.setattr(campaign, "_code", lambda _: "corrected")
    for verdict in (Verdict.INCONCLUSIVE, Verdict.REFUTED):  # the corrected code's own probe
        tables.keep(wrong.id, "corrected", replace(first.probe, verdict=verdict))
        assert campaign._trail(wrong, tables).confirmation is None


@pytest.mark.parametrize(
    ("exact", "verdicts"),
    [
        (False, ["INCONCLUSIVE"]),
        (False, ["SUPPORTED"]),
        (False, ["REFUTED", "INCONCLUSIVE"]),  # a violation by t is confirmed twice
        (False, ["REFUTED", "REFUTED"]),
        (True, ["REFUTED"]),
    ],
)
def test_only_what_is_refuted_at_its_own_level_is_confirmed(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, exact: bool, verdicts: list[str]
) -> None:
    point = rc.Cell(dim=16, length=8) if exact else rc.Cell(dim=8, length=19, tied=True)
    tried = probe(half if exact else wrong, point, seed=0, device="cpu")
    memory, last = HuntTables(ledger, 0), Verdict(verdicts[-1])
    for number in (1, 2):
        outcomes = [Mock(decision=Mock(verdict=Verdict(verdict))) for verdict in verdicts]
        judged = Mock(side_effect=outcomes)
        monkeypatch.setattr(campaign, "run_claim", judged)
        trail = campaign.Trail(half if exact else wrong)
        campaign._confirm(trail, tried, Settings(), ledger, SerialExecutor(), memory)
        confirmed = trail.confirmation and trail.confirmation.number
        assert confirmed == (number if last is Verdict.REFUTED else None)
        assert memory.confirmed(trail.claim.id, [tried.key]) == {tried.key: (number, last)}
        streams = ("hunt", "again")[: len(verdicts)]
        for call, stream in zip(judged.call_args_list, streams, strict=True):
            assert call.kwargs["registered"] == f"{stream} {number} {tried.key}"
            assert call.kwargs["alpha"] == alpha_of(number)


@pytest.mark.parametrize("skewness", [1.0, 1.5])
def test_two_confirmations_keep_the_level_that_one_by_t_breaks(skewness: float) -> None:
    """Values are lognormal, with a long upper tail. The claim is true: the mean lies on the lower
    edge of its region."""
    level, edge, pairs = alpha_of(1) / 5, math.exp(skewness**2 / 2), 4000
    rng = np.random.default_rng(5)
    once = [
        rc.Student().bounds(np.exp(skewness * rng.normal(size=32)), level / 2).high < edge
        for _ in range(2 * pairs)
    ]
    assert np.mean(once) > 3 * level
    assert np.mean(once) ** 2 < level
    assert np.logical_and(once[::2], once[1::2]).sum() <= 1  # expected: less than 0.1 of 4,000


def test_what_is_not_confirmed_is_settled(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    judged = Mock(return_value=Mock(decision=Mock(verdict=Verdict.INCONCLUSIVE)))
    monkeypatch.setattr(campaign, "run_claim", judged)
    for _ in range(2):  # the second hunt knows what the first has settled
        trail = hunted(large, ledger, 10)
        assert (trail.exhausted, trail.confirmation) == (True, None)
        points = [call.args[0].cells["hunt"] for call in judged.call_args_list]
        assert len(points) == len({*points}) == 4
        assert {probe.verdict for probe in trail.probes.values()} == {Verdict.SUPPORTED}


def test_a_true_theorem_is_not_confirmed_wrong_and_a_small_regime_is_exhausted(
    ledger: Ledger,
) -> None:
    trail = hunted(right, ledger, 5)
    assert trail.confirmation is None
    assert len(trail.probes) > 20
    assert all(REGIME.admits(rc.Cell(**probe.point)) for probe in trail.probes.values())
    small = hunted(few, ledger, 60)
    assert (small.exhausted, len(small.probes)) == (True, 4)


def test_every_worker_of_the_executor_has_a_turn(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = Mock(return_value=None)
    monkeypatch.setattr(campaign, "wait", lambda turns, **_: begun(len(turns)) or wait(turns))
    monkeypatch.setattr(SerialExecutor, "workers", 3)
    campaign.hunt([few] * 4, Settings(), ledger, SerialExecutor(), 60)
    assert [one.args for one in begun.call_args_list] == [(3,), (1,)]


def test_what_a_regime_leaves_out_by_now_is_no_violation(ledger: Ledger) -> None:
    found(wrong, ledger)
    assert hunted(wrong, ledger, 0).confirmation is not None
    short = replace(REGIME, holds=lambda cell: cell["length"] <= 2 * cell["dim"])
    few = replace(REGIME, given={**SIZES, "tied": False})
    for narrower in (short, few):
        assert hunted(replace(wrong, regime=narrower), ledger, 0).confirmation is None


def test_a_condition_that_breaks_down_ends_no_search() -> None:
    def holds(cell: rc.Cell) -> bool:
        return bool(cell["dim"] / (cell["length"] - 8))

    broken = replace(REGIME, holds=holds, given={**SIZES, "length": range(8, 13), **OPTIONS})
    search = _Search(replace(wrong, regime=broken), asked(wrong))
    assert not search._fails(rc.Cell(dim=16, length=8, tied=True))
    assert search.refused == {"ZeroDivisionError: division by zero": 1}


def test_a_probe_replays() -> None:
    def found(seed: int) -> float:
        return probe(
            right, rc.Cell(dim=16, length=8, tied=True), seed=seed, device="cpu"
        ).discrepancy

    assert found(0) == found(0) != found(1)


def asked(claim: rc.Claim, **more: Any) -> Turn:
    return Turn(claim.module, claim.id, seed=0, device="cpu", seconds=60.0, **more)


def test_a_violation_is_shrunk_before_another_is_looked_for() -> None:
    known = probe(wrong, rc.Cell(dim=32, length=128, tied=True), seed=0, device="cpu")
    assert known.verdict is Verdict.REFUTED
    catch = search(asked(wrong, known={known.key: known}))
    assert catch.shrunk
    assert catch.violation is not None
    assert catch.violation.point["dim"] == 8
    # Only points simpler than the violation were tried.
    assert all(probe.point["dim"] <= 32 for probe in catch.probes)
    assert all(probe.point["length"] <= 128 for probe in catch.probes)


def test_a_hunt_tries_corners_before_it_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = Mock(side_effect=TimeIsUp)
    monkeypatch.setattr(_Search, "draw", drawn)
    first = search(asked(right))
    assert drawn.call_count == 1
    ends = {(8, 4), (8, 32), (512, 4), (512, 256), (64, 256)}
    expected = {(*end, tied) for end in ends for tied in (False, True)}
    assert {(p.point["dim"], p.point["length"], p.point["tied"]) for p in first.probes} == expected
    known = {probe.key: probe for probe in first.probes}
    assert not search(asked(right, known=known)).probes
    assert (first.cornered, search(asked(right, cornered=True)).probes) == (True, ())


def test_corners_of_a_regime_lie_within_what_can_be_reached() -> None:
    def found(reachable: Callable[[rc.Cell], bool]) -> set[tuple[int, ...]]:
        regime = rc.Regime(
            "a <= 8 b",
            {"a": range(1, 65), "b": range(1, 33), "c": rc.log_range(2, 16), "odd": False},
            holds=lambda cell: cell["a"] <= 8 * cell["b"],
        )
        points = list(corners(regime, reachable, Random(0)))
        assert len(points) == len({*points})
        return {(point["a"], point["b"], point["c"]) for point in points}

    ends = {(1, 1), (8, 1), (1, 32), (64, 8), (64, 32)}
    # Two sizes at their ends leave the third at its first value.
    assert found(lambda _: True) == {(*end, 2) for end in ends} | {
        (*end, 16) for end in ends - {(64, 32)}
    }
    assert max(a for a, _, _ in found(lambda cell: cell["a"] <= 5)) == 5
    assert found(lambda _: False) == set()


def test_two_turns_of_a_claim_draw_other_points() -> None:
    one, other = (search(replace(asked(right, number=k), seconds=1.0)) for k in (0, 1))
    assert {p.key for p in one.probes} != {p.key for p in other.probes}


def test_a_probe_gives_up_what_cannot_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = Mock(side_effect=simulate)
    monkeypatch.setattr("recall_claims.hunt.probe.simulate", drawn)
    counts = []
    for patience in (1e-6, 1e6):
        probe(noisy, rc.Cell(dim=16, length=8), seed=3, device="cpu", patience=patience)
        counts.append(drawn.call_count)
    assert counts[0] == 1
    assert counts[1] > 2


bounded = rc.MeanDifference(rc.Region(-0.02, 0.02), method=rc.Betting(0, 1))


@in_regime("T.bounded", FEW, rc.grid(dim=16, length=8), rule=bounded, predict=lambda _: 0.4)
def half(cell: rc.Cell, block: rc.Block) -> Array:
    """The mean is one half: 0.08 outside the region."""
    return normal(block, 0.5, 0.1)


def test_a_search_suspects_by_t_what_bets_cannot_tell_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    home = "recall_claims.hunt.probe"
    monkeypatch.setattr(f"{home}.DOUBLINGS", 3)  # 64 replicates, by which a bet cannot decide
    point = rc.Cell(dim=16, length=8)
    assert probe(half, point, seed=0, device="cpu").verdict is Verdict.REFUTED
    monkeypatch.setattr(f"{home}._quick", lambda rule: rule)
    assert probe(half, point, seed=0, device="cpu").verdict is Verdict.INCONCLUSIVE


def test_critical_values_are_hunted_by_rungs_at_the_edges(ledger: Ledger) -> None:
    assert [c["samples"] for c in alone(critical, rc.Cell(dim=10)).cells["hunt"]] == [18, 22]
    assert found(critical, ledger).probe.point == {"dim": 40}


def test_what_cannot_be_hunted_says_why(ledger: Ledger) -> None:
    assert campaign.why_not_hunted(right) == ""
    in_words = replace(right, regime=None)
    assert campaign.why_not_hunted(in_words) == "its regime is stated in words alone"
    assert hunted(in_words, ledger, 60).turns == 0


def test_a_share_of_points_is_hunted_at_a_point(ledger: Ledger) -> None:
    point = found(winner, ledger).probe.point
    assert point["length"] > point["dim"]


def test_an_exponent_is_hunted_by_a_lever_within_the_regime(ledger: Ledger) -> None:
    point = rc.Cell(dim=8, length=4, tied=False)
    assert bent.rule.alone(point, None) == (point, point.replace(dim=32))
    trail = hunted(bent, ledger, 60)
    assert trail.confirmation is not None
    assert trail.confirmation.probe.point == dict(point)
    assert max(probe.point["dim"] for probe in trail.probes.values()) <= 512 / 4


def test_cells_above_a_million_numbers_are_not_searched() -> None:
    dear = replace(right, size=lambda cell: 1000 * cell["dim"] ** 2)
    assert dear.searchable(rc.Cell(dim=16, length=8, tied=False))
    assert not dear.searchable(rc.Cell(dim=64, length=8, tied=False))


def test_confirmations_share_one_error_probability(ledger: Ledger) -> None:
    assert math.fsum(alpha_of(j) for j in range(1, 100_000)) == pytest.approx(1e-3, rel=1e-4)
    tried = probe(right, rc.Cell(dim=16, length=8, tied=False), seed=0, device="cpu")
    tables = HuntTables(ledger, 0)
    assert [tables.begin_confirmation("T.right", tried) for _ in range(3)] == [1, 2, 3]
    tables.end_confirmation(2, Verdict.INCONCLUSIVE)
    assert HuntTables(ledger, 7).begin_confirmation("T.wrong", tried) == 4
