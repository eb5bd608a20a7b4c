"""Estimators of the map from tokens to labels, from the gradient at initialisation.

They see this gradient, the embeddings and the sizes; in the Gaussian channel also the label counts.

To try to break the lower bound, write a function from `gradient_channel.Observation` to the guessed
label of each token, (R, V) int64. Put the function into its own file here, and add it to ``PANEL``
under its name in the report. The claims of ``claims/lower_bound`` compare every estimator of the
panel with the largest possible accuracy.
"""

from collections.abc import Callable, Mapping

import torch

from simulation.lower_bound.estimators import cancellation, matched_filter, ridge
from simulation.lower_bound.estimators.decoding import assignment, greedy
from simulation.lower_bound.gradient_channel import Estimator, Observation


def _assigned(scores: Callable[[Observation], torch.Tensor]) -> Estimator:
    return lambda observation: assignment(scores(observation))


PANEL: Mapping[str, Estimator] = {
    "matched filter": matched_filter.labels,
    "matched filter, assigned": _assigned(matched_filter.scores),
    "ridge": ridge.labels,
    "ridge, assigned": _assigned(ridge.scores),
    "linear MMSE": ridge.linear_mmse_labels,
    "linear MMSE, assigned": _assigned(ridge.linear_mmse),
    "cancellation": lambda observation: greedy(cancellation.scores(observation)),
    "cancellation, assigned": _assigned(cancellation.scores),
}
"""Every estimator by its name; "assigned" makes the guess one to one."""


def named(name: str) -> Estimator:
    """Look up an estimator of the panel by name.

    Raises ValueError for an unknown name.
    """
    if name not in PANEL:
        raise ValueError(f"no estimator {name!r}: choose one of {', '.join(PANEL)}")
    return PANEL[name]
