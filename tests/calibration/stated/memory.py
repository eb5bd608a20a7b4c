"""Memories: what `theory/memory/` states of its errors."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from recall_claims import Block, Cell, Regime, Student, integers, log_integers, on, one_of
from recall_claims.declare.regime import Values
from recall_claims.judge.methods import COIN, Method
from simulation.memory import bits as measured_bits
from simulation.memory import linear as measured
from simulation.memory import optimal as measured_optimal
from tests.calibration.stated import Law, Observe, Stated, crossing
from theory.memory import bits, linear, optimal


def _square(cell: Cell) -> float:
    return float(cell.get("associations", cell.get("dim", 64)) ** 2)


def _stored(cell: Cell, block: Block, change: Callable[[Tensor], Tensor] | None = None) -> Tensor:
    pairs = block.draw(measured.draw, cell.without("width"))
    memory = measured.hebbian(pairs)
    if "width" in cell:
        sizes = {"dim": cell["dim"], "width": cell["width"]}
        memory = measured.low_rank(memory, block.draw(measured.subspaces, sizes))
    return measured.recalled_share(pairs, change(memory) if change else memory)


def _one_bit(cell: Cell, block: Block) -> Tensor:
    return _stored(cell, block, measured.one_bit)


def _all(cell: Cell, block: Block) -> Tensor:
    pairs = block.draw(measured.draw, cell)
    return measured.all_recalled(pairs, measured.hebbian(pairs))


def _separable(cell: Cell, block: Block) -> Tensor:
    return measured_optimal.separable(block.draw(measured_optimal.draw, cell)).to(block.dtype)


def _bits(cell: Cell, block: Block) -> Tensor:
    return block.draw(measured_bits.bits_per_weight, cell)


def _random_code(cell: Cell, block: Block) -> Tensor:
    return measured_bits.random_code_accuracy(block.rngs, **cell)


LINEAR = on(linear.linear_memory_accuracy)
LOW_RANK = on(linear.low_rank_accuracy)
ONE_BIT = on(linear.one_bit_accuracy)
SEPARABLE = on(optimal.separable_probability)
PAIRS, DIMS = log_integers(30, 512), log_integers(12, 64)


def _share(
    name: str,
    law: Law,
    observe: Observe,
    quote: str,
    error: float | Law,
    *,
    restated: int = 0,
    **more: Values,
) -> Stated:
    return Stated(
        name=f"memory.linear.{name}",
        function=getattr(linear, name),
        quote=quote,
        error=error,
        predict=law,
        regime=Regime(
            "n from 30 to 512, d from 12 to 64, accuracies from 0.05 to 0.95",
            {"associations": PAIRS, "dim": DIMS, **more},
            holds=lambda c: c.get("width", 0) <= c["dim"] and crossing(law)(c),
            size=_square,
        ),
        observe=observe,
        replicates=128,
        looks=5,
        restated=restated,
    )


def _critical(
    function: Callable[..., float],
    quote: str,
    error: float,
    text: str,
    ranges: dict[str, Values],
    observe: Observe,
    *,
    scan: str,
    rising: bool = True,
    method: Method = COIN,
    holds: Callable[[Cell], bool] = lambda _: True,
    replicates: int = 128,
    looks: int = 4,
    dtype: str = "float32",
) -> Stated:
    room = function.__module__.rpartition(".")[2]
    return Stated(
        name=f"memory.{room}.{function.__name__}",
        function=function,
        quote=quote,
        error=error,
        predict=on(function),
        regime=Regime(text, ranges, holds=holds, size=_square),
        observe=observe,
        scan=scan,
        rising=rising,
        method=method,
        replicates=replicates,
        looks=looks,
        dtype=dtype,
    )


STATED = (
    _share(
        "linear_memory_accuracy",
        LINEAR,
        _stored,
        r"within 0.006 of simulations for $n\ge 30$, $d\ge 24$, and 0.01 from $d = 12$ on",
        lambda c: 0.006 if c["dim"] >= 24 else 0.01,
    ),
    _share(
        "low_rank_accuracy",
        LOW_RANK,
        _stored,
        "Stated error: 0.01",
        0.01,
        width=log_integers(12, 64),
    ),
    _share("one_bit_accuracy", ONE_BIT, _one_bit, "Stated error: 0.015", 0.015, restated=1),
    Stated(
        name="memory.linear.all_recalled",
        function=linear.all_recalled,
        quote="Stated error: 0.04",
        error=0.04,
        predict=on(linear.all_recalled),
        regime=Regime(
            "n from 30 to 512, probabilities from 0.05 to 0.95",
            {"associations": PAIRS, "dim": log_integers(24, 160)},
            holds=crossing(on(linear.all_recalled)),
            size=_square,
        ),
        observe=_all,
        method=COIN,
        replicates=512,
        looks=3,
    ),
    _critical(
        linear.half_dim,
        "Stated error: 2%",
        0.02,
        "n from 30 to 512",
        {"associations": PAIRS},
        _stored,
        scan="dim",
        method=Student(),
        looks=5,
    ),
    _critical(
        linear.half_rank,
        "Stated error: 3%",
        0.03,
        "n from 30 to 512, d up to 96, ranks of at least 12",
        {"associations": PAIRS, "dim": log_integers(16, 96)},
        _stored,
        scan="width",
        method=Student(),
        holds=lambda c: 12 <= linear.half_rank(**c) <= 0.95 * c["dim"],
        looks=5,
    ),
    _critical(
        linear.all_dim,
        "Stated error: 3%",
        0.03,
        "n from 30 to 512",
        {"associations": PAIRS},
        _all,
        scan="dim",
        replicates=256,
    ),
    _critical(
        linear.capacity,
        "Stated error: 6%",
        0.06,
        "d from 32 to 128",
        {"dim": log_integers(32, 128)},
        _all,
        scan="associations",
        rising=False,
        replicates=256,
    ),
    _critical(
        optimal.critical_associations,
        "competitors of its own: 3%",
        0.03,
        "d from 6 to 16",
        {"dim": log_integers(6, 16), "own_competitors": one_of(True)},
        _separable,
        scan="associations",
        rising=False,
        replicates=32,
        dtype="float64",
    ),
    Stated(
        name="memory.optimal.separable_probability",
        function=optimal.separable_probability,
        quote="competitors of its own: 0.08",
        error=0.08,
        predict=SEPARABLE,
        regime=Regime(
            "competitors of each pair's own, d from 4 to 12, probabilities from 0.05 to 0.95",
            {
                "dim": log_integers(4, 12),
                "associations": log_integers(4, 160),
                "own_competitors": one_of(True),
            },
            holds=crossing(SEPARABLE),
            size=lambda c: c["associations"] ** 2 * c["dim"],
        ),
        observe=_separable,
        method=COIN,
        replicates=64,
        looks=4,
        dtype="float64",
    ),
    Stated(
        name="memory.bits.bits_per_parameter",
        function=bits.bits_per_parameter,
        quote="within 6%",
        error=0.06,
        relative=True,
        predict=on(bits.bits_per_parameter),
        regime=Regime(
            "capacities from 150 to 600 pairs, d from 32 to 160",
            {
                "construction": one_of("hebbian", "one-bit", "low-rank", "cosine"),
                "dim": log_integers(32, 160),
                "width": log_integers(32, 512),
            },
            holds=lambda c: (
                (c["construction"] in ("cosine", "low-rank") or c["width"] == 32)
                and (c["construction"] != "low-rank" or c["width"] <= c["dim"])
                and 150 <= bits.capacity(**c) <= 600
            ),
            size=lambda c: 32 * c["dim"] * (c["dim"] + c["width"]),
        ),
        observe=_bits,
        replicates=32,
        looks=3,
        dtype="float64",
    ),
    Stated(
        name="memory.bits.random_code_accuracy",
        function=bits.random_code_accuracy,
        quote="Exact",
        error=0.0,
        relative=True,
        predict=on(bits.random_code_accuracy),
        regime=Regime(
            "any sizes: 4 to 64 facts, 2 to 16 outputs, 1 to 9 bits",
            {"facts": log_integers(4, 64), "outputs": log_integers(2, 16), "bits": integers(1, 9)},
        ),
        observe=_random_code,
        replicates=512,
        looks=3,
    ),
)
