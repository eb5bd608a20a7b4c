"""The page in a real browser: filters, links, folded details, dark form, phone, paper, attacks."""

import html as markup
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, ViewportSize, expect

from recall_reports import formula, html, phrases
from recall_reports.record import Record
from recall_reports.record.files import validated
from tests.reports import builders, hostile, sample

WIDE, PHONE = ViewportSize(width=1200, height=900), ViewportSize(width=390, height=844)


@pytest.fixture(scope="module")
def file(page: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the sample page."""
    found = tmp_path_factory.mktemp("page") / "report.html"
    found.write_text(page, encoding="utf-8")
    return found.as_uri()


@pytest.fixture
def tab(browser: Browser, file: str) -> Iterator[Page]:
    """The sample page in a tab of its own."""
    with browser.new_page(viewport=WIDE) as found:
        found.goto(file)
        yield found


FOLDED = ".claim > details > noscript"
SHOWN = "table.verdicts tr[data-state]:not([hidden])"
SEARCH = "input[type=search]"
DOMINANT = "[id='A.dominant-noise']"
SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def test_the_search_and_the_filters_leave_what_they_name(tab: Page, report: Record) -> None:
    shown = tab.locator(SHOWN)
    expect(shown).to_have_count(len(report.claims))
    for state in {phrases.state(claim) for claim in report.claims} - {"REFUTED"}:
        tab.click(f"form.filter input[value='{state}']")
    refuted = [claim for claim in report.claims if phrases.state(claim) == "REFUTED"]
    expect(shown).to_have_count(len(refuted))
    tab.reload()
    tab.fill(SEARCH, "A.trigger-signal")
    expect(shown).not_to_have_count(len(report.claims))
    expect(tab.locator("[id='A.trigger-signal']")).to_be_visible()
    said = f"{shown.count()} of {len(report.claims)} claims shown"
    expect(tab.locator("form.filter output")).to_have_text(said)


def test_a_link_leads_to_its_claim(tab: Page, file: str, report: Record) -> None:
    end = "document.documentElement.scrollHeight - innerHeight - scrollY < 2"

    def arrived(name: str) -> None:
        section = f"document.getElementById({name!r})"
        top = f"{section}.getBoundingClientRect().top"
        there = f"(0 <= {top} && {top} < 40 || {end}) && {section}.querySelector('.replay')"
        asked = (
            f"{SETTLED}.then(() => Boolean({there}))"  # the page's policy forbids to wait for it
        )
        assert any(tab.evaluate(asked) for _ in range(20)), name

    tab.goto("about:blank")
    tab.goto(f"{file}#A.dominant-noise")
    arrived("A.dominant-noise")
    tab.goto("about:blank")
    tab.goto(file)
    for claim in reversed(report.claims):  # those above are still folded
        tab.click(f"table.verdicts a[href='#{claim.id}']")
        arrived(claim.id)


@pytest.mark.parametrize(
    ("typed", "claims"),
    [
        ("drops the EXCESS V/N (1 + L/d)", 1),  # said nowhere but in the details
        ("All cells have d < V and N at least V log V", 19),
        ("aria-label", 0),  # markup
    ],
)
def test_the_search_reads_details_that_are_still_folded(tab: Page, typed: str, claims: int) -> None:
    assert tab.locator(FOLDED).count() > 0
    tab.fill(SEARCH, typed)
    expect(tab.locator(SHOWN)).to_have_count(claims)


def test_a_claim_opens_with_a_click_and_what_failed_is_open(tab: Page, report: Record) -> None:
    folded = tab.locator(FOLDED)
    left = sum(claim.outcome != "failed" for claim in report.claims)
    expect(folded).to_have_count(left)
    tab.click(f"{DOMINANT} summary")
    expect(tab.locator(f"{DOMINANT} svg.plot").first).to_be_visible()
    expect(folded).to_have_count(left - 1)
    tab.click("button.all")
    expect(folded).to_have_count(0)


def test_rows_are_sorted_by_a_column_and_go_back(tab: Page) -> None:
    rows = tab.locator("table.verdicts").first.locator("tr[data-state]")
    names = rows.all_text_contents()

    def column(number: int) -> list[Any]:
        cells = rows.locator(f"> :nth-child({number})")
        return list(cells.evaluate_all("cells => cells.map(cell => cell.dataset.value ?? null)"))

    def sort(number: int) -> None:
        tab.click(f"table.verdicts th:nth-child({number}) button")

    before = [*map(float, column(7))]
    times = sorted(before)
    assert times != before
    for wanted in (times, times[::-1]):
        sort(7)
        assert [*map(float, column(7))] == wanted
        assert tab.locator(SHOWN).count() > len(wanted), "those of the other table stay"
    sort(7)
    assert rows.all_text_contents() == names
    sort(5)
    resolved = column(5)
    known = [float(value) for value in resolved if value is not None]
    assert 0 < len(known) < len(resolved)
    assert known == sorted(known)
    assert resolved[len(known) :] == [None] * (len(resolved) - len(known)), "the others last"
    sort(2)
    titles = [title.lower() for title in rows.locator("> :nth-child(2)").all_text_contents()]
    assert titles == sorted(titles)


def test_without_script_all_is_there(browser: Browser, file: str, report: Record) -> None:
    with browser.new_page(java_script_enabled=False) as tab:
        tab.goto(file)
        assert tab.locator(".claim svg.plot").count() > 5
        assert tab.locator(".claim .replay").count() == len(report.claims)
        expect(tab.locator("form.filter:not([hidden])")).to_have_count(0)


def test_the_dark_form(tab: Page) -> None:
    body = tab.locator("body")
    expect(body).to_have_css("background-color", "rgb(255, 255, 255)")
    tab.emulate_media(color_scheme="dark")
    expect(body).to_have_css("background-color", "rgb(16, 20, 25)")


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_nothing_scrolls_sideways(browser: Browser, file: str, size: ViewportSize) -> None:
    with browser.new_page(viewport=size, is_mobile=size is PHONE) as tab:
        tab.goto(file)
        tab.evaluate(SETTLED)
        root = "document.documentElement"
        assert tab.evaluate(f"{root}.scrollWidth === {root}.clientWidth") is True


def test_an_ordinary_headline_is_one_line(tab: Page) -> None:
    headline = "No claim fails: 158 SUPPORTED, 5 REFUTED as declared and 3 NOT RUN."
    title = tab.locator("h1")
    title.evaluate("(title, text) => { title.textContent = text; }", headline)
    lines = "title => title.offsetHeight / parseFloat(getComputedStyle(title).lineHeight)"
    assert title.evaluate(lines) < 1.5


def test_paper(tab: Page) -> None:
    assert tab.locator(FOLDED).count() > 0
    assert tab.pdf(print_background=True).startswith(b"%PDF")
    tab.click(f"{DOMINANT} summary")
    tab.emulate_media(media="print")
    tab.evaluate("scrollTo(0, 0)")  # away from what was clicked
    tab.evaluate(SETTLED)
    assert not tab.locator("nav").is_visible()
    seen = "[...document.querySelectorAll('.claim')].filter(claim => claim.checkVisibility())"
    opened = tab.evaluate(f"{seen}.map(claim => claim.querySelector('details').open)")
    assert tab.evaluate(f"{seen}.map(claim => claim.id)").count("A.dominant-noise") == 1
    assert all(opened), "only what is open is printed"
    counts = "[...document.querySelectorAll('table.statements td > details > summary')]"
    assert tab.evaluate(f"{counts}.every(count => count.checkVisibility())") is True
    every = f"{seen}.flatMap(claim => [...claim.querySelectorAll('svg.plot')]).every(plot => "
    every += "plot.checkVisibility({ contentVisibilityAuto: true }))"
    assert tab.evaluate(every) is True


ADDRESS = "http://attacker.test"
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
ESCAPED_POLICY = re.compile("&lt;meta http-equiv=&#34;Content-Security-Policy.*?&gt;")
MARKUP = """[...new Set([...document.querySelectorAll('*')].flatMap(node => [node.localName,
    ...[...node.attributes].map(({ name }) => `${node.localName} ${name}`)]))]"""
FORMULA = {*formula.ELEMENTS, "code", "code class", "math xmlns"} | {
    f"{element} {name}" for element in formula.ELEMENTS for name in formula.ATTRIBUTES
}

Ran = Callable[..., tuple[bool, list[str]]]


@pytest.fixture
def ran(tab: Page, tmp_path: Path) -> Ran:
    """Opens a page; returns whether script ran in it, and what it asked the attacker for."""
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url.removeprefix(ADDRESS))
        route.abort()

    tab.route(f"{ADDRESS}/**", answer)

    def opened(text: str, name: str = "hostile.html") -> tuple[bool, list[str]]:
        asked.clear()
        (tmp_path / name).write_text(text, encoding="utf-8")
        tab.goto((tmp_path / name).as_uri())
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
    kept = ("NOT RUN", "ERROR")
    report.claims = [
        sample.trigger_signal(),
        sample.localisation(),
        sample.dominant_map(),
        sample.additive_law(),
        *(claim for claim in report.claims if claim.state in kept or claim.exploratory),
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
