"""Factual recall: what `theory/factual/` states of its errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import SupportsFloat

import numpy as np
import torch
from torch import Tensor

from recall_claims import Block, Cell, Regime, Student, integers, log_integers, on, one_of
from recall_claims.declare.regime import Values
from recall_claims.judge.methods import COIN, Method
from simulation.factual import additive_heads as measured_heads
from simulation.factual import constructions as measured
from simulation.factual import task
from tests.calibration.stated import Law, Observe, Stated, crossing
from theory.factual import additive_heads, constructions

NAMES = ("subjects", "relations", "answers")
FREQUENCY, MARGIN, LENGTH = 6.0, 0.85, 32


def _each(
    cell: Cell, block: Block, run: Callable[[np.random.Generator, task.Facts], SupportsFloat]
) -> Tensor:
    shape = {name: cell[name] for name in (*NAMES, "dim", "noise") if name in cell}
    values = [float(run(rng, task.draw(rng, **shape, dtype=block.dtype))) for rng in block.rngs]
    return torch.tensor(values, dtype=torch.float64)


def _right(
    rng: np.random.Generator,
    facts: task.Facts,
    attention: measured.Attention,
    mlp: measured.Mlp | None = None,
) -> Tensor:
    outputs = measured.attend(attention, facts, task.prompts(rng, facts, length=LENGTH))
    return measured.right((mlp(outputs) if mlp else outputs) @ facts.outputs.T, facts)


def _by_attention(rng: np.random.Generator, facts: task.Facts) -> Tensor:
    return _right(rng, facts, measured.attention_only(facts, head_dim=2))


def _attention_accuracy(cell: Cell, block: Block) -> Tensor:
    return _each(cell, block, lambda rng, facts: _by_attention(rng, facts).double().mean())


def _attention_all(cell: Cell, block: Block) -> Tensor:
    return _each(cell, block, lambda rng, facts: _by_attention(rng, facts).all())


def _mlp_all(cell: Cell, block: Block) -> Tensor:
    def run(rng: np.random.Generator, facts: task.Facts) -> Tensor:
        weights = measured.attention_mlp(rng, facts, head_dim=1, width=cell["width"])
        return _right(rng, facts, *weights).all()

    return _each(cell, block, run)


def _compressed(cell: Cell, block: Block) -> Tensor:
    sizes = {name: cell[name] for name in ("group", "head_dim", "width")}

    def run(rng: np.random.Generator, facts: task.Facts) -> Tensor:
        weights = measured.compressed_values(rng, facts, **sizes)
        return _right(rng, facts, *weights).double().mean()

    return _each(cell, block, run)


def _focus(cell: Cell, block: Block) -> Tensor:
    def run(rng: np.random.Generator, facts: task.Facts) -> Tensor:
        weights = measured.attention_only(
            facts, head_dim=cell["group"], margin=cell["margin"], scale=cell["scale"]
        )
        prompts = task.prompts(rng, facts, length=cell["length"])
        return measured.focus(weights, facts, prompts).mean()

    return _each(cell.replace(subjects=16, relations=16, answers=4, noise=512), block, run)


def _selective(cell: Cell, block: Block) -> Tensor:
    def run(rng: np.random.Generator, facts: task.Facts) -> bool:
        weights = measured.attention_only(facts, head_dim=cell["group"])
        scores = measured.token_scores(weights, facts) / measured.SCALE
        own = torch.arange(2 * cell["subjects"]).view(len(scores), -1)
        scores.scatter_(1, own, 0.0)
        return bool(scores[:, :-1].max() < measured.MARGIN)

    return _each(cell.replace(relations=cell["subjects"], answers=2), block, run)


def _selective_dim(cell: Cell) -> float:
    tokens = 2 * cell["subjects"]
    return constructions.selective_dim(
        cell["group"], tokens // cell["group"], 2 * tokens + 1, margin=MARGIN
    )


def _focused(cell: Cell, dim: float, group: int = 2) -> bool:
    """Whether hardly any head of that many tokens mistakes a stranger for EOS."""
    tokens = cell["subjects"] + cell["relations"]
    needed = constructions.selective_dim(group, tokens // group, 2 * tokens + 1, margin=MARGIN)
    return dim >= 1.4 * needed


def _guess(cell: Cell, block: Block) -> Tensor:
    return _each(cell, block, lambda rng, facts: task.best_guess(facts, know="relation"))


def _subject_code(cell: Cell, block: Block) -> Tensor:
    found = [measured_heads.subject_code_exists(rng, **cell) for rng in block.rngs]
    return torch.tensor(found).double()


def _relation_code(cell: Cell, block: Block) -> Tensor:
    found = [measured_heads.relation_code_exists(rng, **cell) for rng in block.rngs]
    return torch.tensor(found).double()


ATTENTION = on(constructions.attention_accuracy)
ATTENTION_DIM = on(constructions.attention_dim)
WIDTH = on(constructions.mlp_width)
COMPRESSED = on(constructions.compressed_accuracy, frequency=FREQUENCY)
SUBJECT = on(additive_heads.subject_dim)
RELATION = on(additive_heads.relation_dim)
FOCUS = on(constructions.focus)
SHAPE = {
    "subjects": one_of(*range(8, 33, 2)),  # heads look after two tokens each
    "relations": one_of(*range(4, 17, 2)),
    "answers": log_integers(3, 16),
}


def stated(
    name: str,
    function: Callable[..., float],
    quote: str,
    error: float | Law,
    predict: Law,
    observe: Observe,
    text: str,
    ranges: dict[str, Values],
    *,
    holds: Callable[[Cell], bool] = lambda _: True,
    relative: bool = False,
    scan: str | None = None,
    method: Method | None = None,
    replicates: int = 32,
    looks: int = 4,
    dtype: str = "float32",
    restated: int = 0,
) -> Stated:
    """An entry of a function of `theory/factual/`."""
    room = function.__module__.rpartition(".")[2]
    return Stated(
        name=f"factual.{room}.{name}",
        function=function,
        quote=quote,
        error=error,
        relative=relative,
        predict=predict,
        regime=Regime(text, ranges, holds=holds),
        observe=observe,
        scan=scan,
        method=method or Student(),
        replicates=replicates,
        looks=looks,
        dtype=dtype,
        restated=restated,
    )


STATED = (
    stated(
        "attention_accuracy",
        constructions.attention_accuracy,
        "Stated error where attention has focus, d of at least 1.4 `selective_dim`: 0.01 for "
        "accuracies from 0.9 on, 0.05 from 0.5 on",
        lambda c: 0.01 if ATTENTION(c) >= 0.9 else 0.05,
        ATTENTION,
        _attention_accuracy,
        "S from 8 to 32, R from 4, D from 3 to 16, with focus; accuracies 0.5 to 0.99",
        {**SHAPE, "dim": log_integers(16, 128)},
        holds=lambda c: (
            c["dim"] > max(c["relations"], c["answers"])
            and _focused(c, c["dim"])
            and crossing(ATTENTION, 0.5, 0.99)(c)
        ),
        restated=1,
    ),
    stated(
        "attention_dim",
        constructions.attention_dim,
        "Stated error: 7%",
        0.07,
        ATTENTION_DIM,
        _attention_all,
        "S from 8 to 32, R from 4, D from 3 to 16, where attention has focus",
        SHAPE,
        holds=lambda c: _focused(c, ATTENTION_DIM(c)),
        scan="dim",
        method=COIN,
        replicates=64,
    ),
    stated(
        "mlp_width",
        constructions.mlp_width,
        r"within 6% for $d\ge16$ and 50 hidden units or more",
        0.06,
        WIDTH,
        _mlp_all,
        "S from 8 to 32, R from 4, D from 3 to 16, d to 96, 50 hidden units or more, with focus",
        {**SHAPE, "dim": log_integers(16, 96)},
        holds=lambda c: 50 <= WIDTH(c) <= 400 and _focused(c, c["dim"], 1),
        scan="width",
        method=COIN,
        replicates=64,
        restated=1,
    ),
    stated(
        "compressed_accuracy",
        constructions.compressed_accuracy,
        "Stated error: 0.03",
        0.03,
        COMPRESSED,
        _compressed,
        "S = R = 16, D from 4 to 16, d from 128 to 256, 8 tokens in 2 to 6 dimensions",
        {
            "subjects": one_of(16),
            "relations": one_of(16),
            "answers": log_integers(4, 16),
            "dim": log_integers(128, 256),
            "width": log_integers(128, 512),
            "group": one_of(8),
            "head_dim": integers(2, 6),
        },
        holds=crossing(COMPRESSED, 0.3, 0.97),
        replicates=16,
    ),
    stated(
        "focus",
        constructions.focus,
        "Stated error: 1.5%",
        0.015,
        FOCUS,
        _focus,
        "margins of 1/2, scores times 8 to 12, prompts of 8 to 256 tokens, d = 128 to 256",
        {
            "length": log_integers(8, 256),
            "dim": log_integers(128, 256),
            "group": one_of(2, 4),
            "margin": one_of(0.5),
            "scale": Values((8.0, 12.0)),
        },
        relative=True,
        replicates=8,
        looks=3,
    ),
    stated(
        "selective_dim",
        constructions.selective_dim,
        "Stated error: 7%",
        0.07,
        _selective_dim,
        _selective,
        "S = R from 8 to 32, groups of 2, 4 and 8 tokens, as many noise tokens as others",
        {"subjects": one_of(8, 16, 32), "group": one_of(2, 4, 8)},
        scan="dim",
        method=COIN,
        replicates=64,
    ),
    stated(
        "guess_by_relation",
        constructions.guess_by_relation,
        "Exact.",
        0.0,
        on(constructions.guess_by_relation),
        _guess,
        "S from 8 to 64, R from 2, D from 2 to 16",
        {
            "subjects": log_integers(8, 64),
            "relations": log_integers(2, 16),
            "answers": log_integers(2, 16),
            "dim": one_of(4),
        },
        relative=True,
        replicates=64,
    ),
    stated(
        "subject_dim",
        additive_heads.subject_dim,
        "Stated error against the code that is sought: 8%",
        0.08,
        SUBJECT,
        _subject_code,
        "R from 4 to 16, D from 3 to 12",
        {"relations": log_integers(4, 16), "answers": log_integers(3, 12)},
        holds=lambda c: SUBJECT(c) >= 10,
        scan="dim",
        method=COIN,
        replicates=32,
    ),
    stated(
        "relation_dim",
        additive_heads.relation_dim,
        "Stated error against the code that is sought: 8%",
        0.08,
        RELATION,
        _relation_code,
        "R from 4 to 16, D from 3 to 12",
        {"relations": log_integers(4, 16), "answers": log_integers(3, 12)},
        holds=lambda c: RELATION(c) >= 10,
        scan="dim",
        method=COIN,
        replicates=32,
    ),
)
