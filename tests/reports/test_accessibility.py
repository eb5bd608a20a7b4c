"""People who use a screen reader or see little contrast can read the page."""

import re
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from recall_reports import html, phrases
from recall_reports.record import Record

TEXT = 4.5  # contrast that WCAG 2.2 AA asks of text
GRAPHICS = 3.0  # and of the lines and marks of graphics

STATES = [state.lower().replace(" ", "-") for state in phrases.SYMBOLS]


def _axe(browser: Browser, page: str) -> dict[str, Any]:
    """What axe-core says of a page with all that a reader may unfold; colours are checked below."""
    options = {"rules": {"color-contrast": {"enabled": False}}, "resultTypes": ["violations"]}
    with browser.new_page() as tab:
        tab.set_content(page)
        for button in tab.locator("button.all").all():
            button.click()
        found: dict[str, Any] = Axe().run(tab, options=options).response
    return found


def test_axe_finds_no_serious_violation(browser: Browser, report: Record) -> None:
    # One row of a table is like the next, and so are claims of one state and kind of plot.
    alike = {(phrases.label(c), c.plot and c.plot.kind): c for c in report.claims}
    report.claims = list(alike.values())
    for claim in report.claims:
        claim.cells = claim.cells[:2]
    found = _axe(browser, html.render(report))
    passed = {rule["id"] for rule in found["passes"]}
    assert {"label", "link-name", "select-name", "svg-img-alt"} <= passed
    serious = [v for v in found["violations"] if v["impact"] in ("serious", "critical")]
    assert serious == []


def test_axe_notices_a_plot_without_a_name(browser: Browser) -> None:
    page = '<!DOCTYPE html><html lang="en"><title>t</title><main><svg role="img"></svg></main>'
    violations = _axe(browser, page)["violations"]
    assert "svg-img-alt" in {violation["id"] for violation in violations}


CONTRASTS = """pairs => {
    const { Color, getContrast } = axe.commons.color;
    const style = getComputedStyle(document.documentElement);
    const colour = name => {
        const found = new Color();
        found.parseString(style.getPropertyValue(`--${name}`).trim());
        return found;
    };
    return pairs.map(([one, other]) => getContrast(colour(one), colour(other)));
}"""


@pytest.mark.parametrize("theme", [{}, {"color_scheme": "dark"}, {"media": "print"}])
def test_text_can_be_read_and_graphics_can_be_seen(
    browser: Browser, page: str, theme: dict[str, Any]
) -> None:
    series = sorted(set(re.findall(r"--(series\d+):", page)))
    assert len(series) == 8
    grounds = [
        (text, ground) for text in (*STATES, "ink", "muted", "link") for ground in ("paper", "card")
    ]
    texts = [*grounds, ("ink", "note"), ("link", "note")]
    marks = [(name, "paper") for name in (*series, "band-edge", "muted")]
    marks += [(state, "band") for state in STATES]
    with browser.new_page() as tab:
        tab.set_content(page)
        tab.emulate_media(**theme)
        tab.evaluate(AXE_SCRIPT)
        for least, pairs in ((TEXT, texts), (GRAPHICS, marks)):
            found = tab.evaluate(CONTRASTS, pairs)
            low = [(*p, ratio) for p, ratio in zip(pairs, found, strict=True) if not ratio >= least]
            assert low == []
