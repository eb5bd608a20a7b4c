"""The exit status says how a run ended, and each failed claim says why it failed.

`options.md` and `pytest claims/ --help` list the statuses, and
`tests/unit/library/test_refusals.py` the errors that a claim can have.
"""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from recall_claims.__main__ import main
from recall_claims.plugin.options import PLACES, VALUED
from tests.faults.conftest import HEAD, HOOKS, Suite, edited, judged, written


@pytest.mark.parametrize("option", VALUED)
def test_two_dashes_are_no_value(suite: Suite, option: str) -> None:
    """`--` is no value: argparse makes it an empty list or, from Python 3.13 on, the text `--`."""
    suite.write("one")
    result = suite.run(f"{option}=--", status=None)
    assert result.status in (4, 1), result.text
    assert option in result.text
    assert "Traceback" not in result.text


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("--tier=bogus", "ERROR: --tier 'bogus': it is one of smoke, standard, full\n"),
        ("--tier=smok", "standard, full (did you mean smoke?)"),
        *(
            (f"--teir{sign}smoke", "ERROR: there is no option --teir (did you mean --tier?); `py")
            for sign in " ="
        ),
        ("--dryrun", "ERROR: there is no option --dryrun (did you mean --dry-run?); `pytest"),
        ("--device=bogus", "--device 'bogus' is no torch device"),
        ("--device=cuda:77", "--device cuda:77: torch sees"),
        ("--device=meta", "--device meta: claims run on cpu and cuda"),
        ("--seed=abc", "18 digits or 'fresh', got 'abc'"),
        ("--seed=-1", "--seed"),
        ("--error-budget=2", "the error budget is a probability"),
        ("--error-budget=abc", "--error-budget takes a probability such as 1e-3, got 'abc'"),
        ("--executor=bogus", "unknown executor 'bogus'"),
        ("--executor=serail", "unknown executor 'serail' (did you mean serial?)"),
        ("--executor=dask", "unknown executor 'dask'; it is one of auto, serial"),
        ("--executor=processes", "--executor processes:K needs a positive number below 10000"),
        ("--executor=proceses", "unknown executor 'proceses' (did you mean processes:K?)"),
        ("--executor=thread:4", "unknown executor 'thread:4' (did you mean processes:4?)"),
        ("--executor=processes:none", "processes:K needs a positive number"),
        ("--executor=nowhere:make", "nowhere"),
        ("--time-limit=soon", "--time-limit takes a time such as 90s, 10m or 1h, got 'soon'"),
        ("--baseline=nowhere.json", "nowhere.json: no such file"),
        (f"--seed={'9' * 5000}", "--seed takes a non-negative integer of up to 18 digits"),
        (f"--time-limit={'9' * 400}h", "--time-limit takes a time such as"),
        (f"--executor=processes:{'9' * 5000}", "a positive number below 10000"),
        ("--executor=..:x", "--executor ..:x: TypeError"),
        ("--executor=dask:tcp://10.0.0.1:8786", "can run code in this process. Use TLS"),
        ("--executor=dask:node1:8786", "dask-insecure:node1:8786"),
        ("--executor=dask:tcp://localhost.evil.example:1", "can run code in this process"),
        ("--executor=dask:tcp://[", "can run code in this process"),
        ("--hunt=soon", "--hunt takes a time such as 90s, 10m or 1h, got 'soon'"),
        ("--hunt=0s", "--hunt takes a time such as"),
        ("--ledger=.", "is a folder; name a file in it with --ledger"),
        *((f"{option}={'x' * 5000}", f"{option} 'xxx") for option in PLACES),
        *((f"{option}=", f"{option} needs a value") for option in VALUED),
        ("--baseline test_tiny.json", "not a JSON record"),
        ("--hunt 9s --dry-run", "--hunt simulates, and --dry-run does not: leave out one"),
    ],
)
def test_senseless_options(suite: Suite, options: str, says: str) -> None:
    suite.write("one")
    (suite.folder / "test_tiny.json").write_text("{")

    result = suite.run(*options.split(), status=4)
    assert says in result.text
    assert "Traceback" not in result.text
    assert "usage:" not in result.text
    assert result.text.strip().count("\n") == 0, "a sentence"
    assert not (suite.folder / "reports").exists()


CELLS = "cells=grid(scale=(1.0, 2.0, 5.0))"
TWICE = written("one", ("def one", "def other")) + "\n\n@claim"


@pytest.mark.parametrize(
    ("edits", "status", "says"),
    [
        ([('id="tiny.one"', 'id="tiny.one\\n::"')], 2, r"claim tiny.one\n::: an id is a word, a"),
        ([('Source("tiny"', 'Source("tyni"')], 2, "the paper 'tyni', and it is one of tiny; have"),
        (
            [("import time", "from theory.attention import signal"), ("time.sleep(0.0)", "signal")],
            2,
            "its simulation sees the prediction (theory.attention.signal)",
        ),
        ([('id="tiny.one"', 'id="budget"')], 2, "an id is a word, a dot, and letters"),
        ([('Control("double"', 'Control("d\u043euble"')], 2, "is no text of ASCII"),
        ([("\n\n@claim", TWICE)], 4, "two claims share the id tiny.one, in test_tiny_"),
        ([(CELLS, "cells=[4, 8]")], 2, "claim tiny.one: 4 is no cell; write cells=rc.grid(size=("),
        ([("Region(0.95, 1.05)", "Region(1.05, 0.95)")], 2, "\nin claim tiny.one\n"),
    ],
)
def test_a_claim_that_cannot_be_collected(
    suite: Suite, edits: list[tuple[str, str]], status: int, says: str
) -> None:
    suite.write_text(edited(HEAD + written(), *edits))
    result = suite.run(status=status)
    assert says in result.text
    assert not (suite.folder / "reports").exists()


def test_a_plugin_of_this_repository_counts_as_code_or_is_refused(suite: Suite) -> None:
    suite.write("one")
    (suite.folder / "evil.py").write_text("VALUE = 1\n")
    refused = suite.run_apart("-p", "evil", status=4)
    assert "the plugin evil is developed here, so that evidence may depend on it" in refused.text
    assert not suite.kept()
    (suite.folder / "pytest.ini").write_text("[pytest]\naddopts = -p evil\n")
    suite.run_apart("-p", "evil")
    assert suite.kept()


def test_a_conftest_of_another_folder_may_not_replace_what_evidence_is_drawn_with(
    suite: Suite,
) -> None:
    (suite.folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (suite.folder / "drawing.py").write_text("def shift():\n    return 0\n")
    one = written("one", ('cell["scale"], 0.1', 'cell["scale"], 0.1) + drawing.shift('))
    suite.write_text("import drawing\n" + HEAD + one)
    (suite.folder / "other").mkdir()
    patch = "import drawing\n\ndrawing.shift = lambda: 1\n"
    (suite.folder / "other" / "conftest.py").write_text(patch)
    refused = suite.run_apart("other", status=4)
    assert "other/conftest.py replaces drawing.shift, and evidence" in refused.text
    assert not suite.kept()
    suite.run_apart()


VALUE = '{"value": np.array([rng.normal(cell["scale"], 0.1) for rng in block.rngs])}'
FAILING = {
    "zero": (CELLS, "cells=grid(scale=(0.0, 1.0))", "prediction is 0"),
    "empty": (CELLS, "cells=lambda: grid(scale=())", "has no values"),
    "nan": (VALUE, '{"value": np.full(block.replicates, np.nan)}', "16 values that are not finite"),
    "nothing": (VALUE, "{}", "returned no observables"),
    "raises": (VALUE, '{"value": 1 / 0}', "ZeroDivisionError"),
    "misspelt": (
        VALUE,
        '{"value": block.draw(drawn, cell)}',
        "tiny.misspelt at scale=1.0, block 0: TypeError: drawn() got an unexpected keyword "
        "argument 'scale' (test_tiny_",
    ),
    "unknown": (VALUE, '{"value": np.ones(cell["scal"])}', "no parameter 'scal', only scale ("),
    "groups": ("1.05))", '1.05), by="dim")', "cannot group by"),
    "ranges": ("1.05))", "1.05), method=Betting(0.0, 2.0))", "leaves the declared range [0, 2]"),
    "rules": ("MeanRatio(", "Breaking(", "IndexError: none of them (test_tiny_"),
    "texted": ("1.05))", "1.05), observable=print)", "is a function, which has no text"),
    "other": (VALUE, '{"other": np.ones(block.replicates)}', "observable 'value'"),
}
"""Claims that cannot be judged, and why; for some, grid or predictions show it before any block."""
DRAWN = """
from dataclasses import replace

from recall_claims import Betting


class Own(MeanRatio):
    def components(self, evidence, predict, alpha):
        found = super().components(evidence, predict, alpha)
        return tuple(replace(c, params={"scale": np.float64(c.params["scale"])}) for c in found)


class Breaking(MeanRatio):
    def components(self, evidence, predict, alpha):
        raise IndexError("none of them")


def touched():
    Path(".predicted").touch()


def drawn(rngs, *, device, dtype):
    return np.ones(len(rngs))
"""


@pytest.mark.parametrize(
    "executor", ["serial", pytest.param("processes:1", marks=pytest.mark.thorough)]
)
def test_a_claim_that_cannot_be_judged_says_why_and_others_are(suite: Suite, executor: str) -> None:
    """A dry run says why as well; collection predicts nothing.

    An author's rule may name components by numbers of any type.
    """
    predicted = ("predict=predict,", "predict=lambda cell: touched() or predict(cell),")
    later = written("later", (CELLS, CELLS.replace("=", "=lambda: ", 1)), predicted)
    ran = ("    time.sleep(0.0)\n", '    Path(".ran").touch()\n')
    failing = [
        written(name, (old, new), *[ran][: old == CELLS]) for name, (old, new, _) in FAILING.items()
    ]
    own = written("own", ("rule=MeanRatio(", "rule=Own("))
    suite.write_text(HEAD + DRAWN + later + own + written("ok", predicted) + "".join(failing))

    suite.run("--collect-only")
    assert not (suite.folder / ".predicted").exists()
    for name in ("zero", "empty"):
        dry = suite.run("--dry-run", "-k", name, status=2)
        assert FAILING[name][-1] in dry.text
        assert f"claim tiny.{name}: " in dry.text
    result = suite.run("--executor", executor, status=1)
    assert (suite.folder / ".predicted").exists()
    assert not (suite.folder / ".ran").exists()
    claims = suite.claims()
    assert f"({suite.file}, line " in claims["tiny.raises"]["reason"]
    for name, (_, _, says) in FAILING.items():
        claim = claims.pop(f"tiny.{name}")
        assert (claim["state"], claim["verdict"], claim["outcome"]) == ("ERROR", None, "failed")
        assert says in claim["reason"]
        assert f"tiny.{name}" in claim["reason"]
    left = {name: claim["verdict"] for name, claim in claims.items()}
    assert left == dict.fromkeys(("tiny.later", "tiny.ok", "tiny.own"), "SUPPORTED")
    assert "simulate.py:" not in result.text, "a traceback"
    assert "Error\n" not in result.text, "the end of another"


def test_more_claims_than_their_paper_has_slots_for(suite: Suite) -> None:
    paper = suite.folder / "paper.toml"
    paper.write_text(paper.read_text().replace("slots = 26", "slots = 1"))
    suite.write("one", "two")

    for options in ((), ("-k", "one")):  # what is selected makes no difference
        result = suite.run(*options, status=4)
        assert "paper tiny has 2 claims" in result.text
        assert f"1 slots; raise `slots` in {paper}" in result.text


@pytest.mark.parametrize("name", ["simulation", "drawn"])
def test_a_simulation_that_reaches_theory_is_refused_in_any_repository(
    tmp_path: Path, name: str
) -> None:
    assert main(["new", "hebb", "--to", str(tmp_path)]) == 0
    (tmp_path / "hebb" / "helper.py").write_text("from hebb import theory\n")
    simulation, claim = (tmp_path / "hebb" / f"{n}.py" for n in ("simulation", "test_claims"))
    simulation.write_text(f"{simulation.read_text()}\n\nfrom . import helper\n")
    simulation.rename(simulation.with_stem(name))
    claim.write_text(claim.read_text().replace("simulation", name))

    result = judged(tmp_path, "hebb")

    assert result.status == 1, result.text
    assert f"simulation sees the prediction (hebb.{name} imports hebb.theory)" in result.text


NOISE = 'rng.normal(cell["scale"], 0.1)'
WIDE = (NOISE, 'rng.normal(cell["scale"], 100.0)')
WRONG = ("predict=predict", "predict=double")
EXPECTED = ("    why=", '    refuted="it is false",\n    why=')


@pytest.mark.parametrize(
    ("edits", "status"),
    [
        pytest.param([WRONG], 1, id="refuted"),
        pytest.param([WIDE], 1, id="undecided"),
        pytest.param([WRONG, EXPECTED], 0, id="refuted-as-declared"),
        pytest.param([WIDE, EXPECTED], 1, id="undecided-all-the-same"),
    ],
)
def test_status(suite: Suite, edits: list[tuple[str, str]], status: int) -> None:
    suite.write_text(HEAD + written("one", *edits))
    suite.run(status=status)


def test_a_part_of_an_id_that_no_claim_has(suite: Suite) -> None:
    suite.write("one", "another")
    for text, hint in (("tiny.anoter", " (did you mean tiny.another?)"), ("zz", "")):
        result = suite.run("-k", text, status=5)
        assert f"no claim has '{text}' in its id{hint}\n" in result.text


def test_a_run_that_ends_early_says_how_many_claims_are_done(suite: Suite) -> None:
    stopped = written("two", ("time.sleep(0.0)", "raise KeyboardInterrupt"))
    suite.write_text(HEAD + written("one") + stopped + written("three"))
    result = suite.run(status=2)
    assert "INTERRUPTED, 1 of 3 claims done; the same command continues" in result.text
    assert suite.report()["suite"]["ahead"] == 2
    nothing = suite.run("-k", "two", "--seed", "1", status=2)
    assert "INTERRUPTED, 0 of 1 claim done; the same command continues" in nothing.text


def test_what_help_quiet_and_verbose_tell(suite: Suite) -> None:
    suite.write("one")
    words = ("SUPPORTED", "REFUTED", "INCONCLUSIVE", "NOT RUN", "ERROR", "exit status")
    told, quiet, verbose = (suite.run(option).text for option in ("--help", "-q", "-v"))
    assert all(word in told for word in words)
    assert "The one claim passes: 1 SUPPORTED." in quiet
    assert "tiny.one" not in quiet
    fresh = suite.run("-q", "--seed", "fresh").text
    assert f"seed {suite.report()['suite']['seed']}\n" in fresh
    assert "report.html" not in quiet
    assert " round, " in verbose or " rounds, " in verbose
    assert "a constant off by" in verbose


ORDER = ("theorem", "data", "off by", "needs", "notices", "error", "controls", "suspect", "replay")


def test_a_claim_that_fails_says_why_and_how_to_replay_it(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replay line works where pytest was called; `tests/reports/__snapshots__` has all lines."""
    refuted, noisy = 'rng.normal(2.2 * cell["scale"], 0.1)', 'rng.normal(cell["scale"], 1.0)'
    claims = written("refuted", (NOISE, refuted)), written("undecided", (NOISE, noisy))
    suite.write_text(HEAD + "".join(claims))
    (suite.folder / "below").mkdir()
    monkeypatch.chdir(suite.folder / "below")
    for name in ("CI", "BUILD_NUMBER"):  # where one is set, pytest's own summary has the line too
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "400")  # a replay line with a long path is not folded
    path = suite.folder / "kept here.sqlite"
    options = ("--executor", "serial", "--ledger", str(path))
    told = suite.main(*HOOKS, f"../{suite.file}", *options).text

    for name, verdict, missing in (
        ("refuted", "REFUTED", "needs"),
        ("undecided", "INCONCLUSIVE", "suspect"),
    ):
        first, *lines = told.partition(f"tiny.{name} ___")[2].splitlines()[1:10]
        assert first == f"{verdict} (expected SUPPORTED)"
        assert [line[2:11].strip() for line in lines] == [n for n in ORDER if n != missing]
        replay = f"pytest ../{suite.file}::tiny.{name} --tier standard --seed 0 --report-dir "
        replay += f"reports/replay --ledger '{path}'"
        assert lines[-1][12:] == replay
        assert told.count(replay) == 2, "with the reasons, and with the verdicts"


def test_blocks_too_large_for_memory_are_simulated_in_parts_and_counted(suite: Suite) -> None:
    short = f"{VALUE} if block.replicates < 5 else np.empty(2**50)"
    suite.write_text(HEAD + written("one", (VALUE, short)))

    result = suite.run()
    (one,) = suite.report()["claims"]
    total = one["blocks"]["total"]
    assert one["blocks"]["divided"] == total
    assert sum(cell["replicates"] for cell in one["cells"]) == 16 * total
    assert f"{total} of {total} blocks simulated in parts" in result.text


def test_what_an_exception_says_breaks_no_form_of_the_report(suite: Suite) -> None:
    said = r'ValueError("\ud800 \x1b]0;mine\x07 \x9b31m \u202e <b>")'
    broken = written("one", ("time.sleep(0.0)", f"print('\\x1b[2J'); raise {said}"))
    suite.write_text(HEAD + broken + written("two"))

    result = suite.run("--color=no", "--junitxml", "junit.xml", status=1)
    one, two = suite.report()["claims"]
    assert r"\ud800 \x1b]0;mine\x07 \x9b31m \u202e <b>" in one["reason"]
    assert two["verdict"] == "SUPPORTED"
    [failure] = ElementTree.parse("junit.xml").iter("failure")
    for text in (result.text, str(failure.get("message")), str(failure.text)):
        assert not set("\x1b\x07\x9b\u202e") & set(text)
    assert r"ValueError: \ud800 \x1b]0;mine" in result.text


REFUSING = """
from concurrent.futures import Executor


class Refusing(Executor):
    def submit(self, *given, **more):
        raise OSError("the queue is closed")


NUMBER = 3
def broken(): raise RuntimeError("no cluster here")
"""


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Refusing", "takes no block: OSError: the queue is closed (with_Refusing.py"),
        ("broken", "starts no executor: RuntimeError: no cluster here (with_broken.py"),
        ("NUMBER", "starts no executor: TypeError: 'int' object is not callable"),
    ],
)
def test_an_executor_that_takes_no_block_is_one_error_and_the_run_ends_with_a_report(
    suite: Suite, monkeypatch: pytest.MonkeyPatch, name: str, says: str
) -> None:
    suite.write("one", "two", "three")
    (suite.folder / f"with_{name}.py").write_text(REFUSING)
    monkeypatch.syspath_prepend(suite.folder)
    result = suite.run("--executor", f"with_{name}:{name}", status=1)
    count = result.text.count(f"--executor with_{name}:{name} {says}")
    assert count in (2, 3), "with reasons and verdicts; new pytests add a summary"
    assert "no executor takes the blocks of this run" in result.text
    assert "Traceback" not in result.text
    assert suite.states() == {"tiny.one": "ERROR"}
