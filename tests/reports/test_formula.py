"""Formulas become MathML; other text stays readable, and nothing injects markup."""

import re
import time
from xml.etree import ElementTree

import pytest
from latex2mathml import commands

from recall_reports import formula
from recall_reports.record import Record

SPLIT = re.compile(r"\d</(?:mn|sup|sub)>(?:</?\w+>)*[.,]\d")


def test_function_names_keep_their_distance() -> None:
    spaced = formula.mathml(r"V\log V")
    assert 'display="block"' in spaced
    assert spaced.count("<mspace") == 2
    assert "<mspace" not in formula.mathml(r"\log(V)")
    assert ElementTree.fromstring(formula.mathml(r"\log_2 V")) is not None
    assert 'lspace="0" rspace="0">/' in formula.mathml("d_{1/2}")


def test_a_sized_bracket_keeps_its_size_under_an_exponent() -> None:
    power = ElementTree.fromstring(formula.mathml(r"\big(x\big)^2")).find(".//{*}msup")
    assert power is not None
    assert [node.tag.partition("}")[2] for node in power] == ["mrow", "mn"]
    assert [node.text for node in power[0]] == [")", None]


def attacks() -> list[str]:
    """List each command of the converter, and some unknown ones, with attacks as arguments."""
    tables = [value for value in vars(commands).values() if isinstance(value, str | dict | tuple)]
    known = {name for table in tables for name in ([table] if isinstance(table, str) else table)}
    names = {name for name in known if isinstance(name, str) and name[:1] == "\\"}
    names |= {rf"\{name}" for name in ("url", "id", "cssId", "data", "includegraphics", "unicode")}
    script, link = "{<script>ran=1</script>}", "{javascript:ran=1}"
    load = "{background:url(http://nowhere/tex)}"
    arguments = (script + link + load, link + script, f"{load}{{x}}", f"[{script[1:-1]}]{link}")
    return [name + given for name in sorted(names) for given in arguments]


def test_what_is_allowed_comes_out_and_nothing_else() -> None:
    """The test tries all commands that the installed converter knows."""
    array = r"\begin{array}{c|c} x^2 & x_i \\ \hline \sum_i^n & x_i^2 \end{array}"
    elements, attributes = set[str](), set[str]()
    for latex in [*attacks(), array, r"\smallint"]:
        root = ElementTree.fromstring(formula.mathml(latex).replace("xmlns=", "space="))
        assert root.get("class", "latex") == "latex", latex
        for node in root.iter():
            elements.add(node.tag)
            attributes.update(node.keys())
    assert elements == {*formula.ELEMENTS, "code"}
    assert attributes == {*formula.ATTRIBUTES, "space", "class"}


@pytest.mark.parametrize(
    ("latex", "kept"),
    [
        (r"\hspace{1em}", 'width="1em"'),
        (r"\hspace{99em}", ""),
        (r"\hspace{-9em}", ""),
        (r"\raise{9em}{x}", ""),
        (r"\color{white}x", ""),
    ],
)
def test_a_formula_cannot_be_laid_over_other_text(latex: str, kept: str) -> None:
    found = re.findall(r'(?:width|voffset|mathcolor|height)="[^"]*"', formula.mathml(latex))
    assert found == ([kept] if kept else [])


@pytest.mark.parametrize(
    "latex",
    [
        r"\sideset{_a}{_b}{" * 60 + "x" + "}" * 60,
        r"\newcommand{\a}{xx}\newcommand{\b}{\a\a}\newcommand{\c}{\b\b}\c",
        r"\def\a{xx}\a",
        "{" * 5000,
        r"\operatorname{" + " " * 100_000,
        r"\frac{" * 300 + "1" + "}{2}" * 300,
    ],
)
def test_a_formula_cannot_hold_up_the_page(latex: str) -> None:
    start = time.process_time()
    assert formula.mathml(latex).startswith('<code class="latex">')
    assert time.process_time() - start < 1


def test_what_the_baseline_shows_has_no_backslash_and_no_split_number(baseline: Record) -> None:
    for claim in baseline.claims:
        for shown in (formula.mathml(claim.latex), formula.inline(claim.title)):
            assert "\\" not in shown, claim.id
            assert not SPLIT.search(shown), claim.id
        texts = [claim.statement, claim.regime, claim.why, claim.explanation or ""]
        for text in [*texts, *(control.description for control in claim.controls)]:
            assert not SPLIT.search(formula.inline(text)), claim.id


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("K >= d^(1/(2a)) -> 1", "K ≥ d<sup>1/(2a)</sup> → 1"),
        ("T^(-(alpha - 1)/(2 alpha))", "T<sup>-(α - 1)/(2 α)</sup>"),
        ("lambda_t = p_1 d_(t+1)", "λ<sub>t</sub> = p<sub>1</sub> d<sub>t+1</sub>"),
        ("sqrt d, sqrt(2), h_lambda.", "√d, √(2), h<sub>λ</sub>."),
        (
            "A.alpha-law, D.eta, non-beta, `mu >= 2`",
            "A.alpha-law, D.eta, non-beta, <code>mu &gt;= 2</code>",
        ),
        ("d^(2 <b>", "d^(2 &lt;b&gt;"),
    ],
)
def test_plain_text_gets_letters_signs_and_powers(text: str, shown: str) -> None:
    assert formula.inline(text) == shown


@pytest.mark.parametrize("text", ["^(", "x_(", "^((a", "alpha-"])
def test_plain_text_cannot_hold_up_the_page(text: str) -> None:
    start = time.process_time()
    assert formula.inline(text * 50_000)
    assert time.process_time() - start < 1
