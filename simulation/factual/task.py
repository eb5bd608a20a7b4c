"""The factual recall task: prompts that hide a subject and a relation among noise tokens.

Fact ``(s, r)`` has the answer ``a*(s, r)``, uniform in block r of R disjoint blocks of D answers
(paper B, statement B3).  A prompt holds the subject, the relation and noise tokens in random order,
and ends with EOS, the query.  Tokens are numbered subjects first, then relations, noise tokens, and
EOS last; fact ``(s, r)`` is number ``s * R + r``.
"""

from dataclasses import dataclass

import numpy as np
import torch

from simulation.embeddings import unit_vectors
from simulation.streams import Streams


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The facts and the embeddings of one replicate.

    ``answers``: (S, R) int64.  ``tokens``: (V, d) unit input embeddings.  ``outputs``: (R D, d)
    unit output embeddings.
    """

    answers: torch.Tensor
    tokens: torch.Tensor
    outputs: torch.Tensor

    @property
    def subjects(self) -> int:
        return self.answers.shape[0]

    @property
    def relations(self) -> int:
        return self.answers.shape[1]

    @property
    def answers_each(self) -> int:
        """D, the answers that a relation may have."""
        return self.outputs.shape[0] // self.relations

    @property
    def vocab_size(self) -> int:
        return self.tokens.shape[0]

    @property
    def dim(self) -> int:
        return self.tokens.shape[1]


def draw(
    rng: np.random.Generator,
    *,
    subjects: int,
    relations: int,
    answers: int,
    dim: int,
    noise: int | None = None,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> Facts:
    """Draw the facts of one replicate, with embeddings uniform on the unit sphere.

    ``answers``: D, of each relation.  ``noise``: number of noise tokens; S + R if None. Draws do
    not depend on the device.

    Raises ValueError: a size below 1.

    >>> facts = draw(np.random.default_rng(0), subjects=4, relations=3, answers=2, dim=8)
    >>> (facts.answers // 2).tolist()  # block r holds the answers of relation r
    [[0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2]]
    >>> facts.vocab_size
    15
    """
    noise = subjects + relations if noise is None else noise
    sizes = {"subjects": subjects, "relations": relations, "answers": answers, "dim": dim}
    for name, size in (sizes | {"noise": noise}).items():
        if size < 1:
            raise ValueError(f"{name} is {size}: give at least 1")
    one = Streams([rng], device, dtype)
    chosen = one.integers(answers, subjects, relations)[0]
    return Facts(
        answers=chosen + answers * torch.arange(relations, device=device),
        tokens=unit_vectors(one, subjects + relations + noise + 1, dim)[0],
        outputs=unit_vectors(one, relations * answers, dim)[0],
    )


def prompts(rng: np.random.Generator, facts: Facts, *, length: int) -> torch.Tensor:
    """One prompt per fact, (S R, T) token numbers.

    Raises ValueError: there is no room for subject, relation and EOS.

    >>> facts = draw(np.random.default_rng(0), subjects=2, relations=2, answers=2, dim=8, noise=1)
    >>> [sorted(row) for row in prompts(np.random.default_rng(1), facts, length=4).tolist()]
    [[0, 2, 4, 5], [0, 3, 4, 5], [1, 2, 4, 5], [1, 3, 4, 5]]
    """
    if length < 3:
        raise ValueError(f"length is {length}: subject, relation and EOS need at least 3")
    size_s, size_r = facts.subjects, facts.relations
    one, count, known = Streams.like([rng], facts.tokens), size_s * size_r, size_s + size_r
    rows = known + one.integers(facts.vocab_size - 1 - known, count, length)[0]
    # Two different places among the first T - 1: the second skips the first.
    first = one.integers(length - 1, count)[0]
    second = (first + 1 + one.integers(length - 2, count)[0]) % (length - 1)
    every = torch.arange(count, device=rows.device)
    rows[every, first] = every // size_r
    rows[every, second] = size_s + every % size_r
    rows[:, -1] = facts.vocab_size - 1
    return rows


def recovered(facts: Facts, tokens: torch.Tensor) -> torch.Tensor:
    """Answers read off prompts by looking up which subject and which relation they hold."""
    subject = torch.where(tokens < facts.subjects, tokens, 0).sum(1)
    is_relation = (tokens >= facts.subjects) & (tokens < facts.subjects + facts.relations)
    relation = torch.where(is_relation, tokens - facts.subjects, 0).sum(1)
    return facts.answers[subject, relation]


def best_guess(facts: Facts, *, know: str) -> float:
    """Accuracy of the best predictor that knows only the subject, or only the relation.

    Raises ValueError: ``know`` is neither "subject" nor "relation".
    """
    if know not in ("subject", "relation"):
        raise ValueError(f"know is {know!r}: choose subject or relation")
    rows = facts.answers if know == "subject" else facts.answers.T
    counts = torch.nn.functional.one_hot(rows, facts.outputs.shape[0]).sum(1)
    return float(counts.amax(1).double().mean()) / rows.shape[1]
