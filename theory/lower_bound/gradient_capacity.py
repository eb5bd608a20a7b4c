r"""Half-accuracy contour, to leading order, of estimators that see the gradient at initialisation.

The right label, of mean score 1, beats the largest of $V$ rivals, $\sqrt{2\log V}$ standard
deviations, once $2\log V\,\sigma_B^2 = 1$. For $V \to \infty$, $\log V \ll d \ll V$ this variance
$\sigma_B^2$ of a rival's score is $\frac{V}{d^2}(1 + \frac{LV}{N})$ for the matched filter
(`matched_filter`) as well as linear MMSE (`linear_mmse`).
"""

import math

from recall_claims import prediction
from theory.attention.problem import Problem

_SOURCE = "paper A, arXiv 2603.15923, A3 and A4 (N, d and L enter as a product); constants derived"


@prediction(latex=r"d_{1/2}^2 = 2V\log V\left(1+\frac{LV}{N}\right)", source=_SOURCE)
def half_dim(problem: Problem) -> float:
    r"""Dimension at which half of the labels are guessed right, to leading order.

    The limit is approached logarithmically: at V = 256 the squared median of the largest of V
    normal variables is $0.7$ of $2\log V$. The problem's own ``dim`` plays no part.
    """
    size = problem.vocab_size
    noise = 1 + problem.length * size / problem.samples
    return math.sqrt(2 * size * math.log(size) * noise)


@prediction(latex=r"N d^2 = 2LV^2\log V", source=_SOURCE)
def half_samples(problem: Problem) -> float:
    r"""Number of samples at which half of the labels are guessed right, to leading order.

    It is `half_dim` solved for $N$ where $N \ll LV$, so that noise from the other tokens dominates
    interference. The problem's own ``samples`` plays no part.

    Finite size: linear MMSE needs 0.82 to 0.94 of this number for V from 192 to 512, d/V of 0.4 and
    L from V/5 to V (`linear_mmse.critical_samples`).
    """
    size = problem.vocab_size
    return 2 * problem.length * size**2 * math.log(size) / problem.dim**2
