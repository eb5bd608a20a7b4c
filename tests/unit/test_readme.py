"""The README is short, and says what the record and the code say; so do the pages it leads to."""

import re
from collections import Counter
from pathlib import Path

import pytest

from recall_reports import phrases, summary
from recall_reports.files import load

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *(ROOT / ".github").rglob("*.md"), *ROOT.glob("*/README.md")]
BASELINE = load(ROOT / "reports" / "baseline.json")


def test_it_is_read_in_a_few_minutes() -> None:
    assert len(README.split()) <= 1200
    assert "![" in README
    assert README.count("```sh") == 1


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert link.startswith("https://") or (page.parent / link).exists(), link


def test_the_claim_is_in_its_file_and_its_verdict_in_the_record() -> None:
    [shown] = [block.split("```")[0] for block in README.split("```python\n")[1:]]
    [file] = re.findall(r"\[(claims/\w+/test_\w+\.py)\]", README)
    rest = (ROOT / file).read_text(encoding="utf-8")
    for part in shown.split("    ...\n"):  # what is left out lies between these, in this order
        _, found, rest = rest.partition(part)
        assert found, part
    [verdict] = [line for line in README.splitlines() if line.startswith("✓")]
    [claim] = [claim for claim in BASELINE.claims if f'"{claim.id}"' in shown]
    figures = f"{phrases.finding(claim.head)} {phrases.controls(claim)}"
    shown = re.sub(r" \d+ s$", "", verdict)  # the time is that of any run
    assert shown == f"{phrases.label(claim)} {claim.id} {figures}"


def test_counts_are_those_of_the_record() -> None:
    theorems, beyond = summary.split(BASELINE)
    on, off = summary.count(theorems), Counter(claim.verdict for claim in beyond)
    refuted, planted = summary.controls(BASELINE)
    text = " ".join(README.split())
    for said in (
        f"The suite has {len(BASELINE.claims)} claims. {len(theorems)} are on theorems: "
        f"{on['SUPPORTED']} are SUPPORTED, {on[summary.AS_DECLARED]} are statements",
        f"{on['NOT RUN']} were not run",
        f"The other {len(beyond)} are exploratory",
        f"{off['SURVIVES']} results survive and {off['BREAKS']} break",
        f"Of {planted} controls, all are refuted",
    ):
        assert said in text, said
    assert refuted == planted


def test_every_option_is_explained() -> None:
    options = (ROOT / "claims/recall_claims/plugin/options.py").read_text(encoding="utf-8")
    page = (ROOT / ".github/docs/options.md").read_text(encoding="utf-8")
    for name in re.findall(r'addoption\(\s*"(--[a-z-]+)"', options):
        assert f"| `{name}" in page, name
