"""The page: one offline file, every claim and verdict in phrases, nothing hidden by colour."""

import cProfile
import re
from base64 import b64encode
from hashlib import sha256
from html import unescape
from html.parser import HTMLParser

import pytest
from msgspec.structs import replace

from recall_reports import html, phrases, summary
from recall_reports.plots.bars import bars
from recall_reports.record import Claim, Range, Record
from recall_reports.values import Verdict
from tests.reports import builders, sample

VOID = {"meta", "input", "br", "link", "img", "hr"}


class Page(HTMLParser):
    """Checks that elements nest, and collects ids, links, and the text of each section."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name == "href" and tag == "a":
                self.links.append(value or "")
            if name in ("src", "data", "action", "srcset") or (name == "href" and tag == "link"):
                self.loads.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.text.append(data)


def _section(page: str, name: str) -> str:
    start = page.index(f'id="{name}"')
    return page[start : page.index("</section>", start)]


def test_well_formed_with_unique_ids_and_live_links(page: str) -> None:
    parsed = Page(page)
    assert len(parsed.ids) == len(set(parsed.ids))
    assert parsed.links
    for link in parsed.links:
        assert link.startswith("#")
        assert link[1:] in parsed.ids


def test_needs_no_network(page: str) -> None:
    assert Page(page).loads == []
    addresses = set(re.findall(r"https?://[^\"'\s<>)]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"}
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page)


def test_nothing_but_the_sheet_and_the_script_of_the_page_is_allowed(page: str) -> None:
    frame = html.framed(sample.trigger_signal(), builders.paper())
    assert re.fullmatch(r'<iframe srcdoc="[^"]*" sandbox style="[^"]*"></iframe>', frame)
    framed = unescape(frame)
    for text in (page, framed):
        found = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', text)
        [policy] = map(unescape, found)
        assert policy.startswith("default-src 'none'; ")
        allowed = re.findall(r"'sha256-([^']+)'", policy)
        there = re.findall(r"<(?:style|script)>(.*?)</(?:style|script)>", text, flags=re.S)
        hashes = [b64encode(sha256(part.encode()).digest()).decode() for part in there]
        assert hashes == allowed[: len(hashes)]
        assert len(allowed) == 2


def test_opens_with_what_failed_then_statements_verdicts_and_budget(
    page: str, bare: Record
) -> None:
    ids = ("reading", "attention-heading", "statements", "verdicts", "budget", "claims")
    places = [page.index(part) for part in ("<h1>", *(f'id="{name}"' for name in ids))]
    assert places == sorted(places)
    bare.claims = [claim for claim in bare.claims if claim.outcome != "failed"]
    without = html.render(bare)
    assert without.index('id="statements"') < without.index('id="attention-heading"')


@pytest.mark.parametrize("claim", sample.record().claims, ids=lambda claim: claim.id)
def test_every_claim_says_all_it_has(page: str, claim: Claim) -> None:
    section = _section(page, claim.id)
    text = " ".join("".join(Page(f"<section {section}</section>").text).split())
    assert phrases.SYMBOLS[phrases.state(claim)] in text
    assert phrases.state(claim) in text
    assert claim.title in text
    assert claim.source.provenance in text
    assert claim.replay in text
    assert claim.regime in text
    assert claim.why in text
    assert phrases.reason(claim) in text
    if claim.state == "DECIDED":
        for said in (phrases.draws, phrases.certificate, phrases.replicates):
            assert said(claim) in text
    for control in claim.controls:
        assert control.description in text
    for name in phrases.component_names(claim):
        assert name in text
    if claim.state == "DECIDED":
        for said in (phrases.draws, phrases.certificate, phrases.replicates, phrases.resolution):
            assert said(claim) in text
    if claim.expected == "REFUTED":
        assert "declares that it is false" in text
        assert str(claim.explanation) in text


def test_a_missed_control_is_not_shown_as_caught(page: str) -> None:
    section = _section(page, "A.floor")
    assert "0 of 1 caught" in section
    assert "not refuted: INCONCLUSIVE" in section
    assert '<span class="caught">' not in section


def test_verdict_words_match_the_record(report: Record, page: str) -> None:
    table = _section(page, "verdicts") + _section(page, "beyond")
    for claim in report.claims:
        start = table.rindex(f'href="#{claim.id}"')  # the table of assumptions has it before
        row = table[table.rindex("<tr", 0, start) : table.index("</tr>", start)]
        assert f'data-state="{phrases.state(claim)}"' in row
        assert phrases.state(claim) in row
        assert phrases.finding(claim.head) in row


def test_worst_components_are_in_full_view(report: Record) -> None:
    claim = sample.trigger_signal()
    worst = claim.components[-1]
    worst.interval = worst.one_sided = Range(1.02, 1.04)
    worst.verdict = Verdict.INCONCLUSIVE
    report.claims = [claim]
    section = _section(html.render(report), claim.id)
    shown, more, folded = section.partition("5 more, farther from the edges")
    assert more
    assert "<tr" in folded
    assert phrases.finding(worst) in shown


def test_what_did_not_pass_is_said_with_its_reason_before_the_verdicts(
    report: Record, page: str
) -> None:
    opening = page[page.index("<main>") : page.index('id="statements"')]
    for claim in report.claims:
        listed = f'href="#{claim.id}"' in opening
        assert listed == (claim.outcome != "passed")
        assert not listed or phrases.reason(claim) in opening


def test_a_statement_says_whether_it_holds_how_sharply_and_on_what_evidence(
    report: Record, page: str
) -> None:
    section = _section(page, "statements")
    for entry in summary.statements(report)["A"]:
        start = section.index(f'id="statement-{entry.name}"')
        row = section[start : section.index("</tr>", start)]
        telling = summary.telling(entry.claims)
        if telling is None:
            assert "no claim in this run" in row
            continue
        for state, number in summary.count(entry.claims).items():
            assert f"{number}&nbsp;{state.removesuffix(' as declared')}" in row
        assert phrases.finding(telling.head) in row
        assert '<svg class="bar' in row
        for kind, found in summary.evidence(entry.claims).items():
            assert f"{len(found)}&nbsp;{kind}" in row
        assert all(f'href="#{claim.id}"' in row for claim in entry.claims)


def test_what_pictures_show_is_said_before_the_first_and_is_what_is_printed(
    report: Record, page: str
) -> None:
    """A picture has one range, of which the figures beside it are the ends."""
    legend = _section(page, "reading")
    assert page.index('<svg class="bar') == page.index(legend) + legend.index('<svg class="bar')
    assert "which are those printed beside it" in legend
    for word in ("claim", "region", "estimate", "verdict", "resolution", "controls", "time"):
        assert f'<dfn id="word-{word}">' in legend
    assert "one-sided bounds" not in page
    for claim in report.claims:
        for part, bar in zip(claim.components, bars(claim.components), strict=True):
            printed = part.shown
            again = bars([replace(part, interval=printed, one_sided=printed)])[0]
            if len(claim.components) == 1:
                assert bar == again


def test_a_statement_that_is_tested_by_derivations_alone_says_so(report: Record) -> None:
    for entry in summary.statements(report)["A"]:
        for claim in entry.claims:
            claim.source.provenance = "derived"
    [row] = re.findall(r'id="statement-A3".*?</tr>', html.render(report), flags=re.S)
    assert "through our derivations" in row
    for claim in report.claims:
        claim.source.provenance = "stated"
    assert "through our derivations" not in html.render(report)


def test_claims_are_laid_out_when_they_are_near(page: str) -> None:
    sheet = page[page.index("<style>") : page.index("</style>")]
    screen, _, printed = sheet.partition("@media print")
    assert "content-visibility: auto" in screen
    assert "content-visibility: visible" in printed


def test_explored_is_a_state_of_its_own_and_no_verdict(page: str) -> None:
    section = _section(page, "A.explored")
    assert "~</span>&nbsp;EXPLORED" in section
    assert phrases.EXPLORED in section
    assert "On this evidence: The bounds lie inside the region" in section
    assert "SUPPORTED" not in section
    assert "supported" not in section
    assert 'class="caught"' not in section
    assert phrases.EXPLORED in page[: page.index("<main>")]


def test_a_region_from_a_pilot_has_a_tag(page: str) -> None:
    pilot = '<span class="tag pilot">region from a pilot</span>'
    assert page.count(pilot) == 2  # in the table and on the card
    assert pilot in _section(page, "A.all-tokens")


def test_a_card_says_registration_certificate_and_replicates(page: str) -> None:
    text = _section(page, "A.all-tokens")
    assert "evidence set 2 of 2 in this ledger: at most 2 times its alpha" in text
    assert "certified in a world made of its own evidence" in text
    assert "64 to 512 per cell" in _section(page, "A.critical-samples")


def test_exploratory_claims_stand_apart(page: str) -> None:
    verdicts, beyond = _section(page, "verdicts"), _section(page, "beyond")
    for verdict in ("survives", "breaks", "inconclusive"):
        assert f"A.beyond-{verdict}" not in verdicts
        assert f"A.beyond-{verdict}" in beyond
    assert "Exploratory: it tests" in _section(page, "A.beyond-breaks")
    assert "<p>1 SURVIVES, 1 BREAKS and 1 INCONCLUSIVE. " in beyond
    assert '<th scope="col">localisation</th>' in beyond
    assert '<tr><th scope="row">one head: 31</th><td><a href="#A.beyond-breaks">' in beyond


def test_what_is_not_there_is_not_shown(bare: Record, page: str) -> None:
    assert "732 MiB in the largest process" in page
    bare.derivations, bare.suite.commit, bare.suite.peak_memory_mib = [], None, None
    bare.papers[0].statements = []
    bare.claims = [claim for claim in bare.claims if not claim.exploratory]
    for claim in bare.claims:
        claim.tiers = []
    without = html.render(bare)
    Page(without)
    for part in ("Peak memory", 'id="graph"', 'id="beyond"', 'name="tiers"'):
        assert part in page
        assert part not in without


def test_overview_counts_verdicts_by_paper(bare: Record) -> None:
    bare.papers.append(builders.paper("B", "Two"))
    bare.claims[0].source = replace(bare.claims[0].source, paper="B")
    table = _section(html.render(bare), "verdicts")
    table = table[table.index('class="overview"') : table.index("</table>")]
    [heads, first, second] = [
        re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", r) for r in table.split("<tr")[1:]
    ]
    assert heads[1:3] == ["SUPPORTED", "REFUTED as declared"]
    assert first[0] == "<strong>B</strong> Two"
    assert [first[1], first[-1]] == ["1", "1"]
    supported = [c for c in bare.claims[1:] if c.verdict == "SUPPORTED"]
    assert [second[1], second[-1]] == [str(len(supported)), str(len(bare.claims) - 1)]


def test_rows_carry_what_the_filters_ask_for(bare: Record) -> None:
    bare.papers.append(builders.paper("B"))
    bare.claims[0].source = replace(bare.claims[0].source, paper="B")
    page = html.render(bare)
    row = r'data-paper="(\w+)" data-tiers="standard full">.*?<a href="#([^"]+)">'
    rows = re.findall(row, page, flags=re.S)
    assert {(c.source.paper, c.id) for c in bare.claims} == set(rows)
    assert re.findall(r"<option>(\w+)</option>", page) == ["B", "A", "standard", "full"]


def test_claims_and_rows_are_in_one_order(page: str) -> None:
    """The script that filters pairs them by position."""
    rows = re.findall(r'data-tiers="[^"]*">.*?<a href="#([^"]+)">', page, flags=re.S)
    assert rows == re.findall(r'<section class="claim [^>]* id="([^"]+)"', page)


def test_the_details_of_a_claim_are_folded(page: str, report: Record) -> None:
    """As text that cannot end early; what leads to a claim and names it stands outside."""
    panel = (
        "</header>\\s*<details( open)?><summary>[^<]*</summary><noscript>(.*?)</noscript></details>"
    )
    folded = re.findall(f"{panel}\\s*</section>", page, flags=re.S)
    assert len(folded) == len(report.claims) == page.count("noscript>") / 2
    assert [bool(o) for o, _ in folded].count(True) == sum(
        claim.outcome == "failed" for claim in report.claims
    )
    for _, details in folded:
        Page(f"<div>{details}</div>")
        assert " id=" not in details


def test_what_rests_on_what_leads_to_the_rows_and_names_verdicts(page: str) -> None:
    rows = dict(
        re.findall(
            r'scope="row"><a href="#([^"]+)">.*?</a></th>(.*?)</tr>', _section(page, "graph"), re.S
        )
    )
    assert set(rows) == {"statement-A3", "statement-A9", "statement-A13"} | {
        f"derivation-theory.{name}" for name in ("signal", "localisation", "recall")
    }
    assert "ERROR" in rows["statement-A9"]
    assert "no claim" in rows["statement-A13"]
    bases, carried = rows["statement-A3"].split('data-label="carries"')
    assert 'href="#statement-A9"' in bases
    assert 'href="#statement-A13"' in carried


def test_no_inline_style_and_no_class_without_rule(page: str) -> None:
    assert ' style="' not in page
    sheet = page[page.index("<style>") : page.index("</style>")]
    plots = "".join(re.findall("<figure>(.*?)<figcaption>", page, flags=re.S))
    used = {name for names in re.findall(r'class="([^"]+)"', plots) for name in names.split()}
    assert {"k0", "dash0", "whiskers", "heading"} <= used
    assert used - {"line"} <= set(re.findall(r"\.([\w-]+)", sheet))


def test_the_page_grows_in_proportion_to_its_claims(report: Record) -> None:
    claims = report.claims[:13]
    calls, sizes = [], []
    for number in (13, 26, 52):
        report.claims = [replace(claims[i % 13], id=f"A.claim-{i:03}") for i in range(number)]
        profile = cProfile.Profile()
        sizes.append(len(profile.runcall(html.render, report).encode()))
        calls.append(sum(entry.callcount for entry in profile.getstats()))
    for counts in (calls, sizes):
        few, some, many = counts
        assert many - some < 1.05 * 2 * (some - few)
    assert sizes[-1] < 1_300_000
