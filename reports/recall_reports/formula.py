"""Formulas and running text as HTML, and formulas as text for a terminal."""

import html
import re
from functools import lru_cache
from itertools import zip_longest
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element
from markupsafe import Markup, escape

from recall_reports.record.text import clean

INLINE = re.compile(r"\$([^$]+)\$|``?([^`]+)``?")
BRACKETS = r"\(((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))++)\)"
"""Balanced brackets, at most three deep."""
RAISED = re.compile(rf"\^(?:{BRACKETS}|(-?(?:\d+\.\d+|\w+)))")
LOWERED = re.compile(rf"\b([^\W\d_])_(?:{BRACKETS}|(\d+\.\d+|\w+)\b)")
SIGNS = {"<=": "≤", ">=": "≥", "<<": "≪", ">>": "≫", "->": "→", "sqrt": "√"}
LETTERS = "alpha|beta|gamma|delta|epsilon|eta|theta|kappa|lambda|mu|pi|rho|sigma|tau|omega"
SPELT = re.compile(
    r"<=|>=|<<|>>|->|\bsqrt(?: |(?=\())"
    rf"|(?<![A-Za-z0-9.])(?<!\w-)(?:{LETTERS})(?![A-Za-z0-9-]|\.\w)"
)
"""Signs and letters, but no part of a name such as A.alpha-law."""
FUNCTIONS = ("log", "ln", "exp", "max", "min")
SPACE = {"width": "0.17em"}

BINARY = tuple("=<>≤≥≠≈≃~∼∝∈∉→+−-,")
LONGEST = 2000
"""Largest length of a formula, in characters; conversion time grows faster than length."""
GROWS = re.compile(r"\\(?:def|newcommand|newenvironment|DeclareMathOperator|sideset)(?![a-zA-Z])")
"""Commands by which a short formula can double its length again and again."""
WORD = re.compile(r"\w+")
ELEMENTS = WORD.findall(
    "math mrow mi mn mo mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover "
    "mtable mtr mtd mstyle mpadded mphantom menclose"
)
ATTRIBUTES = WORD.findall(
    "display displaystyle scriptlevel mathvariant stretchy fence form largeop movablelimits accent "
    "lspace rspace minsize maxsize width height depth linethickness notation columnalign "
    "columnlines columnspacing rowlines rowspacing"
)
"""Allowed attributes: no address, style, class or colour."""
VALUE = re.compile(r"[a-z -]+|(?:\d?(?:\.\d+)?(?:em|ex|pt|px)?(?: |$))+")
"""Pattern of allowed values: words, or short positive lengths, which cannot cover other text."""


@lru_cache(maxsize=1024)
def mathml(latex: str, *, block: bool = True) -> Markup:
    """Convert a formula to MathML, readable without script; to its LaTeX as code if this fails.

    For any formula, the MathML has only ELEMENTS, ATTRIBUTES, its namespace and text.
    """
    try:
        converted = _allowed(_converted(latex, block=block))
        converted.set("xmlns", "http://www.w3.org/1998/Math/MathML")
        _space(converted)
        return Markup(ElementTree.tostring(converted, encoding="unicode"))
    except Exception:  # the converter documents no base class; the LaTeX source is always readable
        return Markup('<code class="latex">{}</code>').format(latex)


def _converted(latex: str, *, block: bool) -> Element:
    """Convert a formula; raises ValueError, or an error of the converter."""
    if len(latex) > LONGEST or GROWS.search(latex):
        raise ValueError("it is too long, or may grow")
    known = latex.replace(r"\arg", r"\operatorname{arg}")  # the converter lacks \arg
    found = convert_to_element(known, xmlns="", display="block" if block else "inline")
    if any("\\" in (node.text or "") for node in found.iter()):
        raise ValueError("a command that the converter does not know is passed on as text")
    return found


def line(latex: str) -> str:
    r"""Write a formula in one line of Unicode, or the LaTeX if that fails.

    >>> line(r"P(d_{1/2}) \le \frac12\sqrt{\lambda^2 V}")
    'P(d_(1/2)) ≤ 1/2 √(λ^2V)'
    """
    try:
        text = " ".join(_line(_allowed(_converted(latex, block=False))).split())
        return text.replace(" ,", ",")
    except Exception:  # as in `mathml`
        return latex


def _line(node: Element) -> str:
    parts = [_line(child) for child in node]
    ends = [part if re.fullmatch(r"\w*|.", part) else f"({part})" for part in parts]
    match node.tag.removeprefix("m"):
        case "frac":
            return f" {'/'.join(ends)} "
        case "sqrt":
            return f"√({''.join(parts)})"
        case "sup" | "over":
            return f"{parts[0]}^{ends[1]}"
        case "sub" | "under":
            return f"{parts[0]}_{ends[1]}"
        case "subsup" | "underover":
            return f"{parts[0]}_{ends[1]}^{ends[2]}"
        case "space":
            return " "
    text = (node.text or "").strip()
    return f" {text} " if text in (*BINARY, *FUNCTIONS) else text + "".join(parts)


def _allowed(found: Element) -> Element:
    """Rebuild the converter's output from its text and from allowed elements.

    Turn the text's character references into characters, and clean the text.
    """
    kept = Element(found.tag if found.tag in ELEMENTS else "mrow")
    kept.attrib = {
        name: value
        for name, value in found.items()
        if name in ATTRIBUTES and VALUE.fullmatch(value)
    }
    kept.text = clean(html.unescape(found.text)) if found.text else None
    kept.extend(map(_allowed, found))
    return kept


def _space(node: Element) -> None:
    """Set space like TeX: none at / and |, some at a function name; keep brackets' sizes."""
    for index, (child, following) in enumerate([*zip_longest(node, node[1:])]):
        _space(child)
        if child.tag == "mo" and child.text in ("/", "|"):
            child.attrib |= {"lspace": "0", "rspace": "0"}
        if index == 0 and node.tag in ("msup", "msub", "msubsup") and "minsize" in child.attrib:
            node[0] = Element("mrow")  # else a sized bracket as a base is drawn small and low
            node[0].extend((child, Element("mi")))
        named = child.tag == "mi" and child.text in FUNCTIONS
        if named and (following is None or following.text != "("):
            node[index] = Element("mrow")
            node[index].extend((Element("mspace", SPACE), child, Element("mspace", SPACE)))


def prose(text: str) -> Markup:
    """Set paragraphs of plain text, each by `inline`."""
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip())]
    return Markup("").join(
        Markup("<p>{}</p>").format(inline(paragraph)) for paragraph in paragraphs if paragraph
    )


def inline(text: str) -> Markup:
    """Set a text: `$...$` becomes MathML, and backquotes code.

    In the rest, the 2 of V^2 is raised, the trig of z_trig lowered, and 'alpha >= sqrt(2)' becomes
    'α ≥ √(2)'.
    """
    parts, position = [], 0
    for match in INLINE.finditer(text):
        parts.append(_plain(text[position : match.start()]))
        latex, code = match.groups()
        parts.append(
            mathml(latex, block=False) if latex else Markup("<code>{}</code>").format(code)
        )
        position = match.end()
    return Markup("").join([*parts, _plain(text[position:])])


def signs(text: str) -> str:
    """Set letters and signs that are spelt out.

    >>> signs("alpha >= sqrt(2)")
    'α ≥ √(2)'
    """
    return SPELT.sub(lambda m: SIGNS.get(m[0].strip()) or html.unescape(f"&{m[0]};"), text)


def _plain(text: str) -> Markup:
    return Markup(LOWERED.sub(r"\1<sub>\2\3</sub>", _raised(str(escape(signs(text))))))


def _raised(text: str) -> str:
    """Raise exponents, and exponents within these."""
    return RAISED.sub(lambda match: f"<sup>{_raised(match[1] or match[2])}</sup>", text)
