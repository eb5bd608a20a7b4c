"""Simulations, compared with values computed by hand at the smallest sizes.

Few other tests have independent values of these functions. A claim that compares two of them misses
an error that both share. A claim whose region has one edge misses an error on the other side.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from scipy import optimize, stats

from simulation.attention import (
    convergence,
    gradient_structure,
    localisation,
    oracle,
    relaxed,
    sampling,
    three_steps,
)
from simulation.attention.oracle import Trained
from simulation.attention.sampling import Batch
from simulation.attention.three_steps import Scores
from simulation.factual.sequential_learning import Weights
from simulation.memory import bits, optimal, perceptron
from tests.unit.draws import generators


def tensor(*rows: object) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def one_sequence(tokens: Sequence[int], position: int) -> Batch:
    """Make a batch of one sequence: token embeddings 1 and 3, labels 1 and -1, trigger 3."""
    return Batch(
        z=tensor([[1.0], [3.0]]),
        u=tensor([[1.0], [-1.0]]),
        trigger=tensor([3.0]),
        query=tensor([1.0]),
        permutation=torch.tensor([[0, 1]]),
        trigger_in_values=False,
        tokens=torch.tensor([[tokens]]),
        positions=torch.tensor([[position]]),
        labels=torch.tensor([[tokens[position]]]),
    )


def scored(theta: Sequence[float], trigger: float) -> Scores:
    """Make scores of tokens and trigger, without rounding."""
    return Scores(
        direction=tensor([1.0]),
        theta=tensor(theta),
        trigger=tensor(trigger),
        rounding=tensor(0.0),
    )


def test_weights_of_one_dimension_separate_patterns_of_one_sign() -> None:
    """Of n patterns in one dimension all signs agree with probability 2^(1 - n)."""
    found = perceptron.random_labels(generators(2000), patterns=3, dim=1)
    low, high = stats.binom(2000, 1 / 4).interval(1 - 1e-6)
    assert low <= found.sum() <= high
    assert perceptron.random_labels(generators(50), patterns=3, dim=3).tolist() == [1.0] * 50


@pytest.mark.parametrize(("patterns", "dim", "count"), [(4, 1, 2), (3, 2, 6), (4, 2, 8), (3, 3, 8)])
def test_dichotomies_of_few_points(patterns: int, dim: int, count: int) -> None:
    """Of n points there are 2 dichotomies on a line, 2 n in the plane, and all 2^n in R^n."""
    found = perceptron.dichotomies(generators(3), patterns=patterns, dim=dim)
    assert found.tolist() == [count] * 3


def test_a_weight_of_one_bit_stores_two_patterns() -> None:
    """The first pattern leaves one of two weights. On each later pattern this weight is right with
    probability 1/2.

    So the mean number of stored patterns is 1 plus the mean number of successes before the first
    failure, which is also 1.
    """
    sequences = 4096
    found = perceptron.binary_patterns(generators(1), dim=1, sequences=sequences)
    low, high = stats.nbinom(sequences, 1 / 2).interval(1 - 1e-6)
    assert low <= (found.item() - 1) * sequences <= high


def test_one_temperature_serves_all_facts() -> None:
    """There are two facts, with an input and an output each, and one weight: all are 1 or -1.

    A fact has logits of 1 and -1 or, where both outputs are the same number, equal logits. If the
    outputs differ and both answers are right, the loss is 0 at the lowest temperature. In all other
    cases the least loss is ln 2. For example, with one right and one wrong answer the loss is
    ln(2 cosh b) at inverse temperature b, which is least at the highest temperature. If each fact
    had a temperature of its own, the mean of the two least losses would be 0.5 ln 2.
    """
    found = bits.quantised_memory(generators(400), facts=2, outputs=2, dim=1, weight_bits=1)
    told = ~found.loss.isnan()  # equal logits have no scale
    for right in (0.0, 0.5, 1.0):
        losses = found.loss[told & (found.accuracy == right)]
        least = torch.minimum((losses - math.log(2)).abs(), losses if right == 1 else losses + 1)
        assert len(losses) > 3
        assert least.max() < 1e-4
    assert found.loss[told].min() < 1e-6


def test_a_token_is_localised_where_no_other_exceeds_it() -> None:
    """Both other positions must have a token with a smaller score; a tie is a miss."""
    found = localisation.by_token(scored([0.0, 1.0], 0.5), length=3)
    assert found.tolist() == [[1 / 4, 1.0]]
    tied = scored([0.0, 1.0], 1.0)
    assert localisation.probability(tied, length=3).item() == (1 / 4 + 1) / 2


def test_softmax_weight_of_one_sequence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores of ln 2 at the informative position and 0 at three others give 2/5; half the scores
    give less.
    """
    batch = one_sequence([0, 0, 0, 0], 1)
    scores = scored([0.0, 9.0], math.log(2))
    monkeypatch.setattr(three_steps, "token_scores", lambda _: scores)
    monkeypatch.setattr(sampling, "fresh", lambda *_, **__: batch)
    for sharpness, weight in ((1.0, 2 / 5), (0.5, 2**0.5 / (2**0.5 + 3)), (0.0, 1 / 4)):
        found = relaxed.attention_weight(batch, [], sharpness=sharpness)
        assert found.tolist() == pytest.approx([weight])


def test_one_step_on_all_parameters_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attention has no gradient while the values are 0, and equal scores are a miss."""
    batch = one_sequence([1, 0, 1], 1)
    monkeypatch.setattr(sampling, "fresh", lambda *_, **__: batch)
    found = relaxed.trained(batch, [], optimiser="SGD", steps=1, rate=0.1)
    assert found.tolist() == [0.0]


def test_two_steps_on_one_sequence(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first step gives the value matrix the label's sign. Then attention moves along the
    covariance of keys and values: 20/9 for keys 6, 1, 1 and values 3, 1, 1; -4/9 for keys 4, 3, 3
    and values 1, 3, 3.
    """
    for tokens, position, share in (([1, 0, 0], 0, 1.0), ([0, 1, 1], 0, 0.0)):
        batch = one_sequence(tokens, position)
        monkeypatch.setattr(sampling, "fresh", lambda *_, test=batch, **__: test)
        for found in (
            relaxed.trained(batch, [], optimiser="SGD", steps=2, rate=0.1),
            relaxed.two_heads(batch, [], eta=0.1),
            relaxed.localised(batch, []),
        ):
            assert found.tolist() == [share]


def test_the_attention_step_may_see_other_sequences(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first sequence has label -1, and the memory after it is -5/3. On the second sequence, of
    label 1, attention then moves by -5/3 times a covariance of 2/9 or -4/9.

    If both steps use the second sequence, attention finds the informative position only if the
    covariance is 2/9.
    """
    for tokens, share in (([0, 0, 1], 0.0), ([0, 1, 1], 1.0)):
        second = one_sequence(tokens, 0)
        monkeypatch.setattr(sampling, "fresh", lambda *_, test=second, **__: test)
        assert relaxed.localised(second, []).tolist() == [1 - share]
        assert relaxed.fresh_per_step(one_sequence([1, 0, 0], 0), []).tolist() == [share]


def test_a_quieter_trigger_has_to_exceed_the_distance_of_two_tokens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Embedding 1 plus a trigger of 3 `norm` exceeds embedding 3 if `norm` is above 2/3."""
    batch = one_sequence([0, 0, 1], 0)
    monkeypatch.setattr(sampling, "fresh", lambda *_, **__: batch)
    for norm, share in ((0.75, 1.0), (0.6, 0.0)):
        assert relaxed.localised(relaxed.quieter(batch, norm=norm), []).tolist() == [share]


def test_response_of_attention_to_one_sequence() -> None:
    """The response is the memory, 5/3, times the covariance, 20/9 or 2/9."""
    for tokens, response in (([1, 0, 0], 100 / 27), ([0, 0, 1], 10 / 27)):
        found = oracle.attention_response(one_sequence(tokens, 0))
        assert found.item() == pytest.approx(response)


def test_gradients_of_two_samples() -> None:
    targets, means = tensor([1.0], [-2.0]), tensor([3.0], [1.0])
    assert gradient_structure.value_gradient(targets, means).tolist() == [[-1 / 2]]
    # Covariances (-1 + 4)/2 and (0 - 6)/2, memories gram @ means / 2.
    found = gradient_structure.attention_step(
        query=tensor(2.0),
        gram=tensor([1.0, 2.0], [0.0, 3.0]),
        keys=tensor([[1.0], [4.0]], [[0.0], [3.0]]),
        deviations=tensor([[-1.0], [1.0]], [[2.0], [-2.0]]),
        means=means,
    )
    assert found.item() == pytest.approx((1.5 * 2.5 - 3 * 1.5) / 2 * 2)


def test_relative_errors_are_distances_over_the_truth() -> None:
    batch = one_sequence([0, 1], 0)
    found = gradient_structure.relative_errors(
        batch,
        lambda _: tensor([3.0, 4.0]),
        lambda parts: {"off": tensor(3.0, 1.0), "keys": parts.keys[0, :, 0]},
    )
    assert found["off"].tolist() == [3 / 5]
    assert found["keys"].tolist() == pytest.approx([2**0.5 / 5]), "1 + 3 and 3"


def test_soft_attention_is_off_by_the_distance_of_its_mean(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Uniform attention returns the mean of 1, 3 and 3, which is 7/3; hard attention returns 1, the
    value at the trigger.
    """
    limit, nothing = object.__new__(convergence.Limit), tensor([[0.0]])
    limit.batch = limit.fresh = one_sequence([0, 1, 1], 0)
    limit.scores = scored([1.0, 3.0], 2.5)
    trained = Trained(first_value=nothing, attention=nothing, value=nothing)
    monkeypatch.setattr(limit, "_train", lambda *_, **__: [(slice(1), trained)])
    assert limit.softness(eta=1.0, gamma=1.0).item() == pytest.approx(4 / 3)
    steeper = replace(trained, attention=tensor([[0.6]]))
    monkeypatch.setattr(limit, "_train", lambda *_, **__: [(slice(1), steeper)])
    # The limit's direction is 1; after a step of 1/2 on the query 1 it is 1.2.
    assert limit.direction_error(eta=0.5).item() == pytest.approx(0.2)


def test_imbalance_of_one_token() -> None:
    weights = Weights(attention=tensor([3.0]), values=tensor([[1.0, 2.0]]))
    assert weights.imbalance.tolist() == [[9.0 - 5.0]]


def test_the_least_regularised_loss_in_one_dimension() -> None:
    """For pairs (1, 1) and (-1, -1), 2 ln(1 + exp(-2 w)) + r w^2/2 is least where
    4/(1 + exp(2 w)) = r w.
    """
    vectors = tensor([[1.0], [-1.0]])
    [pairs] = [optimal.draw(generators(1), dim=1, associations=2)]
    pairs = replace(pairs, inputs=vectors, outputs=vectors)
    for ridge in (0.1, 2.0):
        least = optimize.brentq(lambda w, r=ridge: 4 / (1 + math.exp(2 * w)) - r * w, 0, 50)
        assert optimal.regularised(pairs, ridge).item() == pytest.approx(least)
