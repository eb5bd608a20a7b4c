"""The live line: what it says, and when it goes away."""

import io

from rich.console import Console

from recall_claims.plugin.forecast import ProgressLine


def test_the_line_counts_claims_and_tells_the_seconds_left() -> None:
    left = iter([None, 3725.4])
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    line = ProgressLine(console, 3, lambda: next(left))

    def shown() -> str:
        with console.capture() as captured:
            console.print(line._progress.get_renderable())
        return captured.get()

    line("a", 1, 4, 2, 6)
    assert "0 of 3 claims, left -:--:--" in shown()
    line.finish()
    line("b", 2, 4, 7, 12)
    assert "1 of 3 claims, left 1:02:05" in shown()
    assert "b, look 2 of 4, 7/12 blocks" in shown()
    line.finish()
    line.close()
