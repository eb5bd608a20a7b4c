"""The report as one HTML file that needs no network, no script and no other file."""

import re
import textwrap
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from recall_reports import formula, graph, plots, summary, trust, words
from recall_reports.bars import Bar, bars, overshoot
from recall_reports.record import Record

SHOWN = 10  # components in full view; the others fold away


def render(report: Record) -> str:
    """The page of a valid record."""
    page = environment().get_template("report.html.j2")
    claims, beyond = summary.split(report)
    text = page.render(
        suite=report["suite"],
        groups={name: [_view(claim) for claim in group] for name, group in summary.groups(claims)},
        beyond=_views_on_one_scale(beyond),
        sentence=summary.sentence(report),
        present={words.state(claim) for claim in report["claims"]},
        attention=summary.attention(report),
        statements=_by_paper(summary.statements(report)),
        derivations=summary.derivations(report),
        papers=summary.overview(report),
        tiers=list(dict.fromkeys(t for c in report["claims"] for t in c.get("tiers", ()))),
        report=report,
        schema=report["schema"],
    )
    return _share_styles(text)


def _share_styles(page: str) -> str:
    """The page with a class in place of every `style`; plots repeat a few thousands of times."""
    names: dict[str, str] = {}

    def name(match: re.Match[str]) -> str:
        return f' class="{names.setdefault(match[1], f"s{len(names)}")}"'

    body = re.sub(r' style="([^"]*)"', name, page)
    rules = "".join(f".{name} {{ {style} }}\n" for style, name in names.items())
    return body.replace("</style>", f"{rules}</style>", 1)


@cache
def environment() -> Environment:
    """The templates, with the words and functions that they use."""
    environment = Environment(
        loader=PackageLoader("recall_reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        words=words,
        summary=summary,
        trust=trust,
        list_states=summary.list_states,
        draw=_draw,
        statement_anchor=lambda entry: f"statement-{entry['id']}",
        derivation_anchor=lambda entry: f"derivation-{entry['id'].replace('/', '-')}",
        bar=_bar,
        include_raw=_include_raw,
    )
    environment.filters.update(mathml=formula.mathml, prose=formula.prose, inline=formula.inline)
    return environment


def _include_raw(name: str) -> Markup:
    """A file of the templates as it is (the style sheet, the script)."""
    loader = environment().loader
    assert loader is not None
    return Markup(loader.get_source(environment(), name)[0])


def _by_paper(statements: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The statements by paper; records of earlier versions do not say which, only in the id."""
    found: dict[str, list[dict[str, Any]]] = {}
    for statement in statements:
        paper = statement.get("paper") or statement["id"].rstrip("0123456789")
        found.setdefault(paper, []).append(statement)
    return found


def _draw(entries: list[dict[str, Any]]) -> tuple[graph.Graph, list[dict[str, Any]]]:
    """What rests on what, and what to write into each box."""
    drawing = graph.draw({entry["id"]: entry["rests_on"] for entry in entries})
    boxes = [
        {
            **entry,
            "place": drawing.places[entry["id"]],
            "state": summary.combined(entry["claims"]),
            "lines": textwrap.wrap(formula.bare(entry["text"]), 24, max_lines=3, placeholder=" …"),
        }
        for entry in entries
        if entry["id"] in drawing.places
    ]
    return drawing, boxes


def _view(claim: dict[str, Any]) -> dict[str, Any]:
    """A claim with what the template needs beside the record itself."""
    parts = claim["components"]
    rows = list(zip(words.findings(parts), parts, bars(parts), strict=True))
    shown = sorted(rows, key=lambda row: -overshoot(row[1])) if len(rows) > SHOWN else rows
    return {
        **claim,
        "rows": shown[:SHOWN],
        "more_rows": shown[SHOWN:],
        "panels": plots.panels(claim),
        "bar": _bar(claim) if claim["interval"] and claim["region"] else None,
    }


def _views_on_one_scale(claims: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Exploratory claims, whose bars can be compared with one another where regions agree."""
    views = [_view(claim) for claim in claims]
    decided = [view for view in views if view["bar"]]
    for view, bar in zip(decided, bars(decided), strict=True):
        view["bar"] = bar
    return views


def _bar(finding: dict[str, Any]) -> Bar:
    return bars([finding])[0]
