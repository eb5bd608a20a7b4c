"""The page in a real browser: filters, links, folded details, dark form, phone, paper, attacks."""

import base64
import html as markup
import re
import shlex
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from recall_reports import card, formula, html, phrases
from recall_reports.record import Record
from tests.reports import builders, hostile, sample
from tests.reports.chromium import PHONE, SETTLED, WIDE, Browser
from tests.reports.test_forms import crowded


@pytest.fixture(scope="module")
def file(page: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample page as a file."""
    found = tmp_path_factory.mktemp("page") / "report.html"
    found.write_text(page, encoding="utf-8")
    return found


FOLDED = "document.querySelectorAll('.claim > details > noscript').length"
SHOWN = "[...document.querySelectorAll('table.verdicts tr[data-state]:not([hidden])')].length"


def test_the_search_and_the_filters_leave_what_they_name(
    browser: Browser, file: Path, report: Record
) -> None:
    browser.open(file)
    assert browser.value(SHOWN) == len(report.claims)
    for state in {phrases.state(claim) for claim in report.claims} - {"REFUTED"}:
        browser.click(f"form.filter input[value='{state}']")
    refuted = [claim for claim in report.claims if phrases.state(claim) == "REFUTED"]
    assert browser.value(SHOWN) == len(refuted)
    browser.open(file)
    browser.type("A.trigger-signal")
    assert browser.value(SHOWN) < len(report.claims)
    assert browser.value("document.getElementById('A.trigger-signal').hidden") is False
    said = browser.value("document.querySelector('form.filter output').textContent")
    assert said == f"{browser.value(SHOWN)} of {len(report.claims)} claims shown"


def test_a_link_leads_to_its_claim(browser: Browser, file: Path, report: Record) -> None:
    end = "document.documentElement.scrollHeight - innerHeight - scrollY < 2"

    def arrived(name: str) -> bool:
        section = f"document.getElementById({name!r})"
        top = f"{section}.getBoundingClientRect().top"
        browser.value(SETTLED)
        shown = f"(0 <= {top} && {top} < 40 || {end}) && {section}.querySelector('.replay')"
        return browser.value(f"Boolean({shown})") is True

    browser.open(file, fragment="#A.dominant-noise")
    assert arrived("A.dominant-noise")
    browser.open(file)
    for claim in reversed(report.claims):  # those above are still folded
        browser.click(f"table.verdicts a[href='#{claim.id}']")
        assert arrived(claim.id), claim.id


@pytest.mark.parametrize(
    ("typed", "claims"),
    [
        ("drops the EXCESS V/N (1 + L/d)", 1),  # said nowhere but in the details
        ("All cells have d < V and N at least V log V", 20),
        ("aria-label", 0),  # markup
    ],
)
def test_the_search_reads_details_that_are_still_folded(
    browser: Browser, file: Path, typed: str, claims: int
) -> None:
    browser.open(file)
    assert browser.value(FOLDED) > 0
    browser.type(typed)
    assert browser.value(SHOWN) == claims


def test_a_claim_opens_with_a_click_and_what_failed_is_open(
    browser: Browser, file: Path, report: Record
) -> None:
    browser.open(file)
    failed = sum(claim.outcome == "failed" for claim in report.claims)
    assert browser.value(FOLDED) == len(report.claims) - failed
    browser.click("[id='A.dominant-noise'] summary")
    section = "document.getElementById('A.dominant-noise')"
    height = f"{section}.querySelector('svg.plot')?.getBoundingClientRect().height ?? 0"
    assert any(browser.value(height) > 50 for _ in range(100))
    assert browser.value(FOLDED) == len(report.claims) - failed - 1
    browser.click("button.all")
    assert browser.value(FOLDED) == 0


def test_a_formula_is_asked_by_a_command_and_sizes_are_held_to_their_ranges(
    browser: Browser, file: Path
) -> None:
    browser.open(file)

    def filled(name: str, value: str) -> str:
        field = f"document.querySelector('#ask fieldset:not([hidden]) [name={name}]')"
        event = "field.dispatchEvent(new Event('input', { bubbles: true }))"
        fill = f"field.value = {value!r}; {event}; return field.nextElementSibling.textContent"
        return str(browser.value(f"(field => {{ {fill}; }})({field})"))

    assert [filled("dim", dim) for dim in ("", "24", "96")] == ["", "inside", "inside"]
    assert "96" in filled("dim", "96.5")
    assert filled("label", "x'; rm y") == ""
    command = "python -m recall_claims predict theory.signal.value dim=96.5 'label=x'\\''; rm y'"
    assert browser.value("document.querySelector('#ask code').textContent") == command
    assert shlex.split(command)[-1] == "label=x'; rm y"


def test_rows_are_sorted_by_a_column_and_go_back(browser: Browser, file: Path) -> None:
    browser.open(file)
    rows = "[...document.querySelectorAll('table.verdicts')[0].querySelectorAll('tr[data-state]')]"
    cells = f"{rows}.map(row => row.cells[6].dataset.value)"
    before, names = browser.value(cells), browser.value(f"{rows}.map(row => row.innerText)")
    times = sorted(map(float, before))
    assert times != [*map(float, before)]
    for wanted in (times, times[::-1]):
        browser.click("table.verdicts th:nth-child(7) button")
        assert [*map(float, browser.value(cells))] == wanted
        assert browser.value(SHOWN) > len(wanted), "those of the other table stay"
    browser.click("table.verdicts th:nth-child(7) button")
    assert browser.value(f"{rows}.map(row => row.innerText)") == names
    browser.click("table.verdicts th:nth-child(5) button")
    resolved = browser.value(f"{rows}.map(row => row.cells[4].dataset.value ?? null)")
    known = [float(value) for value in resolved if value is not None]
    assert 0 < len(known) < len(resolved)
    assert known == sorted(known)
    assert resolved[len(known) :] == [None] * (len(resolved) - len(known)), "the others last"
    browser.click("table.verdicts th:nth-child(2) button")
    titles = browser.value(f"{rows}.map(row => row.cells[1].innerText.toLowerCase())")
    assert titles == sorted(titles)


def test_without_script_all_is_there(
    browser: Browser, tmp_path: Path, page: str, report: Record
) -> None:
    frame = f'<iframe sandbox="allow-same-origin" srcdoc="{markup.escape(page)}"></iframe>'
    (tmp_path / "frame.html").write_text(f"<!DOCTYPE html><title>frame</title>{frame}", "utf-8")
    browser.open(tmp_path / "frame.html")
    count = "document.querySelector('iframe').contentDocument.querySelectorAll('{}').length"
    assert browser.value(count.format(".claim svg.plot")) > 5
    assert browser.value(count.format(".claim .replay")) == len(report.claims)
    assert browser.value(count.format("form.filter:not([hidden])")) == 0


def test_the_dark_form(browser: Browser, file: Path) -> None:
    browser.open(file)
    ground = "getComputedStyle(document.body).backgroundColor"
    assert browser.value(ground) == "rgb(255, 255, 255)"
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.command("Emulation.setEmulatedMedia", media="", features=dark)
    assert browser.value(ground) == "rgb(16, 20, 25)"


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_nothing_scrolls_sideways(browser: Browser, file: Path, size: tuple[int, int]) -> None:
    browser.open(file, size)
    root = "document.documentElement"
    assert browser.value(f"{root}.scrollWidth === {root}.clientWidth") is True


def test_an_ordinary_headline_is_one_line(browser: Browser, file: Path) -> None:
    browser.open(file)
    headline = "No claim fails: 158 SUPPORTED, 5 REFUTED as declared and 3 NOT RUN."
    browser.value(f"document.querySelector('h1').textContent = {headline!r}")
    line = "parseFloat(getComputedStyle(document.querySelector('h1')).lineHeight)"
    assert browser.value(f"document.querySelector('h1').offsetHeight < 1.5 * {line}") is True


def test_the_text_of_the_card_stays_in_it(browser: Browser, tmp_path: Path, report: Record) -> None:
    page = tmp_path / "card.html"
    font = '"DejaVu Sans"'  # as wide as system fonts get
    drawn = card.render(crowded(report)).replace("font-family: ", f"font-family: {font}, ")
    assert font in drawn
    page.write_text(f"<!DOCTYPE html><meta charset=utf-8><title>card</title>{drawn}", "utf-8")
    browser.open(page)
    ends = "[...document.querySelectorAll('svg > text')].map(text => +text.getAttribute('x')"
    widest = browser.value(f"Math.max(...{ends} + text.getComputedTextLength()))")
    assert card.WIDTH / 2 < widest <= card.WIDTH - card.MARGIN / 2


def test_paper(browser: Browser, file: Path) -> None:
    browser.open(file)
    assert browser.value(FOLDED) > 0
    printed = browser.command("Page.printToPDF", printBackground=True)
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")
    browser.click("[id='A.dominant-noise'] summary")
    browser.command("Emulation.setEmulatedMedia", media="print", features=[])
    assert browser.value("getComputedStyle(document.querySelector('nav')).display") == "none"
    seen = "[...document.querySelectorAll('.claim')].filter(claim => claim.checkVisibility())"
    opened = browser.value(f"{seen}.map(claim => claim.querySelector('details').open)")
    assert browser.value(f"{seen}.map(claim => claim.id)").count("A.dominant-noise") == 1
    assert all(opened), "only what is open is printed"
    counts = "[...document.querySelectorAll('table.statements td > details > summary')]"
    assert browser.value(f"{counts}.every(count => count.checkVisibility())") is True
    every = f"{seen}.flatMap(claim => [...claim.querySelectorAll('svg.plot')]).every(plot => "
    every += "plot.checkVisibility({ contentVisibilityAuto: true }))"
    assert browser.value(every) is True


class Listener(ThreadingHTTPServer):
    """A server of this machine that notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), self._handler())
        self.address = f"http://127.0.0.1:{self.server_port}"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_response(404)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


@pytest.fixture
def listener() -> Iterator[Listener]:
    with Listener() as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
ESCAPED_POLICY = re.compile("&lt;meta http-equiv=&#34;Content-Security-Policy.*?&gt;")
LATER = "new Promise(done => setTimeout(() => done(window.ran ?? 0), 200))"
MARKUP = """[...new Set([...document.querySelectorAll('*')].flatMap(node => [node.localName,
    ...[...node.attributes].map(({ name }) => `${node.localName} ${name}`)]))]"""
FORMULA = {*formula.ELEMENTS, "code", "code class", "math xmlns"} | {
    f"{element} {name}" for element in formula.ELEMENTS for name in formula.ATTRIBUTES
}


@pytest.fixture
def ran(browser: Browser, listener: Listener, tmp_path: Path) -> Any:
    """Opens a page; returns whether script ran in it, and what it asked for."""

    def opened(text: str, name: str = "hostile.html") -> tuple[bool, list[str]]:
        listener.asked.clear()
        (tmp_path / name).write_text(text, encoding="utf-8")
        browser.open(tmp_path / name)
        return bool(browser.value(LATER)), sorted(listener.asked)

    return opened


def test_the_policy_alone_stops_script_and_requests(
    ran: Any, listener: Listener, page: str
) -> None:
    planted = page.replace("<main>", f"<main>{''.join(hostile.attacks(listener.address))}")
    found, asked = ran(POLICY.sub("", planted))
    assert found  # the attacks are real
    assert asked == ["/frame", "/image", "/script", "/sheet", "/style"]
    assert ran(planted) == (False, [])


def test_no_text_of_a_record_runs_or_loads_anything(
    ran: Any, browser: Browser, listener: Listener, page: str, report: Record, tmp_path: Path
) -> None:
    ran(page)
    plain = {*browser.value(MARKUP), *FORMULA}
    kept = ("NOT RUN", "ERROR", "EXPLORED")
    report.claims = [
        sample.trigger_signal(),
        sample.localisation(),
        sample.dominant_map(),
        sample.additive_law(),
        *(claim for claim in report.claims if claim.state in kept or claim.exploratory),
    ]
    found = hostile.everywhere(report, listener.address)
    assert ran(POLICY.sub("", html.render(found))) == (False, [])
    assert set(browser.value(MARKUP)) <= plain
    links = "[...document.querySelectorAll('[href]')].map(node => node.getAttribute('href'))"
    assert all(link.startswith("#") for link in browser.value(links))
    assert ran(card.render(found), "summary.svg") == (False, [])


def test_no_command_of_a_formula_runs_or_loads_anything(
    ran: Any, browser: Browser, listener: Listener
) -> None:
    found = [formula.mathml(latex) for latex in hostile.formulas(listener.address)]
    assert sum("<math" in text for text in found) > 1000
    assert ran(f"<title>formulas</title>{''.join(found)}") == (False, [])
    assert set(browser.value(MARKUP)) <= {"html", "head", "title", "body", *FORMULA}


def test_a_frame_cannot_reach_the_page_around_it(ran: Any) -> None:
    frame = html.framed(sample.trigger_signal(), builders.paper())
    attack = markup.escape("<main><script>parent.ran=1</script>", quote=False)
    planted = ESCAPED_POLICY.sub("", frame).replace("&lt;main&gt;", attack)
    assert ran(f"<title>notebook</title>{planted}") == (False, [])
    free = planted.replace(" sandbox ", " ")
    assert ran(f"<title>notebook</title>{free}") == (True, [])  # the attack is real
