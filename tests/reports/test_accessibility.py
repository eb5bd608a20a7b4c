"""People who use a screen reader or see little contrast can read the page."""

import functools
import json
import re
import shutil
import subprocess
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from recall_reports import html, phrases
from recall_reports.record import Record

AXE = Path(__file__).with_name("axe")
UNREACHABLE = re.compile(r"ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|E5\d\d")
TEXT = 4.5  # contrast that WCAG 2.2 AA asks of text
GRAPHICS = 3.0  # and of the lines and marks of graphics

STATES = [state.lower().replace(" ", "-") for state in phrases.SYMBOLS]


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with axe-core and jsdom."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("needs node and npm")
    folder = tmp_path_factory.mktemp("axe")
    shutil.copytree(AXE, folder, dirs_exist_ok=True)
    options = ("--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
    limits = ("--fetch-retries=1", "--fetch-timeout=10000")
    try:
        done = subprocess.run(
            [npm, "ci", *options, *limits],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    except subprocess.TimeoutExpired:
        pytest.skip("the npm registry does not answer")
    if done.returncode and UNREACHABLE.search(done.stderr):
        pytest.skip("the npm registry does not answer")
    assert done.returncode == 0, done.stderr
    return folder


def _axe(folder: Path, page: str) -> dict[str, Any]:
    (folder / "page.html").write_text(page, encoding="utf-8")
    done = subprocess.run(
        ["node", "check.cjs", "page.html"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_axe_finds_no_serious_violation(axe: Path, report: Record) -> None:
    # One row of a table is like the next, and so are claims of one state and kind of plot.
    alike = {(phrases.label(c), c.plot and c.plot.kind): c for c in report.claims}
    report.claims = list(alike.values())
    for claim in report.claims:
        claim.cells = claim.cells[:2]
    found = _axe(axe, html.render(report))
    assert {"label", "link-name", "select-name", "svg-img-alt"} <= {*found["passes"]}
    serious = [v for v in found["violations"] if v["impact"] in ("serious", "critical")]
    assert serious == []


def test_axe_notices_a_plot_without_a_name(axe: Path) -> None:
    page = '<!DOCTYPE html><html lang="en"><title>t</title><main><svg role="img"></svg></main>'
    assert "svg-img-alt" in {violation["id"] for violation in _axe(axe, page)["violations"]}


@functools.cache
def _themes() -> dict[str, dict[str, str]]:
    """The colours of the light, dark and printed page by name."""
    style = (
        resources.files("recall_reports")
        .joinpath("templates/style.css")
        .read_text(encoding="utf-8")
    )
    light, dark, printed = re.findall(r":root \{(.*?)\}", style, flags=re.S)
    found = {
        theme: dict(re.findall(r"--([\w-]+): (#\w+);", text))
        for theme, text in (("light", light), ("dark", dark), ("print", printed))
    }
    return {theme: {**found["light"], **colours} for theme, colours in found.items()}


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, by WCAG 2.2."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    channels = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_contrast_of_known_pairs() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#fff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_text_can_be_read_and_graphics_can_be_seen(theme: str) -> None:
    colours = _themes()[theme]
    grounds = [
        (text, ground) for text in (*STATES, "ink", "muted", "link") for ground in ("paper", "card")
    ]
    texts = [*grounds, ("ink", "note"), ("link", "note")]
    marks = [(name, "paper") for name in colours if name.startswith("series")]
    marks += [*((state, "band") for state in STATES), ("band-edge", "paper"), ("muted", "paper")]
    for least, pairs in ((TEXT, texts), (GRAPHICS, marks)):
        low = {p: contrast(colours[p[0]], colours[p[1]]) for p in pairs}
        assert {pair: ratio for pair, ratio in low.items() if ratio < least} == {}
