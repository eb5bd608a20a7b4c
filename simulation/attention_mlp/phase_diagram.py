"""Accuracy lost to each cause of failure of the three steps, measured by taking the cause away.

Every cause is removed from the simulation itself, on the same data. Unseen tokens are removed by
looking at seen ones only, a narrow layer by one that is `WIDER` times as wide, the mean embedding
by subtracting it. The rest is charged to the next cause.
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
    """Probability lost to each cause, all (R,).

    ``coverage``: tokens that are never the informative one in training.
    ``recall``: seen tokens that the wide layer recalls beyond the narrow one, at perfect
    localisation.  ``recall cap``: seen tokens that the wide layer does not recall.
    ``MLP noise``: sequences that the wide layer localises beyond the narrow one.
    ``mean bias``: those that it localises once the embeddings are centred on their mean.
    ``gradient noise``: those that it does not localise even then.
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
