"""Factual recall task: prompts that hide a subject and a relation among noise tokens.

Fact ``(s, r)`` has the answer ``a*(s, r)``, uniform in block r of R disjoint blocks of D answers
(paper B, statement B3).  A prompt holds the subject, the relation and noise tokens in random order,
and ends with EOS, the query.  Tokens are numbered in this order: S subjects, R relations, noise
tokens, EOS.  Fact ``(s, r)`` has number ``s * R + r``.
"""

from dataclasses import dataclass

import torch

from simulation.embeddings import unit_vectors
from simulation.streams import Streams


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Facts and embeddings of B replicates.

    ``answers``: (B, S, R) int64.  ``tokens``: (B, V, d) unit input embeddings.  ``outputs``:
    (B, R D, d) unit output embeddings.
    """

    answers: torch.Tensor
    tokens: torch.Tensor
    outputs: torch.Tensor

    @property
    def subjects(self) -> int:
        return self.answers.shape[1]

    @property
    def relations(self) -> int:
        return self.answers.shape[2]

    @property
    def vocab_size(self) -> int:
        return self.tokens.shape[1]

    @property
    def dim(self) -> int:
        return self.tokens.shape[2]

    def answered(self) -> torch.Tensor:
        """Gather the output embeddings of the facts' answers: (B, S, R, d)."""
        replicates = torch.arange(len(self.answers), device=self.answers.device)
        return self.outputs[replicates[:, None, None], self.answers]


def draw(
    streams: Streams,
    *,
    subjects: int,
    relations: int,
    answers: int,
    dim: int,
    noise: int | None = None,
) -> Facts:
    """Draw the facts of each replicate, with embeddings uniform on the unit sphere.

    ``answers``: number of answers of each relation, D.  ``noise``: number of noise tokens; S + R if
    None.

    Raises ValueError if a size is below 1.

    >>> import numpy as np
    >>> streams = Streams([np.random.default_rng(0)])
    >>> facts = draw(streams, subjects=4, relations=3, answers=2, dim=8)
    >>> (facts.answers // 2).tolist()  # block r holds the answers of relation r
    [[[0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2]]]
    >>> facts.vocab_size
    15
    """
    noise = subjects + relations if noise is None else noise
    sizes = {"subjects": subjects, "relations": relations, "answers": answers, "dim": dim}
    for name, size in (sizes | {"noise": noise}).items():
        if size < 1:
            raise ValueError(f"{name} is {size}: give at least 1")
    with streams.together():
        chosen = streams.integers(answers, subjects, relations)
        tokens = unit_vectors(streams, subjects + relations + noise + 1, dim)
        outputs = unit_vectors(streams, relations * answers, dim)
        first = answers * torch.arange(relations, device=streams.device)
        streams.then(lambda: chosen.add_(first))
    return Facts(answers=chosen, tokens=tokens, outputs=outputs)


def prompts(streams: Streams, facts: Facts, *, length: int) -> torch.Tensor:
    """Draw a prompt of T = ``length`` tokens for each fact: (B, S R, T) token numbers.

    Raises ValueError if ``length`` is below 3, too short for subject, relation and EOS.

    >>> import numpy as np
    >>> streams = Streams([np.random.default_rng(0)])
    >>> facts = draw(streams, subjects=2, relations=2, answers=2, dim=8, noise=1)
    >>> [sorted(row) for row in prompts(streams, facts, length=4)[0].tolist()]
    [[0, 2, 4, 5], [0, 3, 4, 5], [1, 2, 4, 5], [1, 3, 4, 5]]
    """
    if length < 3:
        raise ValueError(f"length is {length}: subject, relation and EOS need at least 3")
    size_s, size_r = facts.subjects, facts.relations
    count, known = size_s * size_r, size_s + size_r
    every = torch.arange(count, device=streams.device)[:, None].expand(len(streams), -1, 1)

    def place() -> None:
        rows.add_(known)[..., -1] = facts.vocab_size - 1
        rows.scatter_(2, first, every // size_r)
        rows.scatter_(2, (first + 1 + skipped) % (length - 1), size_s + every % size_r)

    with streams.together():
        rows = streams.integers(facts.vocab_size - 1 - known, count, length)
        # Two different places among the first T - 1: the second skips the first.
        first = streams.integers(length - 1, count, 1)
        skipped = streams.integers(length - 2, count, 1)
        streams.then(place)
    return rows


def recovered(facts: Facts, tokens: torch.Tensor) -> torch.Tensor:
    """Look up the answers (B, P) to the subjects and relations in prompts ``tokens`` (B, P, T)."""
    subject = torch.where(tokens < facts.subjects, tokens, 0).sum(2)
    is_relation = (tokens >= facts.subjects) & (tokens < facts.subjects + facts.relations)
    relation = torch.where(is_relation, tokens - facts.subjects, 0).sum(2)
    return facts.answers.flatten(1).gather(1, subject * facts.relations + relation)


def best_guess(facts: Facts, *, know: str) -> torch.Tensor:
    """Compute the accuracy (B,) of the best predictor that knows only the subject or the relation.

    Raises ValueError if ``know`` is neither "subject" nor "relation".
    """
    if know not in ("subject", "relation"):
        raise ValueError(f"know is {know!r}: choose subject or relation")
    rows = facts.answers if know == "subject" else facts.answers.mT
    counts = torch.nn.functional.one_hot(rows, facts.outputs.shape[1]).sum(2)
    return counts.amax(2).double().mean(1) / rows.shape[2]
