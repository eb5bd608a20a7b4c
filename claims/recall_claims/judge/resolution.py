"""Resolution: the smallest error in the theory that the data at hand would have refuted.

It is the figure of merit of the suite. A wide region or few replicates both make it worse, so a
claim cannot look good by being unfalsifiable. It is computed from the intervals alone: shift the
theory until some interval and its region become disjoint, in the less favourable direction. New
data of the same size refute an error this large at least half the time (tests/calibration).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from recall_claims.judge.region import Component, Scale


@dataclass(frozen=True)
class Resolution:
    """The smallest error refuted; `value` is None where no finite error would have been."""

    value: float | None
    scale: Scale


def resolution(components: Sequence[Component]) -> Resolution:
    """The resolution of a decided look.

    A ratio, difference, probability, share or error is one theory seen in several components: an
    error common to all is refuted as soon as one component refutes it. Exponents are separate
    numbers: the resolution is that of the worst of them.
    """
    scale = components[0].scale
    if scale == "exponent":
        value = max(_up_and_down([component]) for component in components)
    else:
        value = _up_and_down(components)
    return Resolution(value if math.isfinite(value) else None, scale)


def _up_and_down(components: Sequence[Component]) -> float:
    """The larger of the smallest refuted errors upwards and downwards."""
    up = min(_too_large(c) for c in components)
    if components[0].scale == "share":  # a share cannot exceed 1: a better map is no error
        return up
    down = min(_too_small(c) for c in components)
    one_sided = [c for c in components if math.isinf(c.region.low) or math.isinf(c.region.high)]
    return min(up, down) if len(one_sided) == len(components) else max(up, down)


def _too_large(c: Component) -> float:
    """Error above which a theory that predicts too much is refuted by this component."""
    if c.scale == "ratio":
        return c.interval.high / c.region.low - 1 if c.region.low > 0 else math.inf
    return max(c.interval.high - c.region.low, 0.0)


def _too_small(c: Component) -> float:
    """Error above which a theory that predicts too little is refuted by this component."""
    if c.scale == "ratio":
        low = c.interval.low
        return max(1 - low / c.region.high, 0.0) if low > 0 and c.region.high > 0 else math.inf
    return max(c.region.high - c.interval.low, 0.0)
