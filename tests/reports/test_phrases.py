"""Numbers, verdicts and names in phrases."""

from typing import Any

import pytest

from recall_reports import phrases
from recall_reports.record import Blocks, Claim, Kept, Parameters, Range
from tests.reports import builders, sample
from tests.reports.builders import component


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (phrases.number(None), "–"),
        (phrases.number(0.0), "0"),
        (phrases.number(1.0), "1"),
        (phrases.number(-1.2345), "-1.23"),
        (phrases.number(0.001), "0.001"),
        (phrases.number(0.00012), "1.2e-4"),
        (phrases.number(1e-9), "1e-9"),
        (phrases.number(8192), "8,192"),
        (phrases.number(2.5e7), "2.5e7"),
        (phrases.number(-3e-12), "-3e-12"),
        (phrases.with_interval(1.00312, Range(0.9871, 1.0204)), "1.003 [0.987, 1.020]"),
        (phrases.with_interval(-2.0, Range(-2.3, -1.7)), "-2.00 [-2.30, -1.70]"),
        (phrases.with_interval(512.3, Range(480.0, 544.0)), "512 [480, 544]"),
        (phrases.with_interval(-0.0001, Range(-0.013, 0.011)), "0.000 [-0.013, 0.011]"),
        (phrases.with_interval(0.9, Range(0.8, None)), "0.9 [0.8, ∞]"),
        (phrases.with_interval(None, Range(None, None)), "[-∞, ∞]"),
        (phrases.with_interval(3e-15, Range(1e-15, 4e-15)), "3e-15 [1e-15, 4e-15]"),
        (phrases.with_interval(3e-15, Range(3e-15, 3e-15)), "3e-15"),
        (phrases.with_interval(0.5, None), "0.5"),
        (phrases.bounds(Range(0.97, 1.03)), "[0.97, 1.03]"),
        (phrases.bounds(Range(None, 1e-9)), "≤ 1e-9"),
        (phrases.bounds(Range(0.9, None)), "≥ 0.9"),
        (phrases.bounds(Range(None, None)), "anything"),
        (phrases.bounds(Range(0.9998, 1.0002)), "[0.9998, 1.0002]"),  # narrow, and no point
        (phrases.bounds(Range(-1e-6, 1e-6)), "[-1e-6, 1e-6]"),
        (phrases.seconds(0.04), "0.0 s"),
        (phrases.seconds(9.94), "9.9 s"),
        (phrases.seconds(59.4), "59 s"),
        (phrases.seconds(59.6), "1 min 00 s"),
        (phrases.seconds(365), "6 min 05 s"),
        (phrases.seconds(7800), "2 h 10 min"),
        (phrases.axis("samples", {"samples": "N"}), "samples N"),
        (phrases.axis("vocab_load", {}), "vocab load"),
    ],
)
def test_values_in_words(said: str, text: str) -> None:
    assert said == text


def _claim(state: str, verdict: str | None, expected: str = "SUPPORTED") -> Claim:
    claim = sample.all_tokens()
    for name, value in (("state", state), ("verdict", verdict), ("expected", expected)):
        setattr(claim, name, value)
    return claim


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
def test_label(claim: Claim, text: str) -> None:
    assert phrases.label(claim) == text


def test_every_state_has_its_own_symbol() -> None:
    assert len(set(phrases.SYMBOLS.values())) == len(phrases.SYMBOLS)


def _about(*settings: Parameters) -> Claim:
    parts = [component("some", 1.0, 0.1, (0.8, 1.2), params) for params in settings]
    return builders.claim("A.some", "Some", parts)


def test_components_are_named_by_what_differs() -> None:
    lengths: list[Parameters] = [{"dim": 64, "length": n, "vocab_size": 256} for n in (8, 16)]
    assert phrases.component_names(_about(*lengths)) == ["L = 8", "L = 16"]
    assert phrases.component_names(_about(lengths[0])) == ["V = 256, L = 8, d = 64"]
    terms: list[Parameters] = [{"term": term, "width": 2} for term in ("2 Cov(D,H)", "C2")]
    assert phrases.component_names(_about(*terms)) == ["term = 2 Cov(D,H)", "term = C2"]
    rates: list[Parameters] = [{"eta": 0.1, "vocab_load": v} for v in (2e9, 0.5)]
    assert phrases.component_names(_about(*rates)) == ["vocab load = 2e9", "vocab load = 0.5"]
    assert phrases.component_names(sample.signal_exponents()) == ["exponent of L", "exponent of V"]
    assert phrases.component_names(sample.dominant_map()) == ["share of points"]


def test_a_hundred_components_are_not_compared_each_with_each() -> None:
    asked: list[str] = []

    class Counted(dict[str, int | float | str | bool]):
        def get(self, key: str, default: Any = None) -> Any:
            asked.append(key)
            return super().get(key, default)

    claim = _about(*(Counted(length=8, dim=dim) for dim in range(1, 101)))
    assert phrases.component_names(claim)[-1] == "d = 100"
    assert len(asked) <= 200


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        (sample.all_tokens(), "The bounds lie inside the region and every control is refuted."),
        (
            sample.signal_exponents(),
            "The bounds of all 2 components lie inside their regions and every control is refuted.",
        ),
        (
            sample.orthonormal(),
            "The intervals of 1 of 2 components are disjoint from their regions, worst at V = 256: "
            "[1.26, 1.42] against [0.95, 1.05].",
        ),
        (
            sample.noise_share(),
            "The bounds of 1 of 2 components overlap the edge of their regions, worst at L = 128: "
            "[1.029, 1.113] against [0.9, 1.1].",
        ),
        (
            sample.lower_bound(),
            "The bounds lie inside the region, but the data do not refute the control no-trigger.",
        ),
        (sample.not_run("NOT RUN", "A.scale", "no cells"), "No cells."),
        (sample.explored(), "The evidence was drawn before this declaration was fixed."),
    ],
)
def test_reason_follows_from_components_and_controls(claim: Claim, text: str) -> None:
    assert phrases.reason(claim) == text


def test_every_scale_has_a_resolution_in_words() -> None:
    for claim in sample.record().claims:
        text = phrases.resolution(claim)
        assert (text == "–") == (claim.state != "DECIDED")
    claim = sample.all_tokens()
    claim.resolution = None
    assert phrases.resolution(claim) == "no finite error would have been refuted"
    claim.resolution = 2.4e-4
    assert phrases.resolution(claim) == "a constant off by 0.024%"
    claim.resolution = 0.053
    assert phrases.resolution(claim) == "a constant off by 5.3%"


def test_evidence_says_where_blocks_came_from() -> None:
    claim = sample.all_tokens()
    assert phrases.evidence(claim) == "48 new"
    claim.blocks = Blocks(total=4, reused=4)
    assert phrases.evidence(claim) == "all blocks came from the ledger"
    claim.blocks.kept = Kept(file="baseline.json", revision="main")
    assert phrases.evidence(claim) == (
        "record of baseline.json: nothing that the claim depends on changed since main"
    )


def test_replicates_per_cell_may_differ() -> None:
    claim = sample.critical_samples()
    assert phrases.replicates(claim) == "8,448, 64 to 512 per cell"
    for cell in claim.cells:
        cell.replicates = 64
    assert phrases.replicates(claim) == "8,448, 64 per cell"
    claim.cells = claim.cells[:1]
    assert phrases.replicates(claim) == "8,448"


def test_certificate_says_how_it_is_known() -> None:
    claim = sample.localisation()
    assert phrases.certificate(claim) == "wrongly refuted with probability at most 3.1e-6, exact"
    claim.rule.exact = False
    assert phrases.certificate(claim).endswith("certified in a world made of its own evidence")
    claim.certificate = 0.0
    assert phrases.certificate(claim) == "never wrongly refuted by chance"
    claim.certificate = None
    assert phrases.certificate(claim) == ""


def test_evidence_sets_are_said_from_the_second_on() -> None:
    claim = sample.all_tokens()
    said = "evidence set 2 of 2 in this ledger: at most 2 times its alpha"
    assert phrases.draws(claim) == said
    claim.draws = 1
    assert phrases.draws(claim) == ""


def test_a_region_from_a_pilot_is_in_the_title() -> None:
    claim = sample.all_tokens()
    assert phrases.title(claim) == f"{claim.title} (region from a pilot)"
    claim.from_pilot = False
    assert phrases.title(claim) == claim.title
