"""What the claims on the Attention-MLP share: laws that combine registered ones."""

import recall_claims as rc
from theory.attention_mlp import localisation, recall
from theory.attention_mlp.problem import MlpProblem

critical_samples = rc.on(MlpProblem, localisation.critical_samples)


def accuracy(problem: MlpProblem) -> float:
    """Localisation times recall."""
    return localisation.probability(problem) * recall.mlp_recall_accuracy(problem)
