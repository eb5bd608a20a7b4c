"""Sums and inner products over the tokens of a batch, without the (N, L, d) tensor of all values.

Replicates are concatenated: row ``r V + v`` of a table belongs to token or label ``v`` of replicate
``r``. Sequences are sorted by label, so every label owns one slice.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch.nn.functional import embedding_bag

from simulation.attention.sampling import Batch
from simulation.tiles import TILE_ELEMENTS

DENSE_RATIO = {torch.float64: 16, torch.float32: 1}
"""Number of inner products in a matrix product that take a CPU as long as one computed alone.
Decides speed only, never the value."""

DENSE_SUM_RATIO = {torch.float64: 1, torch.float32: 0}
"""Largest table of counts that `sum_by_label` uses, in entries per counted token. Decides speed,
and in which order terms are added."""

SPARSE: bool = torch._C.has_mkl
"""Whether torch multiplies sparse matrices on this CPU."""

with warnings.catch_warnings():
    # torch says once in a process that its CSR matrices are new.
    warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
    torch.sparse_csr_tensor([0, 0], [], [], size=(1, 1), check_invariants=False)


@dataclass(frozen=True, kw_only=True)
class Sequences:
    """Sequences of a batch, sorted by replicate and label; S = R N.

    ``tokens``: (S, L) int64 rows of the tables of R V rows.  ``positions``: (S,) int64.
    ``labels``: (S,) int64, ascending.  ``counts``: (R, V) int64, sequences of each label.
    """

    tokens: torch.Tensor
    positions: torch.Tensor
    labels: torch.Tensor
    counts: torch.Tensor


def by_label(batch: Batch) -> Sequences:
    """Sort the sequences of ``batch`` by replicate and label."""
    shape = batch.permutation.shape
    first = shape[1] * torch.arange(shape[0], device=batch.tokens.device)
    labels, order = (batch.labels + first[:, None]).flatten().sort()
    return Sequences(
        tokens=(batch.tokens + first[:, None, None]).flatten(0, 1).index_select(0, order),
        positions=batch.positions.flatten()[order],
        labels=labels,
        counts=occurrences(labels, shape.numel()).view(shape),
    )


def occurrences(numbers: torch.Tensor, size: int) -> torch.Tensor:
    """Count how often each number from 0 to ``size - 1`` occurs in a tensor (n,): (size,) int64.

    `torch.bincount` would wait for the device, to read the largest number.
    """
    return numbers.new_zeros(size).scatter_add_(0, numbers, torch.ones_like(numbers))


def sum_bags(table: torch.Tensor, tokens: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """Sum the rows of a table over each of B bags of tokens: (B, d).

    ``table``: (n, d). ``tokens``: (T,) int64 rows of the table, bag by bag. ``ends``: (B,) int64,
    the end of each bag in ``tokens``.
    """
    if _sparse(table) and table.dtype == torch.float64:
        # In double precision embedding_bag takes 3 to 20 times as long as this product.
        return _csr(tokens, ends, table.new_ones(tokens.shape), len(table)) @ table
    starts = torch.cat([ends.new_zeros(1), ends[:-1]])
    return embedding_bag(tokens, table, starts, mode="sum")


def sum_by_label(table: torch.Tensor, tokens: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    """Sum, for each label, ``table[x]`` over the tokens x of its sequences: (R, V, d).

    ``table``: (R, V, d). ``tokens``: (S, K) rows, any K tokens of each of S sequences, sorted by
    replicate and label, with equally many sequences per replicate. ``counts``: (R, V),
    sequences of each label. If labels have many tokens, the function counts tokens and multiplies
    tiles of counts by the table; otherwise it gathers rows.
    """
    vocab_size = table.shape[1]
    if vocab_size**2 * table.shape[0] > DENSE_SUM_RATIO[table.dtype] * tokens.numel():
        ends = counts.flatten().cumsum(0) * tokens.shape[1]
        return sum_bags(table.flatten(0, 1), tokens.flatten(), ends).view(table.shape)
    sums = torch.empty_like(table)
    for r, k, own in _tiles(table, counts, len(tokens)):
        here, part = counts[r, k], tokens[own]
        start = r.start * vocab_size + k.start
        labels = torch.arange(here.numel(), device=table.device)
        labels = labels.repeat_interleave(here.flatten(), output_size=len(part))
        # The quotient is the row of the tile; the remainder is the token within the replicate.
        index = labels[:, None] * vocab_size + part
        index -= ((labels + start) // vocab_size * vocab_size)[:, None]
        found = occurrences(index.flatten(), here.numel() * vocab_size)
        sums[r, k] = found.view(*here.shape, vocab_size).to(table.dtype) @ table[r]
    return sums


def inner_products(
    table: torch.Tensor, readout: torch.Tensor, sequences: Sequences
) -> torch.Tensor:
    """Compute ``table[x_ij] . readout[label_i]`` for all positions j of all sequences i: (S, L).

    ``table``, ``readout``: (R, V, d). If labels have many products, the function
    multiplies tiles of labels by the table and selects entries; otherwise it computes each product.
    """
    vocab_size, tokens = table.shape[1], sequences.tokens
    labels = readout.shape[0] * vocab_size
    if vocab_size * labels > DENSE_RATIO[table.dtype] * tokens.numel():
        if not _sparse(table):
            return _gathered(table, readout, sequences)
        ends = sequences.counts.flatten().cumsum(0) * tokens.shape[1]
        return _sampled(table.flatten(0, 1), readout.flatten(0, 1), tokens, ends)
    products = table.new_empty(tokens.shape)
    for r, k, own in _tiles(table, sequences.counts, len(tokens)):
        tile = readout[r, k] @ table[r].mT
        start, row = r.start * vocab_size + k.start, sequences.labels[own, None]
        # The quotient is the row of the tile; the remainder is the token within the replicate.
        index = (row - start) * vocab_size - row // vocab_size * vocab_size + tokens[own]
        products[own] = tile.flatten().index_select(0, index.flatten()).view(index.shape)
    return products


def row_products(table: torch.Tensor, rows: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """Compute ``table[x_ij] . rows[i]`` for every token x_ij of every row i: (R, B, L).

    ``table``: (R, n, d).  ``rows``: (R, B, d).  ``tokens``: (R, B, L) int64, the x_ij, below n.
    """
    replicates, size, _ = table.shape
    if size > DENSE_RATIO[table.dtype] * tokens.shape[2] and _sparse(table):
        first = size * torch.arange(replicates)[:, None, None]
        ends = tokens.shape[2] * torch.arange(1, replicates * rows.shape[1] + 1)
        found = _sampled(table.flatten(0, 1), rows.flatten(0, 1), tokens + first, ends)
        return found.view(tokens.shape)
    products = table.new_empty(tokens.shape)
    step = max(1, TILE_ELEMENTS[table.device.type] // (replicates * size))
    for start in range(0, rows.shape[1], step):
        part = slice(start, start + step)
        products[:, part] = (rows[:, part] @ table.mT).gather(2, tokens[:, part])
    return products


def _gathered(table: torch.Tensor, readout: torch.Tensor, sequences: Sequences) -> torch.Tensor:
    """Compute `inner_products` from gathered factors, a tile of sequences at a time."""
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
    """Multiply row i by the table's rows at the flat ``tokens[ends[i - 1]:ends[i]]``."""
    wanted = _csr(tokens.flatten(), ends, table.new_zeros(tokens.numel()), len(table))
    found: torch.Tensor = torch.sparse.sampled_addmm(wanted, rows, table.mT)
    return found.values().view(tokens.shape)


def _csr(
    columns: torch.Tensor, ends: torch.Tensor, values: torch.Tensor, width: int
) -> torch.Tensor:
    """Make a sparse matrix (B, width) from the columns of its values and the end of each row."""
    starts = torch.cat([ends.new_zeros(1), ends])
    size = (len(ends), width)
    return torch.sparse_csr_tensor(starts, columns, values, size, check_invariants=False)


def _tiles(
    table: torch.Tensor, counts: torch.Tensor, sequences: int
) -> Iterator[tuple[slice, slice, slice]]:
    """Yield slices of replicates, labels and sequences, a tile at a time.

    A tile has whole replicates, or some labels of one replicate. To split by labels, the
    host has to read how many sequences each label has.
    """
    replicates, vocab_size, _ = table.shape
    each, budget = sequences // replicates, TILE_ELEMENTS[table.device.type]
    if whole := budget // vocab_size**2:
        for r in range(0, replicates, whole):
            stop = min(r + whole, replicates)
            yield slice(r, stop), slice(0, vocab_size), slice(r * each, stop * each)
        return
    size = max(1, budget // vocab_size)
    inner = counts.cumsum(1)[:, size - 1 : -1 : size]
    for r, ends in enumerate(inner.tolist()):
        for k, (first, last) in enumerate(pairwise([0, *ends, each])):
            labels = slice(k * size, (k + 1) * size)
            yield slice(r, r + 1), labels, slice(r * each + first, r * each + last)
