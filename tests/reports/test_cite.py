"""What cites and signs a report has what its profile and its predicate ask for."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from recall_reports import phrases
from recall_reports.__main__ import main
from recall_reports.record import Hunt, Record
from recall_reports.write import write
from tests.reports import sample

DIGEST = {"type": "object", "required": ["sha256"], "additionalProperties": {"type": "string"}}
NAMES = {"type": "array", "items": {"type": "string"}}
TEST_RESULT = {
    "type": "object",
    "required": ["_type", "subject", "predicateType", "predicate"],
    "properties": {
        "_type": {"const": "https://in-toto.io/Statement/v1"},
        "subject": {
            "type": "array",
            "minItems": 1,
            "items": {"required": ["name", "digest"], "properties": {"digest": DIGEST}},
        },
        "predicateType": {"const": "https://in-toto.io/attestation/test-result/v0.1"},
        "predicate": {
            "required": ["result", "configuration"],
            "additionalProperties": False,
            "properties": {
                "result": {"enum": ["PASSED", "WARNED", "FAILED"]},
                "configuration": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        # A ResourceDescriptor has one of these, and no field of its own making.
                        "anyOf": [{"required": [n]} for n in ("name", "uri", "digest", "content")],
                        "properties": {
                            "name": {"type": "string"},
                            "annotations": {"type": "object"},
                        },
                        "additionalProperties": False,
                    },
                },
                "url": {"type": "string"},
                "passedTests": NAMES,
                "warnedTests": NAMES,
                "failedTests": NAMES,
            },
        },
    },
}
"""The schema of https://github.com/in-toto/attestation/blob/main/spec/predicates/test-result.md."""


@pytest.fixture
def folder(tmp_path: Path, report: Record) -> Path:
    write(report, tmp_path)
    return tmp_path


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_statement_is_one_of_test_results_and_names_the_files(folder: Path) -> None:
    found = read(folder / "test-result.json")
    jsonschema.validate(found, TEST_RESULT)
    assert {s["name"]: s["digest"]["sha256"] for s in found["subject"]} == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("report.json", "report.html", "report.md", "summary.svg")
    }


def test_verdicts_are_results(folder: Path, report: Record) -> None:
    found = read(folder / "test-result.json")["predicate"]
    lists = {name: found[f"{name}Tests"] for name in ("passed", "warned", "failed")}
    claims = {claim.id: claim for claim in report.claims}
    assert found["result"] == "FAILED"
    for name, ids in lists.items():
        assert ids, name
    assert {claims[i].verdict for i in lists["passed"]} >= {"SUPPORTED", "REFUTED", "BREAKS"}
    assert {claims[i].verdict for i in lists["warned"]} <= {"INCONCLUSIVE", None}
    assert all(claims[i].expected == "SUPPORTED" for i in lists["failed"])
    left = claims.keys() - {i for ids in lists.values() for i in ids}
    assert {claims[i].state for i in left} == {"NOT RUN"}


@pytest.mark.parametrize(("kept", "result"), [("SUPPORTED", "PASSED"), ("INCONCLUSIVE", "WARNED")])
def test_the_worst_verdict_is_the_result(
    tmp_path: Path, report: Record, kept: str, result: str
) -> None:
    undecided = ("INCONCLUSIVE", None)
    report.claims = [
        claim
        for claim in report.claims
        if claim.verdict == kept or (claim.outcome == "passed" and claim.verdict not in undecided)
    ]
    write(report, tmp_path)
    assert read(tmp_path / "test-result.json")["predicate"]["result"] == result


def test_the_crate_has_what_process_run_crate_asks_for(folder: Path) -> None:
    found = read(folder / "ro-crate-metadata.json")
    assert found["@context"][0] == "https://w3id.org/ro/crate/1.1/context"
    graph = {entity["@id"]: entity for entity in found["@graph"]}
    assert len(graph) == len(found["@graph"])
    assert all(entity["@type"] for entity in graph.values())

    descriptor = graph["ro-crate-metadata.json"]
    assert descriptor["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    root = graph[descriptor["about"]["@id"]]
    for field in ("name", "description", "datePublished", "license"):  # of RO-Crate 1.1
        assert root[field], field
    assert graph[root["conformsTo"]["@id"]]["@type"] == "CreativeWork"
    assert root["conformsTo"]["@id"].startswith("https://w3id.org/ro/wfrun/process/")

    action = graph[root["mentions"]["@id"]]
    assert action["@type"] == "CreateAction"
    assert action["startTime"] <= action["endTime"]
    tool = graph[action["instrument"]["@id"]]
    assert tool["@type"] == "SoftwareApplication"
    assert tool["softwareVersion"]
    for part in action["result"]:
        assert part in root["hasPart"]
        assert graph[part["@id"]]["@type"] == "File"
        assert (folder / part["@id"]).is_file()
    referred = json.dumps([e for e in found["@graph"] if e is not descriptor])
    for entity in graph:
        assert entity in ("./", "ro-crate-metadata.json") or referred.count(f'"{entity}"') > 1


def test_what_a_claim_does_not_say_is_said() -> None:
    """A reader must not take a verdict for more than it is."""
    claim = sample.trigger_signal()
    claim.hunt, claim.tiers = None, ["standard", "full"]
    beyond = f"Not claimed: anything beyond the {len(claim.cells)} cells judged here; "
    unsearched = "its regime was not searched for a violation"
    assert phrases.not_claimed(claim) == f"{beyond}{unsearched}."
    assert "; the cells of tier full were not judged." in phrases.not_claimed(claim, "standard")
    claim.hunt = Hunt(tried=40)
    assert "40 other points of its regime were tried" in phrases.not_claimed(claim)


def test_a_report_that_is_rendered_where_it_lies_is_cited_anew(folder: Path) -> None:
    (folder / "test-result.json").unlink()
    assert main(["render", str(folder / "report.json"), "--to", str(folder)]) == 0
    assert read(folder / "test-result.json")["subject"]
    assert main(["render", str(folder / "report.json"), "--to", str(folder / "other")]) == 0
    assert not (folder / "other" / "test-result.json").exists()
