"""Time simulations against other ways to compute the same figures, and time a large recall.

* Three steps, in float64: the closed form of one replicate on a CPU, or of 16 on CUDA, to use the
  device fully. The other way is automatic differentiation of the first replicate.
* Recall: the label of each of V values among V labels, a tile of scores at a time. We compare with
  the time that the two matrix products of recall would take at the peak rate. The peak is measured:
  it is the rate of a plain `torch.mm` that writes the larger product into an existing matrix.
* Training: a step of Adam with the gradient in closed form, or by automatic differentiation.

These times are the least of some runs. The two ways take turns, so that a slow minute of the
machine affects both. At a language model's sizes recall is timed once.
"""

import multiprocessing
import platform
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch

from recall_claims.evidence.executors import cores
from simulation import decoding
from simulation.adam import Adam
from simulation.attention import oracle, sampling, three_steps
from simulation.factual import trained_transformer
from simulation.factual.trained_transformer import Sizes
from simulation.factual.transformer_gradient import EmbeddedFacts, Transformers, Weights
from simulation.memory import linear

Work = Callable[[], object]

Dims = tuple[int, int, int, int]
"""Numbers (vocab_size, samples, length, dim)."""
STEPS: Mapping[Dims, float] = {
    (1024, 8192, 32, 64): 25.0,
    (2048, 16384, 32, 64): 50.0,
}
"""Promised factor by which three steps in closed form are faster than by automatic differentiation
on a CPU, by sizes."""
STEPS_ON_CUDA = 20.0
TRAINING = 1.5
"""Promised factor by which a training step in closed form is faster than by automatic
differentiation, for the same number of models on a CPU."""
PRODUCTS = {"cpu": (8192, 512), "cuda": (32768, 4096)}
"""Numbers (vocab_size, dim); as many values as labels."""
LANGUAGE_MODEL = (131072, 4096)
SHARE_OF_PEAK, MOST_MILLISECONDS = 0.6, 60_000.0
"""Promises: the share of the peak that recall in float32 reaches on CUDA, and the milliseconds that
a recall takes at a language model's sizes."""


MOST_DRAWING = 0.1
"""Largest share that draws on the host have in the time of draws and three steps, promised on
CUDA."""


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    case: str
    found: str
    promised: str
    kept: bool

    def __str__(self) -> str:
        return f"| {self.case} | {self.found} | {self.promised} | {'yes' if self.kept else 'NO'} |"


def compared(case: str, ours: float, against: str, theirs: float, least: float = 0.0) -> Row:
    """Make a row that compares our milliseconds with `theirs`, the milliseconds of another way.

    `against` names the other way. The promise is kept if ours is at least `least` times as fast.
    """
    factor = theirs / ours
    found = f"{ours:.3g} ms, {against} {theirs:.3g} ms: {factor:.3g} times"
    return Row(case, found, f"{least:g} times" if least else "–", factor >= least)


def steps(device: str, promised: Mapping[Dims, float] = STEPS) -> Iterator[Row]:
    """Compare three steps in closed form with automatic differentiation, at each size."""
    count = 16 if on_cuda(device) else 1
    for sizes, least in promised.items():
        batch = _batch(sizes, count, device, torch.float64)
        works = partial(_closed_form, batch), partial(oracle.train, batch[:1], eta=1e-3, gamma=1e6)
        ours, theirs = in_turns(works, device, calls=(10, 1))
        case = "three-steps, V, N, L, d = " + ", ".join(map(str, sizes))
        least = STEPS_ON_CUDA if on_cuda(device) else least
        yield compared(case, ours / count, "autograd", theirs, least)


def drawing(device: str, sizes: Iterable[Dims] = STEPS) -> Iterator[Row]:
    """Time the draws for three steps of 16 replicates, as a share of draws and steps."""
    for each in sizes:
        draw = partial(_batch, each, 16, device, torch.float32)
        drawn, worked = in_turns((draw, partial(_closed_form, draw())), device)
        share = drawn / (drawn + worked)
        case = "share of draws in three steps, V, N, L, d = " + ", ".join(map(str, each))
        kept = share <= MOST_DRAWING or not on_cuda(device)
        yield Row(case, f"{share:.2f}", f"at most {MOST_DRAWING}", kept)


def _batch(sizes: Dims, count: int, device: str, dtype: torch.dtype) -> sampling.Batch:
    rngs = [np.random.default_rng(index) for index in range(count)]
    V, N, L, d = sizes
    return sampling.draw(rngs, vocab_size=V, samples=N, length=L, dim=d, device=device, dtype=dtype)


def _closed_form(batch: sampling.Batch) -> None:
    scores = three_steps.token_scores(batch)
    three_steps.trained_memory(batch, three_steps.attend(batch, scores))


def training(device: str, models: int = 12, batch: int = 64) -> Iterator[Row]:
    """Compare a training step of transformers in closed form with automatic differentiation.

    Raises:
        AssertionError: the gradients differ.
    """
    sizes = Sizes(subjects=15, relations=15, answers=8, heads=8, head_dim=2, width=16)
    rngs = [np.random.default_rng(index) for index in range(models)]
    task, weights = trained_transformer._draw(rngs, sizes, 16, device, torch.float32)
    prompts = trained_transformer._prompts(rngs, task, sizes, 1, batch, 32)
    given = prompts.tokens[:, 0], prompts.labels[:, 0]
    trained = Transformers(weights, task, sizes.heads, batch)
    adam = Adam(weights.tensors(), [0.0] * models)

    def closed_form() -> None:
        adam.step(weights.tensors(), trained.gradient(*given).tensors())

    def autograd() -> None:
        adam.step(weights.tensors(), differentiated(weights, task, sizes.heads, *given))

    found = trained.gradient(*given).tensors()
    expected = differentiated(weights, task, sizes.heads, *given)
    for ours, theirs in zip(found, expected, strict=True):
        assert float((ours - theirs).abs().max()) < 1e-5 * float(theirs.abs().max()), "they differ"
    times = in_turns((closed_form, autograd), device, calls=(50, 50))
    case = f"training step, transformer, {models} models, float32"
    yield compared(case, times[0], "autograd", times[1], 0.0 if on_cuda(device) else TRAINING)


def differentiated(
    weights: Weights, task: EmbeddedFacts, heads: int, prompts: torch.Tensor, labels: torch.Tensor
) -> list[torch.Tensor]:
    """Return the gradients of `Transformers.gradient`, by automatic differentiation."""
    leaves = [part.detach().requires_grad_() for part in weights.tensors()]
    q, k, v, o, w1, b, w2 = leaves
    models, (dim, tokens) = len(q), (task.inputs.shape[2], task.inputs.shape[1])
    q, k, v = (part.view(models, heads, -1, dim) for part in (q, k, v))
    counts = task.inputs.new_zeros(*labels.shape, tokens)
    counts.scatter_add_(2, prompts, counts.new_ones(prompts.shape))
    query = torch.einsum("ghid,gd->ghi", q, task.inputs[:, -1]) / q.shape[2] ** 0.5
    scores = torch.einsum("ghi,ghid,gzd->gzh", query, k, task.inputs).exp()
    values = torch.einsum("ghid,gzd->gzhi", v, task.inputs) * scores[..., None]
    sums = (counts @ values.flatten(2)).view(*labels.shape, heads, -1)
    mixed = sums / (counts @ scores)[..., None]
    x = mixed.flatten(2) @ o.mT
    y = x + (x @ w1.mT + b.mT).relu() @ w2.mT
    logits = y @ task.outputs.mT
    loss = torch.nn.functional.cross_entropy(logits.mT, labels, reduction="sum")
    return [part.contiguous() for part in torch.autograd.grad(loss / labels.shape[1], leaves)]


def recall(device: str, size: tuple[int, int] | None = None) -> Iterator[Row]:
    """Compare recall with its matrix products, in both precisions."""
    V, dim = size or PRODUCTS[torch.device(device).type]
    for dtype in (torch.float64, torch.float32):
        generator = torch.Generator().manual_seed(0)
        u, memory, values = (
            torch.randn((1, rows, dim), generator=generator, dtype=dtype).to(device)
            for rows in (V, dim, V)
        )
        predict = partial(decoding.predict, u, memory, values)
        product = partial(torch.mm, values[0], u[0].T, out=values.new_empty(V, V))
        ours, larger = in_turns((predict, product), device)
        least = SHARE_OF_PEAK if on_cuda(device) and dtype == torch.float32 else 0.0
        case = f"recall, V, d = {V}, {dim}: products, {dtype}"
        yield compared(case, ours, "torch.mm", larger * (1 + dim / V), least)


def language_model(device: str, sizes: tuple[int, int] = LANGUAGE_MODEL) -> Iterator[Row]:
    """Time the recall of every pair of a vocabulary, from the draws to the share recalled.

    One replicate is timed in float32, including draws on the CPU.
    """

    def work(associations: int, dim: int) -> None:
        rngs = [np.random.default_rng(1000)]
        pairs = linear.draw(
            rngs, associations=associations, dim=dim, device=device, dtype=torch.float32
        )
        linear.recalled_share(pairs, linear.hebbian(pairs)).item()

    work(64, 8)  # libraries load their kernels once
    taken = timed(lambda: work(*sizes), device)
    case = f"language-model, V, d = {sizes[0]}, {sizes[1]}, {device}"
    yield compared(case, taken, "limit", MOST_MILLISECONDS, 1.0)


def in_turns(works: Sequence[Work], device: str, calls: Sequence[int] = (1, 1)) -> list[float]:
    """Return each function's least milliseconds over 5 rounds of `calls`, after a warm-up call."""
    for work in works:
        timed(work, device)
    runs: list[list[float]] = [[] for _ in works]
    for _ in range(5):
        for work, found, repeats in zip(works, runs, calls, strict=True):
            found += [timed(work, device) for _ in range(repeats)]
    return list(map(min, runs))


def timed(work: Work, device: str) -> float:
    """Return the milliseconds of one run, from an idle device to an idle device."""
    ends = list[float]()
    for each in (lambda: None, work):
        each()
        if on_cuda(device):
            torch.cuda.synchronize(device)
        ends.append(time.perf_counter())
    return 1e3 * (ends[1] - ends[0])


def on_cuda(device: str) -> bool:
    """Whether a name is of a CUDA device."""
    return torch.device(device).type == "cuda"


def machine(device: str) -> str:
    """Describe the machine of the measurement."""
    cpu = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.*)", cpu.read_text()) if cpu.exists() else None
    where = found[1] if found else platform.processor()
    if on_cuda(device):
        where += f", {torch.cuda.get_device_name(device)}"
    return (
        f"{where}; {cores()} of {multiprocessing.cpu_count()} cores, {torch.get_num_threads()} "
        f"thread(s), device {device}; torch {torch.__version__}, Python {platform.python_version()}"
    )
