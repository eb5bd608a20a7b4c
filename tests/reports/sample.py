"""A hand-made record with every state, rule, scale and kind of plot that a run can produce.

The figures are invented but of the size that real runs give; they come from fixed formulas, so the
record is the same each time.
"""

import math
from typing import Any

from recall_reports.record import VERSION, Record

PAPER = {
    "paper": "A",
    "title": "Learning to Recall with Transformers Beyond Orthogonal Embeddings",
    "authors": "Vural, Bietti, Soltanolkotabi, Wu",
    "identifier": "arXiv 2603.15923",
    "reference": "theory/signal.py",
}
GRID = [
    {"vocab_size": vocab, "length": length, "samples": samples, "dim": 64}
    for vocab in (256,)
    for length in (16, 32, 64)
    for samples in (512, 1024, 2048, 4096, 8192)
]


def record(tier: str = "standard") -> Record:
    """The whole record; at the smoke tier one claim more is not run."""
    claims = [
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
        gpu_scale(),
        broken(),
        *beyond(),
    ]
    if tier == "smoke":
        claims = [not_run(claim) if claim["id"] == "A.all-tokens" else claim for claim in claims]
    return {
        "schema": VERSION,
        "suite": suite(tier, claims),
        "claims": claims,
        "statements": statements(claims),
        "derivations": derivations(claims),
    }


def suite(tier: str, claims: list[dict[str, Any]]) -> dict[str, Any]:
    """The part of the record about the run."""
    return {
        "seed": 0,
        "tier": tier,
        "device": "cpu",
        "versions": {"recall-claims": "0.1.0", "python": "3.11.9", "torch": "2.12.0+cpu"},
        "error_budget": {
            "probability": 1e-3,
            "slots": 128,
            "per_claim": 1e-3 / 128,
            "allocated": len(claims) * 1e-3 / 128,
            "rule": "Each claim owns one of 128 equal slots, used or not; a claim's share is split "
            "equally over its looks and its components (Bonferroni).",
        },
        "seconds": 512.4,
        "wall_seconds": 288.1,
        "started": "2026-11-20T23:02:11+00:00",
        "executor": "process pool, 2 workers",
        "hardware": {"cores": 2, "machine": "x86_64"},
        "peak_memory_mib": 731.6,
        "blocks": {"total": 1204, "reused": 96},
        "command": f"pytest claims/ --tier {tier} --seed 0",
        "commit": "0123456789",
        "independence": {"theory": 36, "simulation": 38, "chains": 0},
    }


def statements(claims: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Three statements of paper A, one of them without a claim."""
    texts = {
        "A3": (
            "The early phase of gradient descent yields explicit formulas for the storage "
            "capacity: a multiplicative dependence between N, d and L.",
            "stated",
        ),
        "A9": (
            "Theorem 1 gives accuracy after three steps under a condition that couples (V, N, d, "
            "L, m) multiplicatively; the condition is a sum of named noise terms.",
            "reported",
        ),
        "A12": ("In the orthogonal regime (d > V) the factors separate.", "reported"),
        "A13": ("The lower bound holds for estimators that access only gradients.", "reported"),
    }
    rests_on = {"A3": ["A9"], "A13": ["A3", "A9"]}
    return [
        {
            "id": name,
            "paper": "A",
            "text": text,
            "provenance": provenance,
            "rests_on": rests_on.get(name, []),
            "claims": [c["id"] for c in claims if name in c["source"]["statements"]],
        }
        for name, (text, provenance) in texts.items()
    ]


def derivations(claims: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Three files of formulas, of which two rest on the one that all claims cite."""
    names = [claim["id"] for claim in claims]
    return [
        {
            "id": f"theory/{name}.py",
            "text": f"How {name} follows: $x$ from $\\alpha$.",
            "rests_on": bases,
            "claims": names if name == "signal" else [],
        }
        for name, bases in (
            ("signal", []),
            ("localisation", ["theory/signal.py"]),
            ("recall", ["theory/signal.py"]),
        )
    ]


def wobble(index: int) -> float:
    """A deterministic stand-in for noise, between -1 and 1."""
    return math.sin(12.9898 * (index + 1))


def component(
    name: str,
    estimate: float,
    half: float,
    region: tuple[float | None, float | None],
    scale: str = "ratio",
) -> dict[str, Any]:
    """A component whose verdict follows from its interval and region."""
    low, high = estimate - half, estimate + half
    left = -math.inf if region[0] is None else region[0]
    right = math.inf if region[1] is None else region[1]
    inside = left <= low and high <= right
    disjoint = high < left or low > right
    return {
        "name": name,
        "estimate": estimate,
        "interval": [low, high],
        "region": list(region),
        "scale": scale,
        "verdict": "SUPPORTED" if inside else "REFUTED" if disjoint else "INCONCLUSIVE",
    }


def control(
    name: str,
    description: str,
    estimate: float,
    half: float,
    region: tuple[float | None, float | None],
) -> dict[str, Any]:
    """A control; refuted where its interval misses its region."""
    found = component(name, estimate, half, region)
    kept = {key: found[key] for key in ("verdict", "estimate", "interval", "region")}
    return {"id": name, "description": description, **kept}


def cell(
    params: dict[str, Any],
    predicted: float | str | None,
    observed: float | str | None,
    half: float = 0.0,
    controls: dict[str, float] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A cell; its interval is symmetric about the observed value."""
    interval = [observed - half, observed + half] if isinstance(observed, float) else None
    return {
        "id": ",".join(f"{key}={value}" for key, value in params.items()),
        "params": params,
        "predicted": predicted,
        "observed": observed,
        "interval": interval,
        "replicates": 256,
        "controls": controls or {},
        **more,
    }


def plot(kind: str, x: str | None = None, **options: Any) -> dict[str, Any]:
    """The plot part of a claim."""
    return {
        "kind": kind,
        "x": x,
        "log_x": True,
        "log_y": False,
        "group": [],
        "collapse": None,
        "y_label": None,
        "x_label": None,
        **options,
    }


def claim(name: str, title: str, components: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A decided claim with sensible values for what `more` does not set."""
    verdicts = [part["verdict"] for part in components]
    verdict = max(verdicts, key=["SUPPORTED", "INCONCLUSIVE", "REFUTED"].index)
    head = components[0]
    expected = more.get("expected", "SUPPORTED")
    return {
        "id": name,
        "title": title,
        "statement": "For V much larger than d the mean trigger score follows this formula.\n\n"
        "It is an `exact` mean over data and embeddings, $\\gamma\\eta = 1$.",
        "latex": r"\frac{E\theta_{\mathrm{trig}}}{s_0} = \Big(1-\frac1V\Big)\Big[1-\frac1N"
        r" + \tau\frac VN\Big(1+\frac Ld\Big)\Big]",
        "source": {**PAPER, "statements": ["A3", "A9"]},
        "provenance": "derived",
        "regime": "All cells have d < V and N at least V log V, as assumption A8 asks.",
        "region_reason": "The formula is exact up to terms of relative size 1/L; 3% covers them.",
        "expected": expected,
        "explanation": None,
        "state": "DECIDED",
        "verdict": verdict,
        "reason": {
            "SUPPORTED": "Every interval lies inside its region and every control is refuted.",
            "REFUTED": f"The interval of {head['name']} misses its region.",
            "INCONCLUSIVE": f"The interval of {head['name']} crosses an edge of its region after "
            "the last of 4 looks.",
        }[verdict],
        "outcome": "passed" if verdict == expected else "failed",
        "tiers": ["standard", "full"],
        "rule": {
            "name": "MeanRatio",
            "guarantee": "a right prediction is refuted with probability at most 7.8e-6.",
        },
        "estimate": head["estimate"],
        "interval": head["interval"],
        "region": head["region"],
        "components": components,
        "controls": [],
        "resolution": {"value": 0.04, "scale": "ratio", "text": "a constant off by 4%"},
        "replicates": 3840,
        "looks": 2,
        "looks_planned": 4,
        "alpha": 1.3e-7,
        "seconds": 31.4,
        "seed": 0,
        "blocks": {"total": 60, "reused": 12, "why": "12 blocks were in the ledger"},
        "cells": [],
        "plot": None,
        "replay": f"pytest claims/test_sample.py::{name} --tier standard --seed 0",
        "file": "claims/test_sample.py",
        **more,
    }


def not_run(source: dict[str, Any]) -> dict[str, Any]:
    """A claim that the tier leaves out."""
    untried = [
        {**c, "verdict": None, "estimate": None, "interval": None} for c in source["controls"]
    ]
    return {
        **source,
        "state": "NOT RUN",
        "verdict": None,
        "outcome": "skipped",
        "reason": "The claim has no cells at this tier; it needs --tier full.",
        "estimate": None,
        "interval": None,
        "region": None,
        "components": [],
        "controls": untried,
        "resolution": {"value": None, "scale": "", "text": ""},
        "replicates": 0,
        "looks": 0,
        "seconds": 0.0,
        "blocks": {"total": 0, "reused": 0, "why": ""},
        "cells": [],
    }


def gradient_structure() -> dict[str, Any]:
    """Identity, a one-sided region."""
    return claim(
        "A.gradient-identity",
        "The first gradient is the centred label memory",
        [component("largest error", 3.1e-15, 0.0, (None, 1e-12), "error")],
        rule={"name": "Identity", "guarantee": "no randomness: the largest error of all cells."},
        controls=[control("uncentred", "labels without their mean", 0.031, 0.0, (None, 1e-12))],
        resolution={"value": 1e-12, "scale": "error", "text": "an entry off by 1e-12"},
        latex=r"\nabla_V = -\frac1N\sum_i \big(u_{k_i}-\bar u\big)\bar h_i^\top",
    )


def trigger_signal() -> dict[str, Any]:
    """Mean ratio, curve with two controls."""
    cells = []
    for index, params in enumerate(GRID):
        right = 1 + params["vocab_size"] / params["samples"] * (1 + params["length"] / 64)
        observed = right * (1 + 0.006 * wobble(index))
        wrong = {"no-excess": 1.0, "no-length": 1 + params["vocab_size"] / params["samples"]}
        cells.append(cell(params, right, observed, 0.012 * right, wrong))
    parts = [component(c["id"], c["observed"] / c["predicted"], 0.012, (0.97, 1.03)) for c in cells]
    return claim(
        "A.trigger-signal",
        "The trigger score has a known finite-N excess",
        parts,
        controls=[
            control("no-excess", "drops the excess V/N (1 + L/d)", 1.31, 0.02, (0.97, 1.03)),
            control("no-length", "drops the factor 1 + L/d", 1.18, 0.02, (0.97, 1.03)),
        ],
        cells=cells,
        plot=plot("curve", "samples", group=["length"], y_label="trigger score / s₀"),
    )


def signal_exponents() -> dict[str, Any]:
    """Exponents, a logarithmic curve."""
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
            component("length", -2.004, 0.021, (-2.05, -1.95), "exponent"),
            component("vocab_size", -0.993, 0.017, (-1.05, -0.95), "exponent"),
        ],
        controls=[
            control("length-1", "an exponent of -1 in L", -2.004, 0.021, (-1.05, -0.95)),
            control("vocab-half", "an exponent of -1/2 in V", -0.993, 0.017, (-0.55, -0.45)),
        ],
        resolution={"value": 0.06, "scale": "exponent", "text": "an exponent off by 0.06"},
        cells=cells,
        plot=plot("curve", "length", group=["vocab_size"], log_y=True, y_label="trigger score"),
    )


def noise_share() -> dict[str, Any]:
    """INCONCLUSIVE: an interval that crosses the edge."""
    return claim(
        "A.noise-context",
        "Context noise of the value memory grows as L³ V² / (N² d⁴)",
        [
            component("ratio at L = 128", 1.071, 0.052, (0.9, 1.1)),
            component("ratio at L = 64", 1.012, 0.041, (0.9, 1.1)),
        ],
        controls=[
            control("d-cubed", "d³ in place of d⁴", 0.52, 0.04, (0.9, 1.1)),
            control("half", "half the constant", 2.1, 0.9, (0.9, 1.1)),
        ],
        looks=4,
        resolution={"value": 0.14, "scale": "ratio", "text": "a constant off by 14%"},
        latex=r"\frac{L^2(L-1)\,[t_2t_4+h(t_4-2t_3+t_2)]}{(NV)^2}",
    )


def localisation() -> dict[str, Any]:
    """Probability, parity plot."""
    cells = []
    for index, params in enumerate(GRID):
        score = math.log(params["samples"] / (40 * params["length"]))
        right = 1 / (1 + math.exp(-1.7 * score))
        observed = min(1.0, max(0.0, right + 0.012 * wobble(index)))
        additive = 1 / (1 + math.exp(-1.7 * math.log(params["samples"] / 1300)))
        cells.append(cell(params, right, observed, 0.02, {"additive": additive}))
    parts = [
        component(c["id"], c["observed"] - c["predicted"], 0.02, (-0.06, 0.06), "difference")
        for c in cells
    ]
    return claim(
        "A.localisation-probability",
        "Attention finds the informative token with the predicted probability",
        parts,
        rule={"name": "Probability", "guarantee": "exact binomial floor at 0 and 1."},
        controls=[control("additive", "N and L enter as a sum", 0.31, 0.02, (-0.06, 0.06))],
        resolution={"value": 0.08, "scale": "difference", "text": "a probability off by 0.08"},
        cells=cells,
        plot=plot("parity", group=["length"], y_label="probability"),
    )


def critical_samples() -> dict[str, Any]:
    """Critical location: curve, collapse, and the collapse under a control."""
    cells = []
    for dim in (32, 64):
        for length in (16, 64, 256):
            right = 22.0 * length ** (2 if length > 100 else 1.4) * 32 / dim
            additive = {"additive": 900.0 + 60 * length + 8 * dim}
            for step in range(-3, 4):
                samples = round(right * 1.6**step)
                observed = 0.5 * (1 + math.erf(0.9 * math.log(samples / right)))
                params = {"length": length, "dim": dim, "vocab_size": 1024, "samples": samples}
                noise = 0.015 * wobble(samples)
                value = min(1.0, max(0.0, observed + noise))
                cells.append(cell(params, None, value, 0.03, additive, critical=right))
    return claim(
        "A.critical-samples",
        "The critical N is a product of powers of V, L and 1/d",
        [
            component("d = 32, L = 256", 1.06, 0.05, (0.85, 1.15)),
            component("d = 32, L = 16", 0.96, 0.04, (0.85, 1.15)),
            component("d = 64, L = 64", 1.01, 0.04, (0.85, 1.15)),
        ],
        rule={"name": "CriticalLocation", "guarantee": "a right location is refuted rarely."},
        controls=[control("additive", "a sum of V, L and d", 3.4, 0.3, (0.85, 1.15))],
        cells=cells,
        plot=plot(
            "curve",
            "samples",
            group=["length", "dim"],
            collapse="critical",
            y_label="localisation probability",
        ),
    )


def additive_law() -> dict[str, Any]:
    """A reference line: refuted as declared."""
    return claim(
        "A.press-additive",
        "Press version: N grows as d times L",
        [
            component("dim", -1.48, 0.05, (0.9, 1.1), "exponent"),
            component("length", 1.22, 0.06, (0.9, 1.1), "exponent"),
        ],
        provenance="reported",
        expected="REFUTED",
        explanation="A summary for a wide audience reads N ~ d L. The exponent of d is negative: a "
        "larger dimension makes localisation easier, so the line is false as it stands.",
        controls=[control("sign", "the sign of d reversed twice", -1.48, 0.05, (1.9, 2.1))],
        latex=r"N_{\mathrm{crit}} \sim d\,L",
    )


def orthonormal() -> dict[str, Any]:
    """A REFUTED claim that fails."""
    return claim(
        "A.orthonormal-gaussian",
        "With orthonormal embeddings the factors separate",
        [
            component("V = 256", 1.34, 0.08, (0.95, 1.05)),
            component("V = 1024", 1.02, 0.02, (0.95, 1.05)),
        ],
        source={**PAPER, "statements": ["A12"]},
        controls=[control("interference", "keeps the V/d term", 4.1, 0.2, (0.95, 1.05))],
        latex=r"\unknowncommand{x} = 1",
    )


def recall_curve() -> dict[str, Any]:
    """Many groups on one curve."""
    cells = []
    for index in range(40):
        vocab, dim = 2 ** (7 + index // 8), 12 + 8 * (index % 8)
        right = 0.5 * (1 + math.erf((dim - 3.1 * math.sqrt(vocab) / 2) / 14))
        cells.append(
            cell(
                {"vocab_size": vocab, "dim": dim},
                right,
                min(1.0, max(0.0, right + 0.008 * wobble(index))),
                0.015,
                {"linear": 0.5 * (1 + math.erf((dim - vocab / 16) / 14))},
            )
        )
    return claim(
        "A.recall-accuracy",
        "Recall accuracy follows one curve in d² / (V log V)",
        [
            component(c["id"], 1 + 0.004 * wobble(i), 0.01, (0.97, 1.03))
            for i, c in enumerate(cells)
        ],
        provenance="stated",
        controls=[control("linear", "d in place of d²", 0.4, 0.02, (0.97, 1.03))],
        cells=cells,
        plot=plot("curve", "dim", log_x=False, group=["vocab_size"], y_label="recall accuracy"),
    )


def all_tokens() -> dict[str, Any]:
    """A claim without plot."""
    return claim(
        "A.all-tokens",
        "All V tokens are recalled from the predicted dimension on",
        [component("location", 1.01, 0.03, (0.9, 1.1))],
        controls=[control("half-dim", "the threshold of half the tokens", 1.4, 0.05, (0.9, 1.1))],
    )


def end_to_end() -> dict[str, Any]:
    """A one-sided region and an infinite bound in an interval."""
    part = component("smallest accuracy", 0.993, 0.004, (0.98, None), "difference")
    part["interval"] = [0.989, None]
    return claim(
        "A.end-to-end",
        "Accuracy is at least localisation times recall",
        [part],
        controls=[control("union", "a sum of the two", 0.93, 0.01, (0.98, None))],
    )


def dominant_map() -> dict[str, Any]:
    """A map with a disagreement and an open cell."""
    cells = []
    for index in range(36):
        length, dim = 2 ** (3 + index % 6), 2 ** (3 + index // 6)
        name = "A" if length > 90 else "B" if dim < length else "C"
        measured: str | None = name
        if index in (9, 22):
            measured = None if index == 9 else "B"
        params = {"length": length, "dim": dim, "vocab_size": 2048}
        cells.append(cell(params, name, None if measured is None else 1.0, winner=measured))
    return claim(
        "A.dominant-noise",
        "At each point of the map the predicted noise term is the largest",
        [component("share", 0.97, 0.03, (0.9, 1.0), "share")],
        rule={"name": "Share", "guarantee": "unseparated cells count as unknown."},
        controls=[control("always-C", "gradient noise everywhere", 0.42, 0.04, (0.9, 1.0))],
        resolution={"value": 0.1, "scale": "share", "text": "three wrong cells of 36"},
        cells=cells,
        plot=plot("map", "length", group=["dim"]),
    )


def convergence() -> dict[str, Any]:
    """A curve without groups or controls in the cells."""
    cells = [
        cell({"eta": 10.0**-k}, 1 - 10.0 ** -(0.8 * k), 1 - 10.0 ** -(0.8 * k), 0.004)
        for k in range(1, 6)
    ]
    return claim(
        "A.early-phase",
        "Finite step sizes converge to the early-phase limit",
        [component("accuracy gap", 0.0004, 0.0004, (-0.005, 0.005), "difference")],
        controls=[control("no-limit", "a gap of 0.05 remains", 0.05, 0.004, (-0.005, 0.005))],
        cells=cells,
        plot=plot("curve", "eta", y_label="accuracy"),
    )


def lower_bound() -> dict[str, Any]:
    """A supported interval but a control that is not refuted."""
    return claim(
        "A.floor",
        "An interference floor remains however large N is",
        [component("floor", 1.0, 0.09, (0.85, 1.15))],
        controls=[control("no-trigger", "drops the trigger's share", 1.1, 0.09, (0.85, 1.15))],
        verdict="INCONCLUSIVE",
        outcome="skipped",
        reason="The interval lies inside its region, but control no-trigger is not refuted.",
    )


def beyond() -> list[dict[str, Any]]:
    """Exploratory claims, one of each verdict."""
    effects = {"SURVIVES": 0.02, "BREAKS": -0.31, "INCONCLUSIVE": 0.11}
    return [
        claim(
            f"A.beyond-{verdict.lower()}",
            f"An assumption whose relaxation has the effect {effect}",
            [component("effect", effect, 0.05, (-0.12, 0.12), "probability")],
            exploratory=True,
            verdict=verdict,
            outcome="passed",
            file="claims/test_beyond_theorem.py",
        )
        for verdict, effect in effects.items()
    ]


def gpu_scale() -> dict[str, Any]:
    """A claim that was not run."""
    return not_run(claim("A.scale", "The laws hold at V = 65,536", all_tokens()["components"]))


def broken() -> dict[str, Any]:
    """A claim that ended in an error."""
    source = claim("A.broken", "A claim whose program failed", all_tokens()["components"])
    return not_run(source) | {
        "state": "ERROR",
        "outcome": "failed",
        "reason": "RuntimeError in simulation/recall.py: not enough memory for a tile of 4096.",
    }
