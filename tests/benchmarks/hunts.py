"""How often hunts find errors that no grid sees, and how often they refute what is true.

`python -m tests.benchmarks hunt --planted held-out` hunts each error of `tests.mutation.planted`
that is named and has not been hunted, in the claims that use what it changes, at most `--minutes`
each; `--true 10` hunts the right theory under ten more seeds. What is found is kept in `hunts.json`
beside this file, so that either goes on where it ended. Without them the table is printed.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from recall_claims import Cell, Claim, Verdict
from recall_claims.errors import ClaimError
from recall_claims.evidence.executors import SerialExecutor, one_thread
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Settings
from recall_claims.hunt import campaign
from recall_claims.hunt.probe import Probe, probe
from tests.benchmarks.table import Row, Section
from tests.every_claim import imported
from tests.mutation.mutants import forget
from tests.mutation.planted import PLANTED, Planted

FILE = Path(__file__).with_name("hunts.json")
SEED = 1301
"""Of the hunts of planted errors; those of the right theory have SEED + 1 and following."""
PROMISED = 8
"""Of the errors that are held out, to be found within MINUTES each."""
MINUTES, TRUE_MINUTES = 5.0, 1.0

NOTE = (
    f"errors that no grid of the standard tier sees (`tests/mutation/planted.py`), each hunted "
    f"once in all claims with a checkable regime that use what it changes, from an empty ledger; "
    f"ours is the time until a violation was confirmed on fresh evidence. Minimal: no parameter of "
    f"the cell can go one step towards the first value of its range and still violate, by the "
    f"evidence that the search draws. The search was tuned on ten errors and not on those held "
    f"out. Right theory: hunts in turn of all claims with a regime, each under a seed of its own. "
    f"Promised: {PROMISED} of the 10 held out within {MINUTES:.0f} minutes each, and at most one "
    f"confirmation in 100 hunts of the right theory of one minute each."
)


@dataclass(frozen=True)
class Hunted:
    """What came of one hunt.

    Attributes:
        claim: that a confirmed violation refutes, or "".
        cell: at which.
        seconds: until it was confirmed, or in all.
        processor: seconds of all processes.
        tried: points.
        minimal: whether no parameter of the cell can be a step simpler; None if nothing was found.
        wrong: what the theory says there, and `right`: what it says without the error; None where
            they are tensors.
        right_stands: whether the right theory is not refuted there by the same evidence.
        confirmations: how many were tried.
        minutes, workers: that the hunt was given.
    """

    claim: str
    cell: Mapping[str, Any]
    seconds: float
    processor: float
    tried: int
    minimal: bool | None
    wrong: float | None
    right: float | None
    right_stands: bool | None
    confirmations: int
    minutes: float
    workers: int


def section() -> Section:
    """A row per hunt of an error, and one for those of the right theory."""
    kept = _kept()
    rows = [row(PLANTED[name], found) for name, found in kept["planted"].items()]
    held_out = [found for name, found in kept["planted"].items() if PLANTED[name].held_out]
    count = sum(bool(found.claim) for found in held_out)
    rows.append(Row("held out, found", f"{count} of {len(held_out)}", "promised", "8 of 10", "–"))
    wrong = [found for found in kept["true"].values() if found.claim]
    hunts = len(kept["true"])
    rows.append(Row("right theory, refuted", f"{len(wrong)} of {hunts}", "promised", "1 of 100", "–"))
    return Section("hunt", tuple(rows), NOTE, count >= PROMISED and len(wrong) <= 1)


def row(planted: Planted, found: Hunted) -> Row:
    """Where and when the hunt of one error ended."""
    kind = "held out" if planted.held_out else "tuning"
    case = f"{planted.id} ({kind}): {planted.words}"
    limit = f"{found.minutes * 60:.0f} s"
    if not found.claim:
        return Row(case, f"not found, {found.tried} points", "limit", limit, "–")
    cell = Cell(**found.cell).id
    shrunk = "minimal" if found.minimal else "not minimal"
    where = f"{found.claim} at {cell}, {shrunk}"
    return Row(case, f"{found.seconds:.0f} s: {where}", "limit", limit, "–")


def measure(errors: Sequence[str], hunts: int, minutes: float | None, workers: int) -> None:
    """Hunt what has not been hunted, and keep what came of it.

    Args:
        errors: names, "tuning" or "held-out".
        hunts: of the right theory, beyond those that are kept.
        minutes: a hunt.
        workers: searches at a time.
    """
    for name in _named(errors):
        if name not in _kept()["planted"]:
            found = hunted(PLANTED[name], minutes or MINUTES, workers)
            _keep("planted", name, found)
    for _ in range(hunts):
        seed = SEED + 1 + len(_kept()["true"])
        found = hunted(None, minutes or TRUE_MINUTES, workers, seed)
        _keep("true", str(seed), found)


def hunted(
    planted: Planted | None, minutes: float, workers: int = 1, seed: int = SEED
) -> Hunted:
    """Hunt until a violation is confirmed or the time is up, from an empty ledger.

    Args:
        planted: the error, or None for the right theory, of which all claims are hunted.
        minutes: of time by the clock.
        workers: searches at a time; one runs in this process.
        seed: of the evidence and the search.
    """
    names = planted.claims if planted else tuple(imported())
    claims = [c for name in names if not campaign.why_not_hunted(c := imported()[name])]
    begin, processor = time.monotonic(), _processor()
    trails: Sequence[campaign.Trail] = ()

    def watch(now: Sequence[campaign.Trail], _: float) -> None:
        nonlocal trails
        trails = now
        if any(trail.confirmation for trail in now):
            raise _Found

    settings = Settings(seed=seed)
    with tempfile.TemporaryDirectory() as folder, wrong(planted):
        with Ledger(Path(folder) / "ledger.sqlite") as ledger, _executor(planted, workers) as run:
            try:
                campaign.hunt(claims, settings, ledger, run, 60 * minutes, watch, workers)
            except _Found:
                pass
            seconds = time.monotonic() - begin
            [(confirmations,)] = ledger.ask("SELECT count(*) FROM confirmations")
        processor = _processor() - processor
        for trail in trails:
            if trail.confirmation is not None:
                found = trail.confirmation.probe
                minimal = is_minimal(trail.claim, found, trail.probes, seed)
                said = _predicted(trail.claim, found)
                break
        else:
            found = None
    tried = sum(len(trail.probes) for trail in trails)
    spent = (round(seconds, 1), round(processor, 1), tried)
    limits = (int(confirmations), minutes, workers)
    if found is None:
        return Hunted("", {}, *spent, None, None, None, None, *limits)
    again = probe(trail.claim, Cell(**found.point), seed=seed, device="cpu")
    stands = again.verdict is not Verdict.REFUTED
    right = _predicted(trail.claim, found)
    return Hunted(trail.claim.id, found.point, *spent, minimal, said, right, stands, *limits)


class _Found(Exception):
    """A violation was confirmed."""


def is_minimal(claim: Claim, found: Probe, known: Mapping[str, Probe], seed: int) -> bool:
    """Whether no parameter can go one step towards the first value and still violate."""
    regime = claim.domain
    assert regime is not None
    refuted = {tuple(sorted(p.point.items())) for p in known.values() if p.verdict is Verdict.REFUTED}
    for name, values in regime.ranges.items():
        place = values.steps.index(found.point[name])
        simpler = Cell(**{**found.point, name: values.steps[place - 1]})
        if place == 0 or not regime.searchable(simpler):
            continue
        if tuple(sorted(simpler.items())) in refuted:
            return False
        try:
            again = probe(claim, simpler, seed=seed, device="cpu")
        except (ClaimError, ArithmeticError, ValueError):
            continue
        if again.verdict is Verdict.REFUTED:
            return False
    return True


def _predicted(claim: Claim, found: Probe) -> float | None:
    return None if claim.predict is None else float(claim.predict(Cell(**found.point)))


@contextmanager
def wrong(planted: Planted | None) -> Iterator[None]:
    """The theory with an error, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        forget()
        if planted is not None:
            planted.plant(patch)
        yield
    forget()


def _executor(planted: Planted | None, workers: int) -> Executor:
    if workers == 1:
        return SerialExecutor()
    name = planted.id if planted else ""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, context, initializer=begin, initargs=(name,))


def begin(name: str) -> None:
    """Plant an error in a worker process, for good."""
    one_thread()
    if name:
        PLANTED[name].plant(pytest.MonkeyPatch())


def _processor() -> float:
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def _named(errors: Sequence[str]) -> list[str]:
    halves = {"tuning": False, "held-out": True}
    found = []
    for name in errors:
        if name in halves:
            found += [each.id for each in PLANTED.values() if each.held_out is halves[name]]
        else:
            found.append(name)
    return found


def _kept() -> dict[str, dict[str, Hunted]]:
    kept = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return {
        kind: {name: Hunted(**found) for name, found in kept.get(kind, {}).items()}
        for kind in ("planted", "true")
    }


def _keep(kind: str, name: str, found: Hunted) -> None:
    kept = _kept()
    kept[kind][name] = found
    plain = {kind: {n: asdict(f) for n, f in founds.items()} for kind, founds in kept.items()}
    FILE.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
