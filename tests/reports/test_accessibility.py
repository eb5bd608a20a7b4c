"""People who use a screen reader or see little contrast can read the page."""

import functools
import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT

from recall_reports import html, phrases
from recall_reports.record import Record
from tests.reports.chromium import Browser

TEXT = 4.5  # contrast that WCAG 2.2 AA asks of text
GRAPHICS = 3.0  # and of the lines and marks of graphics

STATES = [state.lower().replace(" ", "-") for state in phrases.SYMBOLS]


def _axe(browser: Browser, folder: Path, page: str) -> dict[str, Any]:
    """What axe-core says of a page with all that a reader may unfold; colours are checked below."""
    (folder / "page.html").write_text(page, encoding="utf-8")
    browser.open(folder / "page.html")
    browser.value("document.querySelector('button.all')?.click()")
    browser.command("Runtime.evaluate", expression=AXE_SCRIPT)
    options = {"rules": {"color-contrast": {"enabled": False}}, "resultTypes": ["violations"]}
    found: dict[str, Any] = browser.value(f"axe.run(document, {json.dumps(options)})")
    return found


def test_axe_finds_no_serious_violation(browser: Browser, tmp_path: Path, report: Record) -> None:
    # One row of a table is like the next, and so are claims of one state and kind of plot.
    alike = {(phrases.label(c), c.plot and c.plot.kind): c for c in report.claims}
    report.claims = list(alike.values())
    for claim in report.claims:
        claim.cells = claim.cells[:2]
    found = _axe(browser, tmp_path, html.render(report))
    passed = {rule["id"] for rule in found["passes"]}
    assert {"label", "link-name", "select-name", "svg-img-alt"} <= passed
    serious = [v for v in found["violations"] if v["impact"] in ("serious", "critical")]
    assert serious == []


def test_axe_notices_a_plot_without_a_name(browser: Browser, tmp_path: Path) -> None:
    page = '<!DOCTYPE html><html lang="en"><title>t</title><main><svg role="img"></svg></main>'
    violations = _axe(browser, tmp_path, page)["violations"]
    assert "svg-img-alt" in {violation["id"] for violation in violations}


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
