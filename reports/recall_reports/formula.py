"""Formulas and running text as HTML."""

import re
from itertools import zip_longest
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert
from markupsafe import Markup, escape

INLINE = re.compile(r"\$([^$]+)\$|``?([^`]+)``?")
RAISED = re.compile(r"\^(?:\((-?\w+(?:/\w+)?)\)|(-?\w+))")
FUNCTIONS = ("log", "ln", "exp", "max", "min")
SPACE = {"width": "0.17em"}
LOWERED = re.compile(r"\b([A-Za-z])_(\w+)\b")


def mathml(latex: str, *, block: bool = True) -> Markup:
    """MathML of a formula, readable without script; the LaTeX as code where it cannot be had."""
    try:
        known = latex.replace(r"\arg", r"\operatorname{arg}")  # the one the converter lacks
        text = convert(known, xmlns="", display="block" if block else "inline")
        converted = None if "\\" in text else ElementTree.fromstring(text)
    except Exception:  # the converter documents no base class; the LaTeX source is always readable
        converted = None
    if converted is None:  # a command that the converter does not know is passed on as text
        return Markup('<code class="latex">{}</code>').format(latex)
    converted.set("xmlns", "http://www.w3.org/1998/Math/MathML")
    _space(converted)
    return Markup(ElementTree.tostring(converted, encoding="unicode"))


def _space(node: Element) -> None:
    """Space as TeX does, which the converter does not: none at / and |, some at a function name."""
    for index, (child, following) in enumerate([*zip_longest(node, node[1:])]):
        _space(child)
        if child.tag == "mo" and child.text in ("/", "|"):
            child.attrib |= {"lspace": "0", "rspace": "0"}
        named = child.tag == "mi" and child.text in FUNCTIONS
        if named and (following is None or following.text != "("):
            node[index] = Element("mrow")
            node[index].extend((Element("mspace", SPACE), child, Element("mspace", SPACE)))


def prose(text: str) -> Markup:
    """Paragraphs of plain text, each set as by `inline`."""
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip())]
    return Markup("").join(
        Markup("<p>{}</p>").format(inline(paragraph)) for paragraph in paragraphs if paragraph
    )


def inline(text: str) -> Markup:
    """One stretch of text; `$...$` becomes MathML, backquotes code, and V^2 and z_trig as read."""
    result, position = Markup(""), 0
    for match in INLINE.finditer(text):
        result += _plain(text[position : match.start()])
        latex, code = match.groups()
        result += mathml(latex, block=False) if latex else Markup("<code>{}</code>").format(code)
        position = match.end()
    return result + _plain(text[position:])


def bare(text: str) -> str:
    """Text without markup, for where none can be set; a formula with commands is left out."""
    kept = INLINE.sub(lambda m: "" if m[1] and "\\" in m[1] else m[1] or m[2], text)
    return re.sub(r"\s+(?=[,.:;?])", "", " ".join(kept.split()))


def _plain(text: str) -> Markup:
    raised = RAISED.sub(r"<sup>\1\2</sup>", str(escape(text)))
    return Markup(LOWERED.sub(r"\1<sub>\2</sub>", raised))
