"""The suite's error budget, and the rule, fixed in advance, by which it is spent.

The controlled error is the probability that the run refutes *any* true claim (and, separately and
equally, that it supports any false one). It is divided

1. over claims: each owns 1/SLOTS of it, whichever claims are selected, so that replaying one
   claim alone gives the verdict it has in the full run;
2. over looks: a claim that may look K times at doubling amounts of data spends 1/K of its share
   at each;
3. over the components of its estimand (cells, exponents): by Bonferroni, hence simultaneously.

By the union bound the sum is at most the budget, whatever the dependence between looks,
components and claims. Controls are judged on the same data and spend nothing: refuting a planted
wrong theory is not an error.
"""

from dataclasses import dataclass

SLOTS = 256
DEFAULT = 1e-3


@dataclass(frozen=True)
class Budget:
    """Probability of refuting any true claim, in a whole run.

    Raises:
        ValueError: the probability is not in (0, 0.5].
    """

    probability: float = DEFAULT

    def __post_init__(self) -> None:
        if not 0 < self.probability <= 0.5:
            raise ValueError(
                f"the error budget is a probability in (0, 0.5], got {self.probability}; "
                f"the default is {DEFAULT}"
            )

    @property
    def per_claim(self) -> float:
        """The share of one claim."""
        return self.probability / SLOTS

    def per_look(self, looks: int) -> float:
        """The share of one look of a claim that may look `looks` times."""
        return self.per_claim / looks
