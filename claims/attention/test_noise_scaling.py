"""The exponents in V, N, L and d of every noise term."""

from collections.abc import Callable

from torch import Tensor

from claims.attention.common import VARIANCES, corners, in_score_units
from recall_claims import Block, Cell, Claim, Exponents, Source, claim, power
from simulation.attention import sampling, split
from theory.attention import noise

LETTERS = {"vocab_size": "V", "samples": "N", "length": "L", "dim": "d"}


def scaling_claim(
    symbol: str, dim: tuple[int, int] = (16, 64)
) -> Callable[[Callable[[Cell, Block], Tensor]], Claim]:
    """A claim on the four exponents of one isolated noise term."""
    term = noise.TERMS[symbol]
    law = r"\,".join(f"{LETTERS[size]}^{{{p:g}}}" for size, p in term.exponents.items() if p)
    box = corners(vocab_size=(64, 256), length=(8, 32), samples=(256, 1024), dim=dim)
    return claim(
        f"A.noise-{symbol}-scaling",
        f"Noise term {symbol}, {term.title}: its exponents in V, N, L and d",
        source=Source(
            "A", "A9", "A10", provenance="derived", reference="theory/attention/noise_formulas.py"
        ),
        predict=in_score_units(lambda problem: noise.TERMS[symbol].scaling(problem)),
        latex=rf"\mathrm{{{symbol}}}=s_0^2\,{term.latex}\;\to\; s_0^2\,{law}",
        regime=f"isolated by the exact split; the pure power law holds for {term.regime}, and "
        "the region is centred on it as bent by the term's own finite-size factors on this grid",
        cells={"standard": box},
        replicates={"standard": 128, "full": 2048},
        looks={"standard": 5, "full": 2},
        rule=Exponents(term.exponents, half_width=0.1, reference="prediction"),
        why="5% error of the finite-size factors at one end of a fourfold range is 0.04; "
        "the rest is statistical",
        controls=tuple(power(**{size: 0.25}) for size in LETTERS),
        plot=VARIANCES,
    )


def variance(symbol: str, cell: Cell, block: Block) -> Tensor:
    """The variance of one piece of the token scores."""
    return split.variances(block.draw(sampling.draw, cell), (symbol,))[symbol]


@scaling_claim("T")
def trigger_direction(cell: Cell, block: Block) -> Tensor:
    """Token embeddings overlap with the trigger's, so tokens share the signal: a noise floor of
    relative variance 1/d that no number of samples lowers."""
    return variance("T", cell, block)


@scaling_claim("A")
def mean_bias(cell: Cell, block: Block) -> Tensor:
    """The mean embedding is not zero; stored because samples agree with themselves and read by
    the mean covariance, it gives a noise that grows as the fourth power of the length."""
    return variance("A", cell, block)


@scaling_claim("B")
def stored_context(cell: Cell, block: Block) -> Tensor:
    """The value matrix memorises context tokens, which the mean covariance reads back."""
    return variance("B", cell, block)


@scaling_claim("C")
def gradient_noise(cell: Cell, block: Block) -> Tensor:
    """The covariance of one random context reads what another has stored."""
    return variance("C", cell, block)


@scaling_claim("D")
def label_counts(cell: Cell, block: Block) -> Tensor:
    """The clean memory is read with label counts that differ from N/V."""
    return variance("D", cell, block)


@scaling_claim("E")
def mean_value(cell: Cell, block: Block) -> Tensor:
    """Random covariances read the mean value, which is stored with every label."""
    return variance("E", cell, block)


@scaling_claim("H", dim=(32, 128))
def own_memory(cell: Cell, block: Block) -> Tensor:
    """A token is scored by its own memory as often as it was informative."""
    return variance("H", cell, block)


@scaling_claim("C2")
def informative_slots(cell: Cell, block: Block) -> Tensor:
    """The informative tokens of many samples meet one random context coherently."""
    return variance("C2", cell, block)


@scaling_claim("F")
def population_floor(cell: Cell, block: Block) -> Tensor:
    """The clean memory interferes with itself: a floor of relative variance 1/d^3 at infinite N."""
    return variance("F", cell, block)
