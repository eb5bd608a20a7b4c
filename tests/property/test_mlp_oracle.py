"""The closed form of the Attention-MLP equals automatic differentiation of the model.

Tolerances are bounds, not found by trying. If logits are at most B in size, each softmax
probability is within a factor e^{2B} of the untrained model's, which the closed form uses. So the
error of the closed form is at most e^{2B} - 1 times the largest possible summand; B grows like eta.
"""

import math

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation.attention import oracle, sampling, three_steps
from simulation.attention_mlp import oracle as mlp_oracle
from simulation.attention_mlp import three_steps as mlp
from simulation.attention_mlp.activations import ACTIVATIONS, activation
from tests.property.test_oracle import ETA, assert_two_steps
from tests.unit.draws import batches, generators, perfectly_seen

# Error of a gradient of order eta in float64, relative to the largest summand.
ROUNDING = 1e-8


@st.composite
def settings_of_the_model(draw: st.DrawFn) -> tuple[sampling.Batch, mlp.Layer, bool]:
    batch = draw(batches(most=(30, 8, 40, 16), laws=("sphere",)))
    layer = mlp.draw_layer(
        generators(batch.replicates, draw(st.integers(0, 2**32 - 1))),
        width=draw(st.integers(1, 40)),
        dim=batch.dim,
        activation=draw(st.sampled_from(sorted(ACTIVATIONS))),
    )
    return batch, layer, draw(st.booleans())


@settings(max_examples=120, deadline=None, derandomize=True)
@given(model=settings_of_the_model())
def test_three_steps(model: tuple[sampling.Batch, mlp.Layer, bool]) -> None:
    batch, layer, centred = model
    memory = mlp.value_memory(batch, layer, centred=centred)
    scores = mlp.token_scores(batch, layer, centred=centred)
    trained = mlp_oracle.train(batch, layer, eta=ETA, gamma=1.0, centred=centred)
    for r in range(batch.replicates):
        error = _direction_error(batch, layer, r, memory[r])
        assert_two_steps(batch, r, trained, memory, scores, error)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(model=settings_of_the_model())
def test_memory_is_the_gradient_at_hard_attention(
    model: tuple[sampling.Batch, mlp.Layer, bool],
) -> None:
    batch, layer, centred = model
    attended = three_steps.attend(batch, mlp.token_scores(batch, layer, centred=centred))
    memory = mlp.trained_memory(batch, layer, attended, centred=centred)
    for r in range(batch.replicates):
        values = batch.z[r][attended.tokens[r]]
        if batch.trigger_in_values:
            values = values + attended.informative[r][:, None] * batch.trigger[r]
        features = layer[r : r + 1].features(values[None])[0]
        shares = torch.full((batch.vocab_size,), 1 / batch.vocab_size, dtype=batch.z.dtype)
        if centred:
            counts = torch.bincount(batch.labels[r], minlength=batch.vocab_size)
            shares = counts.to(batch.z.dtype) / batch.samples
        residuals = batch.u[r][batch.labels[r]] - shares @ batch.u[r]
        expected = residuals.T @ features / batch.samples
        assert torch.allclose(memory[r], expected, rtol=0, atol=1e-11)


def test_localised_memory_is_the_trained_one_when_attention_is_right() -> None:
    rngs = generators(2, seed=5)
    batch = sampling.draw(rngs, vocab_size=12, samples=40, dim=6, length=4, trigger_in_values=True)
    layer = mlp.draw_layer(rngs, width=9, dim=6, activation="gelu")
    attended, facts = perfectly_seen(batch)
    for centred in (False, True):
        trained = mlp.trained_memory(batch, layer, attended, centred=centred)
        localised = mlp.localised_memory(facts, layer, centred=centred)
        assert torch.allclose(trained, localised, rtol=0, atol=1e-12)


def _direction_error(
    batch: sampling.Batch, layer: mlp.Layer, r: int, memory: torch.Tensor
) -> float:
    """Return a bound on the error of the attention direction at step size `ETA`."""
    keys, values = (table[r] for table in oracle.keys_and_values(batch))
    means = values.mean(1)
    features = layer[r : r + 1].features(means[None])[0]
    logit_bound = ETA * float((features @ memory.T @ batch.u[r].T).abs().max())
    covariances = keys.mT @ (values - means[:, None]) / batch.length
    slopes = activation(layer.activation).slope(means @ layer.weights[r].T)
    output = float(batch.u[r].norm(dim=1).max())
    # The memory may be a sum that cancels, with the rounding error of its summands.
    stored = float(memory.norm()) + 1e-6 * output * float(features.norm(dim=1).max())
    spectral = float(layer.weights[r].norm()) / layer.width**0.5
    readout = output * stored * float(slopes.abs().max()) * spectral
    # A covariance may cancel, too, down to 0. A sum of products of at most 450 factors and terms is
    # off by 450 * 2^-53 = 5e-14 of their sizes. Here and in torch that is 1e-13: 1e-5 of ROUNDING.
    sizes = float((keys.norm(dim=2) * (values.norm(dim=2) + means.norm(dim=1)[:, None])).mean())
    scale = (float(covariances.norm(dim=(1, 2)).mean()) + 1e-5 * sizes) * readout
    return float(2 * scale * (math.expm1(2 * logit_bound) + ROUNDING))
