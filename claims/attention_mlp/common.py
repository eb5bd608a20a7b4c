"""What the claims on the Attention-MLP share: laws that combine registered ones."""

from recall_claims import on
from theory.attention_mlp import localisation, recall
from theory.attention_mlp.problem import MlpProblem

critical_samples = on(MlpProblem, localisation.critical_samples)


def accuracy(problem: MlpProblem) -> float:
    """Localisation times recall."""
    return localisation.probability(problem) * recall.mlp_recall_accuracy(problem)
