"""The record of a run: the one versioned document that every report is made from.

These types are the format: `python -m recall_reports schema` prints the JSON schema that follows
from them. A record holds numbers and names; sentences are made where they are shown. Keys that are
not known here are ignored, so a record may gain some within its version. Types that the library
also declares and judges by are in `values`. This package is the ground on which the library and the
page stand: it imports nothing of either.
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
"""The pattern of a claim's id: the dot in its first word sets it apart from the page's other ids.
"""
NAME: Final = r"^[!-~]([ -~]*[!-~])?(?![\s\S])"
"""The pattern of other names: ASCII, so that no two names look alike."""
Name = Annotated[str, Meta(pattern=NAME)]
Count = Annotated[int, Meta(ge=0)]
Seconds = Annotated[float, Meta(ge=0, le=sys.float_info.max)]
Probability = Annotated[float, Meta(ge=0, le=1)]
ClaimVerdict = Literal["SUPPORTED", "REFUTED", "INCONCLUSIVE", "SURVIVES", "BREAKS"]

ON_THEOREMS: tuple[ClaimVerdict, ...] = ("SUPPORTED", "REFUTED", "INCONCLUSIVE")
EXPLORATORY: tuple[ClaimVerdict, ...] = ("SURVIVES", "BREAKS", "INCONCLUSIVE")
"""The verdicts on a claim, in the order of `Verdict`."""


class ComponentRow(Struct, kw_only=True):
    """One coordinate of a claim's estimand. `params` are the cell parameters that it is about.

    `interval` holds for all components at once and decides on REFUTED; each end of `one_sided` is
    a bound at the claim's own error probability, and these decide on SUPPORTED. `distance` is how
    far these reach out of the region, in units of its width, or absolute where it has one edge:
    negative inside, None if there is no bound.
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
        """The ends on which the verdict rests."""
        return self.interval if self.verdict == "REFUTED" else self.one_sided


class ControlRow(Struct, kw_only=True):
    """A planted wrong theory, with the figures of its worst component once it was tried."""

    id: Name
    description: str
    verdict: Verdict | None = None
    estimate: Finite | None = None
    interval: Range | None = None
    region: Range | None = None


class CellRow(Struct, kw_only=True):
    """One point of the grid. `critical` is the predicted critical value of a scanned parameter.

    `error` is the standard error of `observed`, where that is a mean of several replicates.
    `controls` are the wrong predictions of controls, by id; critical values where the rule locates
    these.
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
    """The decision rule. `locates`: its predictions are critical values, not means of cells.

    `exact`: its error probability is a theorem for any data in the declared range.
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
    """Blocks of replicates, and how many of them came from the ledger of earlier runs."""

    total: Count = 0
    reused: Count = 0


class Blocks(BlockCount, kw_only=True):
    """The blocks of a claim, and why those that were simulated were not in the ledger.

    `divided` were simulated in parts, as memory ran out; the draws are the same.
    """

    recomputed: dict[str, Count] = {}
    divided: Count = 0


class Point(Struct, kw_only=True):
    """A point of a regime that was tried; `discrepancy` is in units of the region.

    Negative: cheap evidence does not show it outside the region. None: it says nothing.
    """

    params: Parameters
    discrepancy: Finite | None = None


class Confirmed(Struct, kw_only=True):
    """A violation judged on fresh evidence, the `number`-th confirmation of its ledger."""

    params: Parameters
    number: Annotated[int, Meta(ge=1)]
    alpha: Probability


class Hunt(Struct, kw_only=True):
    """A search of the claim's regime. `points` are those nearest to a violation, worst first.

    `why_not` says why there was none. `suspected`: cheap evidence puts a point outside the region
    that was not yet shrunk and judged. At `refused` points theory or simulation broke down, by
    what was said there.
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

    `reason` says why a claim was not run, what broke, or why its data say nothing. Otherwise the
    components and controls give the reason of the verdict. `headline` is the index of the
    component that speaks for all. `resolution` is the smallest error that the data would have
    refuted, on the rule's scale. `symbols` are the paper's letters for the parameters.
    `registration` is a hash of what was declared before the run. Ledger and baseline list `draws`
    attempts at the claim in this tier, one for each seed, code and registration; this is number
    `draw`. `from_pilot`: the region only reproduces a pilot run. `certificate` bounds the
    probability to refute wrongly. `declared` names in words what else was declared, such as a
    regime's ranges.
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
    """A sentence of a paper, how it is known, and which other statements it rests on.

    `setting`: it defines a task or a model, so that it cannot be right or wrong. `work` is the
    publication that says it, where the paper's key means several.
    """

    id: Name
    text: str
    provenance: str
    rests_on: list[str] = []
    setting: bool = False
    work: Work | None = None


class PaperRow(Struct, kw_only=True):
    """A paper whose statements are put to the test, and figures of what was found.

    The first paragraph of `summary` is in plain words; those after it have formulas. `letters` of
    these and of claims are LaTeX, with what they mean.
    """

    key: Name
    title: str = ""
    authors: str = ""
    identifier: str = ""
    summary: str = ""
    letters: dict[str, str] = {}
    statements: list[Statement] = []
    figures: list[Figure] = []


class Derivation(Struct, kw_only=True):
    """A module of formulas that claims test, and the others that it builds on."""

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

    `allocated` is what the claims decided in this run own.
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
    """Modules of theory and simulation, and chains of imports from one to the other."""

    theory: Count
    simulation: Count
    chains: Count


class Suite(Struct, kw_only=True):
    """Settings of the run.

    `commit` ends with a plus sign if files differed from it; `ahead` counts the claims that a run
    which ended early had not come to.
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

    `p_value` is of the hypothesis that the quantity lies in the region.
    """

    estimate: Finite
    ends: Range
    p_value: Probability


class UsualRow(Struct, kw_only=True):
    """The usual analyses of a claim's components, None where one has none; they decide nothing.

    `cells` are the 95% intervals of what its cells observed, where a figure of its paper draws
    them.
    """

    components: list[Usual | None]
    cells: list[Range | None] = []


class Record(Struct, kw_only=True):
    """One run of the suite.

    `usual` has the usual analyses by the claim's id, since a page is made faster than they are.
    """

    version: Literal["recall-claims/4"] = msgspec.field(name="schema", default=VERSION)
    suite: Suite
    papers: list[PaperRow]
    derivations: list[Derivation] = []
    claims: list[ClaimRow]
    usual: dict[Annotated[str, Meta(pattern=ID)], UsualRow] = {}


def schema() -> dict[str, Any]:
    """The JSON schema of the format."""
    found = msgspec.json.schema(Record)
    found["required"] = ["schema"]
    return found
