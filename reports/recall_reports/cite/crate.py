"""The report of a run as an RO-Crate: which software made which files, when, from what.

The profile is Process Run Crate 0.5 (https://w3id.org/ro/wfrun/process/0.5) on RO-Crate 1.1. The
JSON is short enough to be written here, so that nobody has to install a library for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from recall_reports import summary
from recall_reports.record import Record

CRATE = "https://w3id.org/ro/crate/1.1"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
LICENSE = "https://spdx.org/licenses/MIT"
KINDS = {".json": "application/json", ".html": "text/html", ".md": "text/markdown"}
KINDS |= {".svg": "image/svg+xml"}


def render(record: Record, files: Iterable[Path]) -> str:
    """`ro-crate-metadata.json` of a report that consists of these files."""
    return json.dumps(crate(record, files), indent=1, ensure_ascii=False) + "\n"


def crate(record: Record, files: Iterable[Path]) -> dict[str, Any]:
    """The same as plain types."""
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
