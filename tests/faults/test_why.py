"""`--why` tells of every claim which blocks came from the ledger, and why others did not."""

from tests.faults.conftest import HEAD, Suite, written

TEXT = HEAD + written()


def told(text: str) -> list[str]:
    [line] = [line for line in text.splitlines() if line.startswith("tiny.one: ")]
    return line.removeprefix("tiny.one: ").split("; ")


def test_every_reason_is_told(suite: Suite) -> None:
    suite.write_text(TEXT)
    blocks, fresh = told(suite.run("--why").text)
    assert blocks.endswith("blocks, 0 from the ledger")
    assert fresh.endswith("simulated: no such evidence so far")

    [whole] = told(suite.run("--why").text)
    assert whole == blocks.replace(", 0 ", f", {blocks.split()[0]} ")

    *_, seed = sorted(told(suite.run("--why", "--seed", "5").text))
    assert "another seed" in seed or "no such evidence" in seed

    suite.write_text(TEXT.replace("0.1) for", "0.1000) for"))  # the same syntax tree
    [same] = told(suite.run_apart("--why").text)
    assert same == whole

    suite.write_text(TEXT.replace("0.1) for", "0.11) for"))
    code = "; ".join(told(suite.run_apart("--why").text))
    assert f"simulated: other simulation code ({suite.file.removesuffix('.py')})" in code

    suite.write_text(TEXT.replace("Region(0.95, 1.05)", "Region(0.94, 1.05)"))
    declared = "; ".join(told(suite.run_apart("--why").text))
    assert "simulated: another declaration or prediction" in declared


def test_a_claim_that_is_not_run_says_why(suite: Suite) -> None:
    suite.write_text(
        TEXT.replace("cells=grid(", 'cells={"full": grid(').replace("5.0)),", "5.0))},")
    )
    [line] = told(suite.run("--why").text)
    assert line.startswith("no blocks, the claim has no cells in tier standard")
