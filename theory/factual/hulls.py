"""Shortest codes: distances of hulls from the origin, and probabilities that rivals win."""

import math
from functools import lru_cache

import numpy as np
from scipy import special, stats

from theory.laws import sphere
from theory.laws.quadrature import Array


def log_below(x: Array, dim: float) -> Array:
    """Log probability that a coordinate of a uniform unit vector is below x, for x >= 0."""
    logs: Array = np.log1p(-sphere.tail(x, dim))
    return logs


@lru_cache(maxsize=1024)
def hull(points: int, dim: float) -> Array:
    """Equally likely distances from the origin to the affine hull of uniform points: (64,).

    A single point has distance 1: (1,).
    """
    if points == 1:
        return np.ones(1)
    chances = (np.arange(64) + 0.5) / 64
    law = stats.beta((dim - points + 1) / 2, (points - 1) * (dim - 1) / 2)
    heights: Array = np.sqrt(law.ppf(chances))
    return heights


def undisturbed(heights: Array, rivals: float, dim: float) -> float:
    """Log of the mean over heights h of the chance that no rival's coordinate exceeds h."""
    logs = rivals * log_below(heights, dim)
    return float(special.logsumexp(logs)) - math.log(logs.size)


def twice(relations: int, answers: int, dim: float) -> float:
    """Probability that the codes of a subject and a relation add up to logit 2 at a rival.

    A code is the shortest vector with logit 1 at all answers of its subject, or relation
    (constructions.md). The rival is an answer of neither, and gets its logit by chance.
    """
    subject, relation = 1 / (1 - relations / dim), 1 / (1 - answers / dim)
    length = relations * subject + answers * relation + 2 * subject * relation
    return -math.expm1(float(log_below(np.asarray(2 / math.sqrt(length)), dim)))
