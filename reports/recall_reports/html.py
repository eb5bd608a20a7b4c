"""The report as one HTML file that needs no network and no other file."""

import base64
import re
import zlib
from collections.abc import Sequence

from markupsafe import escape

from recall_reports import phrases, plots
from recall_reports.analyses import Analyses
from recall_reports.plots import figure
from recall_reports.plots.bars import Bar, bars, sharpness
from recall_reports.record import ClaimRow, ComponentRow, PaperRow, Record
from recall_reports.templating import page

IN_FULL_VIEW = 10  # largest number of components; further ones fold away
FOLDED = re.compile(r"<template>(.*?)</template>", re.DOTALL)

Row = tuple[Sequence[str], ComponentRow, Bar, str]
View = tuple[Sequence[str], Sequence[Row], Sequence[Row], Sequence[plots.Panel]]
"""Parts of a claim's view: varying parameters, components nearest the edges, other components,
plots."""


def render(record: Record, analyses: Analyses | None = None) -> str:
    """Make the page of a valid record; `analyses` are its usual analyses, if already made."""
    analyses = analyses or Analyses(record.claims, record.usual)
    text = page(
        "report.html.j2",
        folded=True,
        record=record,
        suite=record.suite,
        views={claim.id: _view(claim, analyses) for claim in record.claims},
        analyses=analyses,
        sharpness=sharpness,
        drawn_figures=figure.figures(record, analyses),
        papers={paper.key: paper for paper in record.papers},
    )
    # Folded parts are nine tenths of the page, and mostly alike from claim to claim.
    parts = "\0".join(FOLDED.findall(text)).encode()
    packed = base64.b64encode(zlib.compress(parts, 9)).decode()
    return FOLDED.sub("<template></template>", text).replace(
        '<script type="text/plain"></script>', f'<script type="text/plain">{packed}</script>'
    )


def picture(record: Record) -> str:
    """Draw a record's figures as one SVG, light or dark like the reader's screen."""
    drawn = figure.figures(record, Analyses(record.claims, record.usual))
    return page("picture.svg.j2", drawn=drawn) + "\n"


def framed(claim: ClaimRow, paper: PaperRow) -> str:
    """Put a claim's part of the page into a frame, for a page with other styles.

    The frame is a sandbox: nothing in it can run or reach the page around it.
    """
    analyses = Analyses([claim])
    views = {claim.id: _view(claim, analyses)}
    papers = {paper.key: paper}
    alone = page(
        "single.html.j2", folded=False, claim=claim, analyses=analyses, views=views, papers=papers
    )
    size = "width:100%;height:40rem;border:0"
    return f'<iframe srcdoc="{escape(alone)}" sandbox style="{size}"></iframe>'


def _view(claim: ClaimRow, analyses: Analyses) -> View:
    parts = claim.components
    drawn = bars(parts, analyses.ends(claim), log=claim.rule.scale == "error")
    names = phrases.varying(claim)
    named = [[name] for name in phrases.component_names(claim)]
    if names:
        named = [
            [phrases.setting(part.params[name]) if name in part.params else "–" for name in names]
            for part in parts
        ]
    usual = analyses.said(claim)
    rows = list(zip(named, parts, drawn, usual, strict=True))
    if len(rows) > IN_FULL_VIEW:
        rows.sort(key=lambda row: (row[1].distance is not None, -(row[1].distance or 0.0)))
    return names, rows[:IN_FULL_VIEW], rows[IN_FULL_VIEW:], plots.panels(claim)
