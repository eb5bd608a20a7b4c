"""Memories of a given number of bits: all codes, searched codes, random codes, and weights.

A memory stores a uniformly random function from N facts to M outputs. A code of B bits has 2^B
codewords, and the memory stores which codeword is nearest to the function. Codewords are such
functions or, if searched, probabilities of the outputs. Encoder and decoder may share random
numbers.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import torch

from simulation.embeddings import unit_vectors
from simulation.memory import bilinear
from simulation.streams import Rngs, Streams
from simulation.tiles import groups


def functions(facts: int, outputs: int) -> npt.NDArray[np.int64]:
    """List all functions from facts to outputs: (M^N, N).

    >>> functions(2, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    return np.array(list(itertools.product(range(outputs), repeat=facts)))


def best_code_accuracy(*, facts: int, outputs: int, bits: int) -> float:
    """Find the largest mean accuracy of any code of 2^bits codewords, by trying every code.

    Adding a function to all codewords, mod M, keeps accuracy. So the first codeword is zero.

    >>> best_code_accuracy(facts=4, outputs=2, bits=1)
    0.6875
    """
    table = functions(facts, outputs)
    agreement = (table[:, None] == table[None]).mean(2)
    codes = itertools.combinations(range(1, len(table)), 2**bits - 1)
    return max(float(agreement[:, (0, *code)].max(1).mean()) for code in codes)


def searched_loss(rngs: Rngs, *, facts: int, outputs: int, bits: int) -> torch.Tensor:
    """Improve a random code, and return its cross-entropy per fact, (R,), in nats.

    Each of 2^bits messages gives probabilities for the outputs of each fact. The search alternates:
    each function gets the message that makes it likeliest, then each message gets the output
    frequencies of its functions.
    """
    table = functions(facts, outputs)
    one_hot = np.eye(outputs)[table]
    found = np.empty(len(rngs))
    for index, order in enumerate(Streams(rngs).permutation(len(table)).numpy()):
        words = one_hot[order[: 2**bits]]
        decoder = 0.8 * words + 0.2 / outputs
        loss = math.inf
        while True:
            with np.errstate(divide="ignore"):
                code_length = -np.einsum("fno,mno->fm", one_hot, np.log(decoder).clip(-1e3))
            message = code_length.round(9).argmin(1)  # so that rounding errors decide no ties
            reached = float(code_length.min(1).mean()) / facts
            if reached > loss - 1e-12:
                break
            loss = reached
            for m in np.unique(message):
                decoder[m] = one_hot[message == m].mean(0)
        found[index] = loss
    return torch.from_numpy(found)


def random_code_accuracy(rngs: Rngs, *, facts: int, outputs: int, bits: int) -> torch.Tensor:
    """Measure the accuracy (R,) of storing which of 2^bits random codewords is the best."""
    dtype = torch.uint8 if outputs <= 256 else torch.int32
    codewords = Streams(rngs).integers(outputs, 2**bits, facts, dtype=dtype)
    # Codewords are uniform, so the zero function may replace a random one.
    return (codewords == 0).sum(2).amax(1).double() / facts


@dataclass(frozen=True, kw_only=True)
class Answers:
    """Quality of answers.

    ``accuracy``: (R,), share of facts recalled.  ``loss``: (R,), mean cross-entropy in nats of a
    softmax of the scores, at the best of 25 temperatures.
    """

    accuracy: torch.Tensor
    loss: torch.Tensor


def quantise(weights: torch.Tensor, bits: int) -> torch.Tensor:
    """Round each weight to one of 2^bits values, or, for one bit, to its sign; 0 has sign 1.

    The values are evenly spaced between -3 and 3 standard deviations of the matrix (..., m, n) of
    the weight. They are returned in units of their spacing: -1/2, 1/2, 3/2 and so on.

    Raises ValueError for a matrix of one weight and several bits, as one weight has no standard
    deviation.

    >>> quantise(torch.tensor([-3.0, -0.1, 0.2, 5.0]), 1).tolist()
    [-1.0, -1.0, 1.0, 1.0]
    """
    if bits == 1:
        return torch.where(weights < 0, -1.0, 1.0).to(weights)
    if weights.shape[-2:].numel() == 1:
        raise ValueError("a single weight has no standard deviation: give 1 bit, or more weights")
    limit = 1 << (bits - 1)
    step = 3 * weights.std((-2, -1), keepdim=True) / limit
    return (weights / step).floor().clamp(-limit, limit - 1) + 0.5


def quantised_memory(
    rngs: Rngs,
    *,
    facts: int,
    outputs: int,
    dim: int,
    weight_bits: int,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> Answers:
    """Store random functions in a linear memory: a sum of outer products, rounded to few bits.

    ``weight_bits``: bits per weight, as for `quantise`.
    """
    accuracy, loss = [], []
    temperatures = torch.logspace(-2, 2, 25, device=device, dtype=dtype)
    streams = Streams(rngs, device, dtype)
    with streams.together():
        inputs, values = unit_vectors(streams, facts, dim), unit_vectors(streams, outputs, dim)
        answers = streams.integers(outputs, facts)
    for r in groups(len(rngs), len(temperatures) * facts * outputs, inputs):
        keys, rows, right = inputs[r], values[r], answers[r][..., None]
        stored = quantise(rows.gather(1, right.expand_as(keys)).mT @ keys, weight_bits)
        logits = keys @ stored.mT @ rows.mT
        accuracy.append((logits.argmax(2, keepdim=True) == right).to(dtype).mean((1, 2)))
        scaled = temperatures.view(-1, 1, 1, 1) * logits / logits.std((1, 2), keepdim=True)
        log_p = scaled.log_softmax(3).gather(3, right.expand(len(scaled), *right.shape))
        loss.append(-log_p.mean((2, 3)).amax(0))
    return Answers(accuracy=torch.cat(accuracy), loss=torch.cat(loss))


@dataclass(frozen=True)
class Construction:
    """A memory that maps its inputs in a fixed way, and writes its weights in one pass.

    For each replicate, the map takes inputs (count, dim) to (count, k), and weights (dim, k) are
    computed from values (pairs, dim) and mapped inputs (pairs, k).
    """

    features: Callable[[Streams, torch.Tensor, int], torch.Tensor]
    write: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = bilinear.readout


def _as_they_are(streams: Streams, inputs: torch.Tensor, width: int) -> torch.Tensor:
    del streams, width
    return inputs


def _projected(streams: Streams, inputs: torch.Tensor, width: int) -> torch.Tensor:
    directions: torch.Tensor = torch.linalg.qr(streams.normal(inputs.shape[2], width)).Q
    return inputs @ directions


def _cosines(streams: Streams, inputs: torch.Tensor, width: int) -> torch.Tensor:
    frequencies = 6 * streams.normal(inputs.shape[2], width)
    return torch.cos(inputs @ frequencies + 2 * math.pi * streams.uniform(1, width))


CONSTRUCTIONS = {
    "hebbian": Construction(_as_they_are),
    "low-rank": Construction(_projected),
    "one-bit": Construction(_as_they_are, lambda v, k: quantise(bilinear.readout(v, k), 1)),
    "cosine": Construction(_cosines),
    "bilinear": Construction(bilinear.features),
    "bilinear-whitened": Construction(bilinear.features, partial(bilinear.readout, whitened=True)),
}
"""Memories whose bits are counted; another needs an entry here and a prediction."""


def bits_per_weight(
    rngs: Rngs,
    *,
    construction: str,
    dim: int,
    width: int,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> torch.Tensor:
    """Measure the bits per written weight, (R,), at the largest number n of pairs stored.

    Pairs are stored if at least 99% of them are recalled. A random permutation maps n inputs to
    n outputs. Answers with e errors leave at most n!/(n - e)! permutations, and so store
    log2 (n - e)! bits. The search for n is the published one: doubling, then bisection to 1%.

    ``construction``: a name in `CONSTRUCTIONS`.  ``width``: number k of mapped coordinates; the
    memories "hebbian" and "one-bit" have k = ``dim``.

    Raises ValueError if over 98% of 16 ``dim`` pairs, the search's limit, are recalled.
    """
    memory, most = CONSTRUCTIONS[construction], 16 * dim
    streams = Streams(rngs, device, dtype)
    with streams.together():
        inputs, outputs = (unit_vectors(streams, 2 * most, dim)[:, :most] for _ in range(2))
        orders = streams.uniform(2 * most)
    keys = memory.features(streams, inputs, width)
    parts = groups(len(rngs), 2**18, keys)
    right = torch.cat([_searched(memory, keys[r], outputs[r], orders[r]) for r in parts]).tolist()
    if max(right) > 0.98 * most:
        raise ValueError(f"{construction} holds {max(right)} pairs or more: too many to search")
    weights = dim * keys.shape[2]
    return torch.tensor([math.lgamma(n + 1) / math.log(2) / weights for n in right], dtype=dtype)


def _searched(
    memory: Construction, keys: torch.Tensor, values: torch.Tensor, orders: torch.Tensor
) -> torch.Tensor:
    """Count the pairs recalled at the largest number of pairs that the search finds: (R,)."""
    most, on_cpu = keys.shape[1], keys.device.type == "cpu"
    rows = torch.arange(len(keys), device=keys.device)[:, None]

    def recalled(size: torch.Tensor, bound: int) -> torch.Tensor:
        """Count recalled pairs of ``size``: input i has output number argsort(orders)[i]."""
        bound = int(size) if on_cpu else bound
        shown, named, order = keys[:, :bound], values[:, :bound], orders[:, :bound]
        if not on_cpu:
            inside = torch.arange(bound, device=size.device) < size[:, None]
            shown, named = (table * inside[..., None] for table in (shown, named))
            order = torch.where(inside, order, 2)
        right = order.argsort(1)
        scores = shown @ memory.write(named[rows, right], shown).mT @ named.mT
        return (scores.argmax(2) == right).sum(1)

    low = right = torch.ones_like(orders[:, 0], dtype=torch.int64)
    high = low + 4 * most
    for step in range(1, most.bit_length() + 8):
        wide = 100 * (high - low) > low.clamp(min=100)
        if on_cpu and not wide:
            break
        if step == 10:  # halfway, where few replicates still double
            most = min(most, int(high.max()))
        size = torch.minimum(2 * low, (low + high) >> 1).clamp(max=keys.shape[1])
        count = recalled(size, min(most, 2**step))
        enough = wide & (count >= 0.99 * size.double())
        low, right = torch.where(enough, size, low), torch.where(enough, count, right)
        high = torch.where(wide > enough, size, high)
    return right
