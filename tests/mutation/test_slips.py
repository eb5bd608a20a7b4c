"""Slips in simulations are noticed: the named ones by a test that is named, others in a sample."""

import sys
from typing import Any

import pytest

from simulation.attention import contractions, sampling, three_steps
from simulation.attention import recall as recall_simulation
from simulation.factual import sequential_learning, trained_transformer
from simulation.lower_bound import gradient_channel
from simulation.spectral import facts, flows, one_step
from tests.apart import run
from tests.mutation import operators as op
from tests.mutation.slips import FILE, ROOT, narrow, slips
from tests.mutation.test_engine import Error, outcome, right
from tests.property import test_oracle as oracle_
from tests.unit import test_simulation_draws as draws_
from tests.unit.attention import test_simulation_recall as recall_
from tests.unit.attention import test_simulation_three_steps as steps_
from tests.unit.factual import test_simulation_sequential_learning as sgd_
from tests.unit.factual import test_simulation_trained_transformer as transformer_
from tests.unit.lower_bound import test_estimators as channel_
from tests.unit.spectral import test_simulation_facts as facts_
from tests.unit.spectral import test_simulation_flows as flows_
from tests.unit.spectral import test_simulation_one_step as one_step_

TILED = steps_.test_tiles_change_no_inner_product_and_no_sum
COUNTED = steps_.test_a_token_is_counted_however_often_it_stands_beside_a_label
INVERSE = op.instead("facts.permutation", "facts.permutation.argsort(1)")

NAMED = {
    "eight bits where a label has many tokens": Error(contractions.sum_by_label, narrow, COUNTED),
    "the sign of centring in one step": Error(
        one_step.gradient,
        op.on("outputs", op.other_sign),
        one_step_.test_gradient_is_that_of_automatic_differentiation,
    ),
    "the sign of centring in three steps": Error(
        three_steps._centred, op.other_sign, oracle_.test_first_two_steps
    ),
    "sums in single precision": Error(
        contractions.sum_by_label, op.instead("sums", "sums.float().to(table.dtype)"), TILED
    ),
    "label counts by the inverse map, in a memory": Error(
        recall_simulation.localised_memory,
        INVERSE,
        recall_.test_counts_give_the_memory_of_perfectly_localised_training,
    ),
    "label counts by the inverse map, in a gradient": Error(
        gradient_channel.gaussian,
        INVERSE,
        channel_.test_gaussian_noise_is_white_in_white_coordinates,
    ),
    "a batch used twice in descent": Error(
        sequential_learning.sgd,
        op.instead("frequencies[step]", "frequencies[step // 2]"),
        sgd_.test_counts_replace_prompts,
    ),
    "a batch used twice by an optimiser": Error(
        flows.one_step_at_a_time,
        op.instead("rng.multinomial", "__import__('copy').deepcopy(rng).multinomial"),
        flows_.test_every_step_has_a_batch_of_its_own,
    ),
    "a batch used twice in training": Error(
        trained_transformer.train,
        op.instead("drawn[step % DRAWN_AT_ONCE]", "drawn[step % DRAWN_AT_ONCE // 2]"),
        transformer_.test_every_step_has_prompts_of_its_own,
    ),
    "the query dropped from the logits": Error(
        facts.Facts._tables,
        op.instead("logits[..., -1:]", "0"),
        facts_.test_gradient_is_that_of_the_loss_over_all_prompts,
    ),
    "output embeddings equal to the input's": Error(
        sampling._draw_vocabulary, op.instead("u", "z"), draws_.test_no_vector_is_drawn_twice
    ),
}
"""What audits planted, and which test notices."""


@pytest.mark.parametrize("named", NAMED.values(), ids=NAMED)
def test_a_named_slip_is_noticed(
    named: Error, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    codes = [code for _, code in op.falsified(right(named.function), named.operator)]
    assert codes
    monkeypatch.setattr(right(named.function), "__code__", codes[-1])
    status, text = outcome([named.test], capsys)
    assert status == 1, text


@pytest.mark.thorough
def test_slips_of_a_sample_are_noticed_or_listed() -> None:
    modules = ("spectral", "lower_bound.estimators.ridge", "attention_mlp.three_steps")
    command = ("-m", "tests.mutation.slips", *modules, "--every", "7")
    done = run(ROOT, sys.executable, *command)
    assert done.status == 0, done.text


def test_every_survivor_that_is_listed_can_still_be_planted_and_has_a_reason() -> None:
    rows: list[Any] = [
        [cell.strip() for cell in line.strip("|\n ").split(" | ")]
        for line in FILE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    ]
    rooms = {row[0].strip("`").split(".")[0] for row in rows}
    planted = {str(slip) for room in rooms for slip in slips(room)}
    assert [row for row in rows if " | ".join(row[:3]) not in planted] == []
    assert all(len(row) == 4 and row[3] for row in rows)
