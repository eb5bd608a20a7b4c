"""Falsified predictions and the claims that judge them are found in every room."""

from collections import Counter

from tests.every_claim import FILES
from tests.mutation.mutants import constants, exponents, powers

FEWEST = {
    "attention": 151,
    "attention_mlp": 9,
    "factual": 22,
    "lower_bound": 17,
    "memory": 27,
    "spectral": 5,
}
"""Constants and exponents to falsify in each room; a new prediction adds to them."""


def test_no_mutant_is_lost() -> None:
    mutants = [*constants(), *exponents()]
    found = Counter(mutant.module.split(".")[1] for mutant in mutants)
    assert {room: found[room] for room in FEWEST if found[room] < FEWEST[room]} == {}
    assert len([*powers()]) >= 594
    assert len({mutant.id for mutant in mutants}) == len(mutants)


def test_no_claim_file_is_lost() -> None:
    assert {name.split(".")[1] for name in FILES} >= FEWEST.keys()
    assert all(name.startswith("claims.") for name in FILES)
    assert not any("recall_claims" in name for name in FILES)
