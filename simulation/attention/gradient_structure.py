"""Gradients at initialisation as sums over samples, written out term by term.

Every part of the sums is a tensor that a control can replace by a wrong part.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch

from simulation.attention import oracle
from simulation.attention.sampling import Batch
from simulation.tiles import groups


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Parts of one replicate's gradients, for N samples, L positions and dimension d.

    ``labels``: (N, d), the output embedding u_k of each sample's label.  ``centre``: (d,), the mean
    output embedding.  ``keys``, ``values``: (N, L, d).  ``informative``: (N, d), the value at the
    informative position.  ``query``: (d,).
    """

    labels: torch.Tensor
    centre: torch.Tensor
    keys: torch.Tensor
    values: torch.Tensor
    informative: torch.Tensor
    query: torch.Tensor

    @property
    def targets(self) -> torch.Tensor:
        """Targets of the samples, each ``u_k`` minus the mean output embedding: (N, d)."""
        return self.labels - self.centre

    @property
    def means(self) -> torch.Tensor:
        """Mean value of each sequence: (N, d)."""
        return self.values.mean(1)


def parts(batch: Batch) -> dict[str, torch.Tensor]:
    """Compute the `Parts` of all replicates, (R, ...), by name."""
    keys, values = oracle.keys_and_values(batch)
    return {
        "labels": batch.u.take_along_dim(batch.labels[..., None], 1),
        "centre": batch.u.mean(1),
        "keys": keys,
        "values": values,
        "informative": values.take_along_dim(batch.positions[..., None, None], 2)[:, :, 0],
        "query": batch.query,
    }


def value_gradient(targets: torch.Tensor, means: torch.Tensor) -> torch.Tensor:
    r"""Compute the value gradient ``-(1/N) sum_i targets_i means_i^T``: (d, d).

    ``targets``: (N, d), the samples' `Parts.targets`.  ``means``: (N, d), their mean values.
    """
    return -targets.T @ means / len(targets)


def attention_step(
    query: torch.Tensor,
    gram: torch.Tensor,
    keys: torch.Tensor,
    deviations: torch.Tensor,
    means: torch.Tensor,
) -> torch.Tensor:
    r"""Compute ``W_KQ`` after step 2, divided by both step sizes: (d, d), w times query^T.

    .. math:: w = \frac1{N^2} \sum_{i,i'} g_{ii'} \Sigma_i \bar h_{i'}, \qquad
        \Sigma_i = \frac1L \sum_j \kappa_{ij} (v_{ij} - \bar h_i)^\top

    ``query``: (d,).  ``gram``: (N, N), the inner products g of the samples' targets.  ``keys``: (N,
    L, d), the kappa.  ``deviations``: (N, L, d), the deviations of the values v from their mean.
    ``means``: (N, d), the mean values, h with a bar.
    """
    samples, length, _ = keys.shape
    covariances = keys.mT @ deviations / length
    memories = gram @ means / samples
    return (covariances @ memories[:, :, None]).mean(0)[:, 0].outer(query)


def relative_errors(
    batch: Batch,
    truth: Callable[[Batch], torch.Tensor],
    formulas: Callable[[Parts], Mapping[str, torch.Tensor]],
) -> dict[str, torch.Tensor]:
    """Measure the relative distance of each formula from the truth: (R,) by the formula's name.

    ``truth``: function of a batch that returns a tensor (R, ...).  ``formulas``: function of one
    replicate's `Parts` that returns tensors of the formulas, without the axis R, by name.
    """
    errors: dict[str, list[torch.Tensor]] = {}
    every = torch.vmap(lambda given: formulas(Parts(**given)))
    for r in groups(batch.replicates, oracle.size(batch), batch.z):
        true = truth(batch[r]).flatten(1)
        for name, told in every(parts(batch[r])).items():
            distance = (told.flatten(1) - true).norm(dim=1)
            errors.setdefault(name, []).append(distance / true.norm(dim=1))
    return {name: torch.cat(each) for name, each in errors.items()}
