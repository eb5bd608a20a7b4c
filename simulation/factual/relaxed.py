"""Factual recall with one assumption relaxed: attention, data, optimiser, embeddings or weights.

Training uses the task, losses and prompts (counts of tokens) of
:mod:`simulation.factual.sequential_learning`; gradients are by automatic differentiation. As there,
weights have a row for each of S subjects and R relations, one for EOS, and a last row for all N_0
noise tokens. Noise tokens start equal, and every prompt has the mean count of each. The last row's
gradient is the sum of theirs, so the row moves by 1/N_0 of it. Under gradient descent this row is
exact for all models but `embedded`. In shapes, B is the number of replicates and P the number of
prompts.
"""

import copy
import math
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from simulation.adam import Adam
from simulation.embeddings import unit_vectors
from simulation.factual.constructions import Attention
from simulation.factual.sequential_learning import FactPrompts, Losses, stacked
from simulation.factual.task import Facts
from simulation.streams import Rngs, Streams
from simulation.tiles import LOOK_EVERY

Parts = dict[str, Tensor]
Logits = Callable[[Parts, Tensor], Tensor]
"""Logits (B, P, answers) of trained tensors (B, ...) for counts (B or 1, P, tokens)."""


def linear(parts: Parts, counts: Tensor) -> Tensor:
    """Apply linear attention, as in the theorem, to counts of tokens.

    The logits are a sum over tokens, of count times weight times value.
    """
    return (counts * parts["attention"][:, None]) @ parts["values"]


def softmax(parts: Parts, counts: Tensor) -> Tensor:
    """Apply softmax attention, with the weights as scores."""
    weights = counts * parts["attention"].exp()[:, None]
    return weights @ parts["values"] / weights.sum(2, keepdim=True)


def two_layers(parts: Parts, counts: Tensor) -> Tensor:
    """Apply two layers of linear attention: the first layer's output is the second's query."""
    query = (counts * parts["attention"][:, None]) @ parts["keys"]
    return (counts * query) @ parts["values"]


def embedded(parts: Parts, counts: Tensor) -> Tensor:
    """Apply linear attention with learned embeddings, which determine a token's weight and value.

    This model is an approximation, because all noise tokens share one dimension instead of N_0.
    With S, R, D = 8, 2, 4 and N_0 = 20 the subject loss is halved 2% too late at a starting scale
    of 0.1, and 0.04% at 0.01.
    """
    weights = parts["embeddings"] @ parts["attention"][:, :, None]
    return (counts * weights.mT) @ (parts["embeddings"] @ parts["values"])


def start(task: FactPrompts, model: Logits, scale: float) -> Parts:
    """Make the initial parts: attention weights (and keys) equal to ``scale``, and values of zero.

    Softmax attention starts with scores of zero, and learned embeddings start one-hot.
    """
    tokens, like = task.subjects + task.relations + 2, task.target
    weights = like.new_full((task.replicates, tokens), 0.0 if model is softmax else scale)
    parts = {
        "attention": weights,
        "values": like.new_zeros(task.replicates, tokens, task.target.shape[3]),
    }
    if model is two_layers:
        parts["keys"] = like.new_full((task.replicates, tokens, tokens), scale)
    if model is embedded:
        parts["embeddings"] = torch.eye(tokens).to(like).expand(task.replicates, -1, -1)
    return parts


def all_pairs(task: FactPrompts) -> Tensor:
    """Average the token counts of the prompts of each subject and relation: (1, S R, tokens)."""
    s, r = task.subjects, task.relations
    pairs = torch.cartesian_prod(torch.arange(s), torch.arange(r)).to(task.target.device)
    one_hot = torch.nn.functional.one_hot
    rest = task.target.new_tensor([1.0, task.noise_count]).expand(s * r, 2)
    parts = [one_hot(pairs[:, 0], s), one_hot(pairs[:, 1], r), rest]
    return torch.cat([part.to(task.target) for part in parts], 1)[None]


def noisy_pairs(task: FactPrompts, rngs: Rngs, prompts: int) -> Tensor:
    """Draw token counts, (B, S * R * prompts, tokens), of prompts whose noise is random subjects.

    Each pair of subject and relation has ``prompts`` prompts, one after another.
    """
    pairs = all_pairs(task)[0].repeat_interleave(prompts, 0)
    pairs[:, -1] = 0
    equal = [1 / task.subjects] * task.subjects
    found = pairs.expand(len(rngs), -1, -1).clone()
    drawn = Streams.like(rngs, found).counts(task.noise_count, equal, len(pairs))
    found[:, :, : task.subjects] += drawn
    return found


def zipf(task: FactPrompts, exponent: float) -> Tensor:
    """Compute frequencies (S R,) of pairs, proportional to i^-exponent for the i-th subject."""
    subjects = torch.arange(1, task.subjects + 1).to(task.target) ** -exponent
    return (subjects / subjects.sum() / task.relations).repeat_interleave(task.relations)


def answers_shared(task: FactPrompts, rngs: Rngs) -> FactPrompts:
    """Draw the answers again, uniformly from the same D answers for all relations."""
    shape, answers = task.dictionary.shape[1:], task.target.shape[3] // task.relations
    found = copy.copy(task)
    found.dictionary = Streams.like(rngs, task.target).integers(answers, *shape)
    found.target = torch.nn.functional.one_hot(found.dictionary, task.target.shape[3])
    found.target = found.target.to(task.target)
    return found


def overlapping(facts: Facts, streams: Streams, overlap: float) -> Facts:
    """Give the unit embeddings a common part, with a mean inner product near ``overlap``."""
    with streams.together():
        common = [unit_vectors(streams, 1, facts.dim) for _ in range(2)]

    def mixed(embeddings: Tensor, direction: Tensor) -> Tensor:
        found: Tensor = math.sqrt(1 - overlap) * embeddings + math.sqrt(overlap) * direction
        norm: Tensor = found.norm(dim=2, keepdim=True)
        return found / norm

    tokens, outputs = mixed(facts.tokens, common[0]), mixed(facts.outputs, common[1])
    return replace(facts, tokens=tokens, outputs=outputs)


def quantised(attention: Attention, bits: int) -> Attention:
    """Round the weights, tensor by tensor, to 2^bits - 1 evenly spaced values, including zero.

    Raises ValueError for fewer than 2 bits.
    """
    levels = 2 ** (bits - 1) - 1
    if levels < 1:
        raise ValueError(f"values on both sides of zero take 2 bits or more, not {bits}")

    def rounded(weights: Tensor) -> Tensor:
        unit: Tensor = weights.abs().amax((1, 2, 3), keepdim=True) / levels
        found: Tensor = (weights / unit).round() * unit
        return found

    return Attention(**{name: rounded(part) for name, part in vars(attention).items()})


def descended(
    task: FactPrompts,
    model: Logits,
    parts: Parts,
    counts: Tensor,
    *,
    rate: float,
    until: float,
    most: int,
    optimiser: str = "gradient",
    decay: float = 0.0,
    frequencies: Tensor | None = None,
) -> Losses:
    """Record the losses, (steps + 1, B), of full-batch descent to totals below ``until``.

    Args:
        task: the facts.
        model: function that gives the logits.
        parts: initial parameters.
        counts: counts of the prompts' tokens, equally many prompts for each pair.
        rate: learning rate; for gradient descent it is the time of the flow per step.
        until: total loss, in nats, at which descent stops.
        most: largest number of steps.
        optimiser: "gradient" or "adam".
        decay: weight decay, per unit of the rate.
        frequencies: of the pairs, (S R,), in gradient and losses; equal if None.

    Raises ValueError for an unknown optimiser.
    """
    if optimiser not in ("gradient", "adam"):
        raise ValueError(f"no optimiser {optimiser!r}: take gradient or adam")
    shares = {name: _share_of_noise(task, name, part) for name, part in parts.items()}
    moments = Adam([*parts.values()], [rate] * task.replicates)
    copies = counts.shape[1] // (task.subjects * task.relations)
    target = task.target.flatten(1, 2).repeat_interleave(copies, 1)
    weights = task.target.new_full((target.shape[1],), 1 / target.shape[1])
    if frequencies is not None:
        weights = frequencies.repeat_interleave(copies) / copies
    blocks = torch.arange(target.shape[1]).to(target.device) // copies % task.relations
    path: list[Losses] = []
    for step in range(most + 1):
        parts = {name: part.detach().requires_grad_() for name, part in parts.items()}
        logs = model(parts, counts).log_softmax(2)
        total = -((target * logs).sum(2) * weights).sum(1)
        with torch.no_grad():
            in_block = logs.view(*logs.shape[:2], task.relations, -1).logsumexp(3)
            index = blocks[None, :, None].expand(len(logs), -1, 1)
            relation = -(in_block.gather(2, index)[:, :, 0] * weights).sum(1)
        now = total.detach()
        path.append(Losses(relation=relation, subject=now - relation))
        if step == most:
            break
        if step % LOOK_EVERY[now.device.type] == 0 and bool((now < until).all()):
            break
        gradients = torch.autograd.grad(total.sum(), [*parts.values()])
        parts = {name: part.detach() * (1 - rate * decay) for name, part in parts.items()}
        if optimiser == "adam":
            moments.step([*parts.values()], [gradient.contiguous() for gradient in gradients])
        else:
            for (name, part), gradient in zip(parts.items(), gradients, strict=True):
                part -= rate * shares[name] * gradient
    return stacked(path)


def _share_of_noise(task: FactPrompts, name: str, part: Tensor) -> Tensor:
    """Make the factors of a part's gradient: 1/N_0 in the row of noise tokens, else 1.

    In the keys, the column of noise tokens has another factor 1/N_0.
    """
    share = torch.ones_like(part[:1])
    if part.shape[1] == task.subjects + task.relations + 2:
        share[:, -1] /= task.noise
    if name == "keys":
        share[:, :, -1] /= task.noise
    return share
