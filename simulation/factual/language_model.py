r"""A small language model of synthetic biographies, and the bits that its weights store.

Data are a small version of the published form (Allen-Zhu and Li, arXiv 2404.05405). Each of N
people has a name of three words and six attributes: birth date, birth city, university, major,
employer, and the employer's city, which follows from the employer. A biography is the name and six
sentences, each in one of three wordings. Order and wordings are drawn at each exposure.

The model has two pre-norm layers, each of causal softmax attention with four heads and a GELU
network of four times the width, with learned positions and tied embeddings. AdamW trains the model.
The learning rate rises along a cosine in the first twentieth of the steps, and then falls along
another.

The published estimator of the number of bits is

.. math:: N\log_2\frac{N_0}{e^{p_1}} + N\log_2\frac{S_0}{e^{p_2}}

with N_0 possible names and S_0 possible sets of attributes. The mean loss per person, in nats, is
p_1 on the tokens of the name and p_2 on all tokens of values.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

NAMES = (40, 40, 40)
"""Numbers of words, by part of a name."""
VALUES = ((12, 28, 50), (64,), (64,), (32,), (64,), (64,))
"""Numbers of words, by attribute and token; the fifth attribute gives the sixth."""
WORDINGS = (
    ("was born on", "has a birthday on", "first saw the light on"),
    ("was born in", "comes from", "spent the early years in"),
    ("went to", "is a graduate of", "was a student at"),
    ("has a degree in", "chose to study", "did research in"),
    ("works for", "has a post at", "is paid by"),
    ("works in", "has an office in", "goes to work in"),
)
HEADS, LAYERS, BATCH = 4, 2, 64
RATE, DECAY = 1e-2, 0.01
NAME_BITS = math.log2(math.prod(NAMES))
ATTRIBUTE_BITS = math.log2(math.prod(math.prod(sizes) for sizes in VALUES[:-1]))

_WORDS = {
    w: i for i, w in enumerate(sorted({w for row in WORDINGS for s in row for w in s.split()}))
}
_STOP, _PAD = len(_WORDS), len(_WORDS) + 1
_PHRASES = [[[_WORDS[w] for w in wording.split()] for wording in row] for row in WORDINGS]
_STARTS = np.cumsum([_PAD + 1, *NAMES, *(size for sizes in VALUES for size in sizes)])
"""The first token of each pool of words, and the size of the vocabulary."""
_LENGTH = (
    1
    + len(NAMES)
    + sum(max(map(len, row)) + len(sizes) + 1 for row, sizes in zip(_PHRASES, VALUES, strict=True))
)


class LanguageModel(nn.Module):
    """Language model: logits (B, T, vocabulary) of the next token, from tokens (B, T)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(int(_STARTS[-1]), width)
        self.places = nn.Embedding(_LENGTH, width)
        layer = nn.TransformerEncoderLayer(
            width, HEADS, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(
            layer, LAYERS, nn.LayerNorm(width), enable_nested_tensor=False
        )

    def forward(self, tokens: Tensor) -> Tensor:
        length = tokens.shape[1]
        hidden = self.tokens(tokens) + self.places.weight[:length]
        mask = nn.Transformer.generate_square_subsequent_mask(length, hidden.device, hidden.dtype)
        logits: Tensor = self.layers(hidden, mask, is_causal=True) @ self.tokens.weight.T
        return logits


def people(rng: np.random.Generator, count: int) -> np.ndarray:
    """Draw people as tokens of names and values, a row for each: (count, 11).

    All names differ, values are uniform, and an employer is in one city.

    Raises ValueError if ``count`` is below 1 or above half of all possible names.
    """
    possible = math.prod(NAMES)
    if not 1 <= count <= possible // 2:
        raise ValueError(f"{count} people: give 1 to {possible // 2}, half of all names")
    names = np.unravel_index(rng.choice(possible, count, replace=False), NAMES)
    values = [rng.integers(size, size=count) for sizes in VALUES[:-1] for size in sizes]
    city = rng.integers(VALUES[-1][0], size=VALUES[-2][0])[values[-1]]
    table: np.ndarray = np.stack([*names, *values, city], 1) + _STARTS[:-1]
    return table


def biographies(rng: np.random.Generator, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Write a padded biography of each row of ``table``: tokens and their kinds, both (N, T).

    Kinds are 1 for a name, 2 for a value, 0 for any other word, and -1 for padding.
    """
    tokens = np.full((len(table), _LENGTH), _PAD)
    kinds = np.full(tokens.shape, -1)
    ends = np.cumsum([len(NAMES), *map(len, VALUES)])
    orders = rng.permuted(np.tile(np.arange(len(VALUES)), (len(table), 1)), axis=1)
    wordings = rng.integers(len(WORDINGS[0]), size=orders.shape)
    for row, (person, order, wording) in enumerate(zip(table, orders, wordings, strict=True)):
        text, kind = [_STOP, *person[: len(NAMES)]], [0] + [1] * len(NAMES)
        for attribute in order:
            phrase = _PHRASES[attribute][wording[attribute]]
            value = person[ends[attribute] : ends[attribute + 1]]
            text += [*phrase, *value, _STOP]
            kind += [0] * len(phrase) + [2] * len(value) + [0]
        tokens[row, : len(text)], kinds[row, : len(kind)] = text, kind
    return tokens, kinds


def losses(model: nn.Module, tokens: Tensor, kinds: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the mean loss, in nats, of a token, of a whole name, and of a person's values."""
    logits, after = model(tokens[:, :-1]), kinds[:, 1:]
    each = cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="none")
    each = each.view(after.shape)
    name, value = ((each * (after == kind)).sum(1).mean() for kind in (1, 2))
    return each[after >= 0].mean(), name, value


def bits_per_weight(
    rngs: Sequence[np.random.Generator],
    *,
    people_count: int,
    width: int,
    exposures: int,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float32,
) -> dict[str, Tensor]:
    """Measure the bits that models, one per generator, store of ``people_count`` people.

    Each person is shown ``exposures`` times. Returns, each (R,), the ``bits`` per weight by the
    published estimator, and as ``held`` the stored share of the attributes' bits.

    Raises ValueError if ``width`` is not a positive multiple of `HEADS`, if ``exposures`` is below
    1, and for the errors of `people`.
    """
    if width < HEADS or width % HEADS or exposures < 1:
        raise ValueError(f"width {width} must be a multiple of {HEADS}, and exposures at least 1")
    found = []
    for rng in rngs:
        table = people(rng, people_count)
        model = _trained(rng, table, width, exposures, device, dtype)
        with torch.no_grad():
            written = [torch.from_numpy(a).to(device) for a in biographies(rng, table)]
            _, name, value = losses(model, *written)
        attributes = ATTRIBUTE_BITS - value / math.log(2)
        bits = people_count * (NAME_BITS - name / math.log(2) + attributes)
        weights = sum(p.numel() for p in model.parameters())
        found.append(torch.stack([bits / weights, attributes / ATTRIBUTE_BITS]).double())
    bits, held = torch.stack(found, 1)
    return {"bits": bits, "held": held}


def _trained(
    rng: np.random.Generator,
    table: np.ndarray,
    width: int,
    exposures: int,
    device: str | torch.device,
    dtype: torch.dtype,
) -> LanguageModel:
    with torch.device("meta"):
        model = LanguageModel(width)
    model = model.to_empty(device=device).to(dtype)
    for name, weight in model.named_parameters():
        start = 0.02 * rng.standard_normal(weight.shape)
        if weight.ndim == 1:  # biases, and the gains of the norms
            start = np.full(weight.shape, float("norm" in name and "weight" in name))
        weight.data.copy_(torch.from_numpy(start))
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=RATE, weight_decay=DECAY, betas=(0.9, 0.98)
    )
    steps = exposures * math.ceil(len(table) / BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, RATE, total_steps=steps + 1, pct_start=0.05, cycle_momentum=False
    )
    for _ in range(exposures):
        written = biographies(rng, table[rng.permutation(len(table))])
        tokens, kinds = (torch.from_numpy(part).to(device) for part in written)
        for first in range(0, len(table), BATCH):
            rows = slice(first, first + BATCH)
            optimiser.zero_grad()
            torch.autograd.backward(losses(model, tokens[rows], kinds[rows])[0])
            optimiser.step()
            schedule.step()
    return model
