"""Sums and inner products over the tokens of a batch, without the (N, L, d) tensor of its values.

Replicates are laid out one behind the other: row ``r V + v`` of a table belongs to token or label
``v`` of replicate ``r``, and sequences come sorted by label, so that every label owns one slice.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch.nn.functional import embedding_bag

from simulation.attention.sampling import Batch
from simulation.tiles import TILE_ELEMENTS

DENSE_RATIO = {torch.float64: 16, torch.float32: 1}
"""Measured on a CPU: all inner products of a label by one matrix product cost as much as this many
single ones each.  Decides speed only, never the value."""

DENSE_SUM_RATIO = {torch.float64: 1, torch.float32: 0}
"""The same for sums: numbers in the table of counts for each token that is counted.  Decides speed,
and in which order terms are added."""

SPARSE: bool = torch._C.has_mkl
"""Whether torch multiplies sparse matrices on this CPU."""

with warnings.catch_warnings():
    # torch says once in a process that its CSR matrices are new.
    warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
    torch.sparse_csr_tensor([0, 0], [], [], size=(1, 1), check_invariants=False)


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


def sum_bags(table: torch.Tensor, tokens: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """Sums of rows of a table over bags of tokens that lie one behind the other: (B, d).

    ``table``: (n, d).  ``tokens``: (T,) int64 rows.  ``ends``: (B,) int64, where each bag ends.
    """
    if _sparse(table) and table.dtype == torch.float64:
        # In double precision embedding_bag takes 3 to 20 times as long as this product.
        return _csr(tokens, ends, table.new_ones(tokens.shape), len(table)) @ table
    starts = torch.cat([ends.new_zeros(1), ends[:-1]])
    return embedding_bag(tokens, table, starts, mode="sum")


def sum_by_label(table: torch.Tensor, tokens: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    """For each label, the sum of ``table[x]`` over the tokens x of its sequences.

    ``table``: (R, V, d).  ``tokens``: (S, K) sorted by label, any K.  ``counts``: (R, V).
    Returns (R, V, d).  Many tokens a label are counted, and one matrix product of a tile of counts
    with the table adds them up; few are gathered.
    """
    ends = counts.flatten().cumsum(0)
    vocab_size = table.shape[1]
    if vocab_size**2 * table.shape[0] > DENSE_SUM_RATIO[table.dtype] * tokens.numel():
        sums = sum_bags(table.flatten(0, 1), tokens.flatten(), ends * tokens.shape[1])
        return sums.view(table.shape)
    sums = torch.empty_like(table)
    for r, k in _tiles(table):
        here = counts[r, k]
        start = r.start * vocab_size + k.start
        last = int(ends[start + here.numel() - 1])
        first = last - int(here.sum())
        labels = torch.arange(here.numel(), device=table.device).repeat_interleave(here.flatten())
        # Row of the tile and, by the remainder, token within the replicate.
        index = labels[:, None] * vocab_size + tokens[first:last]
        index -= ((labels + start) // vocab_size * vocab_size)[:, None]
        found = torch.bincount(index.flatten(), minlength=here.numel() * vocab_size)
        sums[r, k] = found.view(*here.shape, vocab_size).to(table.dtype) @ table[r]
    return sums


def inner_products(
    table: torch.Tensor, readout: torch.Tensor, sequences: Sequences
) -> torch.Tensor:
    """``table[x_ij] . readout[label_i]`` for every position j of every sequence i.

    ``table``, ``readout``: (R, V, d).  Returns (S, L).  Many products a label are read off one
    matrix product of a tile of labels with the table; few are made one by one.
    """
    vocab_size, tokens = table.shape[1], sequences.tokens
    labels = readout.shape[0] * vocab_size
    if vocab_size * labels > DENSE_RATIO[table.dtype] * tokens.numel():
        if not _sparse(table):
            return _gathered(table, readout, sequences)
        ends = sequences.counts.flatten().cumsum(0) * tokens.shape[1]
        return _sampled(table.flatten(0, 1), readout.flatten(0, 1), tokens, ends)
    products = table.new_empty(tokens.shape)
    for r, k in _tiles(table):
        tile = readout[r, k] @ table[r].mT
        start = r.start * vocab_size + k.start
        rows = torch.tensor([start, start + tile.shape[0] * tile.shape[1]], device=table.device)
        first, last = torch.searchsorted(sequences.labels, rows).tolist()
        row = sequences.labels[first:last, None]
        # Row of the tile and, by the remainder, token within the replicate.
        index = (row - start) * vocab_size - row // vocab_size * vocab_size + tokens[first:last]
        products[first:last] = tile.flatten().index_select(0, index.flatten()).view(index.shape)
    return products


def row_products(table: torch.Tensor, rows: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """``table[x_ij] . rows[i]`` for every token j of every row i: (B, L).

    ``table``: (n, d).  ``rows``: (B, d).  ``tokens``: (B, L) int64.
    """
    if len(table) > DENSE_RATIO[table.dtype] * tokens.shape[1] and _sparse(table):
        return _sampled(table, rows, tokens, tokens.shape[1] * torch.arange(1, len(rows) + 1))
    products = table.new_empty(tokens.shape)
    size = max(1, TILE_ELEMENTS[table.device.type] // len(table))
    for start in range(0, len(rows), size):
        part = slice(start, start + size)
        products[part] = (rows[part] @ table.mT).gather(1, tokens[part])
    return products


def _gathered(table: torch.Tensor, readout: torch.Tensor, sequences: Sequences) -> torch.Tensor:
    """The same inner products, their factors gathered a tile of sequences at a time."""
    flat_table, flat_readout = table.flatten(0, 1), readout.flatten(0, 1)
    products = table.new_empty(sequences.tokens.shape)
    size = max(1, TILE_ELEMENTS[table.device.type] // (products.shape[1] * table.shape[2]))
    for start in range(0, len(products), size):
        part = slice(start, start + size)
        vectors = flat_readout[sequences.labels[part], :, None]
        tokens = sequences.tokens[part]
        values = flat_table.index_select(0, tokens.flatten()).view(*tokens.shape, table.shape[2])
        products[part] = torch.bmm(values, vectors)[..., 0]
    return products


def _sparse(table: torch.Tensor) -> bool:
    return SPARSE and table.device.type == "cpu"


def _sampled(
    table: torch.Tensor, rows: torch.Tensor, tokens: torch.Tensor, ends: torch.Tensor
) -> torch.Tensor:
    """Products of each row with the rows of a table that its tokens name; ``ends``: of its tokens,
    one row's behind the other's."""
    wanted = _csr(tokens.flatten(), ends, table.new_zeros(tokens.numel()), len(table))
    found: torch.Tensor = torch.sparse.sampled_addmm(wanted, rows, table.mT)
    return found.values().view(tokens.shape)


def _csr(
    columns: torch.Tensor, ends: torch.Tensor, values: torch.Tensor, width: int
) -> torch.Tensor:
    """A sparse matrix (B, width) by the columns of its values and where each row ends."""
    starts = torch.cat([ends.new_zeros(1), ends])
    size = (len(ends), width)
    return torch.sparse_csr_tensor(starts, columns, values, size, check_invariants=False)


def _tiles(table: torch.Tensor) -> Iterator[tuple[slice, slice]]:
    """Replicates and labels of successive tiles: several whole replicates, or labels of one."""
    replicates, vocab_size, _ = table.shape
    budget = TILE_ELEMENTS[table.device.type]
    whole = budget // vocab_size**2
    group, size = (whole, vocab_size) if whole else (1, max(1, budget // vocab_size))
    for r in range(0, replicates, group):
        for k in range(0, vocab_size, size):
            yield slice(r, r + group), slice(k, k + size)
