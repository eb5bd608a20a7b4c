"""The benchmark of collection measures whole processes and keeps its word about promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks import collection


def test_processor_time_of_a_process_counts_its_work(tmp_path: Path) -> None:
    idle = collection.seconds(("-c", "import time; time.sleep(1)"), str(tmp_path))
    busy = collection.seconds(
        ("-c", "import time\nwhile time.process_time() < 1: pass"), str(tmp_path)
    )
    assert idle < 0.5 < busy  # half of the second: the system counts children in ticks


def test_a_process_that_fails_is_not_measured(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        collection.seconds(("-c", "1 / 0"), str(tmp_path))


@pytest.mark.parametrize(
    ("all_files", "one_file", "kept"), [(5.4, 4.9, True), (5.6, 4.9, False), (5.4, 5.1, False)]
)
def test_promises(
    all_files: float, one_file: float, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def seconds(arguments: tuple[str, ...], _: str) -> float:
        if arguments == collection.BARE:
            return 2.5
        return all_files if "--collect-only" in arguments else one_file

    monkeypatch.setattr(collection, "seconds", seconds)
    found = collection.section(runs=1)
    assert found.kept == kept
    assert [row.ours for row in found.rows] == [f"{all_files} s", f"{one_file} s"]
