"""theory.attention.end_to_end against the limits in which one factor is perfect."""

import numpy as np
import pytest
from numpy.typing import NDArray

from theory.attention import end_to_end, localisation, recall
from theory.attention.problem import Problem

BASE = Problem(vocab_size=256, length=64, samples=768, dim=64)


def test_perfect_localisation_leaves_recall() -> None:
    short = BASE.replace(length=4, samples=4096)
    assert localisation.probability(short) > 0.999
    assert end_to_end.end_to_end_accuracy(short) == pytest.approx(
        recall.recall_accuracy(short), abs=0.003
    )


def test_perfect_recall_leaves_localisation(monkeypatch: pytest.MonkeyPatch) -> None:
    def perfect(problem: Problem, counts: NDArray[np.float64], **_: object) -> NDArray[np.float64]:
        return np.ones_like(counts)

    monkeypatch.setattr(recall, "given_count", perfect)
    assert end_to_end.end_to_end_accuracy(BASE) == pytest.approx(
        localisation.probability(BASE), abs=0.005
    )
