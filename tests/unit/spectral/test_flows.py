"""Flows: theory compared with integrals and limits, simulation with singular values and Adam."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate
from torch import Tensor

import recall_claims as rc
from claims.spectral import test_decay
from simulation.embeddings import gaussian
from simulation.spectral import facts, flows
from simulation.spectral.facts import Facts, Weights
from simulation.spectral.facts_reduced import Reduced
from simulation.streams import Streams
from tests.unit.draws import end, generators
from theory.spectral import flows as theory
from theory.spectral.flows import Facts as Sizes
from theory.spectral.flows import Flow, Part

PARTS: tuple[Part, Part] = ("subject", "relation")
FLOWS: tuple[Flow, ...] = ("gradient", "spectral", "sign")


@pytest.mark.parametrize("embeddings", theory.EMBEDDINGS)
def test_speeds_of_sign_flow_are_those_of_the_whole_matrices(embeddings: str) -> None:
    for s, r in ((8, 4), (2, 8)):
        inputs, outputs = facts.hadamard_or_one_hot(embeddings, s, r)
        task = facts.Facts(s, r, inputs=inputs, outputs=outputs)
        before, after = flows.flow(task, task.start(0.5, 0.7), "sign", [0.0, 0.25])
        here, there = task.scalars(before), task.scalars(after)
        for part in PARTS:
            names = (f"alpha_{part}", f"beta_{part}")
            speeds = [float(getattr(there, n) - getattr(here, n)) / 0.25 for n in names]
            stated = theory.sign_rates(Sizes(subjects=s, relations=r), part, embeddings)
            assert speeds == pytest.approx(stated)


@pytest.mark.parametrize("flow", FLOWS)
def test_learning_time_is_when_the_error_is_reached(flow: Flow) -> None:
    for part, error in itertools.product(PARTS, (0.5, 0.1, 1e-3)):
        facts = Sizes(subjects=16, relations=4)
        time = theory.learning_time(facts, part, flow=flow, error=error)
        odds = theory.log_odds(facts, part, time, flow=flow)
        assert odds == pytest.approx(math.log(1 / error - 1), abs=1e-6)
    few = Sizes(subjects=2, relations=4)
    assert theory.learning_time(few, "subject", flow=flow, error=0.6) == 0.0


def test_closed_form_of_gradient_flow_is_an_integral() -> None:
    def integrand(v: float, s: int, bend: float) -> float:  # in v = log y
        return (1 + math.exp(math.exp(v)) / (s - 1)) / math.hypot(1, bend / math.exp(v))

    for s, r, start in ((16, 4, 0.01), (3, 2, 0.1), (4, 64, 1e-4)):
        facts = Sizes(subjects=s, relations=r, start=start)
        scale, first = math.sqrt(s * (s - 1) * r), start**2 / math.sqrt(r)
        ends = math.log(first), math.log(math.log(9 * (s - 1)))
        arguments = (s, start**2 / (2 * scale))
        total, _ = integrate.quad(integrand, *ends, args=arguments, epsabs=1e-11)
        assert theory.learning_time(facts, "subject", flow="gradient") == pytest.approx(
            scale / 2 * total, rel=1e-5
        )


@pytest.mark.parametrize("sizes", [(16, 4), (4, 24), (48, 12), (64, 32)])
@pytest.mark.parametrize("part", PARTS)
def test_spectral_errors_decay_in_the_end_at_one_rate(sizes: tuple[int, int], part: Part) -> None:
    facts = Sizes(subjects=sizes[0], relations=sizes[1])
    times = 400.0, 500.0
    early, late = (theory.log_odds(facts, part, time, flow="spectral") for time in times)
    rate = (late - early) / (times[1] ** 2 - times[0] ** 2)
    assert rate == pytest.approx(theory.spectral_decay_rate(facts), rel=1e-3)


def random_matrix(*shape: int) -> Tensor:
    return torch.from_numpy(np.random.default_rng(3).standard_normal(shape))


def test_sign_of_a_rounding_error_is_zero() -> None:
    matrix = torch.tensor([[[2.0, -3.0, 1e-13, 0.0]]], dtype=torch.float64)
    assert flows.sign(matrix).tolist() == [[[1.0, -1.0, 0.0, 0.0]]]


def test_newton_schulz_brings_singular_values_near_one() -> None:
    matrix = random_matrix(2, 12, 6)
    left, before, right = torch.linalg.svd(matrix, full_matrices=False)
    found = flows.newton_schulz(matrix)
    after = (left.mT @ found @ right.mT).diagonal(dim1=1, dim2=2)
    assert torch.allclose(left * after[:, None] @ right, found), "the vectors stay"
    assert 0.6 < after.min() < after.max() < 1.3
    x = before / before.norm(dim=1, keepdim=True)
    for _ in range(5):
        x = 3.4445 * x - 4.7750 * x**3 + 2.0315 * x**5
    assert torch.allclose(after, x, atol=1e-5)
    assert torch.allclose(flows.newton_schulz(matrix.mT), found.mT)
    assert torch.allclose(flows.muon(matrix), math.sqrt(2) * found)
    assert torch.allclose(flows.muon(matrix.mT), found.mT)


@pytest.mark.parametrize(("rule", "duration"), [("gradient", 30.0), ("spectral", 4.0)])
def test_flow_is_of_fourth_order(rule: str, duration: float) -> None:
    task = Facts(4, 3)
    start = task.start(0.2, 0.3)
    ends = [end(flows.flow(task, start, rule, flows.clock(duration, n))).kq for n in (10, 20, 160)]
    coarse, fine = ((found - ends[2]).abs().max() for found in ends[:2])
    assert 0.6 * 16 < coarse / fine < 1.6 * 16


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


def test_clock_grows_by_a_twentieth() -> None:
    times = flows.clock(3.0, 3, growing=300.0)
    assert times[:4] == [0, 1, 2, 3]
    assert times[-1] == pytest.approx(300)
    steps = np.diff(np.log(times[3:]))
    assert np.allclose(steps, steps[0])
    assert 0.04 < steps[0] <= 0.05


def test_learning_time_interpolates() -> None:
    odds = torch.tensor([[-1.0, 0, 0], [1, 0, 5], [3, 8, 8]], dtype=torch.float64)
    times = [0.0, 10.0, 30.0]
    level = 1 / (1 + math.exp(2.0))
    assert flows.learning_time(odds, times, level).tolist() == pytest.approx([20, 15, 4])
    for error in (0.001, 0.9):
        with pytest.raises(ValueError, match="train longer"):
            flows.learning_time(odds, times, error)
    with pytest.raises(ValueError, match="smaller steps"):
        flows.learning_time(odds / torch.zeros(3), times, level)


def test_a_flow_is_followed_until_the_last_replicate_has_learned() -> None:
    task, clock = Facts(4, 2, replicates=2), flows.clock(80.0, 40)
    sizes = torch.tensor([0.1, 0.3], dtype=torch.float64)[:, None, None]
    start = task.start(1.0, 1.0).mapped(lambda matrix: sizes * matrix)
    whole, some = (
        flows.followed(task, flows.flow(task, start, "gradient", clock), until)
        for until in (0.0, 0.1)
    )
    assert len(whole.subject) == 41
    for part in ("subject", "relation"):
        times = [flows.learning_time(getattr(odds, part), clock, 0.1) for odds in (whole, some)]
        assert torch.equal(*times)
        assert times[0][1] < times[0][0]
    assert clock[len(some.subject) - 2] < max(
        flows.learning_time(whole.subject, clock, 0.1).max(),
        flows.learning_time(whole.relation, clock, 0.1).max(),
    )


def test_momentum_looks_ahead() -> None:
    task = Facts(3, 2)
    start = task.start(0.2, 0.4)
    path = [*flows.one_step_at_a_time(task, start, flows.identity, rate=0.5, steps=2, momentum=0.9)]
    gradients = [task.gradient(weights).kq for weights in path]
    mean = 0.1 * gradients[0]
    one = start.kq + 0.5 * (0.1 * gradients[0] + 0.9 * mean)
    mean = 0.9 * mean + 0.1 * gradients[1]
    two = one + 0.5 * (0.1 * gradients[1] + 0.9 * mean)
    assert torch.allclose(path[1].kq, one)
    assert torch.allclose(path[2].kq, two)


def test_every_step_has_a_batch_of_its_own() -> None:
    task = Facts(3, 2)
    weights, (rng,) = task.start(0.2, 0.4), generators(1)
    path = flows.one_step_at_a_time(
        task, weights, flows.identity, rate=0.5, steps=3, batch=1000, rngs=generators(1)
    )
    for found in path:
        assert torch.allclose(found.ov, weights.ov, atol=1e-14)
        often = rng.multinomial(1000, [1 / 6] * 6).reshape(1, 3, 2) / 1000
        weights = weights.moved(task.gradient(weights, torch.from_numpy(often)), 0.5)


def test_adam_leaves_alone_what_is_zero() -> None:
    inputs, outputs = facts.hadamard_or_one_hot("HHH", 4, 2)
    task = Facts(4, 2, inputs=inputs, outputs=outputs)
    last = end(flows.adam_steps(task, task.start(0.2, 0.4), rate=0.1, steps=10))
    assert task.scalars(last).rest.item() < 1e-12
    assert task.scalars(last).alpha_subject.item() > 1


def test_adam_is_that_of_torch() -> None:
    rngs = generators(1)
    inputs, outputs = (gaussian(Streams(rngs), 6, 6) for _ in range(2))
    task = Facts(3, 2, inputs=inputs, outputs=outputs)
    start = task.start(0.2, 0.4)
    tables = [start.ov.clone().requires_grad_(), start.kq.clone().requires_grad_()]
    optimiser = torch.optim.Adam(tables, lr=0.03)
    for _ in range(4):
        optimiser.zero_grad()
        gradient = task.gradient(Weights(ov=tables[0].detach(), kq=tables[1].detach()))
        tables[0].grad, tables[1].grad = -gradient.ov, -gradient.kq
        optimiser.step()
    path = [*flows.adam_steps(task, start, rate=0.03, steps=4)]
    assert torch.allclose(path[-1].ov, tables[0].detach())
    assert torch.allclose(path[-1].kq, tables[1].detach())
    assert torch.equal(path[0].ov, start.ov), "the start is left as it was"
    assert len(path) == 5
    assert not torch.equal(path[3].ov, path[4].ov)


@pytest.mark.parametrize("flow", ["gradient", "spectral", "sign"])
def test_a_flow_has_learned_at_the_least_duration_of_its_regime(flow: Flow) -> None:
    for subjects, relations in itertools.product((2, 4, 16, 32, 64, 76, 256), (2, 8, 32, 64)):
        powers = not any(size & (size - 1) for size in (subjects, relations))
        for embeddings in theory.EMBEDDINGS if flow == "sign" and powers else ("OOO",):
            sizes = {"subjects": subjects, "relations": relations}
            cell = {**sizes, "flow": flow, "embeddings": embeddings}
            least = theory._least(cell) * theory._latest(cell, 0.1, embeddings)
            for part in ("subject", "relation"):
                found = theory.learning_time(
                    Sizes(**sizes), part, flow=flow, error=0.1, embeddings=embeddings
                )
                assert found <= least


def test_log_odds_under_sign_flow_end_before_rounding_hides_the_gradient() -> None:
    cell = rc.Cell(subjects=2, relations=64, flow="sign", embeddings="OOH", time=2.38)
    regime = theory.PATHS.searched(part=("subject", "relation"))
    cases: tuple[tuple[Part, bool, bool], ...]
    cases = (("subject", False, True), ("relation", True, False))
    for part, above, inside in cases:
        odds = theory.log_odds(Sizes.of(cell), part, cell["time"], flow="sign", embeddings="OOH")
        assert (odds > 25) is above
        assert regime.admits(cell.replace(part=part)) is inside
    assert theory.PATHS.admits(cell.replace(time=2.0))
    assert not theory.PATHS.admits(cell)


@pytest.mark.thorough
def test_rounding_errors_do_not_grow_where_subjects_are_many() -> None:
    cell = rc.Cell(
        flow="gradient", part="relation", relations=3, subjects=256, duration=5790.0, time=65500.0
    )
    block = rc.Block((np.random.default_rng(0),), "cpu", torch.float64)
    [found] = test_decay.late_error(cell, block).tolist()
    expected = theory.gradient_error(Sizes.of(cell), "relation", cell["time"])
    assert found == pytest.approx(expected, rel=1e-6)
