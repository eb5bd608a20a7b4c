"""JUnit: one test case for each claim, failures, errors and skips told apart."""

from xml.etree import ElementTree

from recall_reports import junit
from recall_reports.record import Record


def test_counts_and_kinds(report: Record) -> None:
    root = ElementTree.fromstring(junit.render(report).encode())
    [suite] = root
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert list(cases) == [claim["id"] for claim in report["claims"]]
    kinds = {"failure": "failures", "error": "errors", "skipped": "skipped"}
    for kind, total in kinds.items():
        assert suite.get(total) == str(len(list(suite.iter(kind))))
    assert suite.get("tests") == str(len(cases))
    assert cases["A.orthonormal-gaussian"].find("failure") is not None
    assert cases["A.noise-context"].find("failure") is not None
    assert cases["A.broken"].find("error") is not None
    assert cases["A.scale"].find("skipped") is not None
    assert cases["A.floor"].find("skipped") is not None
    passed = cases["A.press-additive"]
    assert all(passed.find(kind) is None for kind in kinds)


def test_failure_says_why_and_how_to_replay(report: Record) -> None:
    root = ElementTree.fromstring(junit.render(report).encode())
    failure = root.find(".//testcase[@name='A.orthonormal-gaussian']/failure")
    assert failure is not None
    assert failure.get("type") == "REFUTED"
    assert "misses its region" in str(failure.get("message"))
    assert "replay: pytest" in str(failure.text)


def test_control_characters_do_not_break_the_file(report: Record) -> None:
    [broken] = [claim for claim in report["claims"] if claim["state"] == "ERROR"]
    broken["reason"] = "bad \x00\x1b[31m bytes <&>"
    root = ElementTree.fromstring(junit.render(report).encode())
    assert "bytes <&>" in str(root.find(".//error").get("message"))  # type: ignore[union-attr]
