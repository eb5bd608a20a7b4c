"""`--hunt` from the command line: findings, messages, records, and damaged rows of a ledger."""

import shlex

from tests.faults.conftest import HEAD, Suite, written
from tests.reports.golden import unfolded

LENGTHS = "log_range(2, 64)"


def text(longest: int) -> str:
    """Write a claim whose mean is twice the predicted one at lengths beyond `longest`."""
    ranges = f'{{"scale": log_range(1, 64), "length": {LENGTHS}}}'
    return HEAD.replace("Region, ", "Region, Regime, log_range, ") + written(
        "mean",
        ('regime="everywhere"', f'regime=Regime("everywhere", {ranges})'),
        ("grid(scale=(1.0, 2.0, 5.0))", "grid(scale=(1, 2), length=4)"),
        ("replicates=(16, 512)", "replicates=(64, 256)"),
        ("Region(0.95, 1.05)", "Region(0.9, 1.1)"),
        ("rng.normal(", f'(1 + (cell["length"] > {longest})) * rng.normal('),
    )


WRONG, RIGHT = text(30), text(99)


def test_a_violation_off_the_grid_fails_the_run(suite: Suite) -> None:
    suite.write_text(WRONG)
    suite.run()
    result = suite.run_apart("--hunt", "60s", "--executor", "serial", status=1)
    assert "violated at" in result.text
    assert "1 passed, 1 refuted by the hunt" in result.text.splitlines()[-1]
    claim = suite.claims()["tiny.mean"]
    assert (claim["verdict"], claim["outcome"]) == ("REFUTED", "failed")
    assert claim["hunt"]["confirmed"]["params"] == {"scale": 1, "length": 32}
    assert claim["hunt"]["confirmed"]["number"] == 1
    page = unfolded((suite.folder / "reports/latest/report.html").read_text(encoding="utf-8"))
    assert "violated at" in page
    assert "violation, confirmed" in page
    _, node, *options = shlex.split(f"{claim['replay']} --hunt 1s")
    assert f"{claim['replay']} --hunt 1s)" in " ".join(result.text.split())
    assert node.endswith("::tiny.mean")
    options += ["--report-dir", "reports/latest", "--executor", "serial"]
    suite.run_apart(*options, status=1)
    assert suite.claims()["tiny.mean"]["hunt"]["confirmed"]["number"] == 1
    # A plain run judges the grid alone.
    suite.run()


def test_a_hunt_that_breaks_off_costs_no_verdict(suite: Suite) -> None:
    suite.write_text(RIGHT)
    suite.run_apart("--hunt", "1s", "--executor", "serial")
    suite.ask("UPDATE probes SET point = 'nowhere'")
    result = suite.run_apart("--hunt", "1s", "--executor", "serial", status=1)
    assert "the hunt broke off: " in result.text
    assert "what a hunt left there is damaged" in " ".join(result.text.split())
    assert suite.claims()["tiny.mean"]["verdict"] == "SUPPORTED"
