"""The live line: what it says, and when it goes away."""

import io

from rich.console import Console

from recall_claims.plugin.forecast import ProgressLine


def test_the_line_tells_claims_blocks_and_the_time_left() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    line = ProgressLine(console, 3, {"a": 5000.0, "b": 7000.0, "c": 450.8}, workers=2)
    line.finish("a")
    line("b", 2, 4, 7, 12)
    with console.capture() as shown:
        console.print(line._progress.get_renderable())
    line.close()
    assert "1 of 3 claims, left 1:02:05" in shown.get()
    assert "b, look 2 of 4, 7/12 blocks" in shown.get()
