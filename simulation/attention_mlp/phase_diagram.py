"""Accuracy that the three steps lose to each cause of failure, measured by removing the cause.

The same data are simulated again without the cause: only seen tokens count, the layer is `WIDER`
times as wide, or the mean input embedding is subtracted. The remaining loss is attributed to the
next cause.
"""

from dataclasses import fields, replace

import torch

from simulation.attention import localisation
from simulation.attention.sampling import Batch, Facts, Vocabulary
from simulation.attention_mlp import three_steps as mlp
from simulation.attention_mlp.three_steps import Layer

WIDER = 16


def losses(
    batch: Batch, narrow: Layer, wide: Layer, *, centred: bool = False
) -> dict[str, torch.Tensor]:
    """Measure the probability lost to each cause, (R,) by cause; ``centred`` as in `three_steps`.

    ``coverage``: share of tokens that are never informative in training. ``recall``: share of seen
    tokens that the wide layer recalls at perfect localisation, less the narrow layer's share.
    ``recall cap``: share of seen tokens that the wide layer does not recall. ``MLP noise``: share
    of sequences that the wide layer localises, less the narrow layer's share. ``mean bias``: gain
    in the share that the wide layer localises if input embeddings are centred. ``gradient noise``:
    share of sequences not localised even then. Differences can be negative.
    """
    one = torch.ones_like(batch.informative, dtype=batch.z.dtype)
    counts = batch.z.new_zeros(batch.permutation.shape).scatter_add_(1, batch.informative, one)
    known = {field.name: getattr(batch, field.name) for field in fields(Vocabulary)}
    facts = Facts(**known, counts=counts)
    seen = (counts > 0).to(counts.dtype)

    def recalled(layer: Layer) -> torch.Tensor:
        return (mlp.recalled(facts, layer, centred=centred) * seen).sum(1) / seen.sum(1)

    def localised(data: Batch, layer: Layer) -> torch.Tensor:
        scores = mlp.token_scores(data, layer, centred=centred)
        return localisation.probability(scores, length=batch.length)

    unbiased = replace(batch, z=batch.z - batch.z.mean(1, keepdim=True))
    by_wide, found_wide = recalled(wide), localised(batch, wide)
    found_unbiased = localised(unbiased, wide)
    return {
        "coverage": 1 - seen.mean(1),
        "recall": by_wide - recalled(narrow),
        "recall cap": 1 - by_wide,
        "MLP noise": found_wide - localised(batch, narrow),
        "mean bias": found_unbiased - found_wide,
        "gradient noise": 1 - found_unbiased,
    }
