"""Words that all forms share; most are cases in `__snapshots__/`."""

from typing import Any

from recall_reports import markdown, phrases, summary
from tests.reports import builders, golden
from tests.reports.golden import of_states


def test_every_state_has_a_symbol_of_its_own() -> None:
    """But what is false, as expected, is a success."""
    assert phrases.SYMBOLS[phrases.AS_EXPECTED] == phrases.SYMBOLS["SUPPORTED"]
    assert len(set(phrases.SYMBOLS.values())) == len(phrases.SYMBOLS) - 1


def test_a_success_is_never_called_refuted() -> None:
    for letters, success in (("d", True), ("r", False)):
        report = of_states(letters)
        for text in (golden.terminal(report), markdown.render(report)):
            assert ("REFUTED" in text) is not success
            assert ("as expected" in text) is success


def test_the_first_lines_count_every_claim_once_and_measure_from_theory() -> None:
    report = of_states("ssdnB")
    report.claims[1].source.provenance, report.claims[2].from_pilot = "stated", True
    report.claims[0].components[0].estimate = 1.03
    how_many, how_close, tested = summary.first_lines(report)
    assert "Of 4 on theorems 2 hold; 1 was expected to be false, and is; 1 was not run." in how_many
    assert how_many.startswith("5 claims")
    assert how_close.startswith("Median distance from theory: 3.0% in 2 ratios of means")
    assert tested.startswith("2 of 4 claims on theorems test formulas that we derived")
    assert tested.endswith("; 1 tests a sentence as published; 1 has a region from a pilot.")


def test_a_hundred_components_are_not_compared_each_with_each() -> None:
    asked: list[str] = []

    class Counted(dict[str, int | float | str | bool]):
        def get(self, key: str, default: Any = None) -> Any:
            asked.append(key)
            return super().get(key, default)

    settings = [Counted(length=8, dim=dim) for dim in range(1, 101)]
    parts = [builders.component("some", 1.0, 0.1, (0.8, 1.2), params) for params in settings]
    names = phrases.component_names(builders.claim("A.some", "Some", parts))
    assert names[-1] == "d = 100"
    assert len(asked) <= 200


def test_the_most_telling_claim() -> None:
    """What failed, then theorems; of these constants before exponents, and the sharpest."""
    claims = of_states("nBdsssr").claims
    claims[3].rule.scale = "exponent"
    for claim, resolution in zip(claims[3:6], (0.01, 0.2, 0.05), strict=True):
        claim.resolution = resolution
    claims[0].components = []
    order = []
    while (found := summary.telling(claims)) is not None:
        order.append(found.id)
        claims.remove(found)
    assert order == ["r6", "s5", "s4", "s3", "d2", "B1"]


def test_assumptions_meet_theorems() -> None:
    report = of_states("BSBBs")
    named = ("one head: two", "plateau"), ("frozen: learned", "plateau"), ("one head: two", "order")
    for claim, relaxes in zip(report.claims, named, strict=False):
        claim.relaxes = relaxes
    found = summary.assumptions(report.claims)["A"]
    assert {
        row: {name: [c.id for c in cell] for name, cell in cells.items()}
        for row, cells in found.items()
    } == {
        "one head: two": {"plateau": ["B0"], "order": ["B2"]},
        "frozen: learned": {"plateau": ["S1"], "order": []},
    }
