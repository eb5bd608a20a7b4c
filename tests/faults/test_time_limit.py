"""`--time-limit`: blocks that would end too late do not begin, and the next run goes on."""

import time

import pytest

from tests.faults.conftest import HEAD, WAYS, Suite, written

TRIED = [pytest.param(way, marks=() if way == "serial" else pytest.mark.thorough) for way in WAYS]


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
    # A fraction of what the blocks have taken; the ledger has them.
    suite.run("--ledger", "slices.sqlite", "--time-limit", "1s")


@pytest.mark.parametrize("way", TRIED)
def test_nothing_begins_when_no_time_is_left(suite: Suite, way: str) -> None:
    """Nor is a grid worked out."""
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
    # The first block tells what the others would take; a claim of shorter ones still has time.
    assert suite.states() == {"tiny.long": "NOT RUN", "tiny.short": "DECIDED"}
    # 32 blocks of each of 3 cells, of 3 s: 288 s, to one digit.
    assert suite.claims()["tiny.long"]["reason"].endswith("it takes about 5 min 00 s of one core")
    begun = suite.ask("SELECT 1 FROM blocks WHERE claim = 'tiny.long'", "short.sqlite")
    assert 1 <= len(begun) <= 3
