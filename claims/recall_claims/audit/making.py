"""Make a bundle of the record of a run and the ledger that has its blocks."""

from __future__ import annotations

import platform
from collections.abc import Mapping

import numpy as np

from recall_claims.audit.bundle import CellBlocks, Evidence, Index, packed, written
from recall_claims.audit.judging import differences, judge_again
from recall_claims.declare.cell import Cell
from recall_claims.declare.claim import TIERS, Claim
from recall_claims.declare.registration import declaration, named
from recall_claims.errors import BundleError
from recall_claims.evidence.draws import Place
from recall_claims.evidence.fingerprints import parts
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Outcome, Prepared, Settings, set_of, task_of
from recall_claims.evidence.simulate import versions
from recall_claims.judge.budget import Budget
from recall_claims.judge.looks import Observations, remembering
from recall_reports import record as record_
from recall_reports.record import Record
from recall_reports.record.certificates import Certificates

AGAIN = "run `pytest claims/` again with this ledger, in this environment, and bundle its record"


def bundle(
    record: Record, claims: Mapping[str, Claim], ledger: Ledger, certificates: Certificates
) -> bytes:
    """The bundle of a run: of every decided claim, the blocks that its looks asked for.

    Claims, by id, and certificates are those of the checkout.

    Raises:
        BundleError: the ledger lacks a block, or the record does not follow from its blocks.
    """
    settings, decided = settings_of(record), [c for c in record.claims if judged_here(c)]
    if not decided:
        raise BundleError("this run has decided no claim, so there is no evidence to bundle")
    chain = ledger.chain().links
    index = Index(versions=versions(), processor=processor(), chain=chain, codes={}, claims={})
    blocks = {}
    for entry in decided:
        if entry.id not in claims:
            raise BundleError(f"{entry.id} is in the record, and no claim here; {AGAIN}")
        claim = remembering(claims[entry.id])
        declared = declaration(claim, settings.tier)
        ready = Prepared(claim, named(declared))
        outcome = _judged(ready, settings, ledger)
        wrong = differences(entry, outcome, certificates)
        if wrong:
            raise BundleError(f"{entry.id}: {wrong[0]}; {AGAIN}")
        code, size = set_of(ready, settings).code, claim.block_size(settings.tier)
        index.codes.setdefault(code, parts(claim.module))
        cells, blocks[entry.id] = _packed(outcome, size)
        index.claims[entry.id] = Evidence(
            registration=ready.registration,
            declaration=declared,
            code=code,
            replicates=size,
            cells=cells,
        )
    return written(record, index, blocks)


def judged_here(entry: record_.ClaimRow) -> bool:
    """Whether a claim has a verdict of this run, and not one taken from a baseline."""
    return entry.state == "DECIDED"


def settings_of(record: Record, device: str | None = None) -> Settings:
    """What a run was asked for, as its record says; on another device, if that is given.

    Raises:
        BundleError: no run can have been asked for that.
    """
    suite = record.suite
    if suite.tier not in TIERS or suite.seed < 0:
        raise BundleError(f"a record of tier {suite.tier!r:.50} and seed {suite.seed}")
    try:
        budget = Budget(suite.error_budget.probability)
    except ValueError as error:
        raise BundleError(str(error)) from error
    return Settings(suite.tier, suite.seed, device or suite.device, budget)


def processor() -> str:
    """The instructions that torch uses here: with others, last digits differ."""
    try:
        import torch
    except ModuleNotFoundError:
        return platform.machine()
    return torch.backends.cpu.get_cpu_capability()


def _judged(ready: Prepared, settings: Settings, ledger: Ledger) -> Outcome:
    """Judge a claim on the blocks of a ledger."""

    def source(cell: Cell, block: int) -> Observations:
        found = ledger.get(task_of(ready, settings, cell, block).key)
        if found is None:
            where = f"block {block} of {ready.claim.id} at {cell.id}"
            raise BundleError(
                f"{ledger.path} lacks {where}, of this code and these versions; {AGAIN}"
            )
        return found.observations

    place = ledger.chain().place(set_of(ready, settings))
    return judge_again(ready, settings, source, place or Place(0, 0))


def _packed(outcome: Outcome, size: int) -> tuple[list[CellBlocks], bytes]:
    """What the index says of a claim's cells, and the bytes of its observations."""
    cells, data = [], b""
    for sample in outcome.evidence:
        kinds = {}
        for name, values in sample.observations.items():
            kinds[name], more = packed(np.asarray(values))
            data += more
        blocks = sample.replicates // size
        cells.append(CellBlocks(cell=sample.cell.id, blocks=blocks, observables=kinds))
    return cells, data
