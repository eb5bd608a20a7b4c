"""The usual analyses of a record, in words, and where they disagree with its verdicts.

A record keeps the analyses, made by `usual`. If a claim's are missing, this module makes them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from recall_reports import figures, phrases
from recall_reports.record import ClaimRow, ComponentRow, Range, Usual, UsualRow
from recall_reports.record.values import Verdict

MISSES = 0.05
"""Level of the tests, for p-values adjusted for all tests of a run."""


@dataclass(frozen=True)
class Tested:
    """A component with its usual analysis and the adjusted p-value."""

    claim: ClaimRow
    component: ComponentRow
    usual: Usual
    adjusted: float

    @property
    def disagrees(self) -> bool:
        """Whether the interval is outside a supported component's region, or inside a refuted
        component's region.
        """
        low, high = self.component.region.ends
        left, right = self.usual.ends.ends
        if self.component.verdict is Verdict.SUPPORTED:
            return left > high or right < low
        return self.component.verdict is Verdict.REFUTED and low <= left and right <= high

    @property
    def text(self) -> str:
        """The estimate with its interval, as text."""
        return figures.with_interval(self.usual.estimate, self.usual.ends)

    @property
    def disagreement(self) -> str:
        """Say where the usual interval lies, and the verdict."""
        verdict = self.component.verdict
        where = "inside" if verdict is Verdict.REFUTED else "outside"
        name = phrases.component_name(self.claim, self.component, self.component.params)
        region = figures.region(self.component)
        return (
            f"The {phrases.USUAL}, disagrees with {verdict} at {name}: {self.text} lies {where} "
            f"the region {region}."
        )


class Analyses:
    """The usual analysis of every component of a run's claims.

    Args:
        claims: claims of the run.
        stored: analyses in the record, by claim.
    """

    def __init__(
        self, claims: Sequence[ClaimRow], stored: Mapping[str, UsualRow] | None = None
    ) -> None:
        self._claims = claims
        self._components = {name: row.components for name, row in (stored or {}).items()}
        self._cells = {name: row.cells for name, row in (stored or {}).items()}

    def of(self, claim: ClaimRow) -> Sequence[Usual | None]:
        """Return the analysis of each component of a claim; None for a component without one."""
        found = self._components.get(claim.id, [])
        if len(found) != len(claim.components):
            from recall_reports import usual  # its import takes longer than a page

            found = self._components[claim.id] = usual.components(claim)
        return found

    def bars(self, claim: ClaimRow) -> Sequence[Range | None]:
        """Return the 95% interval of each cell's observed value; None without a standard error."""
        found = self._cells.get(claim.id, [])
        if len(found) != len(claim.cells):
            from recall_reports import usual  # as above

            found = self._cells[claim.id] = [usual.interval(cell) for cell in claim.cells]
        return found

    @cached_property
    def tested(self) -> list[Tested]:
        """The components with an analysis, from the smallest p-value."""
        pairs = [
            (claim, component, usual)
            for claim in self._claims
            for component, usual in zip(claim.components, self.of(claim), strict=True)
            if usual is not None
        ]
        pairs.sort(key=lambda pair: pair[2].p_value)
        raised = ((len(pairs) - i) * pair[2].p_value for i, pair in enumerate(pairs))
        adjusted = (min(p, 1.0) for p in accumulate(raised, max))  # Holm's
        return [Tested(*pair, p) for pair, p in zip(pairs, adjusted, strict=True)]

    def said(self, claim: ClaimRow) -> list[str]:
        """Return each component's analysis as text; all are empty if the claim has no analysis."""
        found = self.of(claim)
        none = ("no usual interval" if claim.rule.locates else "–") if any(found) else ""
        return [
            none if one is None else figures.with_interval(one.estimate, one.ends) for one in found
        ]

    def headline(self, claim: ClaimRow) -> str:
        """Return the text of the component that tables show for the claim; a dash for none."""
        return (self.said(claim)[claim.headline] if claim.components else "") or "–"

    def ends(self, claim: ClaimRow) -> list[Range | None]:
        """Return each component's usual interval."""
        return [None if found is None else found.ends for found in self.of(claim)]

    @property
    def beyond(self) -> list[Tested]:
        """The components that adjusted p-values show to be outside their regions."""
        return [found for found in self.tested if found.adjusted < MISSES]

    @property
    def disagreeing(self) -> list[Tested]:
        """The components whose usual analysis disagrees with their verdict."""
        return [found for found in self.tested if found.disagrees]
