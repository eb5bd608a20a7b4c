"""How facts are learnt: what `theory/factual/sequential_learning.py` states of its errors."""

from __future__ import annotations

import math
from functools import partial

from torch import Tensor

from recall_claims import Block, Cell, integers, log_integers, on
from recall_claims.declare.regime import Values
from recall_claims.judge.methods import Deterministic
from simulation.factual import sequential_learning as learning
from tests.calibration.stated import Law, Observe
from tests.calibration.stated.factual import NAMES, stated
from theory.factual import sequential_learning as sequential

SCALE = 1e-5  # of the weights at the start, as published
STEPS = 1500  # with 500 an early stage's half time is off by up to 0.3%


def _prompts(cell: Cell, block: Block, random: bool) -> learning.FactPrompts:
    shape = [cell[name] for name in NAMES]
    facts = (
        [learning.random_dictionary(rng, *shape) for rng in block.rngs]
        if random
        else [learning.product_dictionary(*shape)] * block.replicates
    )
    return learning.FactPrompts(facts, answers=shape[2], dtype=block.dtype)


def _half_time(cell: Cell, stage: sequential.Stage) -> float:
    return sequential.half_time(sequential.Sizes.of(cell), stage, scale=SCALE)


def _flow(cell: Cell, block: Block) -> learning.Losses:
    problem = _prompts(cell, block, random=False)
    duration = 1.2 * max(_half_time(cell, "relation"), _half_time(cell, "subject"))
    return learning.flow_losses(
        problem, problem.start(SCALE, SCALE), duration=duration, steps=STEPS
    )


def _observed_half_time(stage: sequential.Stage) -> Observe:
    def observed(cell: Cell, block: Block) -> Tensor:
        duration = 1.2 * max(_half_time(cell, "relation"), _half_time(cell, "subject"))
        return learning.half_step(getattr(_flow(cell, block), stage)) * duration / STEPS

    return observed


def _time_ratio(cell: Cell, block: Block) -> Tensor:
    losses = _flow(cell, block)
    return learning.half_step(losses.subject) / learning.half_step(losses.relation)


def _flattest(cell: Cell, block: Block) -> Tensor:
    return learning.flattest(_flow(cell, block))


def _loss(cell: Cell) -> float:
    time = cell["part"] * _half_time(cell, "subject")
    return sequential.loss(sequential.Sizes.of(cell), time, scale=SCALE)


def _observed_loss(cell: Cell, block: Block) -> Tensor:
    problem = _prompts(cell, block, random=False)
    time = cell["part"] * _half_time(cell, "subject")
    *_, last = learning.flow(problem, problem.start(SCALE, SCALE), duration=time, steps=600)
    return problem.losses(last).total


def _open_entropy(cell: Cell, block: Block) -> Tensor:
    return learning.open_entropy(_prompts(cell, block, random=True))


def _grown(problem: learning.FactPrompts, token: str, duration: float, steps: int) -> Tensor:
    """Growth rates of the tokens of one sort, from next to nothing: (R, tokens)."""
    start = problem.start(1e-9)
    *_, last = learning.flow(problem, start, duration=duration, steps=steps)
    rates = learning.growth_rates(start, last, duration)
    first = ("subject", "relation", "EOS", "noise").index(token)
    bounds = (0, problem.subjects, problem.subjects + problem.relations, -1, None)
    return rates[:, bounds[first] : bounds[first + 1]]


def _square_rate(token: str) -> Observe:
    def observed(cell: Cell, block: Block) -> Tensor:
        duration = 1 / math.sqrt(RATES[token](cell))
        return _grown(_prompts(cell, block, random=True), token, duration, 12).square().mean(1)

    return observed


def _growth(token: str) -> Observe:
    def observed(cell: Cell, block: Block) -> Tensor:
        stage: sequential.Stage = "relation" if token == "relation" else "subject"
        duration = 0.1 * _half_time(cell, stage)
        return _grown(_prompts(cell, block, random=False), token, duration, 100).mean(1)

    return observed


RATES: dict[str, Law] = {
    "relation": on(sequential.Sizes, sequential.random_relation_square_rate),
    "EOS": on(sequential.Sizes, sequential.background_square_rate),
}
EXACTLY = Deterministic()
FLOWS = {
    "subjects": log_integers(8, 64),
    "relations": log_integers(2, 32),
    "answers": integers(2, 8),
}


def _product(cell: Cell) -> bool:
    """Whether a product dictionary of these sizes is balanced, and both stages apart."""
    return bool(cell["subjects"] % cell["answers"] == 0 and not 0.8 < _ratio(cell) < 1.25)


def _ratio(cell: Cell) -> float:
    return _half_time(cell, "subject") / _half_time(cell, "relation")


STATED = (
    *(
        stated(
            f"half_time, {stage}",
            sequential.half_time,
            "Stated error: 0.2%",
            0.002,
            partial(_half_time, stage=stage),
            _observed_half_time(stage),
            "product dictionaries, S from 8 to 64, R from 2, D from 2 to 8, starts of 1e-5",
            FLOWS,
            holds=_product,
            relative=True,
            method=EXACTLY,
            replicates=1,
            looks=1,
            dtype="float64",
        )
        for stage in ("relation", "subject")
    ),
    stated(
        "time_ratio",
        sequential.time_ratio,
        "by -2% to +6%",
        0.06,
        on(sequential.Sizes, sequential.time_ratio),
        _time_ratio,
        "product dictionaries, S from 8 to 64, R from 2, D from 2 to 8, starts of 1e-5",
        FLOWS,
        holds=_product,
        relative=True,
        method=EXACTLY,
        replicates=1,
        looks=1,
        dtype="float64",
    ),
    stated(
        "loss",
        sequential.loss,
        "Stated error: 0.001",
        0.001,
        _loss,
        _observed_loss,
        "product dictionaries, S from 8 to 64, R from 2, D from 2 to 8, starts of 1e-5",
        {**FLOWS, "part": Values((0.1, 1.5))},
        holds=_product,
        method=EXACTLY,
        replicates=1,
        looks=1,
        dtype="float64",
    ),
    stated(
        "plateau",
        sequential.plateau,
        "Stated error: 0.05",
        0.05,
        on(sequential.Sizes, sequential.plateau),
        _flattest,
        "the same, with a time ratio beyond 2",
        FLOWS,
        holds=lambda c: _product(c) and abs(math.log(_ratio(c))) > math.log(2),
        method=EXACTLY,
        replicates=1,
        looks=1,
        dtype="float64",
    ),
    *(
        stated(
            function.__name__,
            function,
            "Exact.",
            1e-6,
            on(sequential.Sizes, function),
            _growth(token),
            "product dictionaries, S from 8 to 64, R from 2, D from 2 to 8",
            FLOWS,
            holds=_product,
            relative=True,
            method=EXACTLY,
            replicates=1,
            looks=1,
            dtype="float64",
        )
        for token, function in (
            ("relation", sequential.relation_rate),
            ("subject", sequential.subject_rate),
        )
    ),
    stated(
        "random_plateau",
        sequential.random_plateau,
        "Exact.",
        0.0,
        on(sequential.Sizes, sequential.random_plateau),
        _open_entropy,
        "random dictionaries, S from 8 to 64, R from 2, D from 2 to 8",
        FLOWS,
        relative=True,
        replicates=256,
        looks=3,
        dtype="float64",
    ),
    *(
        stated(
            {"relation": "random_relation_square_rate", "EOS": "background_square_rate"}[token],
            {
                "relation": sequential.random_relation_square_rate,
                "EOS": sequential.background_square_rate,
            }[token],
            "Exact.",
            0.0,
            RATES[token],
            _square_rate(token),
            "random dictionaries, S from 8 to 64, R from 2, D from 2 to 8",
            FLOWS,
            relative=True,
            replicates=64,
            looks=3,
            dtype="float64",
        )
        for token in ("relation", "EOS")
    ),
)
