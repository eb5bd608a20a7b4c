"""theory.spectral.flows against integrals and limits; claims hold it to the whole model."""

import itertools
import math

import pytest
from scipy import integrate

from simulation.spectral import facts
from simulation.spectral import flows as simulated
from theory.spectral import flows
from theory.spectral.flows import Facts, Flow, Part

PARTS: tuple[Part, Part] = ("subject", "relation")
FLOWS: tuple[Flow, ...] = ("gradient", "spectral", "sign")


@pytest.mark.parametrize("embeddings", flows.EMBEDDINGS)
def test_speeds_of_sign_flow_are_those_of_the_whole_matrices(embeddings: str) -> None:
    for s, r in ((8, 4), (2, 8)):
        inputs, outputs = facts.hadamard_or_one_hot(embeddings, s, r)
        task = facts.Facts(s, r, inputs=inputs, outputs=outputs)
        before, after = simulated.flow(task, task.start(0.5, 0.7), "sign", [0.0, 0.25])
        here, there = task.scalars(before), task.scalars(after)
        for part in PARTS:
            names = (f"alpha_{part}", f"beta_{part}")
            speeds = [float(getattr(there, n) - getattr(here, n)) / 0.25 for n in names]
            stated = flows.sign_rates(Facts(subjects=s, relations=r), part, embeddings)
            assert speeds == pytest.approx(stated)


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


@pytest.mark.parametrize("sizes", [(16, 4), (4, 24), (48, 12), (64, 32)])
@pytest.mark.parametrize("part", PARTS)
def test_spectral_errors_decay_in_the_end_at_one_rate(sizes: tuple[int, int], part: Part) -> None:
    facts = Facts(subjects=sizes[0], relations=sizes[1])
    times = 400.0, 500.0
    early, late = (flows.log_odds(facts, part, time, flow="spectral") for time in times)
    rate = (late - early) / (times[1] ** 2 - times[0] ** 2)
    assert rate == pytest.approx(flows.spectral_decay_rate(facts), rel=1e-3)


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
