"""Numbers, verdicts and names in words."""

from typing import Any

import pytest

from recall_reports import words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0.0, "0"),
        (1.0, "1"),
        (-1.2345, "-1.23"),
        (0.001, "0.001"),
        (0.00012, "1.2e-4"),
        (1e-9, "1e-9"),
        (8192, "8,192"),
        (2.5e7, "2.5e7"),
        (-3e-12, "-3e-12"),
    ],
)
def test_number(value: float | None, text: str) -> None:
    assert words.number(value) == text


@pytest.mark.parametrize(
    ("estimate", "interval", "text"),
    [
        (1.00312, [0.9871, 1.0204], "1.003 [0.987, 1.020]"),
        (-2.0, [-2.3, -1.7], "-2.00 [-2.30, -1.70]"),
        (512.3, [480.0, 544.0], "512 [480, 544]"),
        (-0.0001, [-0.013, 0.011], "0.000 [-0.013, 0.011]"),
        (0.9, [0.8, None], "0.9 [0.8, ∞]"),
        (None, [None, None], "[-∞, ∞]"),
        (3e-15, [1e-15, 4e-15], "3e-15 [1e-15, 4e-15]"),
        (3e-15, [3e-15, 3e-15], "3e-15"),
        (0.5, None, "0.5"),
    ],
)
def test_finding(estimate: float | None, interval: words.Range | None, text: str) -> None:
    assert words.finding(estimate, interval) == text


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ([0.97, 1.03], "[0.97, 1.03]"),
        ([None, 1e-9], "≤ 1e-9"),
        ([0.9, None], "≥ 0.9"),
        ([None, None], "anything"),
        (None, "–"),
    ],
)
def test_region(bounds: words.Range | None, text: str) -> None:
    assert words.region(bounds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (365, "6 min 05 s"),
        (7800, "2 h 10 min"),
    ],
)
def test_seconds(value: float, text: str) -> None:
    assert words.seconds(value) == text


def _claim(state: str, verdict: str | None, expected: str = "SUPPORTED") -> dict[str, Any]:
    return {"state": state, "verdict": verdict, "expected": expected}


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        (_claim("DECIDED", "SUPPORTED"), "✓ SUPPORTED"),
        (_claim("DECIDED", "REFUTED"), "✕ REFUTED"),
        (_claim("DECIDED", "REFUTED", "REFUTED"), "✕ REFUTED as declared"),
        (_claim("DECIDED", "SUPPORTED", "REFUTED"), "✓ SUPPORTED"),
        (_claim("DECIDED", "INCONCLUSIVE", "REFUTED"), "? INCONCLUSIVE"),
        (_claim("NOT RUN", None, "REFUTED"), "– NOT RUN"),
        (_claim("ERROR", None), "! ERROR"),
    ],
)
def test_label(claim: dict[str, Any], text: str) -> None:
    assert words.label(claim) == text


def test_every_state_has_its_own_symbol() -> None:
    assert len(set(words.SYMBOLS.values())) == len(words.SYMBOLS)


def _component(name: str, scale: str = "ratio") -> dict[str, Any]:
    return {"name": name, "scale": scale}


def test_findings_are_named_by_what_differs() -> None:
    cells = [_component(f"dim=64,length={length},vocab_size=256") for length in (8, 16)]
    assert words.findings(cells) == ["L = 8", "L = 16"]
    assert words.findings(cells[:1]) == ["V = 256, L = 8, d = 64"]
    terms = [_component(f"term={term},width=2") for term in ("2 Cov(D,H)", "C2")]
    assert words.findings(terms) == ["term = 2 Cov(D,H)", "term = C2"]
    rates = [_component(f"eta=0.1,gamma={gamma}") for gamma in ("2000000000.0", "0.5")]
    assert words.findings(rates) == ["γ = 2e9", "γ = 0.5"]
    assert words.findings([_component("length", "exponent")]) == ["exponent of L"]
    assert words.findings([_component("share of points", "share")]) == ["share of points"]


def test_reason_is_a_sentence_with_the_papers_letters() -> None:
    claim = {
        "state": "DECIDED",
        "reason": "2 of 4 intervals, worst at dim=32,length=8: [0.8, 0.9] against [1, 2]",
    }
    assert words.reason(claim) == (
        "2 of 4 intervals, worst at d = 32, L = 8: [0.8, 0.9] against [1, 2]."
    )
    assert words.reason({"state": "NOT RUN", "reason": "NOT RUN: no cells"}) == "No cells."
