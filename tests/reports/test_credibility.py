"""Why the verdicts can be believed: figures that add up, and a measurement that is shown whole."""

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from recall_reports import credibility, html, phrases
from recall_reports.certificates import Certificate, Certificates, load
from recall_reports.errors import ReportError
from recall_reports.record import Blocks, Kept, Record
from tests.reports import builders


def _section(page: str) -> str:
    return page[page.index('id="credibility"') : page.index('id="claims"')]


def test_what_was_spent_adds_up(report: Record) -> None:
    report.papers.append(builders.paper("B"))
    report.claims[0].source = replace(report.claims[0].source, paper="B")
    rows = {row.paper: row for row in credibility.spending(report)}
    decided = [claim for claim in report.claims if claim.state == "DECIDED"]
    assert (rows["A"].decided, rows["B"].decided) == (len(decided) - 1, 1)
    assert rows["A"].spent == pytest.approx(4e-6 * (len(decided) - 1))
    assert rows["B"].spent == pytest.approx(3e-6)
    assert credibility.kept_back(report.suite.error_budget) == pytest.approx(0.1)


def test_certificates_of_decided_claims_are_added(report: Record) -> None:
    found = credibility.certified(report)
    decided = [claim for claim in report.claims if claim.state == "DECIDED"]
    assert (found.claims, found.exact, found.without) == (3, 1, len(decided) - 3)
    assert found.total == pytest.approx(5.5e-6)
    report.claims = [claim for claim in report.claims if claim.certificate is None]
    assert "No claim of this run has a certificate" in html.render(report)


def test_certificates_and_their_sum_are_shown(page: str) -> None:
    assert "add up to <strong>5.5e-6</strong>, against 0.001 for the run" in _section(page)


def test_evidence_sets_are_added(report: Record, page: str) -> None:
    found = credibility.draws(report)
    assert (found.total, found.again) == (len(report.claims) + 3, 2)
    assert found.at_most == pytest.approx(4e-6 * found.total)
    section = _section(page)
    assert (
        f"drawn {found.total} evidence sets for the claims shown here, more than one for 2"
        in section
    )
    assert "Sets that were drawn with another ledger are not counted." in section


def test_a_certificate_speaks_of_one_registration(tmp_path: Path) -> None:
    one = Certificate(
        registration="abc", method="t", alpha=4e-6, refutes=1e-6, supports=2e-6, undecided=0.0
    ).sealed("A.one", "standard")
    file = tmp_path / "certificates.json"
    file.write_bytes(msgspec.json.encode(Certificates(tier="standard", claims={"A.one": one})))
    kept = load(file)
    assert kept.of("A.one", "standard", "abc") == one
    assert kept.of("A.one", "standard", "abd") is None
    assert kept.of("A.one", "smoke", "abc") is None
    assert kept.of("A.two", "standard", "abc") is None


def test_a_file_without_certificates_is_told(tmp_path: Path) -> None:
    file = tmp_path / "certificates.json"
    assert load(file).claims == {}
    file.write_text('{"tier": "standard", "claims": {"A.one": {"alpha": 2}}}')
    with pytest.raises(ReportError, match="write it anew with `python -m recall_claims certify`"):
        load(file)


def test_looks_are_counted(report: Record) -> None:
    decided = [claim for claim in report.claims if claim.state == "DECIDED"]
    for claim in decided:
        claim.looks = 2
    decided[0].looks = 4
    assert credibility.looks(report) == [(2, len(decided) - 1), (4, 1)]


def test_claims_with_earlier_evidence_are_named(bare: Record) -> None:
    for claim in bare.claims:
        claim.blocks = Blocks(total=4, recomputed={"new": 4})
    assert credibility.reused(bare) == []
    first, second = bare.claims[:2]
    first.blocks.reused = 1
    second.blocks.kept = Kept(file="baseline.json", revision="main")
    assert credibility.reused(bare) == [first, second]
    assert "2 claims with evidence from before this run" in html.render(bare)


def test_independence_is_a_count(bare: Record, page: str) -> None:
    assert "36 modules of theory, 38 of simulation, and <strong>no chains of imports" in page
    bare.suite.independence.chains = 1
    assert "<strong>1 chain of imports</strong>" in html.render(bare)


def test_seed_versions_and_hardware(report: Record, page: str) -> None:
    section = _section(page)
    for name, version in report.suite.versions.items():
        assert f"<dt>{name}</dt><dd>{version}</dd>" in section
    assert f"<dt>Cores</dt><dd>{report.suite.hardware['cores']}</dd>" in section
    assert "<dt>Commit</dt><dd>0123456789</dd>" in section
    assert phrases.number(report.suite.error_budget.papers["A"].per_claim) in section
