r"""Information that the value gradient at initialisation holds about the map from tokens to labels.

At zero initialisation the gradient of the value matrix is, up to sign,

.. math:: G = U^\top M Z, \qquad M = \frac1N \sum_i (e_{k_i} - \tfrac1V\mathbf 1)\,\bar x_i^\top ,

with :math:`k_i` the label and :math:`\bar x_i` the token frequencies of sequence i. The rows of U
and Z are the output and input embeddings.  An estimator sees G and the embeddings and guesses the
label of every token (paper A, statements A4 and A13).
Two channels give G:

* :func:`discrete`: from an actual training batch;
* :func:`gaussian`: given the label counts, centred Gaussian entries replace the uninformative
  tokens' part of M, with the same variance on average over labels.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from simulation.attention import sampling, three_steps
from simulation.streams import Rngs, Streams


@dataclass(frozen=True, kw_only=True)
class Observation:
    """Everything that an estimator may use, for R replicates.

    ``u``, ``z``: (R, V, d) output embeddings by label, input embeddings by token. ``gradient``: (R,
    d, d), rows in the space of u, columns in the space of z. ``samples``, ``length``: N and L.
    ``label_counts``: (R, V) samples of each label; None where they are hidden.
    """

    u: torch.Tensor
    z: torch.Tensor
    gradient: torch.Tensor
    samples: int
    length: int
    label_counts: torch.Tensor | None = None

    @property
    def vocab_size(self) -> int:
        return self.u.shape[1]

    @property
    def dim(self) -> int:
        return self.u.shape[2]

    @property
    def noise_variance(self) -> float:
        """Variance (L - 1)/N of the Gaussian noise in an entry of L V M, before M is centred.

        Centring multiplies this variance by (1 - 1/V)^2, which gives the mean variance of the
        uninformative part in a batch of known label counts. Before centring, the informative part
        of L V M is 1 at the right label, on average over tokens.
        """
        return (self.length - 1) / self.samples


@dataclass(frozen=True, kw_only=True)
class Instance:
    """An observation and its answer, ``permutation``: (R, V) int64, the label of each token."""

    observation: Observation
    permutation: torch.Tensor


TOKENS = 2**22
"""Largest number of tokens, or of entries of Gaussian noise, in memory at once: 32 MB. The batch
of one replicate may be larger."""

Estimator = Callable[[Observation], torch.Tensor]
"""Function from an observation to the guessed labels of all tokens, (R, V) int64, or of the first
few."""


def discrete(rngs: Rngs, *, length: int, samples: int, **setting: Any) -> Instance:
    """Compute the gradient of a training batch from each generator.

    Sequences are drawn for a few replicates at a time, and only their gradient is kept.

    ``setting``, and errors: as for :func:`sampling.draw`.
    """
    size = max(1, TOKENS // max(1, samples * length))
    parts = []
    for first in range(0, len(rngs), size):
        some = rngs[first : first + size]
        batch = sampling.draw(some, length=length, samples=samples, **setting)
        parts.append((batch.u, batch.z, three_steps.value_memory(batch), batch.permutation))
    u, z, gradient, permutation = map(torch.cat, zip(*parts, strict=True))
    observation = Observation(u=u, z=z, gradient=gradient, samples=samples, length=length)
    return Instance(observation=observation, permutation=permutation)


def gaussian(rngs: Rngs, *, length: int, samples: int, **setting: Any) -> Instance:
    r"""Draw the gradient of the Gaussian channel; the label counts :math:`n_k` are visible.

    .. math:: M = \frac{1}{NL}\,\mathrm{diag}(n)\,(P_\pi - \tfrac1V J)
        + \sqrt{\frac{L-1}{N L^2 V^2}}\;\Xi , \qquad \Xi_{kx}\ \text{iid}\ N(0, 1),

    with :math:`P_\pi` the matrix of the map, J a matrix of ones, and rows and columns of M centred.

    ``setting``, and errors: as for :func:`sampling.draw_facts`.
    """
    facts = sampling.draw_facts(rngs, samples=samples, **setting)
    rows, columns, vocab_size = centred(facts.u), centred(facts.z), facts.vocab_size
    # facts.counts are the counts of the tokens: token x is the informative one of label pi(x).
    right = rows.gather(1, facts.permutation[..., None].expand_as(rows))
    gradient = (right * facts.counts[..., None]).mT @ columns / (samples * length)
    scale = np.sqrt((length - 1) / samples) / (length * vocab_size)
    streams = Streams.like(rngs, columns)
    group, size = max(1, TOKENS // vocab_size**2), max(1, TOKENS // vocab_size)
    for r in range(0, len(rngs), group):
        some = slice(r, r + group)
        for part in torch.split(rows[some], size, dim=1):
            noise = streams[some].normal(part.shape[1], vocab_size)
            gradient[some] += scale * part.mT @ (noise @ columns[some])
    label_counts = torch.zeros_like(facts.counts).scatter_(1, facts.permutation, facts.counts)
    observation = Observation(
        u=facts.u,
        z=facts.z,
        gradient=gradient,
        samples=samples,
        length=length,
        label_counts=label_counts,
    )
    return Instance(observation=observation, permutation=facts.permutation)


def estimator_accuracy(instance: Instance, estimator: Estimator) -> torch.Tensor:
    """Measure the share of the tokens guessed by ``estimator`` that get the right label: (R,)."""
    guessed = estimator(instance.observation)
    right = guessed == instance.permutation[:, : guessed.shape[1]]
    return right.to(instance.observation.u.dtype).mean(1)


def centred(vectors: torch.Tensor) -> torch.Tensor:
    """Subtract from ``vectors`` (R, V, d) their mean over V: (R, V, d)."""
    return vectors - vectors.mean(1, keepdim=True)
