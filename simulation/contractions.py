"""Sums and inner products over the tokens of a batch, without the (N, L, d) tensor of its values.

Replicates are laid out one behind the other: row ``r V + v`` of a table belongs to token or label
``v`` of replicate ``r``, and sequences come sorted by label, so that every label owns one slice.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch.nn.functional import embedding_bag

from simulation.sampling import Batch

TILE_ELEMENTS = {"cpu": 2**18, "cuda": 2**26}
"""Elements of one tile by device type: what fits the level-2 cache of a CPU core, and 0.5 GB."""

DENSE_RATIO = 16
"""Measured on a CPU: all inner products of a label by one matrix product cost as much as this many
gathered ones each.  Decides speed only, never the value."""


@dataclass(frozen=True, kw_only=True)
class Sequences:
    """The sequences of a batch, sorted by replicate and label; S = R N sequences.

    ``tokens``: (S, L) int64 rows of the tables of R V rows.  ``positions``: (S,) int64.
    ``labels``: (S,) int64, ascending.  ``counts``: (R, V) int64, sequences of each label.
    """

    tokens: torch.Tensor
    positions: torch.Tensor
    labels: torch.Tensor
    counts: torch.Tensor


def by_label(batch: Batch) -> Sequences:
    """The sequences of ``batch`` sorted by replicate and label."""
    shape = batch.permutation.shape
    first = shape[1] * torch.arange(shape[0], device=batch.tokens.device)
    labels, order = (batch.labels + first[:, None]).flatten().sort()
    return Sequences(
        tokens=(batch.tokens + first[:, None, None]).flatten(0, 1).index_select(0, order),
        positions=batch.positions.flatten()[order],
        labels=labels,
        counts=torch.bincount(labels, minlength=shape.numel()).view(shape),
    )


def sum_by_label(table: torch.Tensor, tokens: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    """For each label, the sum of ``table[x]`` over the tokens x of its sequences.

    ``table``: (R, V, d).  ``tokens``: (S, K) sorted by label, any K.  ``counts``: (R, V).
    Returns (R, V, d).
    """
    ends = counts.flatten().cumsum(0) * tokens.shape[1]
    offsets = torch.cat([ends.new_zeros(1), ends[:-1]])
    sums = embedding_bag(tokens.flatten(), table.flatten(0, 1), offsets, mode="sum")
    return sums.view(table.shape)


def inner_products(
    table: torch.Tensor, readout: torch.Tensor, sequences: Sequences
) -> torch.Tensor:
    """``table[x_ij] . readout[label_i]`` for every position j of every sequence i.

    ``table``, ``readout``: (R, V, d).  Returns (S, L).  Many products a label are read off one
    matrix product of a tile of labels with the table; few are gathered, a tile of sequences at a
    time.
    """
    products = table.new_empty(sequences.tokens.shape)
    vocab_size, dim = table.shape[1:]
    budget = TILE_ELEMENTS[table.device.type]
    if vocab_size**2 * table.shape[0] <= DENSE_RATIO * products.numel():
        for rows, tile in _label_tiles(table, readout, budget):
            first, last = torch.searchsorted(sequences.labels, rows).tolist()
            labels = sequences.labels[first:last, None]
            # Row of the tile and, by the remainder, token within the replicate.
            index = (labels - rows[0]) * vocab_size + sequences.tokens[first:last]
            index -= labels // vocab_size * vocab_size
            products[first:last] = tile.flatten().index_select(0, index.flatten()).view(index.shape)
    else:
        flat_table, flat_readout = table.flatten(0, 1), readout.flatten(0, 1)
        size = max(1, budget // (products.shape[1] * dim))
        for start in range(0, len(products), size):
            part = slice(start, start + size)
            vectors = flat_readout[sequences.labels[part], :, None]
            tokens = sequences.tokens[part]
            values = flat_table.index_select(0, tokens.flatten()).view(*tokens.shape, dim)
            products[part] = torch.bmm(values, vectors)[..., 0]
    return products


def _label_tiles(
    table: torch.Tensor, readout: torch.Tensor, budget: int
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """First and last row, and (rows, V) inner products, of successive tiles of labels.

    A tile is either several whole replicates or some labels of one.
    """
    replicates, vocab_size, _ = table.shape
    whole = budget // vocab_size**2
    group, size = (whole, vocab_size) if whole else (1, max(1, budget // vocab_size))
    for r in range(0, replicates, group):
        for k in range(0, vocab_size, size):
            tile = readout[r : r + group, k : k + size] @ table[r : r + group].mT
            start = r * vocab_size + k
            yield (
                torch.tensor([start, start + tile.shape[0] * tile.shape[1]], device=table.device),
                tile,
            )
