"""The record of a run: the one versioned document that every report is made from.

These types are the format: `python -m recall_reports schema` prints their JSON schema. In a record
results are numbers and names, which pages put into words. Readers ignore unknown keys, so a record
may gain keys within its version. Types that the library also uses to declare and judge are in
`values`. This package imports nothing of library or page; both build on it.
"""

import math
import sys
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from recall_reports.record.values import Figure as Figure
from recall_reports.record.values import Finite, Plot, Provenance, Scale, Verdict
from recall_reports.record.values import Parameters as Parameters
from recall_reports.record.values import Range as Range
from recall_reports.record.values import Series as Series
from recall_reports.record.values import Text as Text
from recall_reports.record.values import finite as finite

VERSION: Final = "recall-claims/4"

ID: Final = r"^[A-Za-z0-9_]+\.[A-Za-z0-9._-]+(?![\s\S])"
"""Pattern of a claim's id: a dot after its first word sets it apart from the page's other ids."""
NAME: Final = r"^[!-~]([ -~]*[!-~])?(?![\s\S])"
"""Pattern of other names: ASCII, so that no two names look alike."""
Name = Annotated[str, Meta(pattern=NAME)]
Count = Annotated[int, Meta(ge=0)]
Seconds = Annotated[float, Meta(ge=0, le=sys.float_info.max)]
Probability = Annotated[float, Meta(ge=0, le=1)]
ClaimVerdict = Literal["SUPPORTED", "REFUTED", "INCONCLUSIVE", "SURVIVES", "BREAKS"]

ON_THEOREMS: tuple[ClaimVerdict, ...] = ("SUPPORTED", "REFUTED", "INCONCLUSIVE")
EXPLORATORY: tuple[ClaimVerdict, ...] = ("SURVIVES", "BREAKS", "INCONCLUSIVE")
"""Verdicts of the two kinds of claims, in the order of `Verdict`."""


class ComponentRow(Struct, kw_only=True):
    """One coordinate of a claim's estimand. `params`: the cell parameters that name it.

    `interval` is valid for all components together and decides on REFUTED. `one_sided` has a bound
    at the claim's own error probability at each end, and decides on SUPPORTED. `distance`: how far
    `one_sided` reaches out of the region, in widths of the region, or absolute if the region has
    one edge. It is negative inside the region, and None without bounds.
    """

    name: str
    params: Parameters = {}
    estimate: Finite | None
    interval: Range
    one_sided: Range
    region: Range
    distance: Finite | None = None
    verdict: Verdict

    @property
    def shown(self) -> Range:
        """The interval on which the verdict rests."""
        return self.interval if self.verdict == "REFUTED" else self.one_sided


class ControlRow(Struct, kw_only=True):
    """A planted wrong theory, with figures of its worst component if it was tried."""

    id: Name
    description: str
    verdict: Verdict | None = None
    estimate: Finite | None = None
    interval: Range | None = None
    region: Range | None = None


class CellRow(Struct, kw_only=True):
    """One point of the grid. `critical`: the predicted critical value of a scanned parameter.

    `error`: the standard error of `observed`, if that is a mean of several replicates.
    `controls`: wrong predictions of controls, by id; critical values if the rule locates these.
    """

    params: Parameters
    predicted: Finite | str | None = None
    critical: Finite | None = None
    observed: Finite | str | None = None
    interval: Range | None = None
    error: Annotated[float, Meta(ge=0, le=1e300)] | None = None
    replicates: Count
    controls: dict[str, Finite | str | None] = {}


class RuleRow(Struct, kw_only=True):
    """The decision rule. `locates`: whether it predicts critical values, not means of cells.

    `exact`: whether its error probability is a theorem for any data in the declared range.
    """

    name: Text
    method: str
    scale: Scale
    exact: bool
    locates: bool = False


class SourceRow(Struct, kw_only=True):
    """Source of a claim; `module` is the module of its prediction's formula, if registered."""

    paper: Name
    statements: list[Name]
    provenance: Provenance
    reference: str = ""
    module: str | None = None


class BlockCount(Struct, kw_only=True):
    """Number of blocks of replicates, and how many came from earlier runs' ledger."""

    total: Count = 0
    reused: Count = 0


class Blocks(BlockCount, kw_only=True):
    """The blocks of a claim, and reasons why simulated blocks were not in the ledger.

    `divided`: blocks simulated in parts, as memory ran out; their draws are the same.
    """

    recomputed: dict[str, Count] = {}
    divided: Count = 0


class Point(Struct, kw_only=True):
    """A tried point of a regime; `discrepancy`: how far its bounds are outside the region.

    The unit is the region's width, 1 if it has one edge, and the target rate for critical
    values. Negative: bounds reach inside. None: evidence says nothing.
    """

    params: Parameters
    discrepancy: Finite | None = None


class Confirmed(Struct, kw_only=True):
    """A violation, confirmed on fresh evidence.

    `number`: place among all confirmations of the ledger. `alpha`: error probability of this
    confirmation.
    """

    params: Parameters
    number: Annotated[int, Meta(ge=1)]
    alpha: Probability


class Hunt(Struct, kw_only=True):
    """A search of the claim's regime. `points`: the points nearest to a violation, worst first.

    `why_not`: why the regime was not searched. `suspected`: whether a point failed
    in a short simulation and is not judged yet. `refused`: number of points where theory or
    simulation failed, by error message.
    """

    why_not: str = ""
    seconds: Seconds = 0.0
    tried: Count = 0
    exhausted: bool = False
    suspected: bool = False
    refused: dict[str, Count] = {}
    points: list[Point] = []
    confirmed: Confirmed | None = None


class ClaimRow(Struct, kw_only=True):
    """One claim and its outcome.

    `reason`: why a claim was not run, what failed, or why its data say nothing. Otherwise the
    components and controls give the reason of the verdict. `headline`: index of the component that
    tables show. `resolution`: the smallest error that the data would have refuted, on the rule's
    scale. `symbols`: the paper's letters for the parameters. `registration`: hash of the
    declaration before the run. Ledger and baseline list `draws` attempts at the claim in this tier,
    one per seed, code and registration; this is attempt `draw`. `from_pilot`: whether the region
    only reproduces a pilot run. `certificate`: bound on the probability of a wrong refutation.
    `declared`: further declared parts in words, such as a regime's ranges.
    """

    id: Annotated[str, Meta(pattern=ID)]
    title: Text
    statement: str
    latex: str
    source: SourceRow
    symbols: dict[str, str] = {}
    regime: str
    why: str
    from_pilot: bool = False
    exploratory: bool = False
    relaxes: tuple[Text, Text] | None = None
    expected: Literal["SUPPORTED", "REFUTED"] = "SUPPORTED"
    explanation: str | None = None
    declared: dict[str, str] = {}
    tiers: list[Text]
    file: str
    replay: str
    seed: int
    rule: RuleRow
    plot: Plot | None = None
    registration: str = ""
    draws: Count = 0
    draw: Count = 0
    state: Literal["DECIDED", "NOT RUN", "ERROR"]
    verdict: ClaimVerdict | None = None
    outcome: Literal["passed", "failed", "skipped"]
    reason: str = ""
    headline: Count = 0
    components: list[ComponentRow] = []
    controls: list[ControlRow] = []
    resolution: Finite | None = None
    alpha: Probability | None = None
    certificate: Probability | None = None
    replicates: Count = 0
    looks: Count = 0
    looks_planned: Count = 0
    seconds: Seconds = 0.0
    blocks: Blocks = msgspec.field(default_factory=Blocks)
    cells: list[CellRow] = []
    hunt: Hunt | None = None

    def __post_init__(self) -> None:
        if self.state != "DECIDED":
            if self.verdict is not None:
                raise ValueError(f"verdict {self.verdict} of a claim in state {self.state}")
            if self.outcome == "passed":
                raise ValueError(f"outcome 'passed' of a claim in state {self.state}")
        else:
            words = EXPLORATORY if self.exploratory else ON_THEOREMS
            if self.verdict not in words:
                kind = "an exploratory claim" if self.exploratory else "a claim on a theorem"
                raise ValueError(f"verdict {self.verdict} of {kind}, which is {' or '.join(words)}")
        if self.state == "DECIDED" and self.headline >= len(self.components):
            raise ValueError(f"headline {self.headline} of {len(self.components)} components")

    @property
    def head(self) -> ComponentRow | None:
        """The component that tables show for the claim; None if nothing was decided."""
        return self.components[self.headline] if self.components else None


class Work(Struct, kw_only=True):
    """A publication as it is cited."""

    authors: str = ""
    title: str = ""
    identifier: str = ""


class Statement(Struct, kw_only=True):
    """A sentence of a paper, how we know it, and the other statements that it rests on.

    `setting`: whether it defines a task or a model, so that it cannot be right or wrong. `work`:
    the sentence's publication, if the paper is a group of papers.
    """

    id: Name
    text: str
    provenance: str
    rests_on: list[str] = []
    setting: bool = False
    work: Work | None = None


class PaperRow(Struct, kw_only=True):
    """A paper whose statements are tested, and figures of the findings.

    `read`: what of the paper is known, if not all. The first paragraph of `summary` is in plain
    words; later paragraphs have formulas. `letters`: meanings of letters in these formulas and in
    claims' formulas, by LaTeX.
    """

    key: Name
    title: str = ""
    authors: str = ""
    identifier: str = ""
    read: str = ""
    summary: str = ""
    letters: dict[str, str] = {}
    statements: list[Statement] = []
    figures: list[Figure] = []


class Derivation(Struct, kw_only=True):
    """A module of formulas that claims test, and the modules that it builds on."""

    module: Text
    text: str
    rests_on: list[str] = []


class PaperBudget(Struct, kw_only=True):
    """A paper's share of the error budget, divided into equal slots of `per_claim` each."""

    share: Probability
    slots: Annotated[int, Meta(ge=1)]
    per_claim: Probability


class ErrorBudget(Struct, kw_only=True):
    """The probability that one run refutes any true claim, and each paper's part by its key.

    `allocated`: sum of the slots of claims decided in this run.
    """

    probability: Annotated[float, Meta(gt=0, lt=1)]
    papers: dict[Name, PaperBudget]
    allocated: Probability

    def __post_init__(self) -> None:
        total = sum(paper.share for paper in self.papers.values())
        if total > 1 + 1e-9:
            raise ValueError(f"the papers' shares add up to {total:g}, which is more than 1")
        for key, paper in self.papers.items():
            slot = self.probability * paper.share / paper.slots
            if not math.isclose(paper.per_claim, slot, rel_tol=1e-9):
                raise ValueError(f"papers[{key!r}]: per_claim {paper.per_claim:g} is not {slot:g}")


class Independence(Struct, kw_only=True):
    """Numbers of modules of theory and simulation. `chains`: modules importing the other side."""

    theory: Count
    simulation: Count
    chains: Count


class Suite(Struct, kw_only=True):
    """Settings of the run.

    `commit` ends with a plus sign if files differed from it; `ahead` counts the claims that a run
    did not reach because it ended early.
    """

    seed: int
    tier: Text
    device: Text
    executor: str
    command: str
    commit: str | None = None
    started: str
    seconds: Seconds
    wall_seconds: Seconds
    ahead: Count = 0
    versions: dict[str, str]
    hardware: dict[str, int | str]
    blocks: BlockCount
    error_budget: ErrorBudget
    independence: Independence


class Usual(Struct, kw_only=True):
    """The usual analysis of a component: an estimate, its 95% interval, and a test.

    `p_value`: p-value of the hypothesis that the quantity lies in the region.
    """

    estimate: Finite
    ends: Range
    p_value: Probability


class UsualRow(Struct, kw_only=True):
    """The usual analysis of each component of a claim, or None; it decides nothing.

    `cells`: 95% intervals of the cells' observed values, if a figure of the paper draws them.
    """

    components: list[Usual | None]
    cells: list[Range | None] = []


class Record(Struct, kw_only=True):
    """One run of the suite.

    `usual`: usual analyses by claim's id, which take longer to make than a page.
    """

    version: Literal["recall-claims/4"] = msgspec.field(name="schema", default=VERSION)
    suite: Suite
    papers: list[PaperRow]
    derivations: list[Derivation] = []
    claims: list[ClaimRow]
    usual: dict[Annotated[str, Meta(pattern=ID)], UsualRow] = {}


def schema() -> dict[str, Any]:
    """Return the JSON schema of the format."""
    found = msgspec.json.schema(Record)
    found["required"] = ["schema"]
    return found
