"""A hand-made record with every state, scale and kind of plot, and with nine kinds of rules.

The figures are invented but of the size that real runs give; they come from fixed formulas, so the
record is the same each time.
"""

import math
from collections.abc import Iterator
from typing import Literal

from recall_reports import record as rec
from recall_reports.record.values import Line, Plot
from tests.reports.builders import (
    cell,
    claim,
    component,
    control,
    paper,
    rule,
    source,
    suite,
    wobble,
)

TRIED = [
    rec.Point(
        params={"length": 8 * 2**i, "dim": 16 * 2**j, "eta": i % 2}, discrepancy=0.3 * i * j - 0.5
    )
    for i in range(3)
    for j in range(3)
]
NEAR = [rec.Point(params={"dim": 8}, discrepancy=-2e-3)]
VIOLATED: rec.Parameters = {"length": 32, "dim": 64}
GRID: list[rec.Parameters] = [
    {"vocab_size": 256, "length": length, "samples": samples, "dim": 64}
    for length in (16, 32, 64)
    for samples in (512, 1024, 2048, 4096, 8192)
]


def record() -> rec.Record:
    return rec.Record(
        suite=suite(),
        papers=[
            paper(),
            rec.PaperRow(key="B", title="Associative Memories", read="abstracts and reviews"),
        ],
        derivations=[
            rec.Derivation(module=name, text=f"How {name[7:]} follows: $x$.", rests_on=bases)
            for name, bases in (
                ("theory.signal", []),
                ("theory.localisation", ["theory.signal"]),
                ("theory.recall", ["theory.signal"]),
            )
        ],
        claims=[
            gradient_structure(),
            trigger_signal(),
            signal_exponents(),
            noise_share(),
            localisation(),
            critical_samples(),
            additive_law(),
            orthonormal(),
            recall_curve(),
            all_tokens(),
            end_to_end(),
            dominant_map(),
            convergence(),
            lower_bound(),
            not_run("NOT RUN", "A.scale", "no cells at this tier; it needs --tier full"),
            not_run("ERROR", "A.broken", "RuntimeError in recall.py: no memory for a tile of 4096"),
            *beyond(),
        ],
    )


def later() -> rec.Record:
    """Make a later run of the record, after changes of most kinds."""
    found = record()
    found.suite.commit, found.suite.started = "9876543210+", "2026-11-22T09:00:00+00:00"
    found.suite.independence.chains = 1
    found.papers[0].statements[1].text = "Capacity is a sum of N, d and L."
    found.claims = [claim for claim in found.claims if claim.id != "A.early-phase"]
    claims = {claim.id: claim for claim in found.claims}
    claims["A.trigger-signal"].components[0].region = rec.Range(0.5, 1.5)
    claims["A.trigger-signal"].controls.pop()
    lost, gained = claims["A.all-tokens"], claims["A.floor"]
    lost.verdict, lost.outcome, lost.registration = "REFUTED", "failed", "fedcba9876543210"
    lost.components = [component("location", 1.31, 0.03, (0.9, 1.1))]
    gained.verdict, gained.outcome = "SUPPORTED", "passed"
    claims["A.recall-accuracy"].components[3].estimate = 1.009
    claims["A.recall-accuracy"].seconds *= 3
    claims["A.dominant-noise"].resolution = 0.2
    new = claim("A.new", "A new law", [component("all", 1.0, 0.01, (0.97, 1.03))])
    found.claims.append(new)
    return found


def interrupted() -> rec.Record:
    """Make a stopped run outside a repository, with fewer known fields than usual."""
    found = record()
    found.suite.ahead, found.suite.commit = 3, None
    found.suite.independence.chains = 1
    found.papers[0].statements, found.papers[0].read, found.derivations = [], "", []
    found.claims = [orthonormal(), end_to_end(), convergence()]
    for index, one in enumerate(found.claims):
        one.tiers, one.certificate, one.cells, one.looks = [], None, one.cells[:1], index + 1
        one.blocks, one.hunt = rec.Blocks(total=4, recomputed={"new": 4}), None
    return found


def not_run(state: Literal["NOT RUN", "ERROR"], name: str, reason: str) -> rec.ClaimRow:
    """Make a claim that the tier leaves out, or that raised an error."""
    return claim(
        name,
        f"The laws hold at V = 65,536 ({state.lower()})",
        [],
        state=state,
        outcome="skipped" if state == "NOT RUN" else "failed",
        reason=reason,
        controls=[rec.ControlRow(id="half", description="half the constant")],
        resolution=None,
        alpha=None,
        replicates=0,
        looks=0,
        seconds=0.0,
        blocks=rec.Blocks(),
    )


def gradient_structure() -> rec.ClaimRow:
    """Make a claim on an identity, with a one-sided region."""
    return claim(
        "A.gradient-identity",
        "The first gradient is the centred label memory",
        [component("largest error", 3.1e-15, 0.0, (None, 1e-12))],
        rule=rule("Identity", "error"),
        controls=[control("uncentred", "labels without their mean", 0.031, 0.0, (None, 1e-12))],
        resolution=1e-12,
        latex=r"\nabla_V = -\frac1N\sum_i \big(u_{k_i}-\bar u\big)\bar h_i^\top",
    )


def trigger_signal() -> rec.ClaimRow:
    """Make a claim on a mean ratio: a curve with two controls."""
    cells, parts = [], []
    for index, params in enumerate(GRID):
        load = float(params["vocab_size"]) / float(params["samples"])
        right = 1 + load * (1 + float(params["length"]) / 64)
        observed = right * (1 + 0.006 * wobble(index))
        wrong: dict[str, float | str | None] = {"no-excess": 1.0, "no-length": 1 + load}
        cells.append(cell(params, right, observed, 0.012 * right, wrong))
        parts.append(component(f"cell {index}", observed / right, 0.012, (0.97, 1.03), params))
    return claim(
        "A.trigger-signal",
        "The trigger score has a known finite-N excess",
        parts,
        controls=[
            control("no-excess", "drops the excess V/N (1 + L/d)", 1.31, 0.02, (0.97, 1.03)),
            control("no-length", "drops the factor 1 + L/d", 1.18, 0.02, (0.97, 1.03)),
        ],
        cells=cells,
        plot=Plot(x="samples", group=("length",), y_label="score / s₀", line=list(excess())),
        hunt=rec.Hunt(tried=40, points=TRIED, refused={"ValueError: no such size": 3}),
    )


def excess() -> Iterator[Line]:
    """Yield the theory's curve at each length, and a control's curve that ignores the length."""
    xs = [400.0 * 2 ** (i / 2) for i in range(11)]
    for length in (16, 32, 64):
        ys = [1 + 256 / x * (1 + length / 64) for x in xs]
        yield Line(params={"length": length}, xs=xs, ys=ys)
    wrong = [1 + 256 / x for x in xs]
    yield Line(params={"length": 64}, control="no-length", xs=xs, ys=wrong)


def signal_exponents() -> rec.ClaimRow:
    """Make a claim on exponents: a logarithmic curve."""
    cells = [
        cell(
            {"vocab_size": vocab, "length": length, "samples": 8 * vocab, "dim": 64},
            1 / (length**2 * vocab),
            (1 + 0.02 * wobble(index)) / (length**2 * vocab),
            0.04 / (length**2 * vocab),
        )
        for index, (vocab, length) in enumerate(
            (v, n) for v in (128, 512, 2048) for n in (8, 16, 32, 64)
        )
    ]
    return claim(
        "A.trigger-exponents",
        "The trigger score scales as 1/(L² V)",
        [
            component("length", -2.004, 0.021, (-2.05, -1.95)),
            component("vocab_size", -0.993, 0.017, (-1.05, -0.95)),
        ],
        rule=rule("Exponents", "exponent"),
        controls=[
            control("length-1", "an exponent of -1 in L", -2.004, 0.021, (-1.05, -0.95)),
            control("vocab-half", "an exponent of -1/2 in V", -0.993, 0.017, (-0.55, -0.45)),
        ],
        resolution=0.06,
        cells=cells,
        plot=Plot(kind="curve", x="length", group=("vocab_size",), log="xy", y_label="score"),
    )


def noise_share() -> rec.ClaimRow:
    """Make an INCONCLUSIVE claim: its interval crosses the edge."""
    return claim(
        "A.noise-context",
        "Context noise of the value memory grows as L³ V² / (N² d⁴)",
        [
            component("far", 1.071, 0.052, (0.9, 1.1), {"length": 128}),
            component("near", 1.012, 0.041, (0.9, 1.1), {"length": 64}),
        ],
        controls=[
            control("d-cubed", "d³ instead of d⁴", 0.52, 0.04, (0.9, 1.1)),
            control("half", "half the constant", 2.1, 0.9, (0.9, 1.1)),
        ],
        looks=4,
        resolution=0.14,
    )


def localisation() -> rec.ClaimRow:
    """Make a claim on a probability: a parity plot."""
    cells, parts = [], []
    for index, params in enumerate(GRID):
        samples, length = float(params["samples"]), float(params["length"])
        right = 1 / (1 + math.exp(-1.7 * math.log(samples / (40 * length))))
        observed = min(1.0, max(0.0, right + 0.012 * wobble(index)))
        additive = 1 / (1 + math.exp(-1.7 * math.log(samples / 1300)))
        cells.append(cell(params, right, observed, 0.02, {"additive": additive}))
        parts.append(component(f"cell {index}", observed - right, 0.02, (-0.06, 0.06), params))
    return claim(
        "A.localisation-probability",
        "Attention finds the informative token with the predicted probability",
        parts,
        rule=rule("ProportionDifference", "probability"),
        controls=[control("additive", "N and L enter as a sum", 0.31, 0.02, (-0.06, 0.06))],
        resolution=0.08,
        cells=cells,
        plot=Plot(kind="parity", group=("length",), y_label="probability"),
    )


def critical_samples() -> rec.ClaimRow:
    """Make a claim on a critical location: curve, collapse, and the collapse under a control."""
    cells = []
    for dim, length in ((d, n) for d in (32, 64) for n in (16, 64, 256)):
        right = 22.0 * length ** (2 if length > 100 else 1.4) * 32 / dim
        for step in range(-3, 4):
            samples = round(right * 1.6**step)
            share = 0.5 * (1 + math.erf(0.9 * math.log(samples / right))) + 0.015 * wobble(samples)
            additive = 900.0 + 60 * length + 8 * dim
            params: rec.Parameters = {"length": length, "dim": dim, "samples": samples}
            value = min(1.0, max(0.0, share))
            wrong: dict[str, float | str | None] = {"additive": additive}
            drawn = 64 * 2 ** (3 - abs(step))  # cells far from the critical value are decided first
            cells.append(cell(params, None, value, 0.03, wrong, right, drawn))
    return claim(
        "A.critical-samples",
        "The critical N is a product of powers of V, L and 1/d",
        [
            component("high", 1.06, 0.05, (0.85, 1.15), {"dim": 32, "length": 256}),
            component("low", 0.96, 0.04, (0.85, 1.15), {"dim": 64, "length": 16}),
        ],
        rule=rule("CriticalLocation", locates=True),
        controls=[control("additive", "a sum of V, L and d", 3.4, 0.3, (0.85, 1.15))],
        cells=cells,
        plot=Plot(
            kind="curve", x="samples", group=("length", "dim"), y_label="share found", collapse=True
        ),
    )


def additive_law() -> rec.ClaimRow:
    """Make a claim on a news summary's law; the claim is false, as expected."""
    return claim(
        "A.press-additive",
        "News summary: N grows as d times L",
        [component("dim", -1.48, 0.05, (0.9, 1.1)), component("length", 1.22, 0.06, (0.9, 1.1))],
        rule=rule("CriticalExponents", "exponent", locates=True),
        source=source("reported"),
        expected="REFUTED",
        explanation="A summary for a wide audience reads N ~ d L. The exponent of d is negative.",
        controls=[control("sign", "the sign of d reversed twice", -1.48, 0.05, (1.9, 2.1))],
        latex=r"N_{\mathrm{crit}} \sim d\,L",
    )


def orthonormal() -> rec.ClaimRow:
    """Make a REFUTED claim that fails."""
    return claim(
        "A.orthonormal-gaussian",
        "With orthonormal embeddings the factors separate",
        [
            component("small", 1.34, 0.08, (0.95, 1.05), {"vocab_size": 256}),
            component("large", 1.02, 0.02, (0.95, 1.05), {"vocab_size": 1024}),
        ],
        source=source("derived", "A12"),
        controls=[control("interference", "keeps the V/d term", 4.1, 0.2, (0.95, 1.05))],
        hunt=rec.Hunt(
            tried=9, points=TRIED, confirmed=rec.Confirmed(params=VIOLATED, number=2, alpha=1e-4)
        ),
        latex=r"\unknowncommand{x} = 1",
    )


def recall_curve() -> rec.ClaimRow:
    """Make a claim with several groups in one plot, a curve each."""
    cells, parts = [], []
    for index in range(40):
        vocab, dim = 2 ** (7 + index // 8), 12 + 8 * (index % 8)
        right = 0.5 * (1 + math.erf((dim - 3.1 * math.sqrt(vocab) / 2) / 14))
        linear = 0.5 * (1 + math.erf((dim - vocab / 16) / 14))
        observed = min(1.0, max(0.0, right + 0.008 * wobble(index)))
        params: rec.Parameters = {"vocab_size": vocab, "dim": dim}
        cells.append(cell(params, right, observed, 0.015, {"linear": linear}))
        ratio = 1 + 0.004 * wobble(index)
        parts.append(component(f"cell {index}", ratio, 0.01, (0.97, 1.03), params))
    return claim(
        "A.recall-accuracy",
        "Recall accuracy follows one curve in d² / (V log V)",
        parts,
        source=source("stated"),
        controls=[control("linear", "d instead of d²", 0.4, 0.02, (0.97, 1.03))],
        cells=cells,
        plot=Plot(kind="curve", x="dim", group=("vocab_size",), y_label="recall accuracy"),
    )


def all_tokens() -> rec.ClaimRow:
    """Make a claim without a plot."""
    return claim(
        "A.all-tokens",
        "All V tokens are recalled from the predicted dimension on",
        [component("location", 1.01, 0.03, (0.9, 1.1))],
        from_pilot=True,
        certificate=2.4e-6,
        draws=2,
        draw=2,
        blocks=rec.Blocks(total=60, reused=60),
        controls=[control("half-dim", "the threshold of half the tokens", 1.4, 0.05, (0.9, 1.1))],
    )


def end_to_end() -> rec.ClaimRow:
    """Make a claim with a one-sided region and an interval with an infinite bound."""
    part = component("smallest accuracy", 0.993, 0.004, (0.98, None))
    part.interval, part.one_sided = rec.Range(0.989, None), rec.Range(0.99, None)
    return claim(
        "A.end-to-end",
        "Accuracy is at least localisation times recall",
        [part],
        rule=rule("OneSided", "difference"),
        controls=[control("union", "a sum of the two", 0.93, 0.01, (0.98, None))],
        blocks=rec.Blocks(total=60, reused=12, recomputed={"new": 48}, divided=3),
        hunt=rec.Hunt(tried=12, exhausted=True, points=NEAR),
    )


def dominant_map() -> rec.ClaimRow:
    """Make a claim with a map, on which theory and simulation disagree in one cell."""
    cells = []
    for index in range(36):
        length, dim = 2 ** (3 + index % 6), 2 ** (3 + index // 6)
        name = "A" if length > 90 else "B" if dim < length else "C"
        params: rec.Parameters = {"length": length, "dim": dim, "vocab_size": 2048}
        cells.append(cell(params, name, "B" if index == 22 else name))
    return claim(
        "A.dominant-noise",
        "At each point of the map the predicted noise term is the largest",
        [component("share of points", 0.97, 0.03, (0.9, 1.0))],
        rule=rule("WinnerShare", "share"),
        controls=[control("always-C", "gradient noise everywhere", 0.42, 0.04, (0.9, 1.0))],
        resolution=0.1,
        cells=cells,
        plot=Plot(kind="map", x="length", group=("dim",), log="xy"),
    )


def convergence() -> rec.ClaimRow:
    """Make a claim with a curve without groups, and cells without controls."""
    cells = [
        cell({"eta": 10.0**-k}, 1 - 10.0 ** -(0.8 * k), 1 - 10.0 ** -(0.8 * k), 0.004)
        for k in range(1, 6)
    ]
    return claim(
        "A.early-phase",
        "Finite step sizes converge to the early-phase limit",
        [component("accuracy gap", 0.0004, 0.0004, (-0.005, 0.005))],
        rule=rule("MeanDifference", "difference"),
        controls=[control("no-limit", "a gap of 0.05 remains", 0.05, 0.004, (-0.005, 0.005))],
        cells=cells,
        plot=Plot(kind="curve", x="eta", log="x", y_label="accuracy"),
    )


def lower_bound() -> rec.ClaimRow:
    """Make a claim with an interval inside the region, but a control that is not refuted."""
    return claim(
        "A.floor",
        "An interference floor remains however large N is",
        [component("floor", 1.0, 0.09, (0.85, 1.15))],
        controls=[control("no-trigger", "drops the trigger's share", 1.1, 0.09, (0.85, 1.15))],
        verdict="INCONCLUSIVE",
        outcome="skipped",
        source=source("derived", paper="B"),
        file="claims/attention_mlp/test_noise_scaling.py",
        hunt=rec.Hunt(why_not="the claim declares no regime"),
    )


def beyond() -> list[rec.ClaimRow]:
    """Make exploratory claims, one for each verdict."""
    effects = {"SURVIVES": 0.02, "BREAKS": -0.31, "INCONCLUSIVE": 0.11}
    return [
        claim(
            f"A.beyond-{verdict.lower()}",
            f"An assumption whose relaxation has the effect {effect}",
            [component("effect", effect, 0.05, (-0.12, 0.12))],
            rule=rule("ProportionDifference", "probability"),
            exploratory=True,
            relaxes=(f"one head: {round(abs(effect) * 100)}", "localisation"),
            verdict=verdict,
            outcome="passed",
            file="claims/test_beyond_theorem.py",
        )
        for verdict, effect in effects.items()
    ]
