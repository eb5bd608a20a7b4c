"""The page in a real browser: filters, folded panels, dark mode, print, screen readers, attacks."""

import html as markup
import re
import shutil
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from msgspec.structs import replace
from playwright.sync_api import Browser, Page, Route, ViewportSize, expect, sync_playwright

from recall_reports import formula, html, phrases
from recall_reports.record import Record
from recall_reports.record.files import validated
from tests.reports import builders, sample
from tests.reports import test_hostile as hostile

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDE, PHONE = ViewportSize(width=1200, height=900), ViewportSize(width=390, height=844)
FOLDED = ".claim > template"
SHOWN = ".claim:not([hidden])"
DOMINANT = "[id='A.dominant-noise']"


@pytest.fixture(scope="module")
def browser(sockets_freed: None) -> Iterator[Browser]:
    """Chromium or Chrome without a window, as installed."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip(f"LEFT OUT: no real browser is installed (none of {', '.join(NAMES)})")
    with (
        sync_playwright() as driver,
        driver.chromium.launch(executable_path=program, args=["--no-sandbox"]) as found,
    ):
        yield found


@pytest.fixture(scope="module")
def file(page: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    found = tmp_path_factory.mktemp("page") / "report.html"
    found.write_text(page, encoding="utf-8")
    return found.as_uri()


@pytest.fixture
def tab(browser: Browser, file: str) -> Iterator[Page]:
    with browser.new_page(viewport=WIDE) as found:
        found.goto(file)
        yield found


def test_the_search_and_the_filters_leave_what_they_name(tab: Page, report: Record) -> None:
    shown = tab.locator(SHOWN)
    expect(shown).to_have_count(len(report.claims))
    for state in {phrases.state(claim) for claim in report.claims} - {"REFUTED"}:
        tab.click(f"form.filter input[value='{state}']")
    refuted = [claim for claim in report.claims if phrases.state(claim) == "REFUTED"]
    expect(shown).to_have_count(len(refuted))
    expect(tab.locator("form.filter output")).to_have_text(
        f"{len(refuted)} of {len(report.claims)} claims shown"
    )
    tab.reload()  # the address holds the choice
    expect(shown).to_have_count(len(refuted))
    tab.goto(tab.url.partition("#")[0])
    # The first text is only in a folded panel; markup is not searched.
    found = (
        ("drops the EXCESS V/N (1 + L/d)", 1),
        ("aria-label", 0),
        ("localization", 2),
        ("value memory ~ L", 1),
    )
    for typed, count in found:
        tab.fill("input[type=search]", typed)
        expect(shown).to_have_count(count)


def test_claims_are_sorted_and_go_back(tab: Page) -> None:
    claims = tab.locator(".claim")
    names = "claims => claims.map(claim => claim.id)"
    before = claims.evaluate_all(names)
    for order, sign in (("seconds", -1), ("resolution", 1)):
        tab.select_option("[name=order]", order)
        found = claims.evaluate_all(f"claims => claims.map(claim => +claim.dataset.{order})")
        known = [sign * figure for figure in found if figure == figure]
        assert known == sorted(known)
        assert len(known) > 5
        kinds = claims.evaluate_all("claims => claims.map(claim => claim.dataset.kind)")
        groups = [kind or "without a resolution" for kind, _ in groupby(kinds)]
        titles = tab.locator(".part:not([hidden]) > h3").all_inner_texts()
        assert titles == (groups if order == "resolution" else []), "kinds are not compared"
    tab.select_option("[name=order]", "")
    assert claims.evaluate_all(names) == before
    assert tab.locator(".part:not([hidden]) > h3").count() > 1


def test_the_page_of_the_baseline_is_short_and_has_few_elements(
    browser: Browser, baseline: Record, tmp_path: Path
) -> None:
    file = tmp_path / "report.html"
    file.write_text(html.render(baseline), encoding="utf-8")
    with browser.new_page(viewport=ViewportSize(width=1280, height=900)) as tab:
        tab.goto(file.as_uri())
        expect(tab.locator("input[type=search]")).to_be_in_viewport()
        expect(tab.locator(".findings svg").first).to_be_in_viewport(ratio=1)
        assert tab.evaluate("document.documentElement.scrollHeight") <= 20_000
        assert tab.locator("*").count() <= 10_000


def test_a_mark_fades_with_its_claim_and_opens_it(tab: Page) -> None:
    mark = tab.locator("a.mark[href='#A.dominant-noise']")
    tab.fill("input[type=search]", "no claim says this")
    expect(mark).to_have_class(re.compile(r"\bout\b"))
    tab.fill("input[type=search]", "")
    tab.select_option("[name=order]", "seconds")
    tab.click("form.filter input[value='SUPPORTED']")  # which hides it
    mark.click()
    expect(tab.locator(f"{DOMINANT} .replay")).to_be_visible()
    expect(tab.locator(f"{DOMINANT} > summary")).to_be_in_viewport()


def test_a_panel_opens_with_a_click_or_a_link_and_what_failed_is_open(
    tab: Page, file: str, report: Record
) -> None:
    folded = tab.locator(FOLDED)
    left = sum(claim.outcome != "failed" for claim in report.claims)
    expect(folded).to_have_count(left)
    tab.click(f"{DOMINANT} > summary")
    expect(tab.locator(f"{DOMINANT} svg.plot").first).to_be_visible()
    expect(folded).to_have_count(left - 1)
    tab.click("button.all")
    expect(folded).to_have_count(0)
    tab.goto("about:blank")
    tab.goto(f"{file}#A.dominant-noise")
    expect(tab.locator(f"{DOMINANT} .replay")).to_be_visible()
    expect(tab.locator(f"{DOMINANT} > summary")).to_be_in_viewport()


def test_without_script_rows_are_there_and_say_where_the_rest_is(
    browser: Browser, file: str, report: Record
) -> None:
    with browser.new_page(java_script_enabled=False) as tab:
        tab.goto(file)
        expect(tab.locator(".claim > summary")).to_have_count(len(report.claims))
        expect(tab.locator(".bare")).to_contain_text("report.md")
        expect(tab.locator("form.filter:not([hidden])")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_people_who_use_a_screen_reader_or_see_little_contrast_can_read_it(
    browser: Browser, report: Record, scheme: Literal["light", "dark"]
) -> None:
    # One claim of each state and kind of plot suffices: others look alike.
    alike = {(phrases.label(c), c.plot and c.plot.kind): c for c in report.claims}
    report.claims = list(alike.values())
    for claim in report.claims:
        claim.cells = claim.cells[:2]
    with browser.new_page(viewport=WIDE, color_scheme=scheme) as tab:
        tab.set_content(html.render(report))
        tab.click("button.all")
        dark = "rgb(16, 20, 25)" if scheme == "dark" else "rgb(255, 255, 255)"
        expect(tab.locator("body")).to_have_css("background-color", dark)
        links = tab.locator("a").evaluate_all(
            "links => links.map(link => [link.ariaLabel ?? link.textContent, link.hash])"
        )
        assert len({name for name, _ in links}) == len({(name, hash_) for name, hash_ in links})
        found = Axe().run(tab, options={"resultTypes": ["violations"]}).response
    tried = {rule["id"] for rule in found["passes"]}
    assert {"color-contrast", "label", "link-name", "select-name", "svg-img-alt"} <= tried
    assert found["violations"] == []


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_nothing_scrolls_sideways(browser: Browser, file: str, size: ViewportSize) -> None:
    with browser.new_page(viewport=size, is_mobile=size is PHONE) as tab:
        tab.goto(file)
        root = "document.documentElement"
        tab.wait_for_function(f"{root}.scrollWidth === {root}.clientWidth")


@pytest.mark.parametrize("width", [360, 1024])
def test_nothing_that_opens_is_cut_off(
    browser: Browser, baseline: Record, tmp_path: Path, width: int
) -> None:
    claims = [claim for claim in baseline.claims if claim.id == "A.recall-variants"]
    file = tmp_path / "report.html"
    file.write_text(html.render(replace(baseline, claims=claims)), encoding="utf-8")
    with browser.new_page(viewport=ViewportSize(width=width, height=900)) as tab:
        tab.goto(file.as_uri())
        tab.click("button.all")
        tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        expect(tab.locator(".summary template")).to_have_count(0)
        root, table = "document.documentElement", "document.querySelector('.claim .components')"
        assert tab.evaluate(f"{root}.scrollWidth === {root}.clientWidth") is True
        assert tab.evaluate(f"{table}.scrollWidth <= {table}.closest('.claim').clientWidth") is True


def test_only_what_is_open_is_printed(tab: Page) -> None:
    tab.click(f"{DOMINANT} > summary")
    tab.emulate_media(media="print")
    expect(tab.locator("nav")).to_be_hidden()
    expect(tab.locator("main")).not_to_contain_text("click", use_inner_text=True, ignore_case=True)
    expect(tab.locator(".findings svg").first).to_be_visible()
    panels = tab.locator(".claim .words").filter(visible=True)
    expect(panels).to_have_count(tab.locator(".claim[open]").count())
    expect(tab.locator(f"{DOMINANT} .words")).to_be_visible()
    expect(tab.locator(".claim > summary").filter(visible=True)).to_have_count(
        tab.locator(".claim").count()
    )
    seen = "[...document.querySelectorAll('.claim[open]')]"
    plots = f"{seen}.flatMap(claim => [...claim.querySelectorAll('svg.plot')])"
    laid = "plot => plot.checkVisibility({ contentVisibilityAuto: true })"
    assert tab.evaluate(f"{plots}.every({laid})") is True


ADDRESS = "http://attacker.test"
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
ESCAPED_POLICY = re.compile("&lt;meta http-equiv=&#34;Content-Security-Policy.*?&gt;")
MARKUP = """[...new Set([...document.querySelectorAll('*')].flatMap(node => [node.localName,
    ...[...node.attributes].map(({ name }) => `${node.localName} ${name}`)]))]"""
FORMULA = {*formula.ELEMENTS, "code", "code class", "math xmlns"} | {
    f"{element} {name}" for element in formula.ELEMENTS for name in formula.ATTRIBUTES
}

Ran = Callable[[str], tuple[bool, list[str]]]


@pytest.fixture
def ran(tab: Page, tmp_path: Path) -> Ran:
    """Return a function that opens a page.

    It returns whether a script ran in the page, and the page's requests to the attacker.
    """
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url.removeprefix(ADDRESS))
        route.abort()

    tab.route(f"{ADDRESS}/**", answer)

    def opened(text: str) -> tuple[bool, list[str]]:
        asked.clear()
        (tmp_path / "hostile.html").write_text(text, encoding="utf-8")
        tab.goto((tmp_path / "hostile.html").as_uri())
        tab.wait_for_timeout(200)
        return bool(tab.evaluate("window.ran ?? 0")), sorted(asked)

    return opened


def test_the_policy_alone_stops_script_and_requests(ran: Ran, page: str) -> None:
    planted = page.replace("<main>", f"<main>{''.join(hostile.attacks(ADDRESS))}")
    found, asked = ran(POLICY.sub("", planted))
    assert found  # the attacks are real
    assert asked == ["/frame", "/image", "/script", "/sheet", "/style"]
    assert ran(planted) == (False, [])


def test_no_text_of_a_record_runs_or_loads_anything(
    ran: Ran, tab: Page, page: str, report: Record
) -> None:
    ran(page)
    plain = {*tab.evaluate(MARKUP), *FORMULA}
    report.claims = [
        sample.trigger_signal(),
        sample.localisation(),
        sample.dominant_map(),
        sample.additive_law(),
        *(c for c in report.claims if c.state in ("NOT RUN", "ERROR") or c.exploratory),
    ]
    found = validated(hostile.everywhere(report, hostile.text(ADDRESS)))
    assert ran(POLICY.sub("", html.render(found))) == (False, [])
    assert set(tab.evaluate(MARKUP)) <= plain
    links = "[...document.querySelectorAll('[href]')].map(node => node.getAttribute('href'))"
    assert all(link.startswith("#") for link in tab.evaluate(links))


def test_a_frame_cannot_reach_the_page_around_it(ran: Ran) -> None:
    frame = html.framed(sample.trigger_signal(), builders.paper())
    attack = markup.escape("<main><script>parent.ran=1</script>", quote=False)
    planted = ESCAPED_POLICY.sub("", frame).replace("&lt;main&gt;", attack)
    assert ran(f"<title>notebook</title>{planted}") == (False, [])
    free = planted.replace(" sandbox ", " ")
    assert ran(f"<title>notebook</title>{free}") == (True, [])  # the attack is real
