"""The table in the terminal: complete at any width, with or without colour and Unicode."""

import io

import pytest
from msgspec.structs import replace
from rich.console import Console

from recall_reports import phrases
from recall_reports.record import Hunt, Record
from recall_reports.terminal import print_verdicts


def _printed(report: Record, width: int, encoding: str = "utf-8", verbosity: int = 0) -> str:
    target = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    print_verdicts(report, Console(file=target, width=width, force_terminal=False), verbosity)
    target.flush()
    return target.buffer.getvalue().decode(encoding)


@pytest.mark.parametrize("width", [40, 80, 130, 200])
def test_fits_and_names_every_claim(report: Record, width: int) -> None:
    text = _printed(report, width)
    assert max(map(len, text.splitlines())) <= width
    joined = "".join(text.split())
    for claim in report.claims:
        if width >= 80:
            assert claim.id in text or claim.id[:18] in text
        assert phrases.state(claim).replace(" ", "") in joined
    assert "claims fail" in " ".join(text.split())


def test_eighty_columns_show_estimate_and_controls_and_more_region_and_resolution(
    report: Record,
) -> None:
    lines = _printed(report, 80).splitlines()
    [line] = [line for line in lines if "A.noise-context " in line and "1.07" in line]
    assert line.startswith("? INCONCLUSIVE")
    assert "1.071 [1.029, 1.113]" in line
    assert "2/2" in line
    wide = _printed(report, 140)
    for more in ("[0.85, 1.15]", "a constant off by 14.0%"):
        assert more not in "".join(lines)
        assert more in wide


@pytest.mark.parametrize("width", [60, 80])
def test_long_names_fold_and_push_nothing_out(report: Record, width: int) -> None:
    report.claims[1].id = "A.a-name-that-is-longer-than-any-sensible-column"
    lines = _printed(report, width).splitlines()
    assert lines[0].split() == ["verdict", "claim", "estimate", "caught", "time"]
    tried = [claim for claim in report.claims if claim.state != "NOT RUN"]
    assert sum(line.endswith(" s") for line in lines) == len(tried)


def test_failures_come_with_reason_and_replay(report: Record) -> None:
    text = " ".join(_printed(report, 120).split())
    assert (
        "✕ REFUTED A.orthonormal-gaussian: The intervals of 1 of 2 components are disjoint" in text
    )
    assert "replay: pytest claims/test_sample.py::A.orthonormal-gaussian" in text


def test_blocks_that_memory_allowed_only_in_parts_are_said(report: Record) -> None:
    assert "memory ran out" not in _printed(report, 120)
    report.claims[0].blocks.divided = 3
    said = f"{report.claims[0].id}: 3 of 60 blocks simulated in parts, as memory ran out"
    assert said in " ".join(_printed(report, 120).split())


def test_nothing_that_a_record_says_steers_the_terminal(report: Record) -> None:
    bad = "\x1b[2J\x1b]0;title\x07\x9b31m\u202e\ud800\r"
    for claim in report.claims:
        claim.reason = claim.replay = claim.title = bad
        claim.hunt = Hunt(tried=1, refused={bad: 1})
    for width in (80, 140):
        text = _printed(report, width, verbosity=1)
        assert not set("\x1b\x07\x9b\u202e\r") & set(text)
        assert r"\x1b]0;title" in text
        assert r"\x9b31m\u202e\ud800" in text


def test_ascii_console(report: Record) -> None:
    text = _printed(report, 80, encoding="ascii")
    assert "+ SUPPORTED" in text
    assert "x REFUTED" in text
    assert "~ EXPLORED" in text


@pytest.mark.parametrize("width", [80, 130])
def test_verbose_tells_effort_and_resolution(report: Record, width: int) -> None:
    [claim] = [claim for claim in report.claims if claim.id == "A.noise-context"]
    text = " ".join(_printed(report, width, verbosity=1).split())
    assert f"look {claim.looks} of {claim.looks_planned}, " in text
    assert f"{claim.replicates:,} replicates" in text
    assert phrases.resolution(claim) in text
    assert "replicates" not in _printed(report, width)


def test_quiet_tells_what_is_not_as_expected(report: Record) -> None:
    text = _printed(report, 120, verbosity=-1)
    attention = [c.id for c in report.claims if c.outcome != "passed"]
    for claim in report.claims:
        told = claim.id in attention and claim.state != "NOT RUN"
        assert (f"{claim.id}: " in text) == told
    assert "claims fail" in text
    assert "estimate" not in text
    assert "Error budget" not in text


def test_headings_keep_their_width_where_nothing_was_found(report: Record) -> None:
    [broken] = [claim for claim in report.claims if claim.state == "ERROR"]
    report.claims = [broken]
    assert _printed(report, 80).split()[:5] == ["verdict", "claim", "estimate", "caught", "time"]


def test_many_claims_that_were_not_run_are_counted_and_named_when_asked(report: Record) -> None:
    left_out = next(claim for claim in report.claims if claim.state == "NOT RUN")
    report.claims += [replace(left_out, id=f"A.left-out-{k}") for k in range(20)]
    assert "A.left-out-7" not in _printed(report, 100)
    assert "21 claims" in _printed(report, 100)
    assert "A.left-out-7" in _printed(report, 100, verbosity=1)
