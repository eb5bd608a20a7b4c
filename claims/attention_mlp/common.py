"""Shared parts of the claims on the Attention-MLP: combinations of registered laws."""

import recall_claims as rc
from theory.attention_mlp import localisation, recall
from theory.attention_mlp.problem import MlpProblem

critical_samples = rc.on(MlpProblem, localisation.critical_samples)


def through_layer(cell: rc.Cell) -> float:
    """Estimate how many numbers a replicate handles if sequences pass through a random layer."""
    activations = cell["samples"] * (cell["length"] + cell["width"])
    return float(3.2 * (activations + cell["vocab_size"] * cell["dim"]))


def accuracy(problem: MlpProblem) -> float:
    """Predict the accuracy as localisation times recall."""
    return localisation.probability(problem) * recall.mlp_recall_accuracy(problem)
