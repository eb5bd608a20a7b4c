"""A run as other programs cite and sign it.

`ro-crate-metadata.json` says which software made which files, when and from what: Process Run Crate
0.5 (https://w3id.org/ro/wfrun/process/0.5) on RO-Crate 1.1, short enough to be written here.

`test-result.json` is an in-toto statement that somebody may sign. Its predicate is
https://in-toto.io/attestation/test-result/v0.1: a claim that came out as expected has passed, one
that is INCONCLUSIVE or EXPLORED is a warning, one that came out otherwise has failed. Claims that
were not run are in none of the lists.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from recall_reports import summary
from recall_reports.record import Claim, Record

CRATE = "https://w3id.org/ro/crate/1.1"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
LICENSE = "https://spdx.org/licenses/MIT"
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


def crate(record: Record, files: Sequence[Path]) -> dict[str, Any]:
    """The report as an RO-Crate."""
    suite, run = record.suite, f"#run-{record.suite.tier}-{record.suite.seed}"
    named = [{"@id": path.name} for path in files]
    parts = [
        {
            "@id": path.name,
            "@type": "File",
            "name": path.name,
            "encodingFormat": KINDS.get(path.suffix, "application/octet-stream"),
        }
        for path in files
    ]
    papers = [
        {"@id": f"#paper-{p.key}", "@type": "ScholarlyArticle", "name": p.title}
        | {"author": p.authors, "identifier": p.identifier}
        for p in record.papers
    ]
    end = _later(suite.started, suite.wall_seconds)
    descriptor = {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "conformsTo": {"@id": CRATE},
        "about": {"@id": "./"},
    }
    root = {
        "@id": "./",
        "@type": "Dataset",
        "conformsTo": {"@id": PROFILE},
        "name": summary.headline(record),
        "description": f"Theorems put to the test by simulation: {len(record.claims)} claims, "
        f"tier {suite.tier}, seed {suite.seed}.",
        "datePublished": end,
        "license": {"@id": LICENSE},
        "hasPart": named,
        "mentions": {"@id": run},
        "about": [{"@id": paper["@id"]} for paper in papers],
    }
    action = {
        "@id": run,
        "@type": "CreateAction",
        "name": f"Run of the {suite.tier} tier",
        "description": suite.command,
        "startTime": suite.started,
        "endTime": end,
        "instrument": {"@id": "#recall-claims"},
        "object": {"@id": "#code"},
        "result": named,
        "actionStatus": {"@id": "http://schema.org/CompletedActionStatus"},
    }
    software = {
        "@id": "#recall-claims",
        "@type": "SoftwareApplication",
        "name": "recall-claims",
        "softwareVersion": suite.versions.get("recall-claims", "unknown"),
        "softwareRequirements": ", ".join(f"{n} {v}" for n, v in suite.versions.items()),
    }
    code = {
        "@id": "#code",
        "@type": "SoftwareSourceCode",
        "name": "claims, theory and simulation",
        "version": suite.commit or "in no repository",
    }
    context = [f"{CRATE}/context", "https://w3id.org/ro/terms/workflow-run/context"]
    profile = {"@id": PROFILE, "@type": "CreativeWork", "name": "Process Run Crate"}
    profile["version"] = "0.5"
    license_ = {"@id": LICENSE, "@type": "CreativeWork", "name": "MIT licence"}
    graph = [descriptor, root, profile, license_, software, code, action, *parts, *papers]
    return {"@context": context, "@graph": graph}


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
