"""Formulas become MathML; what cannot be converted stays readable, and nothing injects markup."""

from xml.etree import ElementTree

import pytest

from recall_reports import formula


@pytest.mark.parametrize(
    "latex",
    [
        r"\frac{E\theta_{\mathrm{trig}}}{s_0} = \Big(1-\frac1V\Big)\Big[1+\tau\frac VN\Big]",
        r"P = \frac1V\sum_u F_V(\theta_u+\theta_{trig})^{L-1}",
        r"\arg\max\{T,A,B,C_2\}",
        r"d^2 \ge 2V\log V\,(1 + 1/\lambda)",
        r"\log N = a\log V + \sqrt{x} \simeq \kappa \int_0^1 f\,dt",
    ],
)
def test_mathml(latex: str) -> None:
    math = ElementTree.fromstring(formula.mathml(latex))
    assert math.tag.endswith("math")
    assert math.get("display") == "block"
    assert "\\" not in "".join(math.itertext())


def test_function_names_keep_their_distance() -> None:
    spaced = formula.mathml(r"V\log V")
    assert spaced.count("<mspace") == 2
    assert "<mspace" not in formula.mathml(r"\log(V)")
    assert ElementTree.fromstring(formula.mathml(r"\log_2 V")) is not None
    assert 'lspace="0" rspace="0">/' in formula.mathml("d_{1/2}")


@pytest.mark.parametrize("latex", [r"\unknowncommand{x}", r"\frac{1}{", r"x^{", r"\left("])
def test_fallback_shows_the_source(latex: str) -> None:
    result = formula.mathml(latex)
    if "<math" not in result:
        assert result == f'<code class="latex">{latex}</code>'
    assert r"\unknowncommand" in formula.mathml(r"\unknowncommand{x}")


def test_formula_cannot_inject_markup() -> None:
    assert "<script" not in formula.mathml(r"x < y <script>alert(1)</script> \unknown")


def test_prose() -> None:
    text = "First  line\ngoes on with `code` & $x^2$.\n\n   Second <b>paragraph</b>."
    result = formula.prose(text)
    assert result.count("<p>") == 2
    assert "First line goes on" in result
    assert "<code>code</code> &amp; <math" in result
    assert "&lt;b&gt;" in result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("1/(L^2 V)", "1/(L<sup>2</sup> V)"),
        ("d^(3/2) <= V^c", "d<sup>3/2</sup> &lt;= V<sup>c</sup>"),
        ("z_trig and W_KQ", "z<sub>trig</sub> and W<sub>KQ</sub>"),
        ("vocab_size, grad_V", "vocab_size, grad_V"),
        ("L^-1", "L<sup>-1</sup>"),
    ],
)
def test_powers_and_indices_in_running_text(text: str, result: str) -> None:
    assert formula.inline(text) == result


def test_lone_dollar_is_text() -> None:
    assert formula.inline("5 $ and no formula") == "5 $ and no formula"
