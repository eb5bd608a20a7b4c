"""A run as other programs cite and sign it.

`ro-crate-metadata.json` says which software made which files, when and from what: Process Run Crate
0.5 (https://w3id.org/ro/wfrun/process/0.5) on RO-Crate 1.1, short enough to be written here.

`test-result.json` is an in-toto statement that somebody may sign. Its predicate is
https://in-toto.io/attestation/test-result/v0.1: a claim that came out as expected has passed, one
that is INCONCLUSIVE is a warning, one that came out otherwise has failed. Claims that
were not run are in none of the lists.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from recall_reports.html import plain
from recall_reports.record import Claim, Record
from recall_reports.summary import grouped

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"
KINDS = {".json": "application/json", ".html": "text/html", ".md": "text/markdown"}
KINDS |= {".svg": "image/svg+xml"}


def render(record: Record, files: Sequence[Path]) -> dict[str, str]:
    """The texts that cite a report that consists of these files, by name of file."""
    made = {"ro-crate-metadata.json": crate, "test-result.json": statement}
    return {
        name: json.dumps(make(record, files), indent=1, ensure_ascii=False) + "\n"
        for name, make in made.items()
    }


def crate(record: Record, files: Sequence[Path]) -> Any:
    """The report as an RO-Crate."""
    text = plain("crate.json.j2").render(
        record=record,
        files=files,
        named=[{"@id": path.name} for path in files],
        end=_later(record.suite.started, record.suite.wall_seconds),
        kinds=KINDS,
        crate="https://w3id.org/ro/crate/1.1",
        profile="https://w3id.org/ro/wfrun/process/0.5",
        license="https://spdx.org/licenses/MIT",
    )
    return json.loads(text)


def _later(started: str, seconds: float) -> str:
    """A time of ISO 8601, so much later; the same where it is no such time."""
    try:
        return (datetime.fromisoformat(started) + timedelta(seconds=seconds)).isoformat(
            timespec="seconds"
        )
    except (ValueError, OverflowError):
        return started


def statement(record: Record, files: Sequence[Path]) -> dict[str, Any]:
    """The report as a test result; the files are there."""
    found = grouped(record.claims, _result)
    lists = {name: [c.id for c in found.get(name, ())] for name in ("passed", "warned", "failed")}
    worst = next((name for name in ("failed", "warned") if lists[name]), "passed")
    suite = record.suite
    run = {"tier": suite.tier, "seed": suite.seed, "device": suite.device}
    run |= {"command": suite.command, "commit": suite.commit, "versions": suite.versions}
    return {
        "_type": STATEMENT,
        "subject": [{"name": path.name, "digest": {"sha256": _hash(path)}} for path in files],
        "predicateType": PREDICATE,
        "predicate": {
            "result": worst.upper(),
            "configuration": [{"name": "run", "annotations": run}],
            **{f"{name}Tests": names for name, names in lists.items()},
        },
    }


def _result(claim: Claim) -> str:
    if claim.verdict == "INCONCLUSIVE":
        return "warned"
    return claim.outcome


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
