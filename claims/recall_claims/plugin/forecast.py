"""How long the rest of a run takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class Forecast:
    """Time left, from what the claims took in an earlier run and the speed of this one so far.

    A claim that the earlier run lacks counts as the mean of those known: from the earlier run, or
    in this one. Claims whose blocks came from the ledger say nothing about speed. What is left may
    come from there too, so the forecast is rather too long than too short.

    Args:
        claims: ids of the claims that will be run.
        earlier: seconds of simulation in an earlier run, by id; it may know more or fewer.

    >>> forecast = Forecast(["a", "b", "c"], {"a": 10.0, "b": 20.0, "c": 30.0})
    >>> forecast.left(1.0) is None
    True
    >>> forecast.finish("a", seconds=12.0, simulated=1.0, elapsed=4.0)
    >>> forecast.left(4.0), forecast.left(7.0)
    (20.0, 17.0)
    """

    def __init__(self, claims: Iterable[str], earlier: Mapping[str, float]) -> None:
        self.waiting = list(claims)
        self.total = len(self.waiting)
        self._known = {claim: earlier[claim] for claim in self.waiting if claim in earlier}
        self._work = 0.0
        self._elapsed = 0.0

    @property
    def done(self) -> int:
        """How many claims are finished."""
        return self.total - len(self.waiting)

    def finish(self, claim: str, *, seconds: float, simulated: float, elapsed: float) -> None:
        """Take note that a claim is finished.

        Args:
            claim: its id.
            seconds: of its simulation, as measured; 0 if it broke.
            simulated: share of its blocks that this run simulated, from 0 to 1.
            elapsed: seconds since the run began.
        """
        self.waiting = [other for other in self.waiting if other != claim]
        if seconds:
            self._work += simulated * self._known.setdefault(claim, seconds)
        self._elapsed = elapsed

    def left(self, elapsed: float) -> float | None:
        """Seconds to the end, `elapsed` seconds after the start; None before there is a pace."""
        if not self._work:
            return None
        usual = sum(self._known.values()) / len(self._known)
        first, *rest = [self._known.get(claim, usual) for claim in self.waiting] or [0.0]
        pace = self._elapsed / self._work
        return max(pace * first - (elapsed - self._elapsed), 0.0) + pace * sum(rest)
