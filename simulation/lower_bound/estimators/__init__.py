"""Estimators of the map from tokens to labels that see the gradient at initialisation alone.

To try to break the lower bound, write a function from `gradient_channel.Observation` to the guessed
label of each token, (R, V) int64, in a file of its own here, and add it to ``PANEL`` under the name
that the report shall show. The claims of ``claims/lower_bound`` run every estimator of the panel
against the ceiling.
"""

from collections.abc import Mapping

import torch

from simulation.lower_bound.estimators import cancellation, matched_filter, ridge
from simulation.lower_bound.estimators.decoding import assignment, greedy
from simulation.lower_bound.gradient_channel import Estimator, Observation


def _matched_filter(observation: Observation) -> torch.Tensor:
    return matched_filter.labels(observation)


def _matched_filter_assignment(observation: Observation) -> torch.Tensor:
    return assignment(matched_filter.scores(observation))


def _ridge(observation: Observation) -> torch.Tensor:
    return ridge.labels(observation)


def _ridge_assignment(observation: Observation) -> torch.Tensor:
    return assignment(ridge.scores(observation))


def _linear_mmse(observation: Observation) -> torch.Tensor:
    return ridge.linear_mmse_labels(observation)


def _linear_mmse_assignment(observation: Observation) -> torch.Tensor:
    return assignment(ridge.linear_mmse(observation))


def _cancellation(observation: Observation) -> torch.Tensor:
    return greedy(cancellation.scores(observation))


def _cancellation_assignment(observation: Observation) -> torch.Tensor:
    return assignment(cancellation.scores(observation))


PANEL: Mapping[str, Estimator] = {
    "matched filter": _matched_filter,
    "matched filter, assigned": _matched_filter_assignment,
    "ridge": _ridge,
    "ridge, assigned": _ridge_assignment,
    "linear MMSE": _linear_mmse,
    "linear MMSE, assigned": _linear_mmse_assignment,
    "cancellation": _cancellation,
    "cancellation, assigned": _cancellation_assignment,
}
"""Every estimator by its name; "assigned" makes the guess one to one."""


def named(name: str) -> Estimator:
    """The estimator of the panel with this name.

    Raises ValueError if there is none.
    """
    if name not in PANEL:
        raise ValueError(f"no estimator {name!r}: choose one of {', '.join(PANEL)}")
    return PANEL[name]
