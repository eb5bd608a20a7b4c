"""The README is short, and says what the code says; so do the pages it leads to."""

import re
from pathlib import Path

import pytest

import recall_claims
from recall_claims.judge.rules import Rule
from recall_reports.record.files import load

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *(ROOT / ".github").rglob("*.md"), *ROOT.glob("*/README.md")]


def test_it_is_read_in_a_few_minutes() -> None:
    assert len(README.partition("<!--")[0].split()) <= 1150
    assert "![" in README
    assert README.count("```sh") == 1


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert link.startswith("https://") or (page.parent / link).exists(), link


def test_the_claim_is_in_its_file() -> None:
    [shown] = [block.split("```")[0] for block in README.split("```python\n")[1:]]
    [file] = re.findall(r"\[(claims/\w+/test_\w+\.py)\]", README)
    rest = (ROOT / file).read_text(encoding="utf-8")
    for part in shown.split("    ...\n"):  # what is left out lies between these, in this order
        _, found, rest = rest.partition(part)
        assert found, part


def test_the_runs_that_say_how_long_they_will_take_are_those_of_the_baseline() -> None:
    tier = load(ROOT / "reports" / "baseline.json").suite.tier
    assert f"A run of the {tier} tier says at its start how long" in " ".join(README.split())


def test_every_rule_is_explained_by_an_example() -> None:
    page = (ROOT / ".github/docs/rules.md").read_text(encoding="utf-8")
    names = {name: getattr(recall_claims, name) for name in recall_claims.__all__}
    shown = {type(eval(code, names)) for code in re.findall(r"\| `(\w+\(.*\))` \|", page)}
    rules = {rule for rule in names.values() if isinstance(rule, type) and issubclass(rule, Rule)}
    assert shown == rules


def test_every_option_is_explained() -> None:
    options = (ROOT / "claims/recall_claims/plugin/options.py").read_text(encoding="utf-8")
    page = (ROOT / ".github/docs/options.md").read_text(encoding="utf-8")
    for name in re.findall(r'addoption\(\s*"(--[a-z-]+)"', options):
        assert f"| `{name}" in page, name
