"""Rules for estimands other than means, compared with exact laws and other computations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import recall_claims as rc
from recall_claims.certify import certificate, tilting
from recall_claims.certify.certificate import certify
from recall_claims.declare.registration import registration
from recall_claims.evidence.ledger import Ledger
from recall_claims.judge import rules
from recall_claims.judge.methods import Array, Method
from recall_claims.judge.rules import Rule, Sample
from recall_claims.judge.rules.law import Massart
from recall_claims.judge.rules.quantile import OrderStatistics, _too_few
from recall_claims.model.errors import ClaimError
from recall_claims.model.region import Interval, Verdict, judge
from tests.unit.library.made import declared, mean, outcome_of

NEAR = rc.Region(0.9, 1.1)
ONE = rc.Cell(size=2)
ALPHA = 1e-4


def sample(values: Array, **more: Array) -> Sample:
    return Sample(ONE, {"value": values, **more})


def drawn(seed: int, size: int = 2000) -> Array:
    return np.random.default_rng(seed).gamma(2.0, size=size)


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("count", [5, 64, 1000])
def test_order_statistics_err_no_more_often_than_binomial_counts_say(
    level: float, count: int
) -> None:
    few = _too_few(count, level, ALPHA)
    assert stats.binom.cdf(few, count, level) <= ALPHA
    found = OrderStatistics(level).bounds(np.arange(count)[::-1].astype(float), ALPHA)
    many = count - 1 - _too_few(count, 1 - level, ALPHA)
    assert (found.low, found.high) == (
        few if few >= 0 else -math.inf,
        many if many < count else math.inf,
    )
    if few >= 0:  # the laws of ordered uniform values
        assert stats.beta(few + 1, count - few).sf(level) <= ALPHA
    if many < count:
        assert stats.beta(many + 1, count - many).cdf(level) <= ALPHA
    if count == 1000:  # an exact test at one look alone would reject a little earlier
        assert 0.4 < few / stats.binom.ppf(ALPHA, count, level) < 1
        assert stats.binom.cdf(few, count, level) > 0


@pytest.mark.parametrize("level", [0.25, 0.8])
def test_a_quantile_is_between_its_bounds(level: float) -> None:
    truth, found = stats.gamma(2).ppf(level), OrderStatistics(level).bounds(drawn(0), ALPHA)
    assert found.low < truth < found.high < found.low + 0.7
    [part] = rc.Quantile(NEAR, level).components([sample(drawn(0))], lambda _: truth, ALPHA)
    assert part.estimate == pytest.approx(np.quantile(drawn(0), level) / truth)
    assert part.bounds.low == pytest.approx(found.low / truth)
    assert part.interval.low < part.bounds.low < 1 < part.bounds.high < part.interval.high


def test_ties_and_few_values_are_no_obstacle_to_a_quantile() -> None:
    found = OrderStatistics(0.5).bounds(np.repeat([1.0, 2.0, 3.0], 300), ALPHA)
    assert (found.low, found.high) == (2.0, 2.0)
    assert OrderStatistics(0.5).bounds(np.ones(3), ALPHA).high == math.inf


@pytest.mark.parametrize("count", [20, 500])
def test_massart_bounds_the_law_of_kolmogorovs_distance(count: int) -> None:
    error = Massart().around(0.0, count, ALPHA).high
    assert ALPHA / 3 < stats.kstwo(count).sf(error) <= ALPHA


def test_the_distance_of_laws_is_that_of_kolmogorov_and_smirnov() -> None:
    law = stats.gamma(2.1)
    [part] = rc.Law(0.2).components([sample(drawn(1))], lambda _: law.cdf, ALPHA)
    assert part.estimate == pytest.approx(stats.ks_1samp(drawn(1), law.cdf).statistic)
    assert judge(rc.Law(0.05).components([sample(drawn(2, 20_000))], lambda _: law.cdf, ALPHA)) == (
        Verdict.SUPPORTED
    )


def far_from(law: Callable[[Any], Any], values: Array) -> float:
    [part] = rc.Law(0.05).components([sample(values)], lambda _: law, ALPHA)
    return part.estimate


def test_laws_are_compared_at_values_and_just_below_them() -> None:
    """The predicted law has mass 0.9 at one half and 0.1 at 1; distances are worked out by hand."""

    def law(x: Array) -> Array:
        return np.select([x < 0.5, x < 1], [0.0, 0.9], 1.0)

    assert far_from(lambda x: 1.0 * (x >= 0), np.zeros(100)) == 0.0
    assert far_from(law, np.ones(100)) == pytest.approx(0.9)  # just below 1, not at 1
    assert far_from(law, np.full(100, 0.5)) == pytest.approx(0.1)  # at one half, not just below
    assert far_from(law, np.array([0.5] * 90 + [1.0] * 10)) == pytest.approx(0.0)
    assert far_from(law, np.array([0.5] * 60 + [1.0] * 40)) == pytest.approx(0.3)
    assert far_from(law, np.array([0.4] * 90 + [1.0] * 10)) == pytest.approx(0.9)
    assert far_from(law, np.array([0.4999] * 90 + [1.0] * 10)) == pytest.approx(0.9)


@pytest.mark.parametrize("coins", [10, 49, 100])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_values_a_rounding_beside_a_lattice_are_on_it(coins: int, kind: type) -> None:
    counts = np.random.default_rng(coins).binomial(coins, 0.5, 8192)
    expected = far_from(stats.binom(coins, 0.5).cdf, counts.astype(float))
    one = kind(coins)
    for shares in (counts.astype(kind) / one, counts.astype(kind) * (kind(1) / one)):
        for scale, less in itertools.product((1.0, 1e-3, 1e6), (0.0, 0.5)):
            values = (shares * kind(scale) - kind(scale * less)).astype(float)

            def law(x: Array, scale: float = scale, less: float = less) -> Any:
                return stats.binom(coins, 0.5).cdf(coins * (x / scale + less))

            assert far_from(law, values) == pytest.approx(expected, abs=1e-12)


def test_a_variance_is_the_unbiased_one_however_far_from_zero() -> None:
    values = 1e6 + drawn(3)
    [part] = rc.Variance(NEAR).components([sample(values)], lambda _: 2.0, ALPHA)
    assert part.estimate == pytest.approx(values.var(ddof=1) / 2)
    # For normal data, the t interval uses the variance's standard error.
    normal = np.random.default_rng(4).normal(size=4000)
    [part] = rc.Variance(NEAR).components([sample(normal)], lambda _: 1.0, 0.3)
    width = stats.norm.ppf(0.85) * 2 * math.sqrt(2 / 4000)  # t uses half of its level 0.3
    assert part.bounds.high - part.bounds.low == pytest.approx(width, rel=0.05)


def test_a_function_of_means_by_leaving_out_one_replicate_at_a_time() -> None:
    x, y = drawn(5, 60), drawn(6, 60)
    rule = rc.Functional(rc.Region(-1, 1), formula="sqrt(value) / other**2 - pi")
    found = rule.values(sample(x, other=y), 60)

    def of(a: Array, b: Array) -> float:
        return math.sqrt(a.mean()) / float(b.mean()) ** 2 - math.pi

    expected = [60 * of(x, y) - 59 * of(np.delete(x, i), np.delete(y, i)) for i in range(60)]
    np.testing.assert_allclose(found, expected)
    [part] = rule.components([sample(x, other=0 * y)], lambda _: 0.0, ALPHA)
    assert part.verdict is Verdict.INCONCLUSIVE  # 1 / 0 is not defined
    assert math.isnan(part.estimate)


def test_a_limit_is_read_off_without_its_correction() -> None:
    sizes = rc.grid(size=(10, 20, 40), kind=("a",))
    rng = np.random.default_rng(7)
    evidence = [Sample(c, {"value": 3 + 5 / c["size"] + rng.normal(0, 0.1, 500)}) for c in sizes]
    [part] = rc.Limit(rc.Region(0.98, 1.02), "size").components(evidence, lambda _: 3.0, 1e-2)
    assert part.bounds.low < 1 < part.bounds.high < part.bounds.low + 0.05
    [wrong] = rc.Limit(rc.Region(0.98, 1.02), "size", 2).components(evidence, lambda _: 3.0, 1e-2)
    assert wrong.verdict is Verdict.REFUTED
    assert part.open_cells == tuple(cell.id for cell in sizes)


BOTH = rc.Several({"low": rc.Quantile(NEAR, 0.1), "mean": rc.MeanRatio(NEAR)})


def test_several_share_what_refutes_and_not_what_supports() -> None:
    one = sample(drawn(8))

    def predict(_: rc.Cell) -> dict[str, float]:
        return {"low": float(stats.gamma(2).ppf(0.1)), "mean": 2.0}

    low, mean = BOTH.components([one], predict, ALPHA)
    [alone] = rc.MeanRatio(NEAR).components([one], lambda _: 2.0, ALPHA)
    [strict] = rc.MeanRatio(NEAR).components([one], lambda _: 2.0, ALPHA / 2)
    assert (mean.bounds, mean.interval) == (alone.bounds, strict.interval)
    assert (low.name, mean.name) == ("low: size=2", "mean: size=2")
    assert not BOTH.exact
    assert not BOTH.anytime
    shown, bounds = BOTH.observed(one), BOTH.observed_interval(one, ALPHA)
    assert isinstance(shown, float)
    assert bounds is not None
    assert bounds.low < shown < bounds.high
    assert BOTH.observed_error(one) is None, "as of a quantile"
    with pytest.raises(ClaimError, match=r"gives \['mean'\] at size=2, and no 'low'"):
        BOTH.components([one], lambda _: {"mean": 2.0}, ALPHA)


def test_several_tell_of_a_ladder_that_crosses_twice() -> None:
    one = rc.CriticalLocation(rc.Region(0.5, 2.0), scan="dim")
    rng, rates = np.random.default_rng(0), {4: 0.1, 8: 0.95, 16: 0.05, 32: 0.95}
    rungs = {dim: np.where(rng.random(400) < rate, 1.0, 0.0) for dim, rate in rates.items()}
    evidence = [Sample(rc.Cell(dim=dim), {"value": values}) for dim, values in rungs.items()]
    assert "it falls through the target as dim grows" in one.doubt(evidence)
    assert "declare rising=False, or judge rates" in one.doubt(evidence)
    assert "it rises through the target" in replace(one, rising=False).doubt(evidence)
    assert rc.Several({"a": one, "b": one}).doubt(evidence) == (
        f"a: {one.doubt(evidence)}; b: {one.doubt(evidence)}"
    )
    assert rc.Several({"a": one}).doubt(evidence[:2]) == ""


several = declared(
    "T.several",
    rule=rc.Several({"median": rc.Quantile(NEAR), "mean": rc.MeanRatio(NEAR)}),
    predict=lambda cell: {"median": 2.0, "mean": 2.0},
    controls=(rc.times(1.5),),
    replicates=(16, 2048),
)(mean)


def test_a_claim_of_several_is_judged_registered_and_certified(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tilting, "BATCH", 2**13)
    monkeypatch.setattr(tilting, "MOST", 1)
    outcome = outcome_of(replace(several, module=__name__), ledger)
    assert outcome.decision.verdict is Verdict.SUPPORTED
    [shown] = {c.open_cells for c in outcome.decision.components if "length=4" in c.name}
    assert shown == ("length=4",)
    found = certify(outcome.claim, "smoke", 1e-6, [outcome.evidence])
    assert found.refutes > 0
    assert found.registration == registration(several, "smoke") == outcome.registration


mixed = declared(
    "T.mixed",
    rule=rc.Several(
        {"rate": rc.ProportionDifference(NEAR, method=rc.Student()), "law": rc.Law(0.3)}
    ),
    predict=lambda cell: {"rate": 1.0, "law": stats.norm(2, 0.3).cdf},
    controls=(),
    replicates=(16, 64),
)(mean)


def test_a_law_beside_a_mean_may_err_at_each_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificate, "misses", lambda *_: tilting.Estimate(0.0, 0.0))
    alone = replace(mixed, rule=rc.Several({"law": rc.Law(0.3)}))
    worlds = [[Sample(cell, {"value": drawn(9, 1024)}) for cell in mixed.cells["smoke"]]]
    found = certify(mixed, "smoke", 3e-6, worlds)
    assert (found.refutes, found.supports) == (1.5e-6, 3e-6)  # half of alpha, over three looks
    assert certify(alone, "smoke", 3e-6, worlds).refutes == 3e-6
    betting = replace(mixed, rule=rc.Several({"rate": rc.ProportionDifference(NEAR)}))
    assert certify(betting, "smoke", 3e-6, worlds).refutes == 3e-6


WORLD = np.random.default_rng(10).exponential(size=1024)


@pytest.mark.parametrize(
    ("rule", "truth"),
    [
        (rc.Functional(NEAR, formula="value**2"), WORLD.mean() ** 2 - 1),
        (rc.Variance(NEAR), WORLD.var()),
        (rc.Exponents({"size": 0.0}, 0.1), -1.0),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_certificate_is_of_the_rule_itself(rule: Rule, truth: float) -> None:
    """For a resampled sample, a certificate has the rule's estimate and bound, both less the truth.

    The truth is the estimand of the data set from which samples are drawn.
    """
    evidence = [Sample(ONE, {"value": WORLD}), Sample(rc.Cell(size=4), {"value": WORLD[::-1] / 2})]
    evidence = evidence if isinstance(rule, rc.Exponents) else evidence[:1]
    again = certificate.Resampled(rule, lambda _: 1.0, evidence, 0)
    assert again.truth == pytest.approx(truth, abs=1e-4)
    drawn = np.random.default_rng(11).integers(0, 1024, (50, 64))
    for row, values in zip(drawn, again.less_truth(1, drawn), strict=True):
        alone = [Sample(s.cell, {"value": s["value"][row]}) for s in evidence]
        [part] = rule.components(alone, lambda _: 1.0, 0.01)
        assert values.mean() == pytest.approx(part.estimate - again.truth)
        assert rc.Student().bounds(values, 0.01).low == pytest.approx(part.bounds.low - again.truth)


class Own(Method):
    """A method that no rule accepts."""

    exact = True

    def bounds(self, values: Array, alpha: float) -> Interval:
        return Interval(0.0, 1.0)


METHODS = (rc.Betting(0, 9), rc.Student(), rc.Deterministic(), OrderStatistics(), Massart(), Own())
OF_MEANS = {"Betting", "Student", "Deterministic"}
TAKEN: list[tuple[Rule, set[str]]] = [
    (rc.MeanRatio(NEAR), OF_MEANS),
    (rc.MeanDifference(NEAR), OF_MEANS),
    (rc.ProportionDifference(NEAR), OF_MEANS),
    (rc.OneSided(upper=1.0), OF_MEANS),
    (rc.Ordering("value", "other"), OF_MEANS),
    (rc.WinnerShare(NEAR), OF_MEANS),
    (rc.Variance(NEAR), {"Student"}),
    (rc.Functional(NEAR, formula="value"), {"Student"}),
    (rc.Limit(NEAR, "size"), {"Student"}),
    (rc.Exponents({"size": 1.0}, 0.1), {"Student", "Deterministic"}),
]


@pytest.mark.parametrize(("rule", "taken"), TAKEN, ids=lambda one: type(one).__name__)
def test_a_rule_takes_the_methods_for_which_its_guarantee_holds(
    rule: Rule, taken: set[str]
) -> None:
    predicted: Any = "value" if isinstance(rule, rc.WinnerShare) else 1.0
    for method in METHODS:
        one = rule.with_method(method)
        for judged in (one, rc.Several({"one": one})):
            if type(method).__name__ in taken:
                judged.check(rc.grid(size=(2, 4)), lambda _: predicted)
            else:
                with pytest.raises(ClaimError, match="its guarantee does not hold for"):
                    judged.check(rc.grid(size=(2, 4)), lambda _: predicted)


def test_other_rules_have_a_method_of_their_own() -> None:
    fixed = {rc.Quantile, rc.Law, rc.Identity, rc.CriticalLocation, rc.CriticalExponents}
    kinds = [kind for kind in vars(rules).values() if isinstance(kind, type)]
    found: set[Any] = {kind for kind in kinds if issubclass(kind, Rule)}
    assert found - {Rule, rc.Several} - {type(rule) for rule, _ in TAKEN} == fixed
    assert not any(
        "method" in {field.name for field in fields(kind)} for kind in found if kind in fixed
    )


def test_a_law_is_not_multiplied() -> None:
    law = declared("T.law", rule=rc.Law(0.1), predict=lambda _: stats.norm.cdf)(mean)
    planted = rc.times(2.0).planted(law).predict
    assert planted is not None
    with pytest.raises(ClaimError, match="is a law, not a number"):
        planted(ONE)
