"""Memories of random features, and of Zipf data: what `theory/memory/` states of its errors."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from recall_claims import Block, Cell, Regime, integers, log_integers, on, one_of
from recall_claims.declare.regime import Values
from recall_claims.judge.methods import COIN, Deterministic
from simulation.memory import mlp as measured_mlp
from simulation.memory import zipf as measured_zipf
from tests.calibration.stated import Stated, crossing
from theory.memory import mlp, zipf

ACCURACY = on(mlp.mlp_memory_accuracy)
WIDTH = on(mlp.critical_width)
CAPACITY = on(mlp.capacity)


def _accuracy(cell: Cell, block: Block) -> Tensor:
    return block.draw(measured_mlp.constructed, cell)["accuracy"]


def _all(cell: Cell, block: Block) -> Tensor:
    return block.draw(measured_mlp.constructed, cell)["all"]


def _zipf_error(cell: Cell, block: Block) -> Tensor:
    return block.draw(measured_zipf.error, cell, fresh=max(1, 4096 // cell["stored"]))


def _features(cell: Cell) -> float:
    pairs = cell.get("associations", 0) or CAPACITY(cell)
    width = cell.get("width", 0) or WIDTH(cell)
    return float(pairs * (width + cell.get("outputs", pairs)))


def _zipf(
    name: str,
    law: Callable[..., float],
    holds: Callable[[Cell], bool],
    text: str,
    **ranges: Values,
) -> Stated:
    return Stated(
        name=f"memory.zipf.{name}",
        function=law,
        quote=r"within 5% of the error for $d\ge32$",
        error=0.05,
        relative=True,
        predict=on(law),
        regime=Regime(text, ranges, holds=holds, size=lambda c: c["stored"] * c["dim"]),
        observe=_zipf_error,
        replicates=256,
        looks=4,
        restated=1,
    )


ALPHA, LABELS, WIDE = Values((1.5, 3.0)), integers(3, 8), log_integers(32, 160)


def _unseen(cell: Cell, block: Block) -> Tensor:
    """The probability itself, by its sum; beyond a million tokens none is seen."""
    share = measured_zipf.frequencies(2**20, cell["alpha"])
    unseen = share @ (1 - share) ** cell["samples"] + 1 - share.sum()
    return torch.full((block.replicates,), unseen, dtype=block.dtype)


STATED = (
    Stated(
        name="memory.zipf.unseen_mass",
        function=zipf.unseen_mass,
        quote="The relative error is below 1% from 64 samples on, at alpha = 2",
        error=0.01,
        relative=True,
        predict=on(zipf.unseen_mass),
        regime=Regime(
            "alpha = 2, from 64 to 65536 samples",
            {"alpha": one_of(2.0), "samples": log_integers(64, 65536)},
        ),
        observe=_unseen,
        method=Deterministic(),
        replicates=1,
        looks=1,
        dtype="float64",
    ),
    Stated(
        name="memory.mlp.mlp_memory_accuracy",
        function=mlp.mlp_memory_accuracy,
        quote="within 0.005 + 0.8/M for the cosine with d >= 32 and M >= d / 2",
        error=lambda c: 0.005 + 0.8 / c["outputs"],
        predict=ACCURACY,
        regime=Regime(
            "cosine; d from 32 to 96, M from d/2 to N, N up to 512; accuracies 0.05 to 0.97",
            {
                "associations": log_integers(32, 512),
                "outputs": log_integers(16, 512),
                "dim": log_integers(32, 96),
                "width": log_integers(16, 1024),
            },
            holds=lambda c: (
                c["dim"] / 2 <= c["outputs"] <= c["associations"]
                and crossing(ACCURACY, 0.05, 0.97)(c)
            ),
            size=_features,
            largest=3e5,
        ),
        observe=_accuracy,
        replicates=64,
        looks=4,
        restated=1,
    ),
    Stated(
        name="memory.mlp.mlp_memory_accuracy (ReLU)",
        function=mlp.mlp_memory_accuracy,
        quote="Within 0.02 for ReLU features",
        error=0.02,
        predict=ACCURACY,
        regime=Regime(
            "ReLU; d from 24 to 64, M = N up to 512, m from 2 d to 16 d; accuracies 0.05 to 0.97",
            {
                "associations": log_integers(32, 512),
                "dim": log_integers(24, 64),
                "width": log_integers(48, 1024),
                "features": one_of("relu"),
            },
            holds=lambda c: (
                2 * c["dim"] <= c["width"] <= 16 * c["dim"] and crossing(ACCURACY, 0.05, 0.97)(c)
            ),
            size=_features,
            largest=3e5,
        ),
        observe=_accuracy,
        replicates=64,
        looks=4,
    ),
    Stated(
        name="memory.mlp.critical_width",
        function=mlp.critical_width,
        quote="within 3% for d >= 32 and M >= 64",
        error=0.03,
        predict=WIDTH,
        regime=Regime(
            "cosine; d from 32 to 96, M from 64 to N, N up to 256",
            {
                "associations": log_integers(64, 256),
                "outputs": log_integers(64, 256),
                "dim": log_integers(32, 96),
            },
            holds=lambda c: c["outputs"] <= c["associations"],
            size=_features,
            largest=1.5e5,
        ),
        observe=_all,
        scan="width",
        method=COIN,
        replicates=64,
        looks=5,
        restated=1,
    ),
    Stated(
        name="memory.mlp.capacity",
        function=mlp.capacity,
        quote="within 3%; ReLU, 3% up to $m = d^2/1.53$",
        error=0.03,
        predict=CAPACITY,
        regime=Regime(
            "cosine and ReLU, d from 32 to 96, N = M from 64, m up to d^2/1.53",
            {
                "dim": log_integers(32, 96),
                "width": log_integers(64, 1024),
                "features": one_of("cosine", "relu"),
            },
            holds=lambda c: (
                c["width"] >= 2 * c["dim"]
                and c["width"] < c["dim"] ** 2 / 1.53
                and CAPACITY(c) > 64
            ),
            size=_features,
            largest=1.5e5,
        ),
        observe=_all,
        scan="associations",
        rising=False,
        method=COIN,
        replicates=64,
        looks=5,
    ),
    _zipf(
        "cutoff_error",
        zipf.cutoff_error,
        lambda c: c["stored"] <= c["dim"],
        "d from 32 to 160, alpha from 1.5 to 3, 3 to 8 labels, up to d tokens stored",
        alpha=ALPHA,
        labels=LABELS,
        dim=WIDE,
        stored=log_integers(3, 128),
    ),
    _zipf(
        "cutoff_error, finite data",
        zipf.cutoff_error,
        lambda c: c["stored"] <= c["dim"],
        "the same with 32 to 4096 samples",
        alpha=ALPHA,
        labels=LABELS,
        dim=WIDE,
        stored=log_integers(3, 128),
        samples=log_integers(32, 4096),
    ),
    _zipf(
        "power_error",
        zipf.power_error,
        lambda c: 2 * c["power"] * c["alpha"] > 1,
        "d from 32 to 160, alpha from 1.5 to 3, 3 to 8 labels, powers from 0.25 to 1",
        alpha=ALPHA,
        labels=LABELS,
        dim=WIDE,
        stored=log_integers(3, 256),
        power=Values((0.25, 1.0)),
    ),
    _zipf(
        "many_labels_error",
        zipf.many_labels_error,
        lambda c: 8 <= c["stored"] <= min(c["labels"], c["dim"] ** 2 / 8),
        "d from 32 to 160, alpha from 1.5 to 3, 32 to 512 labels, up to d^2/8 tokens stored",
        alpha=ALPHA,
        labels=log_integers(32, 512),
        dim=WIDE,
        stored=log_integers(8, 512),
    ),
)
