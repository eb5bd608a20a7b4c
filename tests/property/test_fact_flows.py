"""Flows on facts: gradients match the loss, and two flows ignore the embeddings."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation.spectral import facts, flows
from simulation.spectral.facts import Facts, Weights
from simulation.spectral.facts_reduced import Reduced
from simulation.streams import Streams


@st.composite
def tasks(draw: st.DrawFn) -> tuple[Facts, Weights, Facts, Weights]:
    """Tasks with a random start, in one-hot and in rotated embeddings."""
    s, r = draw(st.integers(2, 6)), draw(st.integers(2, 5))
    rngs = [np.random.default_rng(draw(st.integers(0, 2**32 - 1)))]
    inputs, outputs = (facts.rotated(Streams(rngs), n) for n in (s + r + 1, s * r))
    plain = Facts(s, r)
    turned = Facts(s, r, inputs=inputs, outputs=outputs)
    size = draw(st.sampled_from([0.1, 1.0, 5.0]))
    start = plain.start(0.0, 0.0).mapped(
        lambda x: size * torch.from_numpy(rngs[0].standard_normal(x.shape))
    )
    moved = Weights(ov=outputs.mT @ start.ov @ inputs, kq=inputs.mT @ start.kq @ inputs)
    return plain, start, turned, moved


@given(tasks())
@settings(deadline=None, max_examples=30)
def test_polar_factors_turn_along(given: tuple[Facts, Weights, Facts, Weights]) -> None:
    plain, start, turned, moved = given
    assert turned.inputs is not None
    assert turned.outputs is not None
    assert torch.allclose(plain.loss(start), turned.loss(moved))
    for rule in (flows.identity, flows.polar):
        here, there = (task.gradient(at).mapped(rule) for task, at in ((plain, start), given[2:]))
        back = turned.outputs @ there.ov @ turned.inputs.mT
        assert torch.allclose(back, here.ov, atol=1e-5)


@pytest.mark.parametrize(("rule", "duration"), [("gradient", 60.0), ("spectral", 4.0)])
@given(st.integers(2, 9), st.integers(2, 7), st.floats(0.01, 0.5), st.floats(0.01, 0.5))
@settings(deadline=None, max_examples=10)
def test_reduced_flow_is_that_of_whole_matrices(
    rule: str, duration: float, s: int, r: int, alpha: float, beta: float
) -> None:
    whole, reduced = Facts(s, r), Reduced(s, r, torch.zeros((), dtype=torch.float64))
    clock = flows.clock(duration, 20)
    found = (
        flows.followed(task, flows.flow(task, task.start(alpha, beta), rule, clock))
        for task in (whole, reduced)
    )
    one, other = next(found), next(found)
    assert torch.allclose(one.subject, other.subject, atol=1e-9)
    assert torch.allclose(one.relation, other.relation, atol=1e-9)
