"""One attention layer: what `theory/attention/` states of its errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from torch import Tensor

from recall_claims import Block, Cell, Regime, log_integers, on, one_of
from recall_claims.declare.regime import Values
from recall_claims.judge.methods import Deterministic
from simulation.attention import end_to_end as measured_end
from simulation.attention import localisation as measured_localisation
from simulation.attention import noise_decomposition, sampling, three_steps
from tests.calibration.stated import Law, Observe, Stated, crossing
from theory.attention import critical, end_to_end, localisation, noise, noise_terms, orthonormal
from theory.attention import signal as signals
from theory.attention.problem import Problem

EXACTLY = Deterministic()
EITHER = one_of(False, True)
PROBABILITY = on(Problem, localisation.probability)
ACCURACY = on(Problem, end_to_end.end_to_end_accuracy)
PRODUCT = on(Problem, end_to_end.product)
FULL = on(Problem, critical.critical_samples_full)


def tokens_seen(cell: Cell) -> float:
    """Tokens and embeddings of one replicate."""
    samples, vocabulary = cell.get("samples", 0), cell["vocab_size"]
    return float(samples * cell["length"] + vocabulary * cell.get("dim", 1))


def in_units(law: Callable[[Problem], float]) -> Law:
    """A variance of scores that a law gives in units of s0^2."""
    return lambda c: float(law(Problem.of(c)) * signals.signal_unit(Problem.of(c)) ** 2)


def _variance(cell: Cell, block: Block) -> Tensor:
    return three_steps.token_scores(block.draw(sampling.draw, cell)).theta.var(1)


def _signal(cell: Cell, block: Block) -> Tensor:
    return three_steps.token_scores(block.draw(sampling.draw, cell)).trigger


def localised(cell: Cell, block: Block) -> Tensor:
    """Probability of localisation, over both signs of the trigger where it is in the keys alone."""
    batch = block.draw(sampling.draw, cell)
    if not batch.trigger_in_values:
        return measured_localisation.mirrored(batch)
    scores = three_steps.token_scores(batch)
    return measured_localisation.probability(scores, length=batch.length)


def _end_to_end(cell: Cell, block: Block) -> Tensor:
    return measured_end.run(block.draw(sampling.draw, cell)).accuracy


def _full_theory(cell: Cell, block: Block) -> Tensor:
    found = FULL(cell.replace(samples=1))
    return Tensor([found] * block.replicates)


def _piece(symbol: str) -> Observe:
    def variance(cell: Cell, block: Block) -> Tensor:
        batch = block.draw(sampling.draw, cell)
        return noise_decomposition.variances(batch, (symbol,))[symbol]

    return variance


def _count_covariance(cell: Cell, block: Block) -> Tensor:
    return 2 * noise_decomposition.covariance(block.draw(sampling.draw, cell), "D", "H")


def _trigger_noise(cell: Cell, block: Block) -> Tensor:
    return noise_decomposition.trigger_coefficient_noise(block.draw(sampling.draw, cell)).square()


def _orthonormal(observe: Observe) -> Observe:
    def observed(cell: Cell, block: Block) -> Tensor:
        return observe(cell.replace(dim=cell["vocab_size"] + 2, embeddings="orthonormal"), block)

    return observed


def _without_dim(law: Law) -> Law:
    return lambda c: law(c.replace(dim=c["vocab_size"] + 2, embeddings="orthonormal"))


def _closed_form_error(cell: Cell) -> float:
    if FULL(cell.replace(samples=1)) < 2 * cell["dim"]:
        return 0.12
    return 0.1 if cell["vocab_size"] < 16 * cell["dim"] else 0.06


SIZES = {
    "vocab_size": log_integers(128, 512),
    "length": log_integers(8, 64),
    "samples": log_integers(32, 2048),
    "dim": log_integers(12, 64),
    "trigger_in_values": EITHER,
}
TOKENS = 6e4
EACH = "Stated error of each term and of $v_q$: 10%"


def _sparse(cell: Cell) -> bool:
    return bool(cell["vocab_size"] >= 8 * cell["dim"])


def _noise(
    name: str,
    function: Callable[[Problem], float],
    observe: Observe,
    quote: str,
    error: float,
    *,
    replicates: int = 64,
    **ranges: Values,
) -> Stated:
    return Stated(
        name=f"attention.{name}",
        function=function,
        quote=quote,
        error=error,
        relative=True,
        predict=in_units(function),
        regime=noise.REGIME.searched(
            "d to 64", {**SIZES, "dim": log_integers(16, 64), **ranges}, largest=TOKENS
        ),
        observe=observe,
        replicates=replicates,
        looks=4,
    )


def _term(symbol: str) -> Stated:
    name = noise_decomposition.PIECES[symbol]
    return _noise(f"noise_terms.{name}", getattr(noise_terms, name), _piece(symbol), EACH, 0.1)


NOISE = (
    _noise("noise.variance", noise.variance, _variance, "Stated error: 10%", 0.1, replicates=256),
    *(_term(symbol) for symbol in noise.TERMS),
    replace(
        _noise(
            "noise_terms.count_covariance",
            noise_terms.count_covariance,
            _count_covariance,
            "Stated error: 15% for V up to d^2/8",
            0.15,
        ),
        regime=Regime(
            "d from 32 to 128, 2 d <= V <= d^2/8, L >= 8, N >= V",
            {**SIZES, "vocab_size": log_integers(64, 512), "dim": log_integers(32, 128)},
            holds=lambda c: (
                2 * c["dim"] <= c["vocab_size"] <= c["dim"] ** 2 / 8
                and c["samples"] >= c["vocab_size"]
            ),
            size=tokens_seen,
            largest=TOKENS,
        ),
    ),
    _noise(
        "noise_terms.trigger_coefficient_variance",
        noise_terms.trigger_coefficient_variance,
        _trigger_noise,
        EACH,
        0.1,
        replicates=64,
        trigger_in_values=one_of(False),
    ),
)

STATED = (
    *NOISE,
    Stated(
        name="attention.signal.trigger_signal",
        function=signals.trigger_signal,
        quote="exact for unit-sphere and orthonormal embeddings",
        error=0.0,
        relative=True,
        predict=on(Problem, signals.trigger_signal),
        regime=Regime(
            "any sizes: V from 16 to 512, L from 4, N from 16, d from 8",
            {
                "vocab_size": log_integers(16, 512),
                "length": log_integers(4, 64),
                "samples": log_integers(16, 2048),
                "dim": log_integers(8, 128),
                "trigger_in_values": EITHER,
            },
            size=tokens_seen,
            largest=3e4,
        ),
        observe=_signal,
        replicates=128,
        looks=4,
        dtype="float64",
    ),
    Stated(
        name="attention.localisation.probability",
        function=localisation.probability,
        quote="Stated error: 0.02 for d >= 12, V >= 256 and V >= 8 d",
        error=0.02,
        predict=PROBABILITY,
        regime=localisation.REGIME.searched(
            "V to 512; probabilities 0.05 to 0.95",
            {**SIZES, "vocab_size": log_integers(256, 512)},
            holds=crossing(PROBABILITY),
            largest=TOKENS,
        ),
        observe=localised,
        replicates=256,
        looks=5,
    ),
    Stated(
        name="attention.localisation.probability, 128 tokens",
        function=localisation.probability,
        quote="0.04 for 128 tokens",
        error=0.04,
        predict=PROBABILITY,
        regime=localisation.SPARSE.searched(
            "V from 128 to 255; probabilities 0.05 to 0.95",
            {**SIZES, "vocab_size": log_integers(128, 255)},
            holds=crossing(PROBABILITY),
            largest=TOKENS,
        ),
        observe=localised,
        replicates=64,
        looks=4,
    ),
    Stated(
        name="attention.critical.critical_samples_full",
        function=critical.critical_samples_full,
        quote="Stated error: 12% for d >= 12, V >= 256 and V >= 8 d",
        error=0.12,
        predict=lambda c: FULL(c.replace(samples=1)),
        regime=critical.REGIME.searched(
            "V to 512, N_c from 32",
            {"vocab_size": log_integers(256, 512), "length": SIZES["length"], "dim": SIZES["dim"]},
            holds=lambda c: (n := FULL(c.replace(samples=1))) >= 32 and n * c["length"] <= TOKENS,
            without=("samples",),
        ),
        observe=localised,
        scan="samples",
        replicates=256,
        looks=4,
    ),
    Stated(
        name="attention.critical.threshold",
        function=critical.threshold,
        quote="12%; where also N_c >= 2 d, 10%; where moreover V >= 16 d, 6%",
        error=_closed_form_error,
        relative=True,
        predict=on(critical.threshold),
        regime=Regime(
            "d >= 12, L >= 8, V >= 8 d, trigger in the keys alone; against the full theory",
            {
                "vocab_size": log_integers(96, 32768),
                "length": log_integers(8, 1024),
                "dim": log_integers(12, 1024),
            },
            holds=lambda c: _sparse(c) and 1 <= FULL(c.replace(samples=1)) < 1e9,
        ),
        observe=_full_theory,
        method=EXACTLY,
        replicates=1,
        looks=1,
        dtype="float64",
    ),
    Stated(
        name="attention.end_to_end.end_to_end_accuracy",
        function=end_to_end.end_to_end_accuracy,
        quote="within 0.04, as `localisation.probability`",
        error=0.04,
        predict=ACCURACY,
        regime=end_to_end.REGIME.searched(
            "V to 512; accuracies 0.05 to 0.95", SIZES, holds=crossing(ACCURACY), largest=TOKENS
        ),
        observe=_end_to_end,
        replicates=32,
        looks=4,
    ),
    Stated(
        name="attention.end_to_end.product",
        function=end_to_end.product,
        quote="Stated error: 0.07",
        error=0.07,
        predict=PRODUCT,
        regime=end_to_end.REGIME.searched(
            "V to 512; accuracies 0.05 to 0.95", SIZES, holds=crossing(PRODUCT), largest=TOKENS
        ),
        observe=_end_to_end,
        replicates=32,
        looks=4,
    ),
    Stated(
        name="attention.orthonormal.localisation",
        function=orthonormal.localisation,
        quote="within 0.04 for V >= 128, L <= V/4 and N >= 12",
        error=0.04,
        predict=_without_dim(on(Problem, orthonormal.localisation)),
        regime=Regime(
            "V from 128 to 256, L <= V/4, N >= 12; probabilities 0.05 to 0.95",
            {
                "vocab_size": log_integers(128, 256),
                "length": log_integers(4, 64),
                "samples": log_integers(12, 256),
                "trigger_in_values": EITHER,
            },
            holds=lambda c: (
                4 * c["length"] <= c["vocab_size"]
                and crossing(_without_dim(on(Problem, orthonormal.localisation)))(c)
            ),
            size=lambda c: c["vocab_size"] ** 2,
        ),
        observe=_orthonormal(localised),
        replicates=32,
        looks=4,
        dtype="float64",
        restated=1,
    ),
    Stated(
        name="attention.orthonormal.variance",
        function=orthonormal.variance,
        quote="Stated error: 10%",
        error=0.1,
        relative=True,
        predict=_without_dim(in_units(orthonormal.variance)),
        regime=Regime(
            "V from 128 to 256, L from 16 to V/8, N from 16 to V",
            {
                "vocab_size": log_integers(128, 256),
                "length": log_integers(16, 32),
                "samples": log_integers(16, 256),
                "trigger_in_values": EITHER,
            },
            holds=lambda c: 8 * c["length"] <= c["vocab_size"] and c["samples"] <= c["vocab_size"],
            size=lambda c: c["vocab_size"] ** 2,
        ),
        observe=_orthonormal(_variance),
        replicates=32,
        looks=4,
        dtype="float64",
    ),
)
