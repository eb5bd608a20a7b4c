"""Steps a second of trained transformers: many models in one batch against other ways.

The other gathers the embedding of every token of every prompt and uses the optimiser of torch, as
the released code of paper B does in JAX, one model at a time. Stacked by `torch.func.vmap` it was
hardly faster (RESULTS.md).
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from simulation.factual import trained_transformer
from simulation.factual.trained_transformer import Sizes
from tests.benchmarks.table import Section, compared
from tests.benchmarks.timing import Work, in_turns, isolated, on_cuda

LENGTH, RATE = 32, 1e-3

NOTE = (
    "steps a second, times models, of one-layer transformers on factual recall, float32, with the "
    "draws of their prompts. Ours counts tokens and holds all models in one batch; the other "
    "gathers every token's embedding and uses `torch.optim.Adam`, one model at a time. Least of 3 "
    "runs, in turns."
)


@dataclass(frozen=True)
class Load:
    """`models` models of these sizes, `batch` prompts a step, `steps` steps a run."""

    sizes: Sizes
    dim: int
    models: int
    batch: int
    steps: int


SMALL = Load(
    Sizes(subjects=16, relations=16, answers=8, heads=8, head_dim=2, width=32), 16, 8, 256, 16
)
PUBLISHED = Load(
    Sizes(subjects=64, relations=32, answers=8, heads=8, head_dim=8, width=256), 64, 32, 1024, 32
)
TINY = Load(Sizes(subjects=4, relations=2, answers=2, heads=2, head_dim=2, width=4), 8, 2, 8, 2)


class Gathered(torch.nn.Module):
    """The model as it is written down: every token of every prompt is embedded."""

    def __init__(self, load: Load, generator: torch.Generator) -> None:
        super().__init__()
        sizes, d = load.sizes, load.dim
        columns, tokens = sizes.heads * sizes.head_dim, 2 * (sizes.subjects + sizes.relations) + 1

        def normal(*shape: int, scale: float) -> Tensor:
            return torch.randn(shape, generator=generator) * scale

        self.heads = sizes.heads
        self.register_buffer("inputs", normal(tokens, d, scale=d**-0.5))
        self.register_buffer("outputs", normal(sizes.relations * sizes.answers, d, scale=d**-0.5))
        narrow, wide = sizes.head_dim**-0.5, d**-0.5
        self.q, self.k, self.v = (
            torch.nn.Parameter(normal(d, columns, scale=narrow)) for _ in range(3)
        )
        self.o = torch.nn.Parameter(normal(columns, d, scale=wide))
        self.w1 = torch.nn.Parameter(normal(d, sizes.width, scale=wide))
        self.b = torch.nn.Parameter(torch.zeros(sizes.width))
        self.w2 = torch.nn.Parameter(normal(sizes.width, d, scale=sizes.width**-0.5))

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (B, M) of prompts (B, T) of tokens, the last of them EOS."""
        seen = self.inputs[tokens]  # type: ignore[index]
        split = (*tokens.shape, self.heads, -1)
        key, value = ((seen @ weight).view(split) for weight in (self.k, self.v))
        query = (seen[:, -1] @ self.q).view(len(tokens), self.heads, -1)
        scores = torch.einsum("bhi,bthi->bht", query, key) / math.sqrt(query.shape[-1])
        mixed = torch.einsum("bht,bthi->bhi", scores.softmax(-1), value)
        x = mixed.flatten(1) @ self.o
        x = x + (x @ self.w1 + self.b).relu() @ self.w2
        return x @ self.outputs.T  # type: ignore[operator]


def prompts(load: Load, device: str) -> tuple[Tensor, Tensor]:
    """Tokens (B, T) and labels (B,), drawn on the device."""
    sizes, shape = load.sizes, (load.batch, 1)
    s, r = sizes.subjects, sizes.relations
    subject = torch.randint(s, shape, device=device)
    relation = torch.randint(r, shape, device=device)
    noise = torch.randint(s + r, (load.batch, LENGTH - 3), device=device) + s + r
    eos = torch.full(shape, 2 * (s + r), device=device)
    tokens = torch.cat([subject, relation + s, noise, eos], -1)
    return tokens, relation[..., 0] * sizes.answers + subject[..., 0] % sizes.answers


def batched(load: Load, device: str) -> Work:
    """Ours, whole: draws on the CPU, all models in one batch."""

    def run() -> None:
        rngs = [np.random.default_rng(index) for index in range(load.models)]
        trained_transformer.train(
            rngs,
            [load.sizes] * load.models,
            dim=load.dim,
            batch=load.batch,
            steps=load.steps,
            learning_rate=RATE,
            target=2.0,  # never reached, so that no model leaves
            test=1,
            device=device,
            dtype=torch.float32,
        )

    return run


def one_by_one(load: Load, device: str) -> Work:
    """A single model; the caller counts it as one."""
    model = Gathered(load, torch.Generator().manual_seed(0)).to(device)
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)

    def run() -> None:
        for _ in range(load.steps):
            tokens, labels = prompts(load, device)
            optimiser.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(tokens), labels)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()

    return run


def speeds(load: Load, device: str, rounds: int = 3) -> list[float]:
    """Model steps a second, ours and one model at a time."""
    works = (batched(load, device), one_by_one(load, device))
    ours, theirs = in_turns(works, rounds, device)
    return [load.models * load.steps / ours.wall, load.steps / theirs.wall]


def section(device: str, threads: int, load: Load | None = None) -> Section:
    """Ours against one model at a time."""
    load = load or (PUBLISHED if on_cuda(device) else SMALL)
    ours, theirs = isolated(threads, speeds, load, device)
    case = (
        f"{load.models} models of {load.sizes.parameters(load.dim)} parameters, d = {load.dim}, "
        f"batch {load.batch}, {device}"
    )
    row = compared(case, ours, "one model at a time", theirs, "steps/s", more=True)
    return Section("training", (row,), NOTE)
