"""Linear transformer that learns facts: whole matrices, and the exact gradient of the loss.

A prompt is a subject, a relation and a query token. With embeddings z of the tokens and u of the
answers the logit of answer a is the sum over the prompt's tokens of

    u_a^T W_OV z  *  z^T W_KQ z_query,

and each of the S R pairs has its own answer, number s R + r. The loss is the cross-entropy over the
answers, averaged over all pairs or over a batch of them.

The logits of a pair are its subject's logits plus its relation's, plus the query's. So all sums
over pairs are products of a (subjects, answers) and an (answers, relations) table, without samples
or a (pairs, answers) tensor. (Entries are at most 1. If all their products for a pair are below
e^-700, the result is nan.) At S, R = 32, 16 a gradient takes three times as long as its three
table products, because it also takes an exponential and other steps per entry. At S, R = 8, 4 it
takes seven times as long, because calls cost more than their arithmetic.

In shapes, B is the number of replicates. Tokens have the order: S subjects, R relations, query.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from scipy.linalg import hadamard
from torch import Tensor

from simulation.streams import Streams


@dataclass(frozen=True, kw_only=True)
class Weights:
    """Matrices W_OV and W_KQ of each replicate.

    ``ov``: (B, output dimension, input dimension).  ``kq``: (B, input dimension, input dimension).
    """

    ov: Tensor
    kq: Tensor

    def moved(self, direction: "Weights", step: float) -> "Weights":
        """Return the weights after a step in ``direction``."""
        return Weights(
            ov=torch.add(self.ov, direction.ov, alpha=step),
            kq=torch.add(self.kq, direction.kq, alpha=step),
        )

    def mapped(self, function: Callable[[Tensor], Tensor]) -> "Weights":
        """Apply a function to each of the two matrices."""
        return Weights(ov=function(self.ov), kq=function(self.kq))


@dataclass(frozen=True, kw_only=True)
class Scalars:
    """Four coordinates of the weights, each (B,), and the largest part outside them.

    ``alpha_*``: coefficient of a matrix of mean zero and singular values 0 and 1, which gives all
    answers of a subject (relation) one logit and all other answers another. ``beta_*``: mean
    attention score of the subjects (relations). ``rest``: (B,), the largest entry outside these
    coordinates, ignoring logits that all answers share. This entry is in the basis of tokens and
    answers, or, in the part of W_KQ that maps the query to 0, in the embeddings' basis.
    Embeddings must be orthonormal.
    """

    alpha_subject: Tensor
    alpha_relation: Tensor
    beta_subject: Tensor
    beta_relation: Tensor
    rest: Tensor


@dataclass(frozen=True, kw_only=True)
class Odds:
    """Log odds, (B,), of the mean over pairs of the probability of a right subject (relation)."""

    subject: Tensor
    relation: Tensor


class Facts:
    """The model and its task.

    Args:
        subjects, relations: S and R.
        inputs: embeddings of the tokens, (B, S + R + 1, dimension); None for one-hot embeddings.
        outputs: embeddings of the answers, (B, S R, dimension); None for one-hot embeddings.
        replicates: B, if both embeddings are one-hot.

    Raises ValueError for a wrong number of embeddings.
    """

    def __init__(
        self,
        subjects: int,
        relations: int,
        *,
        inputs: Tensor | None = None,
        outputs: Tensor | None = None,
        replicates: int = 1,
        device: str | torch.device = "cpu",
        dtype: torch.dtype = torch.float64,
    ) -> None:
        self.subjects, self.relations = subjects, relations
        self.tokens, self.answers = subjects + relations + 1, subjects * relations
        for given, count in ((inputs, self.tokens), (outputs, self.answers)):
            if given is not None and given.shape[1] != count:
                raise ValueError(f"{given.shape[1]} embeddings for {count} tokens or answers")
        self.inputs = None if inputs is None else inputs.to(device, dtype)
        self.outputs = None if outputs is None else outputs.to(device, dtype)
        tables = [table for table in (inputs, outputs) if table is not None]
        self.replicates = tables[0].shape[0] if tables else replicates
        blank = torch.zeros((), device=device, dtype=dtype)
        eye_s, eye_r = (torch.eye(n, out=blank.new_empty(0)) for n in (subjects, relations))
        # (answers, subjects) and (answers, relations): 1 at each answer's subject, or relation.
        self.has_subject = eye_s.repeat_interleave(relations, 0)
        self.has_relation = eye_r.repeat(subjects, 1)
        self.uniform = torch.full_like(blank, 1 / self.answers).expand(
            self.replicates, subjects, relations
        )

    def directions(self) -> tuple[Tensor, Tensor]:
        """Make the matrices, (answers, S) and (answers, R), whose coefficients are the alphas."""
        s, r = self.subjects, self.relations
        return (self.has_subject - 1 / s) / math.sqrt(r), (self.has_relation - 1 / r) / math.sqrt(s)

    def start(self, alpha: float, beta: float) -> Weights:
        """Make initial weights with these `Scalars` for subjects and relations, and no rest."""
        u_s, u_r = self.directions()
        values = torch.cat([alpha * u_s, alpha * u_r, torch.zeros_like(u_s[:, :1])], 1)
        scores = torch.full_like(values[0], beta)
        scores[-1] = 0
        shape = (self.replicates, *values.shape)
        return self.embedded(values.expand(shape), scores.expand(shape[0], -1))

    def embedded(self, values: Tensor, scores: Tensor) -> Weights:
        """Change from the tokens' basis to the embeddings' basis.

        Args:
            values: (B, answers, tokens).
            scores: (B, tokens), score of each token as a key.
        """
        keys = scores[:, :, None]
        if self.inputs is None:
            ov, kq = values, torch.nn.functional.pad(keys, (self.tokens - 1, 0))
        else:
            ov = values @ self.inputs
            kq = (self.inputs.mT @ keys) @ self.inputs[:, -1:]
        return Weights(ov=ov if self.outputs is None else self.outputs.mT @ ov, kq=kq)

    def read(self, weights: Weights) -> tuple[Tensor, Tensor]:
        """Return tokens' values for each answer, (B, answers, tokens), and scores (B, tokens)."""
        ov = weights.ov if self.outputs is None else self.outputs @ weights.ov
        if self.inputs is None:
            return ov, weights.kq[:, :, -1]
        return ov @ self.inputs.mT, (self.inputs @ (weights.kq @ self.inputs[:, -1:].mT))[..., 0]

    def _tables(self, values: Tensor, scores: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Tabulate scaled exp(logit) by subject and by relation, and pairs' sums over answers."""
        s = self.subjects
        logits = values * scores[:, None]
        by_s, by_r = logits[..., :s], logits[..., s:-1] + logits[..., -1:]
        by_s = (by_s - by_s.amax(1, keepdim=True)).exp_()
        by_r = (by_r - by_r.amax(1, keepdim=True)).exp_()
        return by_s, by_r, by_s.mT @ by_r

    def gradient(self, weights: Weights, frequencies: Tensor | None = None) -> Weights:
        """Compute minus the gradient of the loss, exactly.

        Args:
            weights: weights at which the gradient is taken.
            frequencies: (B, S, R), frequency of each pair; uniform if not given.
        """
        values, scores = self.read(weights)
        by_s, by_r, total = self._tables(values, scores)
        often = self.uniform if frequencies is None else frequencies
        share = often / total
        # Predicted minus true frequency of each answer with each token.
        excess = torch.empty_like(values)
        s, r = self.subjects, self.relations
        part_s, part_r, query = torch.split_with_sizes(excess, [s, r, 1], dim=2)
        torch.mul(by_s, by_r @ share.mT, out=part_s)
        torch.mul(by_r, by_s @ share, out=part_r)
        torch.sum(part_s, 2, keepdim=True, out=query)
        part_s.view(-1, s, r, s).diagonal(dim1=1, dim2=3).sub_(often.mT)
        part_r.view(-1, s, r, r).diagonal(dim1=2, dim2=3).sub_(often)
        query.view_as(often).sub_(often)
        return self.embedded(-scores[:, None] * excess, -(values * excess).sum(1))

    def odds(self, weights: Weights) -> Odds:
        """Compute the log odds of an answer with the right subject, and with the right relation."""
        by_s, by_r, total = self._tables(*self.read(weights))
        s, r = self.subjects, self.relations
        # Sums over the answers (s, k) of the right subject s, and (k, r) of the right relation r.
        own_s = (by_s * self.has_subject).sum(2).view(-1, s, r)
        own_r = (by_r * self.has_relation).sum(2).view(-1, s, r)
        subject = torch.einsum("bsk,bskr->bsr", own_s, by_r.view(-1, s, r, r)) / total
        relation = torch.einsum("bkr,bkrs->bsr", own_r, by_s.view(-1, s, r, s)) / total
        return Odds(subject=subject.mean((1, 2)).logit(), relation=relation.mean((1, 2)).logit())

    def loss(self, weights: Weights) -> Tensor:
        """Compute the mean cross-entropy over all pairs, (B,), in nats."""
        by_s, by_r, total = self._tables(*self.read(weights))
        right = (by_s * self.has_subject).sum(2) * (by_r * self.has_relation).sum(2)
        return -(right.view_as(total) / total).log().mean((1, 2))

    def scalars(self, weights: Weights) -> Scalars:
        """Read the four coordinates of the weights, and the largest part outside them."""
        values, scores = self.read(weights)
        other = weights.kq - self.embedded(values, scores).kq  # keys to what is no query
        values = values - values.mean(1, keepdim=True)
        s = self.subjects
        by_token = [values[..., :s], values[..., s:-1], values[..., -1:]]
        attended = [scores[:, :s], scores[:, s:-1], scores[:, -1:]]
        coordinates: list[Tensor] = []
        rest = [by_token[2], attended[2][:, None], other]
        for u, part, score in zip(self.directions(), by_token, attended, strict=False):
            alpha, beta = (u * part).sum((1, 2)) / u.square().sum(), score.mean(1)
            rest += [part - alpha[:, None, None] * u, (score - beta[:, None])[:, None]]
            coordinates += [alpha, beta]
        return Scalars(
            alpha_subject=coordinates[0],
            beta_subject=coordinates[1],
            alpha_relation=coordinates[2],
            beta_relation=coordinates[3],
            rest=torch.stack([part.abs().amax((1, 2)) for part in rest]).amax(0),
        )


def rotated(streams: Streams, count: int) -> Tensor:
    """Draw uniformly random orthonormal embeddings: (B, count, count)."""
    q, r = torch.linalg.qr(streams.normal(count, count))
    found: Tensor = q * r.diagonal(dim1=1, dim2=2).sign()[:, None]
    return found


def hadamard_or_one_hot(kinds: str, subjects: int, relations: int) -> tuple[Tensor, Tensor]:
    """Make embeddings of the tokens, (1, S + R + 1, S + R + 1), and of the answers, (1, S R, S R).

    Subjects, relations and query have separate coordinates.

    Args:
        kinds: three letters, for subjects, relations and answers: O for one-hot embeddings, H for a
            normalised Hadamard matrix.
        subjects: S; a power of 2 if subjects or answers are of kind H.
        relations: R; a power of 2 if relations or answers are of kind H.

    Raises ValueError for a Hadamard matrix of another size.
    """

    def table(kind: str, count: int) -> Tensor:
        if kind == "O":
            return torch.eye(count, dtype=torch.float64)
        return torch.from_numpy(hadamard(count) / math.sqrt(count))

    inputs = torch.eye(subjects + relations + 1, dtype=torch.float64)
    inputs[:subjects, :subjects] = table(kinds[0], subjects)
    inputs[subjects:-1, subjects:-1] = table(kinds[1], relations)
    return inputs[None], table(kinds[2], subjects * relations)[None]
