"""The page is one offline file, with nested parts and valid links.

`__snapshots__/` has its text.
"""

import re
from base64 import b64encode
from hashlib import sha256
from html import unescape
from html.parser import HTMLParser

import pytest

from recall_reports import html
from recall_reports.record import ID, Record
from tests.reports import builders, golden, sample


@pytest.fixture(scope="module")
def page(page: str) -> str:
    """The sample page, with its folded parts unpacked."""
    return golden.unfolded(page)


VOID = {"meta", "input", "br", "link", "img", "hr"}
LOADING = ("src", "data", "action", "srcset")


class Page(HTMLParser):
    """Parser that checks that elements nest, and collects their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()

    def all(self, *names: str) -> list[str]:
        return [value for _, name, value in self.attributes if name in names]


def test_it_nests_its_links_are_live_and_it_needs_no_network(page: str) -> None:
    parsed = Page(page)
    ids, links = parsed.all("id"), parsed.all("href")
    assert len(ids) == len(set(ids))
    assert links
    assert {*links} <= {f"#{name}" for name in ids}
    assert parsed.all(*LOADING, "style") == []
    addresses = set(re.findall(r"https?://[^\"'\s<>)]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"}
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page)


def test_nothing_but_the_sheet_and_the_script_of_the_page_is_allowed(page: str) -> None:
    frame = html.framed(sample.trigger_signal(), builders.paper())
    assert re.fullmatch(r'<iframe srcdoc="[^"]*" sandbox style="[^"]*"></iframe>', frame)
    for text in (page, unescape(frame)):
        found = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', text)
        [policy] = map(unescape, found)
        assert policy.startswith("default-src 'none'; ")
        allowed = re.findall(r"'sha256-([^']+)'", policy)
        there = re.findall(r"<(?:style|script)>(.*?)</(?:style|script)>", text, flags=re.S)
        hashes = [b64encode(sha256(part.encode()).digest()).decode() for part in there]
        assert hashes == allowed[: len(hashes)]
        assert len(allowed) == 2


def test_claims_are_laid_out_when_they_are_near(page: str) -> None:
    sheet = page[page.index("<style>") : page.index("</style>")]
    screen, _, printed = sheet.partition("@media print")
    assert "content-visibility: auto" in screen
    assert "content-visibility: visible" in printed


def test_no_claim_can_have_an_id_of_the_page(page: str, report: Record) -> None:
    ids = {*re.findall(r' id="([^"]+)"', page)}
    assert {name for name in ids if re.search(ID, name)} == {claim.id for claim in report.claims}


def test_no_class_of_a_plot_is_without_a_rule(page: str) -> None:
    sheet = page[page.index("<style>") : page.index("</style>")]
    plots = "".join(re.findall("<figure>(.*?)<figcaption>", page, flags=re.S))
    used = {name for names in re.findall(r'class="([^"]+)"', plots) for name in names.split()}
    assert {"k0", "dash0", "whiskers", "heading"} <= used
    assert used - {"line"} <= set(re.findall(r"\.([\w-]+)", sheet))


def test_cells_are_shown_with_all_their_parameters(report: Record) -> None:
    claim = report.claims[0]
    claim.cells = [builders.cell({"length": 8}, 1.0, 1.0), builders.cell({"heads": 2}, 1.0, 1.0)]
    text = golden.unfolded(html.render(report))
    [table] = re.findall(f"Cells of {claim.id}</caption>(.*?)</table>", text, flags=re.S)
    rows = [re.findall("<t[hd].*?>(.*?)</t[hd]>", row)[:2] for row in table.split("</tr>")[:3]]
    assert [[re.sub("<.*?>", "", cell) for cell in row] for row in rows] == [
        ["L", "heads"],
        ["8", "–"],
        ["–", "2"],
    ]
