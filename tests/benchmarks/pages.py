"""What the page of a synthetic suite costs to write, to open and to search."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from recall_reports import html
from recall_reports.files import load
from recall_reports.record import Record
from tests.benchmarks.table import Row, Section
from tests.reports.chromium import SETTLED, Browser, started

BASELINE = Path(__file__).parents[2] / "reports" / "baseline.json"
COUNTS = (50, 250, 1000, 4000)
FRAME, KEYSTROKE = 1.5, 0.1  # seconds at the largest count

NOTE = (
    "the page of a suite whose claims are those of the baseline in turn, under new names: the "
    "processor time to write it, and of that its plots; then in headless Chromium, from disk, "
    "elements, wall time until the first frame, and the most processor time of the page's thread "
    "that a keystroke takes in the search until the results are drawn, of five, once the page "
    "has read its claims, some seconds after it was opened. Promised for the most claims: a "
    f"first frame within {FRAME} s, a keystroke within {KEYSTROKE} s. Before plots were written as "
    "SVG directly and details folded, 250 claims took 21 s and 1,000 89 s, nearly all of it "
    "matplotlib's, and 4,000 had 2.4 million elements and a first frame after 10 s."
)


def synthetic(count: int) -> Record:
    """A record of so many claims."""
    base = load(BASELINE)
    found = [base.claims[index % len(base.claims)] for index in range(count)]
    claims = [replace(claim, id=f"{claim.id}.{index}") for index, claim in enumerate(found)]
    return replace(base, claims=claims)


def written(count: int, file: Path) -> tuple[float, float]:
    """Processor seconds that a page took, and those that it takes without plots."""
    record, times = synthetic(count), []
    for pictures in (False, True):
        start = time.process_time()
        page = html.render(record, pictures=pictures)
        times.append(time.process_time() - start)
    file.write_text(page, encoding="utf-8")
    return times[1], times[0]


def looked_at(browser: Browser, file: Path) -> tuple[int, float, float]:
    """Elements, seconds until the first frame, and the longest keystroke's."""
    browser.command("Performance.enable", timeDomain="threadTicks")
    browser.open(file)
    nodes = browser.value("document.querySelectorAll('*').length")
    frame = browser.value("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    browser.type("no claim has this")
    while browser.value("document.querySelector('form.filter output').textContent[0]") != "0":
        pass  # the page is still reading its claims
    browser.type("")
    browser.value(SETTLED)
    keystrokes = []
    for typed in ("t", "tr", "trigger", "", "x"):
        before = _task_seconds(browser)
        browser.type(typed)
        browser.value(SETTLED)
        keystrokes.append(_task_seconds(browser) - before)
    return int(nodes), float(frame) / 1000, max(keystrokes)


def _task_seconds(browser: Browser) -> float:
    metrics = browser.command("Performance.getMetrics")["metrics"]
    return next(float(each["value"]) for each in metrics if each["name"] == "TaskDuration")


def section(counts: Sequence[int] = COUNTS) -> Section:
    """A row per number of claims; figures of a browser only where there is one."""
    rows, kept = [], True
    html.render(synthetic(1))  # compiles the templates
    with tempfile.TemporaryDirectory() as folder, started(Path(folder) / "profile") as browser:
        for count in counts:
            file = Path(folder) / "report.html"
            seconds, without = written(count, file)
            ours = f"{seconds:.2g} s, of that plots {seconds - without:.2g} s"
            ours += f"; {file.stat().st_size / 1e6:.1f} MB"
            if browser is not None:
                nodes, frame, keystroke = looked_at(browser, file)
                kept = frame <= FRAME and keystroke <= KEYSTROKE
                ours += f", {nodes:,} elements; first frame {frame:.2f} s, "
                ours += f"keystroke {1000 * keystroke:.0f} ms"
            rows.append(Row(f"page of {count:,} claims", ours, "–", "–", "–"))
    return Section("pages", tuple(rows), NOTE, kept=kept)
