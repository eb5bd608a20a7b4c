"""Parts of a record, with sensible values for unset fields."""

import math
from typing import Any

from recall_reports import record as rec
from recall_reports.record.values import Provenance, Scale, Verdict

Ends = tuple[float | None, float | None]

SYMBOLS = {"vocab_size": "V", "length": "L", "samples": "N", "dim": "d", "width": "m", "eta": "η"}


def suite() -> rec.Suite:
    return rec.Suite(
        seed=0,
        tier="standard",
        device="cpu",
        executor="process pool, 2 workers",
        command="pytest claims/ --tier standard --seed 0",
        commit="0123456789",
        started="2026-11-20T23:02:11+00:00",
        seconds=512.4,
        wall_seconds=288.1,
        versions={"recall-claims": "0.1.0", "python": "3.11.9", "torch": "2.12.0+cpu"},
        hardware={"cores": 2, "machine": "x86_64"},
        blocks=rec.BlockCount(total=1204, reused=96),
        error_budget=rec.ErrorBudget(
            probability=1e-3,
            papers={
                key: rec.PaperBudget(share=share, slots=100, per_claim=share * 1e-5)
                for key, share in (("A", 0.4), ("B", 0.3), ("P0", 0.1), ("P1", 0.1))
            },
            allocated=17 * 4e-6,
        ),
        independence=rec.Independence(theory=36, simulation=38, chains=0),
    )


def paper(key: str = "A", title: str = "Learning to Recall with Transformers") -> rec.PaperRow:
    """Make a paper with a setting and four statements, one of them without a claim."""
    rows = [
        rec.Series(claim="A.trigger-signal", label=f"L = {n}", where={"length": n})
        for n in (16, 64)
    ]
    statements: tuple[tuple[str, str, list[str], str], ...] = (
        ("A3", "stated", ["A9"], "Capacity is a product of N, d and L."),
        ("A9", "reported", [], "Theorem 1 gives accuracy under a condition on its sizes."),
        ("A12", "reported", [], "In the orthogonal regime (d > V) the factors separate."),
        ("A13", "reported", ["A3", "A9"], "The bound holds for gradient estimators."),
    )
    return rec.PaperRow(
        key=key,
        title=title,
        authors="Vural, Bietti, Soltanolkotabi, Wu",
        identifier="arXiv 2603.15923",
        read="abstracts and reviews",
        figures=[
            rec.Figure(
                title="The excess falls as 1/N",
                note="Lines: theory.",
                series=[rec.Series(claim="A.trigger-signal")],
                levels={"none": 1.0},
            ),
            rec.Figure(title="Two ratios", kind="rows", x_label="score / s₀", series=rows),
            rec.Figure(title="Nothing", series=[rec.Series(claim="A.unknown")]),
        ],
        summary="Attention finds a token with enough samples.\n\nFrom $N_c$ on it does.",
        statements=[
            rec.Statement(
                id="A1", text="One token is informative.", provenance="stated", setting=True
            ),
            *(
                rec.Statement(id=name, text=text, provenance=provenance, rests_on=bases)
                for name, provenance, bases, text in statements
            ),
        ],
    )


def wobble(index: int) -> float:
    """Return a deterministic substitute for noise, between -1 and 1."""
    return math.sin(12.9898 * (index + 1))


def component(
    name: str, estimate: float, half: float, region: Ends, params: rec.Parameters | None = None
) -> rec.ComponentRow:
    """Make a component, with the verdict of its intervals and region."""
    low, high = estimate - half, estimate + half
    inner = estimate - 0.8 * half, estimate + 0.8 * half
    left, right = rec.Range(*region).ends
    width = right - left if 0 < right - left < math.inf else 1.0
    verdict = Verdict.INCONCLUSIVE
    if left <= inner[0] and inner[1] <= right:
        verdict = Verdict.SUPPORTED
    elif high < left or low > right:
        verdict = Verdict.REFUTED
    return rec.ComponentRow(
        name=name,
        params=params or {},
        estimate=estimate,
        interval=rec.Range(low, high),
        one_sided=rec.Range(*inner),
        region=rec.Range(*region),
        distance=max(left - inner[0], inner[1] - right) / width,
        verdict=verdict,
    )


def control(
    name: str, description: str, estimate: float, half: float, region: Ends
) -> rec.ControlRow:
    """Make a control, refuted if its interval misses its region."""
    found = component(name, estimate, half, region)
    return rec.ControlRow(
        id=name,
        description=description,
        verdict=found.verdict,
        estimate=found.estimate,
        interval=found.interval,
        region=found.region,
    )


def cell(
    params: rec.Parameters,
    predicted: float | str | None,
    observed: float | str | None,
    half: float = 0.0,
    controls: dict[str, float | str | None] | None = None,
    critical: float | None = None,
    replicates: int = 256,
) -> rec.CellRow:
    """Make a cell with an interval of `half` to each side; `half` is four standard errors."""
    return rec.CellRow(
        params=params,
        predicted=predicted,
        critical=critical,
        observed=observed,
        interval=rec.Range(observed - half, observed + half) if type(observed) is float else None,
        error=half / 4 if half else None,
        replicates=replicates,
        controls=controls or {},
    )


def rule(name: str = "MeanRatio", scale: Scale = "ratio", *, locates: bool = False) -> rec.RuleRow:
    return rec.RuleRow(
        name=name,
        method="intervals that are jointly valid",
        scale=scale,
        exact=scale in ("probability", "share"),
        locates=locates,
    )


def source(provenance: Provenance = "derived", *tests: str, paper: str = "A") -> rec.SourceRow:
    return rec.SourceRow(
        paper=paper,
        statements=list(tests or ("A3", "A9")) if paper == "A" else [],
        provenance=provenance,
        reference="theory/signal.py",
        module="theory.signal",
    )


def claim(name: str, title: str, components: list[rec.ComponentRow], **more: Any) -> rec.ClaimRow:
    """Make a decided claim, with sensible values for fields that `more` does not set."""
    order = ("SUPPORTED", "INCONCLUSIVE", "REFUTED")
    verdict = max((part.verdict for part in components), key=order.index, default=None)
    settings: dict[str, Any] = {
        "statement": "For V much larger than d the mean\ntrigger score follows this formula.\n\n"
        "It is an `exact` mean over data and embeddings, $\\gamma\\eta = 1$.",
        "latex": r"\frac{E\theta_{\mathrm{trig}}}{s_0} = \Big(1-\frac1V\Big)\Big[1-\frac1N\Big]",
        "source": source(),
        "regime": "All cells have d < V and N at least V log V, as assumption A8 asks.",
        "why": "The formula is exact up to terms of relative size 1/L; 3% covers them.",
        "tiers": ["standard", "full"],
        "declared": {
            "dtype": "float64",
            "replicates": "smoke 64 to 128, standard 256 to 2048",
            "rule's by": "length",
            "range of dim": "8 to 64 in 13 steps",
        },
        "state": "DECIDED",
        "verdict": verdict,
        "outcome": "passed" if verdict == more.get("expected", "SUPPORTED") else "failed",
        "rule": rule(),
        "resolution": 0.04,
        "replicates": sum(cell.replicates for cell in more.get("cells", ())) or 3840,
        "looks": 2,
        "looks_planned": 4,
        "alpha": 1.3e-7,
        "registration": "0123456789abcdef",
        "draws": 1,
        "draw": 1,
        "seconds": 31.4,
        "seed": 0,
        "blocks": rec.Blocks(total=60, reused=12, recomputed={"new": 48}),
        "replay": f"pytest claims/test_sample.py::{name} --tier standard --seed 0",
        "file": "claims/test_sample.py",
    }
    return rec.ClaimRow(
        id=name, title=title, components=components, symbols=SYMBOLS, **{**settings, **more}
    )
