r"""Phase diagram of paper A (A10): the condition that determines the width for half accuracy.

At given V, L, N, d and activation, accuracy 1/2 after training requires three conditions:

* coverage: the batch shows half of the tokens;
* recall: m exceeds the width that the features' sampling noise requires
  (`mlp_recall.critical_width`); beyond the recall cap no width suffices;
* localisation: m exceeds `localisation_width`, which the layer's noise in the attention step
  requires. Where even an infinite layer fails, one part of the noise is the larger obstacle:
  the mean bias (terms A and E) or the gradient noise (all others).

`binding` names the condition that requires the largest width.
"""

import math
from functools import lru_cache

from theory.attention_mlp import localisation as mlp_localisation
from theory.attention_mlp import recall as mlp_recall
from theory.attention_mlp.problem import MlpProblem
from theory.laws import crossing

_WIDEST = 2**30


def localisation_width(problem: MlpProblem) -> float:
    r"""Width at which half of fresh sequences are localised; infinite if none suffices.

    The layer's part of the noise falls like 1/m, so for $V, N\gg d$

    $$ m_{loc}\simeq\frac dR\Big[L^2\psi^2+L\,E\phi^2\,E\phi'^2\Big(1+\frac Ld\Big)\Big],\qquad
       R = \frac{\lambda^2b_1^4d^3}{\kappa^2L^2}-b_1^4-b_0^2b_2^2-\beta^2\frac Ld
       -\chi^2\frac{L^2}V , $$

    with $\lambda = N/V$, $\kappa$ as in `theory.attention.critical`, and moments of $\phi$ as in
    `theory.attention_mlp.noise`. The function does not use this limit: it solves
    `mlp_localisation.probability` = 1/2. It returns 1 if a single neuron suffices.
    """

    def found(width: int) -> float:
        return mlp_localisation.probability(problem.replace(width=width))

    return crossing.integer_root(found, level=0.5, most=_WIDEST, within=0.01)


@lru_cache(maxsize=1024)
def binding(problem: MlpProblem) -> str:
    """Name of the binding condition; the problem's own ``width`` does not matter.

    The first of these that no width meets binds: "coverage", localisation (named by its obstacle,
    "mean bias" or "gradient noise"), "recall cap". If there is none, the condition that needs the
    largest width binds: "recall", or "MLP noise" for localisation.
    """
    if -math.expm1(-problem.load) < 0.5:
        return "coverage"
    if mlp_localisation.probability(problem.replace(width=_WIDEST)) < 0.5:
        return _obstacle(problem)
    recall = mlp_recall.critical_width(problem)
    if math.isinf(recall):
        return "recall cap"
    enough = min(max(round(recall), 1), _WIDEST)
    localised = mlp_localisation.probability(problem.replace(width=enough))
    return "recall" if localised >= 0.5 else "MLP noise"


def needed_width(problem: MlpProblem) -> float:
    """Width that the binding condition requires; infinite if none suffices."""
    solved = {"recall": mlp_recall.critical_width, "MLP noise": localisation_width}
    found = solved.get(binding(problem))
    return math.inf if found is None else found(problem)


def _obstacle(problem: MlpProblem) -> str:
    """Name of the larger obstacle for an infinite layer: the mean bias, or the other noise."""
    wide = problem.replace(width=_WIDEST)
    unbiased = mlp_localisation.probability(wide, without=("A", "E"))
    gained = unbiased - mlp_localisation.probability(wide)
    return "mean bias" if gained > 1 - unbiased else "gradient noise"
