"""simulation.factual.relaxed, compared with closed forms, loops over prompts, counts by hand."""

import math
from itertools import product
from typing import Any

import pytest
import torch

from simulation.factual import constructions, relaxed, task
from simulation.factual import sequential_learning as learning
from simulation.streams import Streams
from tests.unit.draws import generators

S, R, D = 4, 3, 2


def problem(replicates: int = 1, length: int = 8, noise: int = 5) -> learning.FactPrompts:
    dictionaries = [learning.product_dictionary(S, R, D)] * replicates
    return learning.FactPrompts(dictionaries, answers=D, length=length, noise=noise)


def random(model: relaxed.Logits, size: float = 1.0) -> relaxed.Parts:
    generator = torch.Generator().manual_seed(0)
    return {
        name: size * torch.randn(part.shape, generator=generator, dtype=part.dtype)
        for name, part in relaxed.start(problem(), model, 0.1).items()
    }


def descended(parts: relaxed.Parts, rate: float, most: int, **options: Any) -> learning.Losses:
    here = problem()
    options = {"until": 0.0, **options}
    counts = relaxed.all_pairs(here)
    return relaxed.descended(here, relaxed.linear, parts, counts, rate=rate, most=most, **options)


@pytest.mark.parametrize("power", [0.0, 1.0])
def test_steps_follow_the_closed_form_of_the_gradient(power: float) -> None:
    # From random weights noise tokens move as well.
    here, rate, parts = problem(), 0.3, random(relaxed.linear)
    frequencies = relaxed.zipf(here, power)
    path = descended(parts, rate, 3, frequencies=frequencies if power else None)
    weights, each = learning.Weights(**parts), frequencies.view(1, S, R, 1)
    for step in range(4):
        p = here.logits(weights).softmax(3)
        total = -((here.target * p).sum(3).log() * each[..., 0]).sum()
        own = p.view(1, S, R, R, D).sum(4).diagonal(dim1=2, dim2=3)
        torch.testing.assert_close(path.total[step, 0], total)
        torch.testing.assert_close(path.relation[step, 0], -(own.log() * each[..., 0]).sum())
        weights = weights.moved(here.gradient(weights, each), rate)


def test_one_row_of_noise_moves_as_its_tokens_do() -> None:
    here, rate, parts = problem(), 0.05, random(relaxed.two_layers)
    counts, model = relaxed.all_pairs(here), relaxed.two_layers
    path = relaxed.descended(here, model, parts, counts, rate=rate, until=0.0, most=3)
    rows = [*range(S + R + 1), *[S + R + 1] * here.noise]  # each noise token has its own
    each = counts / torch.bincount(torch.tensor(rows))
    apart = {name: part[:, rows] for name, part in parts.items()}
    apart["keys"] = apart["keys"][:, :, rows]
    for step in range(4):
        apart = {name: part.detach().requires_grad_() for name, part in apart.items()}
        logs = model(apart, each[:, :, rows])
        total = -(here.target.flatten(1, 2) * logs.log_softmax(2)).sum() / (S * R)
        torch.testing.assert_close(path.total[step, 0], total.detach())
        for part, change in zip(
            apart.values(), torch.autograd.grad(total, [*apart.values()]), strict=True
        ):
            part.data -= rate * change


@pytest.mark.parametrize("model", [relaxed.softmax, relaxed.two_layers, relaxed.embedded])
def test_models_are_sums_over_the_tokens_of_a_prompt(model: relaxed.Logits) -> None:
    here, parts = problem(), random(model)
    found = model(parts, relaxed.all_pairs(here))[0].view(S, R, R * D)
    own = {name: part[0] for name, part in parts.items()}
    for s, r in product(range(S), range(R)):
        tokens = [s, S + r, S + R, *[S + R + 1] * 5]  # three of length 8 are no noise
        if model is relaxed.softmax:
            weights = own["attention"][tokens].softmax(0)
            expected = weights @ own["values"][tokens]
        elif model is relaxed.two_layers:
            query = sum(own["attention"][t] * own["keys"][t] for t in tokens)
            assert isinstance(query, torch.Tensor)
            expected = query[tokens] @ own["values"][tokens]
        else:
            seen = own["embeddings"][tokens]
            expected = (seen @ own["attention"]) @ (seen @ own["values"])
        torch.testing.assert_close(found[s, r], expected)


def test_noise_that_is_subjects_counts_as_many_tokens() -> None:
    here = problem(replicates=2)
    counts = relaxed.noisy_pairs(here, generators(2), 3)
    assert counts.shape == (2, 3 * S * R, S + R + 2)
    assert (counts.sum(2) == 8).all()
    assert (counts[:, :, -1] == 0).all()
    assert not torch.equal(counts[0], counts[1])


def test_subjects_have_frequencies_by_rank() -> None:
    found = relaxed.zipf(problem(), 1.0).view(S, R)
    assert found.sum() == pytest.approx(1)
    torch.testing.assert_close(found[0], 4 * found[3])


def test_shared_answers_are_the_same_few_for_every_relation() -> None:
    here = problem(replicates=2)
    found = relaxed.answers_shared(here, generators(2))
    assert set(found.dictionary.flatten().tolist()) == set(range(D))
    assert torch.equal(found.target.argmax(3), found.dictionary)
    assert here.dictionary.max() == R * D - 1  # the task itself is as it was


def test_adam_takes_steps_of_its_rate() -> None:
    parts = relaxed.start(problem(), relaxed.linear, 1e-5)
    adam: dict[str, Any] = {"until": 0.5, "optimiser": "adam"}
    slow, fast = (descended(parts, rate, 2000, **adam) for rate in (0.01, 0.02))
    assert len(fast.total) < len(slow.total) < 2000
    with pytest.raises(ValueError, match="no optimiser 'sgd'"):
        descended(parts, 0.1, 1, optimiser="sgd")


def test_weight_decay_shrinks_the_weights() -> None:
    parts = random(relaxed.linear, 1e-3)
    free, decayed = (descended(parts, 0.5, 400, decay=decay) for decay in (0.0, 0.05))
    assert decayed.total[-1] > free.total[-1]


def test_embeddings_overlap_as_much_as_asked() -> None:
    streams = Streams(generators(2))
    facts = task.draw(streams, subjects=40, relations=8, answers=4, dim=400)
    found = relaxed.overlapping(facts, streams, 0.25)
    for embeddings in (found.tokens, found.outputs):
        norms = embeddings.norm(dim=2)
        torch.testing.assert_close(norms, torch.ones_like(norms))
        count = embeddings.shape[1]
        means = ((embeddings @ embeddings.mT).sum((1, 2)) - count) / (count * (count - 1))
        # Overlaps vary by 1/sqrt(400) = 0.05; a mean over pairs of 32 vectors or more varies less.
        assert means.tolist() == pytest.approx([0.25] * 2, abs=0.02)


def test_quantised_weights_have_few_values() -> None:
    facts = task.draw(Streams(generators(2)), subjects=8, relations=4, answers=2, dim=96)
    weights = constructions.attention_only(facts, head_dim=4)
    for bits in (2, 4, 8):
        found = relaxed.quantised(weights, bits)
        for name, part in vars(found).items():
            for rounded, exact in zip(part, getattr(weights, name), strict=True):
                assert len(set(rounded.flatten().tolist())) <= 2**bits - 1
                unit = float(exact.abs().max()) / (2 ** (bits - 1) - 1)
                assert float((rounded - exact).abs().max()) <= unit / 2 * (1 + 1e-9)
    assert math.isclose(float(found.query.abs().max()), float(weights.query.abs().max()))
