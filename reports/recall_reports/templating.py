"""Fill in the files of `templates/`: HTML, with all text escaped, and plain text."""

import base64
import hashlib
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from recall_reports import figures, formula, hunted, opening, phrases, summary


def page(name: str, **values: Any) -> str:
    """Fill in a template; HTML and SVG have all text escaped, Markdown has none."""
    return _environment().get_template(name).render(**values)


@cache
def _environment() -> Environment:
    """Load the templates with the phrases and functions that they use."""
    found = Environment(
        loader=PackageLoader("recall_reports"),
        autoescape=lambda name: name is None or not name.endswith(".md.j2"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals.update(
        figures=figures,
        opening=opening,
        phrases=phrases,
        summary=summary,
        hunted=hunted,
        policy=_policy,
    )
    found.filters.update(mathml=formula.mathml, prose=formula.prose, inline=formula.inline)
    return found


def _policy(*texts: str) -> str:
    """Write a content security policy: only this style sheet and script, no network."""
    hashes = (base64.b64encode(hashlib.sha256(text.encode()).digest()) for text in texts)
    sheet, script = (f"'sha256-{digest.decode()}'" for digest in hashes)
    return (
        f"default-src 'none'; style-src {sheet}; script-src {script}; "
        "base-uri 'none'; form-action 'none'"
    )
