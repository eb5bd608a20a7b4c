"""A certificate speaks of one registration; a file that holds none is told."""

from pathlib import Path

import msgspec
import pytest

from recall_reports.certificates import Certificate, Certificates, load
from recall_reports.errors import ReportError


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
