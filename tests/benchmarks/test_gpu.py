"""The kit for a GPU, in small on a CPU: each part is kept, and none is measured twice."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

from simulation.factual import trained_transformer
from tests.benchmarks import gpu, products, training

pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that would have been run."""
    found: list[list[str]] = []
    monkeypatch.setattr(subprocess, "run", lambda command, **_: found.append(command))
    return found


def test_every_part_is_measured_once_and_kept(
    tmp_path: Path, runs: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = gpu.sections("cpu", 1, minutes=9, folder=tmp_path)
    assert [section.name for section in found] == [
        "gpu: three steps",
        "gpu: products",
        "gpu: language model",
        "training",
    ]
    assert all(section.kept for section in found)  # promises are for CUDA
    assert runs[0][runs[0].index("--tier") + 1] == "full"
    assert 0 < float(runs[0][runs[0].index("--time-limit") + 1].removesuffix("s")) < 9 * 60
    for name in gpu.PARTS:
        monkeypatch.setitem(gpu.PARTS, name, lambda *_: pytest.fail("measured again"))
    assert gpu.sections("cpu", 1, minutes=0.1, folder=tmp_path) == found
    assert len(runs) == 1  # a tenth of a minute is less than the reserve


def test_another_machine_is_measured_anew(tmp_path: Path, runs: list[list[str]]) -> None:
    gpu.sections("cpu", 1, minutes=0.1, folder=tmp_path)
    file = tmp_path / "products.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"machine": "another", "rows": []}))
    assert gpu.sections("cpu", 1, minutes=0.1, folder=tmp_path)[1].rows
    assert not runs


def test_no_part_begins_without_time(tmp_path: Path, runs: list[list[str]]) -> None:
    assert gpu.sections("cpu", 1, minutes=0, folder=tmp_path) == []
    assert not runs
    assert not list(tmp_path.iterdir())


def test_a_promise_is_compared_with_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    for ours, kept in ((25.0, True), (15.0, False)):
        monkeypatch.setattr(products, "replicates", lambda *_, ours=ours: [ours, 1.0])
        assert gpu.speed_up(gpu.SMALL, "cpu", 1).kept is kept


def test_the_gathered_model_is_the_suites() -> None:
    load = training.TINY
    sizes = load.sizes
    model = training.Gathered(load, torch.Generator().manual_seed(1)).double()
    shape = trained_transformer.Shape.of([sizes], load.dim)
    split = (load.dim, sizes.heads, sizes.head_dim)
    parts = {
        **{name: getattr(model, name).reshape(split) for name in ("q", "k", "v")},
        "o": model.o.reshape(sizes.heads, sizes.head_dim, load.dim),
        **{name: getattr(model, name) for name in ("w1", "b", "w2")},
    }
    weights = torch.cat([parts[name].flatten() for name in shape.parts])[None]
    task, _ = trained_transformer._draw(
        [np.random.default_rng(0)], [sizes], shape, "cpu", torch.float64
    )
    for name in ("inputs", "outputs"):
        getattr(task, name).copy_(getattr(model, name)[None])
    tokens, _ = training.prompts(load, (), "cpu")
    given = trained_transformer._prompts(tokens[None, :, :-1].numpy(), task, shape)
    scale = torch.full((1, 1, 1), sizes.head_dim**-0.5, dtype=torch.float64)
    ours = trained_transformer.logits(weights, given.counts, task, shape, scale)
    torch.testing.assert_close(ours[0], model(tokens))


def test_training_counts_the_models() -> None:
    rows = training.section("cpu", 1, training.TINY).rows
    assert [row.against for row in rows] == ["one model at a time", "vmap", "–"]
