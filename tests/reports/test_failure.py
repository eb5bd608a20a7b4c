"""Reports say how many further replicates an undecided claim needs."""

import pytest

from recall_reports import failure
from tests.reports import builders


def needs(*parts: tuple[float, float, builders.Ends], locates: bool = False) -> str:
    """Text about components of these estimates, half widths and regions."""
    found = [builders.component(f"a={i}", *part) for i, part in enumerate(parts)]
    cells = [builders.cell({"a": 1}, 1.0, 1.0, replicates=100)]
    rule = builders.rule(locates=locates)
    text = failure.message(
        builders.claim("A.made", "Title", found, cells=cells, rule=rule), 1e-6, 1e-3
    )
    lines = {line[2:11].strip(): line[12:] for line in text.splitlines()}
    return lines.get("needs", "")


@pytest.mark.parametrize(
    ("estimate", "half", "region", "count"),
    [
        # The bounds by which it would be supported reach 0.8 of the half width.
        (1.2, 0.25, (0.9, 1.3), "about 400 replicates of a cell, 4 times as many"),
        (1.0, 0.25, (0.9, 1.3), "about 400 replicates of a cell, 4 times as many"),
        # Past an edge, the whole half width has to be.
        (1.4, 0.3, (0.9, 1.3), "about 900 replicates of a cell, 9 times as many"),
        (0.8, 0.3, (0.9, 1.3), "about 900 replicates of a cell, 9 times as many"),
        (1.3, 0.3, (0.9, 1.3), "more than can be said"),
    ],
)
def test_bounds_narrow_as_one_over_the_root_of_the_replicates(
    estimate: float, half: float, region: builders.Ends, count: str
) -> None:
    assert needs((estimate, half, region)).startswith(count)
    assert needs((1.1, 0.01, (0.9, 1.3)), (estimate, half, region)).startswith(count)


def test_what_may_be_wrong_is_the_simulation_too_and_a_control_may_be_what_data_agree_with() -> (
    None
):
    found = [builders.component("a=1", 1.2, 0.02, (0.9, 1.1))]
    controls = [
        builders.control("more", "a fifth more", 1.0, 0.02, (0.9, 1.1)),
        builders.control("less", "a tenth less", 1.1, 0.02, (0.9, 1.1)),
    ]
    claim = builders.claim("A.made", "Title", found, controls=controls)
    since = "since commit abc, its theory was edited (theory.one) and its simulation was not"
    text = failure.message(claim, 1e-6, 1e-3, since)
    assert f"  suspect   the theory is wrong, or the simulation is; {since}.\n" in text
    [told] = [line for line in text.splitlines() if line.startswith("  controls")]
    assert told.count(", with which the data agree") == 1
    assert "more 1.000 [0.980, 1.020] against [0.9, 1.1], with which" in told


def test_what_is_decided_or_lies_between_sizes_needs_nothing() -> None:
    assert needs((1.1, 0.01, (0.9, 1.3))) == ""
    assert needs((1.2, 0.25, (0.9, 1.3)), locates=True) == ""


def test_replicates_that_are_needed_have_their_seconds() -> None:
    assert "(2 min 06 s of one core, if every cell has them)" in needs((1.0, 0.25, (0.9, 1.3)))
