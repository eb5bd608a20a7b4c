"""The verdicts of a run as an in-toto statement that somebody may sign.

The predicate is https://in-toto.io/attestation/test-result/v0.1: a claim that came out as expected
has passed, one that is INCONCLUSIVE or EXPLORED is a warning, one that came out otherwise has
failed. Claims that were not run are in none of the lists.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from recall_reports.record import Claim, Record

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"


def render(record: Record, files: Iterable[Path]) -> str:
    """`test-result.json`, about the report that consists of these files."""
    return json.dumps(statement(record, files), indent=1, ensure_ascii=False) + "\n"


def statement(record: Record, files: Iterable[Path]) -> dict[str, Any]:
    """The same as plain types; the files are there."""
    lists: dict[str, list[str]] = {"passed": [], "warned": [], "failed": []}
    for claim in record.claims:
        found = _result(claim)
        if found:
            lists[found].append(claim.id)
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
    if claim.verdict == "INCONCLUSIVE" or claim.state == "EXPLORED":
        return "warned"
    return {"passed": "passed", "failed": "failed"}.get(claim.outcome, "")


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
