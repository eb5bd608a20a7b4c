"""theory.spectral.flows against the whole model, its loss by definition and autograd's gradient."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
import torch
from scipy import integrate
from scipy.linalg import hadamard

from theory.spectral import flows
from theory.spectral.flows import Facts, Flow, Part

PARTS: tuple[Part, Part] = ("subject", "relation")
Slopes = list[float]
Array = npt.NDArray[np.float64]
FLOWS: tuple[Flow, ...] = ("gradient", "spectral", "sign")


def gradients(s: int, r: int, state: list[float]) -> tuple[Array, Array]:
    """Minus the gradient of the loss in (values, scores) at these four coordinates.

    The loss is written down prompt by prompt; values are (S R, S + R), scores (S + R,).
    """
    alpha_s, alpha_r, beta_s, beta_r = state
    by_subject = np.kron(np.eye(s) - 1 / s, np.ones((r, 1))) / math.sqrt(r)
    by_relation = np.kron(np.ones((s, 1)), np.eye(r) - 1 / r) / math.sqrt(s)
    values = torch.tensor(np.hstack([alpha_s * by_subject, alpha_r * by_relation]))
    scores = torch.tensor([beta_s] * s + [beta_r] * r, dtype=torch.float64)
    values.requires_grad_()
    scores.requires_grad_()
    loss = torch.zeros(())
    for i, j in itertools.product(range(s), range(r)):
        logits = scores[i] * values[:, i] + scores[s + j] * values[:, s + j]
        loss = loss - logits.log_softmax(0)[i * r + j] / (s * r)
    loss.backward()  # type: ignore[no-untyped-call]
    assert values.grad is not None
    assert scores.grad is not None
    return -values.grad.numpy(), -scores.grad.numpy()


def polar(matrix: Array) -> Array:
    left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
    factor: Array = (left * (sizes > 1e-9 * sizes[0])) @ right
    return factor


def signs(matrix: Array) -> Array:
    found: Array = np.sign(matrix) * (np.abs(matrix) > 1e-9 * np.abs(matrix).max())
    return found


def slopes(s: int, r: int, state: list[float], flow: Flow, embeddings: str) -> Slopes:
    """Derivatives of the four coordinates, which must be all that the weights are made of."""

    def table(kind: str, size: int) -> Array:
        found: Array = np.eye(size) if kind == "O" else hadamard(size) / math.sqrt(size)
        return found

    inputs = np.zeros((s + r, s + r))
    inputs[:s, :s], inputs[s:, s:] = table(embeddings[0], s), table(embeddings[1], r)
    outputs = table(embeddings[2], s * r)
    values, scores = gradients(s, r, state)
    rules: dict[Flow, Callable[[Array], Array]] = {
        "gradient": np.asarray,
        "spectral": polar,
        "sign": signs,
    }
    rule = rules[flow]
    values = outputs @ rule(outputs.T @ values @ inputs) @ inputs.T
    scores = inputs @ rule((inputs.T @ scores)[:, None])[:, 0]
    values = values - values.mean(0)
    by_subject = np.kron(np.eye(s) - 1 / s, np.ones((r, 1))) / math.sqrt(r)
    by_relation = np.kron(np.ones((s, 1)), np.eye(r) - 1 / r) / math.sqrt(s)
    found = [
        float((values[:, :s] * by_subject).sum() / (s - 1)),
        float((values[:, s:] * by_relation).sum() / (r - 1)),
        float(scores[:s].mean()),
        float(scores[s:].mean()),
    ]
    assert np.allclose(values[:, :s], found[0] * by_subject, atol=1e-12)
    assert np.allclose(values[:, s:], found[1] * by_relation, atol=1e-12)
    assert np.allclose(scores, [found[2]] * s + [found[3]] * r, atol=1e-12)
    return found


@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize(("s", "r"), [(4, 2), (2, 4)])
def test_log_odds_are_those_of_the_whole_model(flow: Flow, s: int, r: int) -> None:
    facts = Facts(subjects=s, relations=r, start=0.05)
    times = [flows.learning_time(facts, part, flow=flow, error=0.1) for part in PARTS]
    found = integrate.solve_ivp(
        lambda _, state: slopes(s, r, list(state), flow, "OOO"),
        (0, max(times)),
        [0.05] * 4,
        method="DOP853",
        rtol=1e-9,
        atol=1e-12,
        t_eval=sorted(times),
    )
    for time, (a_s, a_r, b_s, b_r) in zip(found.t, found.y.T, strict=True):
        expected = (
            a_s * b_s / math.sqrt(r) - math.log(s - 1),
            a_r * b_r / math.sqrt(s) - math.log(r - 1),
        )
        for part, value in zip(PARTS, expected, strict=True):
            assert flows.log_odds(facts, part, time, flow=flow) == pytest.approx(value, abs=2e-5)


@pytest.mark.parametrize("embeddings", flows.EMBEDDINGS)
def test_speeds_of_sign_flow_are_those_of_the_whole_model(embeddings: str) -> None:
    for s, r in ((8, 4), (2, 8)):
        facts = Facts(subjects=s, relations=r)
        (a_s, b_s), (a_r, b_r) = (flows.sign_rates(facts, part, embeddings) for part in PARTS)
        for state in ([0.01] * 4, [3.0, 1.0, 2.0, 0.5]):
            expected = slopes(s, r, state, "sign", embeddings)
            assert [a_s, a_r, b_s, b_r] == pytest.approx(expected)


@pytest.mark.parametrize("flow", FLOWS)
def test_learning_time_is_when_the_error_is_reached(flow: Flow) -> None:
    for part, error in itertools.product(PARTS, (0.5, 0.1, 1e-3)):
        facts = Facts(subjects=16, relations=4)
        time = flows.learning_time(facts, part, flow=flow, error=error)
        odds = flows.log_odds(facts, part, time, flow=flow)
        assert odds == pytest.approx(math.log(1 / error - 1), abs=1e-6)


def test_closed_form_of_gradient_flow_is_an_integral() -> None:
    def integrand(v: float, s: int, bend: float) -> float:  # in v = log y
        return (1 + math.exp(math.exp(v)) / (s - 1)) / math.hypot(1, bend / math.exp(v))

    for s, r, start in ((16, 4, 0.01), (3, 2, 0.1), (4, 64, 1e-4)):
        facts = Facts(subjects=s, relations=r, start=start)
        scale, first = math.sqrt(s * (s - 1) * r), start**2 / math.sqrt(r)
        ends = math.log(first), math.log(math.log(9 * (s - 1)))
        arguments = (s, start**2 / (2 * scale))
        total, _ = integrate.quad(integrand, *ends, args=arguments, epsabs=1e-11)
        assert flows.learning_time(facts, "subject", flow="gradient") == pytest.approx(
            scale / 2 * total, rel=1e-5
        )


def test_errors_decay_as_stated_in_the_limit() -> None:
    facts = Facts(subjects=16, relations=4)
    time = 1e12
    error = flows.gradient_error(facts, "subject", time)
    limit = math.sqrt(16 * 15 * 4) / (2 * time * math.log(15 / error))
    assert error == pytest.approx(limit, rel=0.05)


@pytest.mark.parametrize("sizes", [(16, 4), (4, 24), (48, 12), (64, 32)])
@pytest.mark.parametrize("part", PARTS)
def test_spectral_errors_decay_in_the_end_at_one_rate(sizes: tuple[int, int], part: Part) -> None:
    facts = Facts(subjects=sizes[0], relations=sizes[1])
    times = 400.0, 500.0
    early, late = (flows.log_odds(facts, part, time, flow="spectral") for time in times)
    rate = (late - early) / (times[1] ** 2 - times[0] ** 2)
    assert rate == pytest.approx(flows.spectral_decay_rate(facts), rel=1e-3)


def test_what_is_first_depends_on_the_embeddings() -> None:
    facts = Facts(subjects=64, relations=4)
    found = [flows.first(facts, flow="sign", embeddings=e, factor=2.3) for e in flows.EMBEDDINGS]
    together = "together"
    assert found == [together, "subject", together, "subject", together, "relation"] + 2 * [
        together
    ]
    assert flows.first(facts, flow="gradient", factor=2.3) == "relation"


def test_ratio_of_hoh_grows_as_the_root_of_r_over_a_logarithm() -> None:
    def logarithm(size: int) -> float:
        return math.log(9 * (size - 1))

    for s, r in itertools.product((2, 16, 64), (4, 64, 2**10, 2**14)):
        ratios = [
            flows.time_ratio(Facts(subjects=s, relations=n), flow="sign", embeddings="HOH")
            for n in (r, 2 * r)
        ]
        root = math.sqrt(r * logarithm(s) / logarithm(r))
        assert ratios[0] == pytest.approx(root, rel=0.02)
        middle = math.sqrt(2) * r
        slope = 0.5 - middle / (2 * (middle - 1) * math.log(9 * (middle - 1)))
        assert math.log2(ratios[1] / ratios[0]) == pytest.approx(slope, abs=0.004)
