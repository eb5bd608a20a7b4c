"""Make a record, the input of reports, from claims and their outcomes."""

import dataclasses
import math
import os
import platform
import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

from msgspec import Struct, convert

from recall_claims.declare.claim import TIERS, Claim, Control, Grids
from recall_claims.evidence import imports, replay
from recall_claims.evidence.executors import cores, installed, loaded_torch
from recall_claims.evidence.run import Outcome, Settings
from recall_claims.evidence.simulate import instructions
from recall_claims.judge.rules import Predict, Sample
from recall_claims.lines import lines
from recall_claims.model.budget import DEFAULT, Budget
from recall_claims.model.cell import Cell, Scalar
from recall_claims.model.papers import papers
from recall_claims.model.regime import Regime
from recall_claims.model.region import Component, Interval, Region, headline, judge
from recall_claims.tiles import tiles
from recall_reports import record
from recall_reports.record import Range, finite
from recall_reports.record.certificates import Certificates
from recall_reports.record.values import Verdict

DRAWN = 100
"""Number of random points of a regime, to estimate the share that a hunt may draw."""
LISTED = 8
"""Largest number of a parameter's values that a record lists one by one."""
PACKAGES = ("numpy", "scipy", "torch", "pytest", "recall-claims")


class PaperEntry(Struct):
    """A paper and its part of the error budget."""

    paper: record.PaperRow
    budget: record.PaperBudget


def decided(
    outcome: Outcome, file: str, certificates: Certificates | None = None
) -> record.ClaimRow:
    """Make the record of a claim that ran to a verdict, with its certificate if it has one."""
    claim, decision, settings = outcome.claim, outcome.decision, outcome.settings
    found = _declared(claim, settings, file)
    found.state = "DECIDED"
    found.verdict = said(decision.verdict, exploratory=claim.exploratory)
    found.outcome = "passed" if passes(claim, decision.verdict) else "failed"
    found.resolution = decision.resolution
    if decision.verdict is Verdict.INCONCLUSIVE:
        found.reason = decision.doubt or replay.heavy(claim, outcome.evidence)
    found.certificate = certified(claim, settings, outcome.registration, certificates)
    found.registration = outcome.registration
    found.draws, found.draw = outcome.place
    found.components = [component(part) for part in decision.components]
    found.headline = decision.components.index(decision.headline)
    found.controls = [_control(c, decision.controls[c.id]) for c in claim.controls]
    found.alpha = outcome.alpha
    found.replicates = outcome.replicates
    found.looks = outcome.looks
    found.seconds = outcome.seconds
    found.blocks = record.Blocks(
        total=outcome.blocks,
        reused=outcome.reused,
        recomputed=dict(outcome.recomputed),
        divided=outcome.divided,
    )
    alpha = outcome.alpha / sum(sample.replicates > 0 for sample in outcome.evidence)
    planted = {control.id: control.planted(claim).predict for control in claim.controls}
    found.cells = [_cell(claim, planted, sample, alpha) for sample in outcome.evidence]
    if claim.plot is not None:
        wrong = {
            name: other for name, other in planted.items() if other not in (None, claim.predict)
        }
        cells = [sample.cell for sample in outcome.evidence]
        line, plane = lines(claim, wrong, cells, found.cells), tiles(claim, cells)
        names = {str(cell.predicted) for cell in found.cells}
        named = papers()[claim.source.paper].names if claim.plot.kind == "map" else {}
        words = dict(named) if names & named.keys() else {}
        found.plot = dataclasses.replace(claim.plot, line=line, tiles=plane, words=words)
    return found


def certified(
    claim: Claim, settings: Settings, registration: str, certificates: Certificates | None
) -> float | None:
    """Return the certified probability of wrongly refuting a claim; None without a certificate."""
    # A certificate is for the alpha of the usual budget.
    if certificates is None or settings.budget.probability > DEFAULT:
        return None
    certificate = certificates.of(claim.id, settings.tier, registration)
    return None if certificate is None else certificate.refutes


def undecided(
    claim: Claim,
    settings: Settings,
    file: str,
    *,
    state: Literal["NOT RUN", "ERROR"],
    reason: str,
    outcome: Literal["failed", "skipped"],
) -> record.ClaimRow:
    """Make the record of a claim that did not run, or failed with an error."""
    found = _declared(claim, settings, file)
    found.state, found.reason, found.outcome = state, reason, outcome
    return found


def overturn(found: record.ClaimRow, parts: Sequence[Component]) -> None:
    """Record that a violation refutes a claim, with the violation's components first.

    The verdict becomes REFUTED, and the claim fails. An exploratory claim BREAKS, and passes.
    """
    found.components = [*map(component, parts), *found.components]
    found.headline = 0
    found.verdict = said(Verdict.REFUTED, exploratory=found.exploratory)
    found.outcome = "passed" if found.exploratory else "failed"


def said(verdict: Verdict, *, exploratory: bool) -> record.ClaimVerdict:
    """Return the word for a verdict; a decided exploratory claim SURVIVES or BREAKS."""
    words = record.EXPLORATORY if exploratory else record.ON_THEOREMS
    return words[list(Verdict).index(verdict)]


def passes(claim: Claim, verdict: Verdict) -> bool:
    """Whether pytest passes the claim: its verdict is as expected, or the claim is exploratory."""
    return claim.exploratory or verdict == claim.expected


def suite(
    settings: Settings,
    claims: Sequence[record.ClaimRow],
    papers: Mapping[str, PaperEntry],
    *,
    executor: str,
    started: str,
    wall_seconds: float,
    ahead: int = 0,
    command: str,
    commit: str | None,
) -> record.Record:
    """Make the whole record: settings of the run, papers, derivations and claims.

    `ahead`: number of selected claims that the run did not reach.
    """
    parts = {key: entry.budget for key, entry in papers.items()}
    modules = {claim.source.module for claim in claims if claim.source.module}
    machine, torch = f"{platform.system()} {os.uname().machine}", loaded_torch()
    hardware: dict[str, int | str] = {"cores": cores(), "machine": machine}
    hardware["instructions"] = instructions()
    if settings.device.startswith("cuda") and torch and torch.cuda.is_available():
        hardware["gpu"] = torch.cuda.get_device_name(settings.device)  # else the workers have it
    return record.Record(
        suite=record.Suite(
            seed=settings.seed,
            tier=settings.tier,
            device=settings.device,
            executor=executor,
            command=command,
            commit=commit,
            started=started,
            seconds=sum(claim.seconds for claim in claims),
            wall_seconds=wall_seconds,
            ahead=ahead,
            versions={
                "python": platform.python_version(),
                **{name: installed(name) for name in PACKAGES},
            },
            hardware=hardware,
            blocks=record.BlockCount(
                total=sum(claim.blocks.total for claim in claims),
                reused=sum(claim.blocks.reused for claim in claims),
            ),
            error_budget=record.ErrorBudget(
                probability=settings.budget.probability,
                papers=parts,
                allocated=math.fsum(
                    parts[claim.source.paper].per_claim
                    for claim in claims
                    if claim.state == "DECIDED"
                ),
            ),
            independence=record.Independence(**imports.independence()),
        ),
        papers=[papers[key].paper for key in sorted({claim.source.paper for claim in claims})],
        derivations=[
            record.Derivation(
                module=module,
                text=imports.summary(module),
                rests_on=list(bases),
            )
            for module, bases in imports.bases(modules).items()
        ],
        claims=list(claims),
    )


def paper(claim: Claim, budget: Budget) -> PaperEntry:
    """Make the entry of a claim's paper, with its part of the error budget."""
    paper = papers()[claim.source.paper]
    return PaperEntry(
        convert(paper, record.PaperRow, from_attributes=True),
        record.PaperBudget(share=paper.share, slots=paper.slots, per_claim=budget.per_claim(paper)),
    )


def replay_line(claim: Claim, settings: Settings, file: str) -> str:
    """Write the command that runs the claim again."""
    device = f" --device {settings.device}" * (settings.device != "cpu")
    error = settings.budget.probability
    budget = f" --error-budget {error}" * (error != DEFAULT)
    told = f"--tier {settings.tier} --seed {settings.seed}{device}{budget}"
    return f"pytest {file}::{claim.id} {told} --report-dir reports/replay"


def _declared(claim: Claim, settings: Settings, file: str) -> record.ClaimRow:
    """Make the row of a claim before it runs."""
    looks = claim.looks(settings.tier)
    source = convert(claim.source, record.SourceRow, from_attributes=True)
    source.module = claim.entry.module if claim.entry else None
    listed = getattr(claim.cells, "listed", True)  # else the grid failed, or time is up
    return record.ClaimRow(
        id=claim.id,
        title=claim.title,
        statement=claim.statement,
        latex=claim.latex,
        source=source,
        symbols=dict(papers()[claim.source.paper].symbols),
        regime=claim.regime_text,
        why=claim.why,
        from_pilot=claim.from_pilot,
        exploratory=claim.exploratory,
        relaxes=claim.relaxes,
        expected=claim.expected,
        explanation=claim.refuted or None,
        declared=_in_words(claim),
        tiers=[tier for tier in TIERS if tier in claim.cells] if listed else [],
        file=file,
        replay=replay_line(claim, settings, file),
        seed=settings.seed,
        rule=record.RuleRow(
            name=type(claim.rule).__name__,
            method=claim.rule.guarantee,
            scale=claim.rule.scale,
            exact=claim.rule.exact,
            locates=claim.rule.predicts_location,
        ),
        plot=claim.plot,
        state="NOT RUN",
        outcome="skipped",
        controls=[record.ControlRow(id=c.id, description=c.description) for c in claim.controls],
        looks_planned=len(claim.rule.looks_in_blocks(looks)) if looks else 0,
    )


def _in_words(claim: Claim) -> dict[str, str]:
    """Describe, alike in every tier, the declared parts that no other field of the row has.

    Cells that a function makes are left out.
    """
    ends = (f"{tier} {first} to {last}" for tier, (first, last) in claim.replicates.items())
    found = {"dtype": str(claim.dtype), "replicates": ", ".join(ends)}
    for field in dataclasses.fields(claim.rule):
        value = getattr(claim.rule, field.name)
        if isinstance(value, bool | int | float | str | tuple):
            found[f"rule's {field.name}"] = str(value)
    for name, values in claim.regime.ranges.items() if claim.regime else ():
        steps = f" in {len(values.steps)} steps" if values.between else ""
        found[f"range of {name}"] = f"{values}{steps}"
    if claim.regime:
        found["condition"] = f"leaves {_searched(claim, claim.regime)} of {DRAWN} points drawn"
    written = claim.cells.written() if isinstance(claim.cells, Grids) else claim.cells
    return found | {f"grid of {tier}": _grid(cells) for tier, cells in written.items()}


def _searched(claim: Claim, regime: Regime) -> int:
    """Count how many of DRAWN random points are in the regime and cheap enough for a hunt."""
    draw, count = random.Random(0), 0
    for _ in range(DRAWN):
        point = Cell(**{n: draw.choice(v.steps) for n, v in sorted(regime.ranges.items())})
        with suppress(Exception):  # `precheck.check` reports errors of the condition
            count += claim.searchable(point)
    return count


def _grid(cells: Sequence[Cell]) -> str:
    """Put a grid in words: how many cells it has, and each parameter's values, or their range."""
    axes: dict[str, list[Scalar]] = {}
    for name, value in (item for cell in cells for item in cell.items()):
        axes.setdefault(name, []).append(value)
    told = [f"{name} {_several([*dict.fromkeys(axes[name])])}" for name in sorted(axes)]
    return "; ".join([f"cells {len(cells)}", *told])


def _several(values: Sequence[Scalar]) -> str:
    ordered = sorted(values, key=lambda value: (isinstance(value, str), value))
    texts = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in ordered]
    if len(values) <= LISTED:
        return ", ".join(texts)
    return f"{len(values)} values from {texts[0]} to {texts[-1]}"


def _cell(
    claim: Claim, planted: Mapping[str, Predict | None], sample: Sample, alpha: float
) -> record.CellRow:
    cell, rule = sample.cell, claim.rule
    drawn = sample.replicates > 0
    interval = rule.observed_interval(sample, alpha) if drawn else None
    error = rule.observed_error(sample) if drawn else None
    predict = None if rule.predicts_location else claim.predict
    return record.CellRow(
        params=dict(cell),
        predicted=None if predict is None else _plain(predict(cell)),
        critical=None if claim.critical is None else float(claim.critical(cell)),
        observed=_plain(rule.observed(sample)) if drawn else None,
        interval=None if interval is None else _range(interval),
        error=None if error is None else finite(error),
        replicates=sample.replicates,
        controls={
            name: _plain(wrong(cell))
            for name, wrong in planted.items()
            if wrong is not None and claim.predict is not None and wrong is not claim.predict
        },
    )


def component(found: Component) -> record.ComponentRow:
    """Make the record of a component."""
    return record.ComponentRow(
        name=found.name,
        params={k: getattr(v, "item", lambda v=v: v)() for k, v in found.params.items()},
        estimate=finite(found.estimate),
        interval=_range(found.interval),
        one_sided=_range(found.bounds),
        region=_range(found.region),
        distance=finite(found.region.distance(found.bounds.low, found.bounds.high)),
        verdict=found.verdict,
    )


def _control(control: Control, parts: Sequence[Component]) -> record.ControlRow:
    head = headline(parts)
    return record.ControlRow(
        id=control.id,
        description=control.description,
        verdict=judge(parts),
        estimate=finite(head.estimate),
        interval=_range(head.interval),
        region=_range(head.region),
    )


def _plain(value: Any) -> float | str | None:
    """Convert a prediction, or the first of several, to a number or a name; a law to None."""
    if isinstance(value, Mapping):
        return _plain(next(iter(value.values())))
    if callable(value):
        return None
    return value if value is None or isinstance(value, str) else finite(value)


def _range(ends: Interval | Region) -> Range:
    return Range.of(ends.low, ends.high)
