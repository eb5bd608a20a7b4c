"""What a problem derives from its sizes."""

from theory.attention.problem import Problem


def test_derived_quantities() -> None:
    sizes = {"vocab_size": 128, "length": 8, "samples": 1024, "dim": 32}
    problem = Problem.of({**sizes, "term": "A"})  # other keys are ignored
    assert (problem.load, problem.ratio, problem.overlap) == (8, 4, 1 / 32)
    apart = problem.replace(dim=130, embeddings="orthonormal", trigger_in_values=True)
    assert (apart.ratio, apart.overlap) == (0, 0)
    assert apart == Problem.of(vars(apart))
