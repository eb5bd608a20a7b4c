"""The trigger score, its constant and its scaling law."""

import torch

from recall_claims import (
    Block,
    Cell,
    Control,
    Exponents,
    MeanRatio,
    Plot,
    Region,
    Source,
    claim,
    grid,
)
from recall_claims import cells as explicit
from simulation.attention import sampling, three_steps
from theory.attention import signal
from theory.attention.problem import Problem

SOURCE = Source("A", "A3", "A9", provenance="derived", reference="theory/attention/signal.py")

LOADS = explicit(
    {"vocab_size": 64, "length": length, "samples": samples, "dim": 32, "trigger_in_values": tau}
    for tau in (False, True)
    for length in (8, 24)
    for samples in (64, 256, 1024)
)


def trigger_signal(cell: Cell) -> float:
    """The predicted mean trigger score."""
    return signal.trigger_signal(Problem.of(cell))


def without_excess(cell: Cell) -> float:
    """The prediction without what the trigger stores of itself at finite N."""
    return signal.trigger_signal(Problem.of(cell).replace(trigger_in_values=False))


@claim(
    "A.trigger-signal",
    "The mean trigger score, with its excess at finite N",
    source=SOURCE,
    latex=r"\frac{E\theta_{trig}}{s_0}=\left(1-\frac1V\right)\left[\left(1-\frac1N\right)"
    r"\left(1+\frac\tau d\right)+\tau\frac VN\left(1+\frac Ld\left(1-\frac1V\right)\right)\right]",
    regime="any sizes: the mean is exact; N from V to 16 V, so that the excess matters",
    cells={
        "smoke": [cell for cell in LOADS if cell["length"] == 8],
        "standard": LOADS,
        "full": LOADS,
    },
    replicates=512,
    looks=3,
    rule=MeanRatio(Region(0.97, 1.03), by=("trigger_in_values",)),
    why="the formula is exact; 3% is what the replicates can resolve in a minute",
    predict=trigger_signal,
    controls=(
        Control("no-excess", "drops the excess tau V/N (1 + L/d)", predict=without_excess),
        Control("five-percent", "5% larger", predict=lambda cell: 1.05 * trigger_signal(cell)),
    ),
    plot=Plot(
        x="samples",
        group=("trigger_in_values", "length"),
        x_label="samples N",
        y_label="trigger score",
        log="xy",
    ),
)
def trigger_score(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """After the first two gradient steps the trigger's mean score is s0 = (1 - 1/L)/(L^2 V), up to
    the stated corrections. If the trigger is in the values too, its memorised direction adds a
    relative excess (V/N)(1 + L/d); if not, there is none."""
    batch = sampling.draw(block.rngs, **cell, device=block.device, dtype=block.dtype)
    return {"value": three_steps.token_scores(batch).trigger}


def corners(vocab_size: tuple[int, int], samples: tuple[int, int]) -> tuple[Cell, ...]:
    """Half of the 16 corners of a box: every exponent is estimated from all of its cells."""
    box = grid(vocab_size=vocab_size, length=(16, 64), samples=samples, dim=(64, 256))
    return tuple(cell for index, cell in enumerate(box) if index.bit_count() % 2 == 0)


@claim(
    "A.trigger-signal-scaling",
    "The trigger score falls as 1/(L^2 V), whatever N and d",
    source=SOURCE,
    latex=r"E\theta_{trig}\propto L^{-2}V^{-1}N^0d^0",
    regime="L >= 16 and V >= 32, where the factors 1 - 1/L and 1 - 1/V move an exponent by at most "
    "0.035; trigger not in the values, so that there is no excess at finite N",
    cells={
        "standard": corners((64, 256), (512, 2048)),
        "full": corners((64, 256), (512, 2048)),
    },
    replicates=128,
    looks=4,
    rule=Exponents(signal.EXPONENTS, half_width=0.08),
    why="the factors 1 - 1/L and 1 - 1/V bend the law by at most 0.035 on this grid; the "
    "rest is statistical",
    controls=tuple(
        Control(
            f"{name}-quarter",
            f"an exponent of {name} larger by 1/4",
            rule=Exponents({**signal.EXPONENTS, name: power + 0.25}, half_width=0.08),
        )
        for name, power in signal.EXPONENTS.items()
    ),
    predict=trigger_signal,
    plot=Plot(kind="parity", x_label="predicted", y_label="trigger score", log="xy"),
)
def trigger_scaling(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """The mean trigger score is inversely proportional to the vocabulary size and to the square of
    the length, and depends on neither the number of samples nor the embedding dimension."""
    batch = sampling.draw(block.rngs, **cell, device=block.device, dtype=block.dtype)
    return {"value": three_steps.token_scores(batch).trigger}
