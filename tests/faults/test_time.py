"""Duration of a run: forecast, display, and `--time-limit`, which stops the run.

Blocks that would end too late do not begin, and the next run continues; no clock misleads a run.
The number of calls in a run grows no faster than its claims. Calls are counted, because seconds
vary.
"""

import cProfile
import gc
import itertools
import re
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from unittest.mock import Mock

import pytest

from recall_claims.evidence.run import Settings
from recall_claims.plugin.item import ClaimItem
from recall_claims.plugin.session import ClaimSession
from tests.apart import run
from tests.faults.conftest import HEAD, WAYS, Suite, environment, written

REPORT = "reports/latest/report.json"
TRIED = [pytest.param(way, marks=() if way == "serial" else pytest.mark.thorough) for way in WAYS]


def row(text: str, claim: str) -> list[str]:
    [found] = [line.split() for line in text.splitlines() if line.startswith(claim)]
    return found


def test_a_dry_run_tells_the_plan_and_simulates_nothing(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    suite.write("one", "two", pause=0.05)
    plan = suite.run("--dry-run").text
    assert row(plan, "tiny.one")[1:] == ["3", "16-512", "0", "96", "–"]
    assert "2 of 2 claims would run in tier standard on cpu" in plan
    assert "plus 2 claims whose time is unknown." in " ".join(plan.split())
    ours = plan.partition("claims: tier")[2].partition("warnings summary")[0]
    assert max(len(line) for line in ours.splitlines() if not line.startswith("rootdir")) <= 80
    monkeypatch.setenv("COLUMNS", "200")
    assert not (suite.folder / ".recall-claims").exists()
    assert not (suite.folder / "reports").exists()

    suite.run("-k", "one", "--report-dir", "reports/latest")
    [claim] = suite.report()["claims"]
    blocks, took = claim["blocks"]["total"], claim["seconds"]
    assert row(suite.run("--dry-run").text, "tiny.one")[3:] == [str(blocks), "0", "0"]
    told = suite.run("--dry-run", "--baseline", REPORT, "--seed", "1", "--ledger", "new")
    cells = row(told.text, "tiny.one")
    assert cells[3:5] == ["0", str(blocks)], "as many as decided it before"
    assert abs(int(cells[5]) - took) < 1


def test_a_clock_that_jumps_back_gives_sensible_times(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Durations and time limits use another clock, which never jumps."""
    suite.write("one", pause=0.01)
    begun, hours = datetime.now(UTC), itertools.count(1)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 3600 * next(hours))

    suite.run("--time-limit", "1h")
    report = suite.report()["suite"]
    assert 0.01 < report["seconds"] <= report["wall_seconds"] < 300
    assert abs(datetime.fromisoformat(report["started"]) - begun) < timedelta(minutes=5)


def test_line_is_seen_on_a_terminal(suite: Suite) -> None:
    suite.write("one", "two", pause=0.02)
    terminal = (sys.executable, "-c", "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) != 0)")
    command = (*terminal, *suite.command("--executor", "serial"))
    status, text = run(suite.folder, *command, environment=environment(TERM="xterm"))
    assert status == 0, text
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    assert re.search(r"0 of 2 claims decided, none fails.* tiny.one, round ", shown)
    assert re.search(r"1 of 2 claims decided, none fails.* tiny.two, round ", shown)
    assert re.search(r"\sSUPPORTED tiny.one \S+ \[.*\sSUPPORTED tiny.two \S+ \[", shown, re.DOTALL)
    assert suite.file not in shown, "names stand for dots"
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") > 0  # the cursor is back


def test_what_lives_as_long_as_the_run_is_not_taken_for_garbage(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.write("one")
    before, during, run = gc.get_threshold(), list[tuple[int, int]](), ClaimItem.runtest

    def noted(item: ClaimItem) -> None:
        during.append((gc.get_freeze_count(), gc.get_threshold()[2]))
        run(item)

    monkeypatch.setattr(ClaimItem, "runtest", noted)
    suite.run()
    [(frozen, rarely)] = during
    assert frozen > 10_000
    assert rarely == 100 * before[2]
    assert (gc.get_freeze_count(), gc.get_threshold()) == (0, before)


@pytest.mark.parametrize("way", TRIED)
def test_slices_come_to_the_figures_of_one_run(suite: Suite, way: str) -> None:
    slices_come_to_one_run(suite, WAYS[way])


def slices_come_to_one_run(suite: Suite, way: tuple[str, str]) -> None:
    serial = "serial" in way
    suite.write("one", "two", pause=0.1)
    suite.run("--ledger", "whole.sqlite")
    whole, blocks = suite.figures(), suite.report()["suite"]["blocks"]["total"]

    cut, found = 0, -1
    for number in range(40):
        limit = "2s" if serial else f"{12 * 2**number}s"  # it takes long to start workers
        options = (*way, "--ledger", "slices.sqlite", "--time-limit", limit)
        result = suite.run(*options, status=None)
        left = [claim for claim in suite.report()["claims"] if claim["state"] == "NOT RUN"]
        assert result.status == (2 if left else 0), result.text
        found, before = suite.kept("slices.sqlite"), found
        assert found > before or not serial, "no slice is in vain"
        if not left:
            break
        cut += 1
        for claim in left:
            assert claim["reason"].startswith(f"time: {limit} did not suffice"), claim["reason"]
            assert claim["verdict"] is None
            assert claim["components"] == []
    assert suite.figures() == whole
    assert found == blocks, "no block was drawn twice, and none too many"
    assert cut or not serial
    # The limit is a fraction of the blocks' time, but the ledger has all blocks.
    suite.run("--ledger", "slices.sqlite", "--time-limit", "1s")


@pytest.mark.parametrize("way", TRIED)
def test_nothing_begins_when_no_time_is_left(suite: Suite, way: str) -> None:
    """Not even a grid is worked out."""
    grid = "grid(scale=(1.0, 2.0, 5.0))"
    later = f'cells=lambda: Path(".worked_out").touch() or {grid}'
    suite.write_text(HEAD + written("one", (f"cells={grid}", later)) + written("two"))

    suite.run(*WAYS[way], "--time-limit", "0.001s", "--ledger", "none.sqlite", status=2)
    assert suite.states() == {"tiny.one": "NOT RUN", "tiny.two": "NOT RUN"}
    assert suite.claims()["tiny.one"]["reason"].endswith("did not suffice")
    assert suite.kept("none.sqlite") == 0
    assert not (suite.folder / ".worked_out").exists()
    suite.run()
    assert (suite.folder / ".worked_out").exists()


def test_a_block_that_is_known_to_be_too_long_does_not_begin(suite: Suite) -> None:
    whole = ("time.sleep(3)", "time.sleep(3 * (block.replicates == 16))")  # not when it is replayed
    suite.write_text(HEAD + written("long", whole, pause=3) + written("short"))

    begin = time.monotonic()
    suite.run("--time-limit", "10s", "--ledger", "short.sqlite", status=2)
    assert time.monotonic() - begin < 60  # all of its blocks take 288 s
    # The first block shows how long the others take; a claim of shorter blocks still has time.
    assert suite.states() == {"tiny.long": "NOT RUN", "tiny.short": "DECIDED"}
    # 3 cells of 32 blocks of 3 s take 288 s, which is printed to one digit.
    assert suite.claims()["tiny.long"]["reason"].endswith("it takes about 5 min 00 s of one core")
    begun = suite.ask("SELECT 1 FROM blocks WHERE claim = 'tiny.long'", "short.sqlite")
    assert 1 <= len(begun) <= 3


SIZES = (6, 12, 24)
MOST = 2**1.02
"""Bound on a quotient: calls that twelve more claims add, over calls that six more claims add.

A claim takes 17,000 calls. Forty more for each pair of claims exceed the bound.
"""
EDITS = (
    ("(1.0, 2.0, 5.0)", "(1.0, 2.0)"),
    ("controls=[", 'controls=[Control("half", "half", predict=lambda cell: predict(cell) / 2), '),
    ("0.95, 1.05", "0.8, 1.2"),
    ("0.1)", "0.01)"),
)
"""Edits of a claim of the faults' suite, so that its first look decides it."""


@pytest.mark.parametrize("options", [(), ("--dry-run",)], ids=["warm", "dry run"])
def test_calls_of_a_run_are_linear_in_its_claims(suite: Suite, options: tuple[str, ...]) -> None:
    made = {size: replace(suite, file=f"{size}_{suite.file}") for size in SIZES}
    for size, one in made.items():
        names = [f"claim_{number}" for number in range(size)]
        one.write_text(HEAD + "".join(written(name, *EDITS) for name in names))
    counts = []
    for size, one in made.items():
        kept = ("--ledger", f"{size}.sqlite", "--report-dir", f"reports/{size}")
        one.run(*kept)
        run = partial(one.run, *kept, "--baseline", f"reports/{size}/report.json", *options)
        run()  # work that a process does only once is then done
        profile = cProfile.Profile()
        profile.runcall(run)
        counts.append(sum(entry.callcount for entry in profile.getstats()))
    few, some, many = counts
    assert many - some <= MOST * (some - few)


@pytest.mark.parametrize(("known", "works"), [({}, [7.0, 2.0]), ({"T.one": 30.0}, [30.0, 2.0])])
def test_claims_of_a_tier_that_the_baseline_lacks_go_by_their_longest_chain_of_blocks(
    known: dict[str, float], works: list[float]
) -> None:
    """Otherwise the longest claim would be first, and the smoke tier's first verdict late."""
    session = Mock(settings=Settings(tier="smoke"))
    session.forecast.ahead.return_value = known
    session.costs.path.side_effect = [7.0, 2.0]
    claims = [Mock(id=name, replicates={"smoke": (2, 2)}) for name in ("T.one", "T.two")]
    for claim, relaxed in zip(claims, (True, False), strict=True):
        claim.exploratory, claim.steps.return_value = relaxed, (1,)
    ClaimSession.expect(session, [(claim, "test_t.py") for claim in claims])
    (expected,), options = session.store.expect.call_args
    assert [work for _, _, work, _ in expected] == works
    assert options == {"last": {"T.one"}}
