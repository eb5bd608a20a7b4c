"""The error budget of a run, and its division, fixed in advance.

The budget limits the family-wise error rate of *one* run: the probability that the run refutes any
true claim. It is divided

1. over papers: each paper's file states its `share`; the shares of all papers add up to at most 1;
2. over claims: a paper's share is divided into its `slots`, and each claim has one slot, however
   many claims are selected. So replaying one claim alone gives its verdict of the full run;
3. over the components of the claim's estimand (cells, exponents), by Bonferroni's correction, so
   that their intervals hold jointly;
4. over looks: if a test is valid for one look only, each of K looks has 1/K of the test's part. A
   test that is exact at all looks together (an e-process) has the whole part at every look.

By the union bound the run's error rate is at most the budget, however looks, components and claims
depend on each other. What is *not* in that bound:

* False support is controlled per claim, at that claim's alpha, and not over the run. Every
  component has to be shown inside its region, and a false claim has one that is outside (an
  intersection-union test).
* Controls are judged on the same data and use no budget: refuting a planted wrong theory is not an
  error.
* Identities and other deterministic rules have no sampling error and use no budget. Their verdicts
  are as reliable as their numerical tolerance.
* Several runs, of which each uses a budget; the ledger counts attempts at a claim.
* An edit of budget, share or slots after the evidence was seen. The bound then holds only under a
  fresh seed.
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
        """Return the alpha of each claim of a paper: a slot of the paper's share of the budget."""
        return self.probability * paper.share / paper.slots
