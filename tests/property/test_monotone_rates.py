"""Rates cross their target once, as rules of critical values assume: a proof, a formula or evidence
shows this.
"""

import fnmatch
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import recall_claims as rc
from claims.attention.common import RecallProblem
from claims.attention_mlp.test_recall import RecallProblem as LayerProblem
from claims.factual.explicit_weights import FREQUENCY
from recall_claims.judge.rules.ladder import ladders
from tests.every_claim import imported
from theory.attention import end_to_end, localisation, recall
from theory.attention.problem import Problem
from theory.attention_mlp import localisation as layer_localisation
from theory.attention_mlp import recall as layer_recall
from theory.attention_mlp.problem import MlpProblem
from theory.factual import constructions
from theory.lower_bound import linear_mmse, matched_filter
from theory.memory import bilinear, decoder, linear, mlp, superposition
from theory.spectral import one_step

ROOT = Path(__file__).parents[2]
LADDERS = {
    name: claim.rule
    for name, claim in imported().items()
    if isinstance(claim.rule, rc.CriticalLocation | rc.CriticalExponents)
}


def guessed(cell: rc.Cell) -> float:
    matched = cell.get("estimator") == "matched filter"
    law = matched_filter.matched_filter_accuracy if matched else linear_mmse.linear_mmse_accuracy
    return law(Problem.of(cell.without("estimator")))


def centred(cell: rc.Cell) -> float:
    return layer_localisation.probability(MlpProblem.of(cell.replace(centred=True)))


def layer(cell: rc.Cell) -> float:
    balanced = "samples" not in cell
    more = {"samples": cell["vocab_size"]} if balanced else {}
    return layer_recall.mlp_recall_accuracy(
        LayerProblem.of(cell.replace(**more)), balanced=balanced
    )


def low_rank(cell: rc.Cell) -> float:
    width = min(cell.number("width"), cell.number("dim"))  # no rank is larger
    return linear.low_rank_accuracy(cell.number("associations"), cell.number("dim"), width)


RATES: dict[Callable[[rc.Cell], float], str] = {
    rc.on(Problem, localisation.probability): "A.critical-samples* A.press-samples*",
    rc.on(MlpProblem, layer_localisation.probability): "A.mlp-critical-samples",
    centred: "A.centring-critical-samples",
    rc.on(Problem, end_to_end.end_to_end_accuracy): "A.capacity-*",
    rc.on(RecallProblem, recall.recall_accuracy): "A.recall-threshold*",
    rc.on(RecallProblem, recall.all_tokens_probability): "A.recall-all-tokens*",
    layer: "A.mlp-capacity A.mlp-offset-cost A.mlp-required-width",
    guessed: "A.gradient-*",
    rc.on(linear.linear_memory_accuracy): "B.linear-threshold* B.recall-law-large-vocabulary",
    low_rank: "B.low-rank-threshold B.recall-law-large-rank",
    rc.on(linear.all_recalled): "B.superposition C.hebbian-*",
    rc.on(mlp.mlp_memory_accuracy): "B.mlp-memory-* B.relu-memory-capacity",
    rc.on(bilinear.accuracy): "G.hebbian-mlp-width",
    rc.on(superposition.accuracy): "G.superposed-facts",
    rc.on(superposition.hops_accuracy): "G.hops-dimension",
    rc.on(decoder.least_share): "G.decoder-code",
    rc.on(constructions.attention_accuracy): "B.attention-threshold B.attention-parameters",
    rc.on(constructions.compressed_accuracy, frequency=FREQUENCY): "B.values-for-width",
    rc.on(one_step.recalled_spectral): "E.critical-batch",
}
"""Formulas of the rate of success, or of the mean accuracy if success is an accuracy above the
target, each with the claims that it is for."""
NESTED = "C.optimal-capacity* C.decoupled-capacity C.necessary-constant G.cover-capacity"
"""Claims with a proof: weights that are right on all of n + 1 random pairs are so on n of them."""
EVIDENCE_ALONE = """A.beyond-gradient-descent-length A.ceiling-factor B.additive-*
B.attention-selective B.beyond-* B.linear-memory-line B.mlp-threshold
B.sgd-half-steps B.trained-* C.listwise-* G.beyond-*"""
"""Claims whose rate no formula gives: if test sizes are seen to cross the target twice, there is no
verdict."""


def named(patterns: str) -> list[str]:
    return [name for one in patterns.split() for name in fnmatch.filter(LADDERS, one)]


PAIRS = [(law, name) for law, patterns in RATES.items() for name in named(patterns)]
REGIMES = [(law, name) for law, name in PAIRS if imported()[name].regime is not None]


def test_every_ladder_says_what_its_monotony_rests_on() -> None:
    by_formula = [name for _, name in PAIRS]
    assert sorted(by_formula + named(NESTED) + named(EVIDENCE_ALONE)) == sorted(LADDERS)
    page = " ".join((ROOT / ".github/docs/verdicts.md").read_text(encoding="utf-8").split())
    assert len(named(NESTED)) == 5
    assert f"for five claims this is proven, and for {len(PAIRS)} a formula shows it" in page
    assert f"for the other {len(named(EVIDENCE_ALONE))} we only check the data" in page


def assert_monotone(law: Callable[[rc.Cell], float], name: str, ladder: list[rc.Cell]) -> None:
    rates = [float(law(cell)) for cell in ladder]
    assert rates == sorted(rates, reverse=not LADDERS[name].rising), (ladder[0], rates)
    assert rates[0] != rates[-1]


@pytest.mark.parametrize(("law", "name"), PAIRS, ids=[name for _, name in PAIRS])
def test_the_predicted_rate_is_monotone_over_all_rungs(
    law: Callable[[rc.Cell], float], name: str
) -> None:
    grids = imported()[name].cells
    cells = [*dict.fromkeys(cell for tier in grids for cell in grids[tier])]
    for members in ladders(cells, LADDERS[name].scan):
        assert_monotone(law, name, [cells[i] for i in members])


@pytest.mark.parametrize(("law", "name"), REGIMES, ids=[name for _, name in REGIMES])
def test_the_predicted_rate_is_monotone_at_random_points_of_the_regime(
    law: Callable[[rc.Cell], float], name: str
) -> None:
    claim = imported()[name]
    regime, critical = claim.regime, claim.predict
    assert regime is not None
    assert critical is not None
    draws, points = random.Random(name), list[rc.Cell]()
    while len(points) < 3:
        drawn = {size: draws.choice(values.steps) for size, values in regime.ranges.items()}
        points += [rc.Cell(**drawn)] * claim.searchable(rc.Cell(**drawn))
    for point in points:
        factors = (0.5, 0.8, 0.95, 1.05, 1.25, 2)
        ladder = rc.ladder([point], LADDERS[name].scan, critical, factors)
        assert_monotone(law, name, list(ladder))
