"""Shares of feature variance that one token explains."""

from simulation.lower_bound import width_information as feature_spectrum
from tests.unit.draws import generators
from theory.lower_bound import width_information as width


def test_tokens_explain_no_more_than_their_number_allows() -> None:
    rngs = generators(3, seed=1000)
    seen = feature_spectrum.shares(
        rngs, vocab_size=24, length=4, dim=4, width=12, activation="relu", sequences=16384
    )
    bound = width.largest_share(4)
    assert seen.leading.shape == seen.rest.shape == (3,)
    assert float(seen.leading.max()) < bound
    assert 0.3 * bound**2 < float(seen.rest.mean()) < 1.2 * bound**2
