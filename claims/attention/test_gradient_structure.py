"""Structure of the gradients at initialisation."""

from dataclasses import replace
from functools import partial

from torch import Tensor

import recall_claims as rc
from simulation.attention import gradient_structure, oracle, sampling

FILE = "simulation/attention/gradient_structure.py"
NARROW = {"vocab_size": 48, "length": 6, "samples": 200, "dim": 12}
WIDE = {"vocab_size": 20, "length": 12, "samples": 64, "dim": 40}
CELLS = rc.grid(
    {**sizes, "embeddings": law, "trigger_in_values": tau}
    for sizes, law in ((NARROW, "sphere"), (WIDE, "gaussian"), (WIDE, "orthonormal"))
    for tau in (False, True)
)
ANY = rc.Regime(
    "every embedding law, d below and above V, the trigger in the values or not; N L >= 64, as the "
    "gradient of a few equal tokens is itself rounding",
    {
        "vocab_size": rc.log_range(3, 64),
        "length": rc.log_range(2, 32),
        "samples": rc.log_range(1, 256),
        "dim": rc.log_range(2, 128),
        "embeddings": ("sphere", "gaussian", "orthonormal"),
        "trigger_in_values": (False, True),
    },
    holds=lambda cell: (
        cell["samples"] * cell["length"] >= 64
        and (cell["embeddings"] != "orthonormal" or cell["dim"] >= cell["vocab_size"] + 2)
    ),
)
identity_claim = partial(rc.claim, cells=CELLS, replicates=12, rule=rc.Identity(1e-12))
NO_CENTRING = rc.reads(
    "no-centring", "U e_k instead of U (e_k - 1/V): labels are not centred", "uncentred"
)


@identity_claim(
    "A.value-gradient",
    "The first value gradient is a sum of centred labels times mean values",
    source=rc.Source("A", "A6", "A7", provenance="reported", reference=FILE),
    latex=r"\nabla_V\,\mathrm{loss} = -\frac{1}{N} \sum_i U \left(e_{k_i} - \tfrac{1}{V} 1\right)"
    r"\bar h_i^\top",
    regime=replace(ANY, text=f"an identity at initialisation: {ANY.text}"),
    why="float64 rounding of sums of at most 10^5 terms, relative to the gradient",
    controls=(
        NO_CENTRING,
        rc.reads(
            "informative-only",
            "the value of the informative token instead of the mean value",
            "informative_only",
        ),
        rc.reads(
            "no-informative", "the mean value of the uninformative tokens alone", "others_only"
        ),
    ),
)
def value_gradient(cell: rc.Cell, block: rc.Block) -> dict[str, Tensor]:
    """By automatic differentiation, the gradient of the cross-entropy with respect to the value
    matrix at zero is minus a mean over samples. Each sample gives the output embedding of its
    label, centred over the vocabulary, times the mean value of its sequence."""

    def formulas(p: gradient_structure.Parts) -> dict[str, Tensor]:
        others = (p.values.sum(1) - p.informative) / (p.values.shape[1] - 1)
        return {
            "error": gradient_structure.value_gradient(p.targets, p.means),
            "uncentred": gradient_structure.value_gradient(p.labels, p.means),
            "informative_only": gradient_structure.value_gradient(p.targets, p.informative),
            "others_only": gradient_structure.value_gradient(p.targets, others),
        }

    batch = block.draw(sampling.draw, cell)
    return gradient_structure.relative_errors(batch, oracle.value_gradient, formulas)


@identity_claim(
    "A.attention-step",
    "The attention step couples every pair of samples through the labels' overlaps",
    source=rc.Source("A", "A6", "A7", provenance="derived", reference=FILE),
    latex=r"w = \frac{1}{N^2} \sum_{i,i'} g_{ii'} \Sigma_i \bar h_{i'},\quad "
    r"g_{ii'} = \delta_i^\top U^\top U \delta_{i'}",
    regime=replace(ANY, text=f"an identity to first order in eta at initialisation: {ANY.text}"),
    why="float64 rounding of sums of at most 10^5 terms, relative to the step",
    controls=(
        rc.reads("own-memory", "only pairs i = i', each sample with itself", "own_memory"),
        NO_CENTRING,
        rc.reads(
            "uncentred-values", "values instead of deviations from their mean", "uncentred_values"
        ),
        rc.reads("no-trigger", "values instead of keys: no trigger marks a key", "values_for_keys"),
    ),
)
def attention_step(cell: rc.Cell, block: rc.Block) -> dict[str, Tensor]:
    """By automatic differentiation to first order in eta, the attention matrix after its first step
    is the outer product of a vector w and the query, times both step sizes. Here eta is the size of
    the value step. The vector w is a mean over all pairs of samples. Each pair gives the overlap of
    its centred labels, times the covariance of keys and values in one sequence, times the mean
    value of the other sequence."""

    def formulas(p: gradient_structure.Parts) -> dict[str, Tensor]:
        gram, deviations = p.targets @ p.targets.T, p.values - p.means[:, None]
        own = gram.diagonal().diag()
        step = partial(gradient_structure.attention_step, p.query)
        return {
            "error": step(gram, p.keys, deviations, p.means),
            "own_memory": step(own, p.keys, deviations, p.means),
            "uncentred": step(p.labels @ p.labels.T, p.keys, deviations, p.means),
            "uncentred_values": step(gram, p.keys, p.values, p.means),
            "values_for_keys": step(gram, p.values, deviations, p.means),
        }

    batch = block.draw(sampling.draw, cell)
    return gradient_structure.relative_errors(batch, oracle.attention_response, formulas)
