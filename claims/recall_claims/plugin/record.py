"""A claim's outcome as a plain record: JSON types only, ready for `reports`."""

from __future__ import annotations

import math
import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import numpy as np
import torch

from recall_claims.declare.claim import TIERS, Claim
from recall_claims.declare.papers import papers
from recall_claims.declare.plot import Plot
from recall_claims.evidence import fingerprints
from recall_claims.evidence.executors import cores
from recall_claims.evidence.memory import peak_memory
from recall_claims.evidence.run import Decision, Outcome, Settings
from recall_claims.judge.budget import SLOTS
from recall_claims.judge.region import Component, Interval, Region, Verdict, headline, judge
from recall_claims.judge.rules import Sample

SCHEMA = "recall-claims/1"
PACKAGES = ("numpy", "scipy", "statsmodels", "torch", "pytest", "recall-claims")

EXPLORATORY = {Verdict.SUPPORTED: "SURVIVES", Verdict.REFUTED: "BREAKS"}

Record = dict[str, Any]


def decided(outcome: Outcome, file: str) -> Record:
    """The record of a claim that ran to a verdict."""
    claim, decision = outcome.claim, outcome.decision
    head = decision.headline
    return {
        **_static(claim, outcome.settings, file),
        "state": "DECIDED",
        "verdict": word(claim, decision.verdict),
        "reason": explain(decision),
        "outcome": "passed" if passes(claim, decision.verdict) else "failed",
        "estimate": _finite(head.estimate),
        "interval": _ends(head.interval),
        "region": _ends(head.region),
        "components": [_component(c) for c in decision.components],
        "controls": [
            _control(control.id, control.description, decision.controls[control.id])
            for control in claim.controls
        ],
        "resolution": asdict(decision.resolution),
        "replicates": outcome.replicates,
        "looks": outcome.looks,
        "alpha": outcome.alpha,
        "seconds": outcome.seconds,
        "blocks": {
            "total": outcome.blocks,
            "reused": outcome.reused,
            "why": _why(outcome.recomputed),
            "peak_memory_mib": outcome.peak_memory,
            "divided": outcome.divided,
        },
        "cells": [
            _cell(claim, sample, outcome.alpha, len(outcome.evidence))
            for sample in outcome.evidence
        ],
    }


def undecided(
    claim: Claim, settings: Settings, file: str, *, state: str, reason: str, outcome: str
) -> Record:
    """The record of a claim that did not run (state "NOT RUN") or broke (state "ERROR")."""
    return {
        **_static(claim, settings, file),
        "state": state,
        "verdict": None,
        "reason": reason,
        "outcome": outcome,
        "estimate": None,
        "interval": None,
        "region": None,
        "components": [],
        "controls": [
            {
                "id": c.id,
                "description": c.description,
                "verdict": None,
                "estimate": None,
                "interval": None,
                "region": None,
            }
            for c in claim.controls
        ],
        "resolution": {"value": None, "scale": claim.rule.scale, "text": "not run"},
        "replicates": 0,
        "looks": 0,
        "alpha": None,
        "seconds": 0.0,
        "blocks": {"total": 0, "reused": 0, "why": "", "peak_memory_mib": None},
        "cells": [],
    }


def passes(claim: Claim, verdict: Verdict) -> bool:
    """Whether pytest passes the claim: the verdict is as expected, or it is exploratory."""
    return claim.exploratory or verdict == claim.expected


def word(claim: Claim, verdict: Verdict) -> str:
    """The verdict as the report says it; exploratory claims have words of their own."""
    return EXPLORATORY.get(verdict, str(verdict)) if claim.exploratory else str(verdict)


def explain(decision: Decision) -> str:
    """Why the verdict is what it is, in one sentence."""
    head, total = decision.headline, len(decision.components)
    where = f"{head.name}: {_text(head.interval)} against {_text(head.region)}"
    if decision.verdict is Verdict.SUPPORTED:
        inside = (
            "the interval lies inside its region"
            if total == 1
            else f"all {total} intervals lie inside their regions"
        )
        return f"{inside} and every control is refuted" if decision.controls else inside
    if decision.verdict is Verdict.REFUTED:
        count = sum(c.verdict is Verdict.REFUTED for c in decision.components)
        return f"{count} of {total} intervals are disjoint from their regions, worst at {where}"
    if decision.on_region is Verdict.SUPPORTED:
        return (
            "all intervals lie inside their regions, but the data do not refute the control "
            + ", ".join(decision.unrefuted)
        )
    count = sum(c.verdict is Verdict.INCONCLUSIVE for c in decision.components)
    return f"{count} of {total} intervals overlap the edge of their regions, worst at {where}"


def suite(
    settings: Settings,
    claims: Sequence[Record],
    *,
    executor: str,
    started: str,
    wall_seconds: float,
    command: str,
    commit: str | None,
) -> Record:
    """The whole report: the suite's settings, the claims, statements and their derivations."""
    ran = [claim for claim in claims if claim["state"] == "DECIDED"]
    budget = settings.budget
    peaks = [peak_memory(), *(claim["blocks"]["peak_memory_mib"] for claim in claims)]
    return {
        "schema": SCHEMA,
        "suite": {
            "seed": settings.seed,
            "tier": settings.tier,
            "device": settings.device,
            "versions": {
                "python": platform.python_version(),
                **{name: version(name) for name in PACKAGES},
            },
            "error_budget": {
                "probability": budget.probability,
                "slots": SLOTS,
                "per_claim": budget.per_claim,
                "allocated": budget.per_claim * len(ran),
                "rule": budget.rule,
            },
            "seconds": sum(claim["seconds"] for claim in claims),
            "wall_seconds": wall_seconds,
            "started": started,
            "executor": executor,
            "hardware": _hardware(settings.device),
            "peak_memory_mib": max(filter(None, peaks), default=None),
            "blocks": {
                key: sum(claim["blocks"][key] for claim in claims) for key in ("total", "reused")
            },
            "command": command,
            "independence": fingerprints.independence(),
            **({"commit": commit} if commit else {}),
        },
        "claims": list(claims),
        "statements": [
            {
                "id": statement.id,
                "paper": paper.key,
                "text": statement.text,
                "provenance": statement.provenance,
                "rests_on": list(statement.rests_on),
                "claims": [
                    claim["id"]
                    for claim in claims
                    if claim["source"]["paper"] == paper.key
                    and statement.id in claim["source"]["statements"]
                ],
            }
            for paper in papers().values()
            if any(claim["source"]["paper"] == paper.key for claim in claims)
            for statement in paper.statements
        ],
        "derivations": _derivations(claims),
    }


def _derivations(claims: Sequence[Record]) -> list[Record]:
    """The files of theory that claims cite, what each rests on there, and the claims."""
    cited: dict[str, list[str]] = {}
    for claim in claims:
        for module in re.findall(r"\btheory/(\w+)\.py\b", claim["source"]["reference"]):
            cited.setdefault(f"theory.{module}", []).append(claim["id"])
    return [
        {
            "id": _file(module),
            "text": fingerprints.summary(module),
            "rests_on": [_file(base) for base in found],
            "claims": cited[module],
        }
        for module, found in fingerprints.bases(cited).items()
    ]


def _file(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


def _hardware(device: str) -> Record:
    hardware: Record = {"cores": cores(), "machine": f"{platform.system()} {os.uname().machine}"}
    if device.startswith("cuda") and torch.cuda.is_available():  # else it is the workers'
        hardware["gpu"] = torch.cuda.get_device_name(device)
    return hardware


def _static(claim: Claim, settings: Settings, file: str) -> Record:
    paper = papers()[claim.source.paper]
    return {
        "id": claim.id,
        "title": claim.title,
        "statement": claim.statement,
        "latex": claim.latex,
        "source": {
            "paper": paper.key,
            "title": paper.title,
            "authors": paper.authors,
            "identifier": paper.identifier,
            "statements": list(claim.source.statements),
            "reference": claim.source.reference,
        },
        "provenance": claim.source.provenance,
        "regime": claim.regime,
        "region_reason": claim.why,
        "exploratory": claim.exploratory,
        "expected": claim.expected,
        "explanation": claim.explanation,
        "rule": {"name": type(claim.rule).__name__, "guarantee": claim.rule.guarantee},
        "tiers": [tier for tier in TIERS if claim.cells.get(tier)],
        "looks_planned": claim.looks.get(settings.tier, 0),
        "seed": settings.seed,
        "plot": _plot(claim.plot),
        "replay": (
            f"pytest {file}::{claim.id} --tier {settings.tier} --seed {settings.seed} "
            + (f"--device {settings.device} " if settings.device != "cpu" else "")
            + "--report-dir reports/replay"
        ),
        "file": file,
    }


def _plot(plot: Plot | None) -> Record | None:
    """The plot, with `collapse` naming the cells' entry that scales x."""
    if plot is None:
        return None
    fields = {k: v for k, v in asdict(plot).items() if k != "log"}
    axes = {"log_x": "x" in plot.axes, "log_y": "y" in plot.axes}
    return {**fields, **axes, "collapse": "critical" if plot.collapse else None}


def _cell(claim: Claim, sample: Sample, alpha: float, cells: int) -> Record:
    record: Record = {
        "id": sample.cell.id,
        "params": dict(sample.cell),
        "predicted": None,
        "critical": None,
        "observed": None,
        "interval": None,
        "replicates": int(next(iter(sample.observations.values())).size),
        "controls": {},
    }
    if claim.critical is not None:
        record["critical"] = float(claim.critical(sample.cell))
    interval = claim.rule.observed_interval(sample, alpha / cells)
    record["observed"] = claim.rule.observed(sample)
    record["interval"] = None if interval is None else _ends(interval)
    if claim.predict is not None:
        predicted = claim.predict(sample.cell)
        if claim.rule.predicts_location:
            record["critical"] = float(predicted)
        else:
            record["predicted"] = predicted if isinstance(predicted, str) else float(predicted)
        planted = {control.id: control.planted(claim).predict for control in claim.controls}
        record["controls"] = {
            name: _plain(predict(sample.cell))
            for name, predict in planted.items()
            if predict is not None and predict is not claim.predict
        }
    return record


def _component(component: Component) -> Record:
    return {
        "name": component.name,
        "estimate": _finite(component.estimate),
        "interval": _ends(component.interval),
        "region": _ends(component.region),
        "scale": component.scale,
        "verdict": str(component.verdict),
    }


def _control(name: str, description: str, parts: Sequence[Component]) -> Record:
    head = headline(parts)
    return {
        "id": name,
        "description": description,
        "verdict": str(judge(parts)),
        "estimate": _finite(head.estimate),
        "interval": _ends(head.interval),
        "region": _ends(head.region),
    }


def _why(recomputed: Mapping[str, int]) -> str:
    if not recomputed:
        return "all blocks came from the ledger"
    return ", ".join(f"{count} {reason}" for reason, count in sorted(recomputed.items()))


def _plain(value: float | str) -> float | str | None:
    return value if isinstance(value, str) else _finite(float(value))


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _ends(ends: Interval | Region) -> list[float | None]:
    return [_finite(ends.low), _finite(ends.high)]


def _text(ends: Interval | Region) -> str:
    def end(value: float) -> str:
        return f"{value:.4g}" if math.isfinite(value) else ("-inf" if value < 0 else "inf")

    return f"[{end(ends.low)}, {end(ends.high)}]"


__all__ = ["SCHEMA", "Record", "decided", "explain", "suite", "undecided"]
