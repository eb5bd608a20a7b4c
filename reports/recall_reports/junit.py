"""The report as JUnit XML: one test case for each claim."""

from collections import Counter
from typing import Any
from xml.etree import ElementTree

from recall_reports import words
from recall_reports.record import Record

# XML 1.0 has no representation for these, not even an escaped one.
FORBIDDEN = {code: " " for code in range(32) if code not in (9, 10, 13)}


def render(report: Record) -> str:
    """The XML document of a valid record."""
    suite, claims = report["suite"], report["claims"]
    kinds = Counter(_kind(claim) for claim in claims)
    totals = {
        "tests": str(len(claims)),
        "failures": str(kinds["failure"]),
        "errors": str(kinds["error"]),
        "skipped": str(kinds["skipped"]),
        "time": f"{suite['seconds']:.3f}",
    }
    root = ElementTree.Element("testsuites", {"name": "recall-claims", **totals})
    body = ElementTree.SubElement(
        root, "testsuite", {"name": f"claims, {suite['tier']} tier", **totals}
    )
    if suite.get("started"):
        body.set("timestamp", suite["started"])
    _properties(body, {name: suite[name] for name in ("seed", "tier", "device")})
    for claim in claims:
        _case(body, claim)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode", xml_declaration=False)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _kind(claim: dict[str, Any]) -> str | None:
    if claim["state"] == "ERROR":
        return "error"
    return {"failed": "failure", "skipped": "skipped"}.get(claim["outcome"])


def _case(body: ElementTree.Element, claim: dict[str, Any]) -> None:
    case = ElementTree.SubElement(
        body,
        "testcase",
        classname=claim["file"].removesuffix(".py").replace("/", "."),
        name=claim["id"],
        time=f"{claim['seconds']:.3f}",
    )
    refuted, total = words.caught(claim)
    _properties(
        case,
        {
            "title": claim["title"],
            "verdict": words.state(claim),
            "expected": claim["expected"],
            "provenance": claim["provenance"],
            "finding": words.finding(claim["estimate"], claim["interval"]),
            "region": words.region(claim["region"]),
            "controls refuted": f"{refuted} of {total}",
            "resolution": words.resolution(claim),
        },
    )
    kind = _kind(claim)
    if kind:
        message = _clean(f"{words.state(claim)}: {words.reason(claim)}")
        result = ElementTree.SubElement(case, kind, message=message, type=words.state(claim))
        result.text = _clean(f"{words.reason(claim)}\nreplay: {claim['replay']}")


def _properties(parent: ElementTree.Element, values: dict[str, Any]) -> None:
    group = ElementTree.SubElement(parent, "properties")
    for name, value in values.items():
        ElementTree.SubElement(group, "property", name=name, value=_clean(str(value)))


def _clean(text: str) -> str:
    return text.translate(FORBIDDEN)
