"""`pytest claims/ --junitxml FILE`: every test case carries its claim's figures."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from tests.faults.conftest import CLAIM, HEAD, Suite


@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=["alone", "xdist"])
def test_figures_are_properties_of_the_test_case(suite: Suite, options: tuple[str, ...]) -> None:
    one, two = (CLAIM.format(name=name, pause=0) for name in ("one", "two"))
    suite.write_text(HEAD + one + two.replace("cells=grid", "needs='cuda',\n    cells=grid"))

    result = suite.run_apart("--junitxml", "junit.xml", *options)

    assert result.status == 0, result.text
    cases = {case.get("name"): case for case in ElementTree.parse("junit.xml").iter("testcase")}
    found = {
        name: {p.get("name"): p.get("value") for p in case.iter("property")}
        for name, case in cases.items()
    }
    claim = next(c for c in suite.report()["claims"] if c["id"] == "tiny.one")
    head = claim["components"][claim["headline"]]
    assert found["tiny.one"] == {
        "verdict": "SUPPORTED",
        "estimate": str(head["estimate"]),
        "interval": str(head["interval"]),
        "region": "[0.95, 1.05]",
        "resolution": f"a constant off by {claim['resolution']:.1%}",
    }
    assert found["tiny.two"] == {"verdict": "NOT RUN"}
    assert "needs --device cuda" in str(cases["tiny.two"][-1].get("message"))
