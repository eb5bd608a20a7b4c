"""The error budget of a run, and its division, fixed in advance.

The rule controls the family-wise error rate of *one* run: the probability that the run refutes any
true claim. This budget is divided

1. over papers: each paper's file states its `share`; the shares of all papers add up to at most 1;
2. over claims: a paper's share is divided into its `slots`, and a claim owns one of them, however
   many claims are selected. So replaying one claim alone gives its verdict of the full run;
3. over the components of its estimand (cells, exponents), by Bonferroni, hence simultaneously;
4. over looks: a fixed-n test that may look K times at growing amounts of data uses 1/K of its share
at each. A test that is exact at every look (an e-process) pays nothing for looks.

By the union bound the sum is at most the budget, whatever the dependence between looks,
components and claims. What is *not* in that bound:

* False support is controlled per claim, at that claim's alpha, and not over the run. Every
  component has to be shown inside its region, and a false claim has one that is outside (an
  intersection-union test).
* Controls are judged on the same data and use nothing: refuting a planted wrong theory is not an
  error.
* Identities and other deterministic rules have no sampling error and are outside the budget. Their
  verdict is worth as much as their numerical tolerance.
* Several runs. Two seeds use two budgets. T attempts at a claim, under other seeds, code or
  registrations, use at most T times its alpha; the ledger counts attempts in each tier.
* An edit of budget, share or slots after the evidence was seen: the registration leaves them out,
  so the same evidence is judged again. The bound then holds only under a fresh seed.
"""

from dataclasses import dataclass

from recall_claims.model.papers import Paper

DEFAULT = 1e-3


@dataclass(frozen=True)
class Budget:
    """Probability of refuting any true claim, in one whole run.

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

    def per_claim(self, paper: Paper) -> float:
        """Return the claim's alpha: the part of the budget that each claim of a paper may use."""
        return self.probability * paper.share / paper.slots
