"""simulation/attention/two_layers.py: against loops, and against one layer where they agree."""

import numpy as np
import torch

from simulation.attention import relaxed, sampling, three_steps, two_layers


def drawn(samples: int = 9) -> tuple[sampling.Batch, list[np.random.Generator]]:
    rngs = [np.random.default_rng(r) for r in range(3)]
    return sampling.draw(rngs, vocab_size=12, length=4, samples=samples, dim=6), rngs


def looked(
    keys: list[torch.Tensor], values: list[torch.Tensor], weights: torch.Tensor, query: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores of the keys, and what softmax attention sees."""
    scores = torch.stack([key @ weights @ query for key in keys])
    seen = torch.zeros_like(query)
    for share, value in zip(torch.softmax(scores, 0), values, strict=True):
        seen = seen + share * value
    return scores, seen


def test_the_passes_are_those_of_loops_over_positions() -> None:
    batch, rngs = drawn()
    memory, *attention = torch.from_numpy(np.stack([rngs[0].normal(size=(3, 6, 6)) for _ in "123"]))
    found = two_layers.forward(batch, memory, attention)
    for r, n in ((0, 0), (2, 7)):
        streams = [batch.z[r, token] for token in batch.tokens[r, n]]
        query = batch.query[r]
        for layer, weights in enumerate(attention):
            keys = list(streams)
            place = int(batch.positions[r, n])
            keys[place] = keys[place] + batch.trigger[r]
            seen = [looked(keys, streams, weights[r], key)[1] for key in keys]
            scores, written = looked(keys, streams, weights[r], query)
            torch.testing.assert_close(found.scores[layer][r, n], scores)
            streams = [x + memory[r] @ y for x, y in zip(streams, seen, strict=True)]
            query = query + memory[r] @ written
        torch.testing.assert_close(found.written[r, n], query - batch.query[r])


def test_hard_attention_is_the_limit_of_large_scores() -> None:
    batch, rngs = drawn()
    memory, weights = torch.from_numpy(np.stack([rngs[0].normal(size=(3, 6, 6)) for _ in "12"]))
    hard = two_layers.forward(batch, memory, [1e6 * weights] * 2, hard=True).written
    soft = two_layers.forward(batch, memory, [1e6 * weights] * 2).written
    torch.testing.assert_close(hard, soft)


def test_a_small_value_step_makes_both_layers_the_theorems() -> None:
    batch, rngs = drawn(samples=40)
    first, second = two_layers.localised(batch, rngs, written=1e-7)
    batch, rngs = drawn(samples=40)
    test = sampling.fresh(batch, rngs, samples=two_layers.FRESH)
    one = three_steps.attend(test, three_steps.token_scores(batch)).informative
    torch.testing.assert_close(first, one.to(first.dtype).mean(1))
    torch.testing.assert_close(second, first)


def test_embeddings_that_do_not_move_are_fixed_ones() -> None:
    batch, rngs = drawn(samples=40)
    still = relaxed.learned_embeddings(batch, rngs, share=0.0)
    batch, rngs = drawn(samples=40)
    torch.testing.assert_close(still, relaxed.localised(batch, rngs))


def test_learned_embeddings_follow_the_gradient_of_the_true_loss() -> None:
    """One token's share of the move, by differences of the loss that is written out here."""
    batch, _ = drawn()
    memory = 1e-3 * three_steps.value_memory(batch)

    def loss(z: torch.Tensor) -> torch.Tensor:
        total = torch.zeros((), dtype=z.dtype)
        for r in range(3):
            for n in range(9):
                mean = z[r, batch.tokens[r, n]].mean(0)
                logits = batch.u[r] @ (memory[r] @ mean)
                total = total - torch.log_softmax(logits, 0)[batch.labels[r, n]] / 9
        return total

    z = batch.z.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(loss(z), z)
    moved = relaxed.moved(batch, share=0.3)
    move = moved.z - batch.z
    expected = -gradient / gradient.norm(dim=2).mean(1)[:, None, None]
    torch.testing.assert_close(move, 0.3 * batch.z.norm(dim=2).mean(1)[:, None, None] * expected)
    assert not torch.equal(moved.u, batch.u)
