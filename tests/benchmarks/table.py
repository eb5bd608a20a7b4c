"""The one table of all benchmarks."""

from collections.abc import Sequence
from dataclasses import dataclass

HEADINGS = ("benchmark", "case", "ours", "against", "theirs", "factor")


@dataclass(frozen=True)
class Row:
    """One comparison, as text with units."""

    case: str
    ours: str
    against: str
    theirs: str
    factor: str

    @property
    def cells(self) -> tuple[str, ...]:
        """The row's columns after the name of the benchmark."""
        return (self.case, self.ours, self.against, self.theirs, self.factor)


def compared(
    case: str, ours: float, against: str, theirs: float, unit: str, *, more: bool = False
) -> Row:
    """A row of two figures in a unit; `more` says that the larger one is better."""
    least = 4 / 1024 if unit == "MiB" else 0.0  # less than a page is measured as none
    better = factor(ours, theirs) if more else factor(theirs, max(ours, least))
    return Row(case, figure(ours, unit), against, figure(theirs, unit), better)


def figure(value: float, unit: str) -> str:
    """A value with its unit, whole from 100 on."""
    return f"{value:.0f} {unit}" if value >= 100 else f"{value:.1f} {unit}"


@dataclass(frozen=True)
class Section:
    """The rows of one benchmark.

    Attributes:
        name: of the benchmark.
        rows: its comparisons.
        note: what is compared and how, in sentences.
        kept: whether every promise was kept.
    """

    name: str
    rows: tuple[Row, ...]
    note: str
    kept: bool = True


def as_markdown(sections: Sequence[Section]) -> str:
    """For RESULTS.md."""
    lines = [_line(HEADINGS), "|---" * len(HEADINGS) + "|"]
    lines += [
        _line(("" if index else section.name, *row.cells))
        for section in sections
        for index, row in enumerate(section.rows)
    ]
    return "\n".join(lines)


def notes(sections: Sequence[Section]) -> str:
    """A Markdown list of what each benchmark compares."""
    return "\n".join(f"- **{section.name}**: {section.note}" for section in sections)


def factor(more: float, less: float) -> str:
    """How many times better ours is: costs of theirs and ours, or speeds of ours and theirs.

    Two significant digits below 10, whole above.
    """
    value = more / less
    return f"{value:.2g}" if value < 9.95 else f"{value:.0f}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
