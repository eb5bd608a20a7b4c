"""Which records a run takes from an earlier report."""

import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import pytest

from claims.attention.test_signal import trigger_score as claim
from recall_claims import recording
from recall_claims.declare.papers import papers
from recall_claims.declare.registration import registration
from recall_claims.evidence.run import Settings
from recall_claims.plugin import baseline as module
from recall_claims.plugin.baseline import LIBRARIES, Baseline
from recall_claims.plugin.changes import Changes
from recall_reports.record import Record
from tests.apart import git, saved
from tests.reports import builders

REPOSITORY = Path(__file__).parents[3]
SMOKE = Settings(tier="smoke")
HERE = {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}
Edit = Callable[[Any], None]  # of the report, in plain types


def written(path: Path, *edits: Edit) -> Path:
    """A report with one decided record, as this run would write it, then edited."""
    entry = recording.undecided(claim, SMOKE, "file", state="NOT RUN", reason="", outcome="skipped")
    share = SMOKE.budget.per_claim(papers()["A"])
    report = recording.suite(
        SMOKE,
        [entry],
        {"A": recording.paper(claim, SMOKE.budget)},
        executor="serial",
        started="2026-11-20T23:02:11+00:00",
        wall_seconds=1.0,
        command="pytest claims/",
        commit="0123456789",
    )
    plain = msgspec.to_builtins(report)
    plain["claims"][0] |= {
        "state": "DECIDED",
        "verdict": "SUPPORTED",
        "outcome": "passed",
        "components": [builders.component("mean", 1.0, 0.01, (0.97, 1.03))],
        "controls": [builders.control("off", "a constant that is off", 1.0, 0.01, (1.47, 1.53))],
        "alpha": claim.rule.alpha_of_look(share, claim.looks["smoke"]),
        "registration": registration(claim, "smoke"),
    }
    for edit in edits:
        edit(plain)
    file = path / "baseline.json"
    file.write_bytes(msgspec.json.encode(plain))
    return file


def changes(revision: str, *files: str) -> Changes:
    return Changes(revision, frozenset(REPOSITORY / file for file in files))


NOTHING = changes("HEAD")
Inherited = Callable[..., Any]


@pytest.fixture
def inherited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Inherited:
    """What a run inherits of an edited report, where files changed since it, and as asked for."""
    monkeypatch.setattr(module, "ancestor", lambda commit, folder: commit)
    monkeypatch.setattr(
        module, "load", lambda file: msgspec.json.decode(file.read_bytes(), type=Record)
    )

    def record(*edits: Edit, since: Changes = NOTHING, asked: Changes = NOTHING) -> Any:
        monkeypatch.setattr(Changes, "since", lambda revision, folder: since)
        return Baseline(written(tmp_path, *edits), SMOKE, asked, REPOSITORY).inherited_record(claim)

    return record


def test_a_record_of_the_same_is_inherited(inherited: Inherited) -> None:
    found = inherited(since=changes("HEAD", "theory/lower_bound/width_information.py"))
    assert (found.verdict, found.id) == ("SUPPORTED", claim.id)
    assert (found.blocks.kept.file, found.blocks.kept.revision) == ("baseline.json", "HEAD")


def test_what_last_digits_depend_on_is_compared() -> None:
    assert {"python", "numpy", "scipy", "torch"} <= HERE.keys()


def of_claim(**values: object) -> Edit:
    return lambda plain: plain["claims"][0].update(values)


def of_suite(**values: object) -> Edit:
    return lambda plain: plain["suite"].update(values)


@pytest.mark.parametrize(
    "edit",
    [
        of_claim(registration="0123456789abcdef"),
        of_claim(registration=""),
        of_claim(seed=1),
        of_claim(alpha=1e-7),
        of_suite(tier="standard"),
        of_suite(device="cuda:1"),
        *(of_suite(versions={**HERE, name: "0.1"}) for name in HERE),
        *(of_suite(versions={n: v for n, v in HERE.items() if n != name}) for name in HERE),
    ],
)
def test_a_record_of_anything_else_is_not(inherited: Inherited, edit: Edit) -> None:
    assert inherited(edit) is None


@pytest.mark.parametrize("file", ["theory/attention/signal.py", "claims/attention/test_signal.py"])
def test_a_change_since_the_revision_or_since_the_baseline_runs_the_claim(
    inherited: Inherited, file: str
) -> None:
    assert inherited(since=changes("HEAD", file)) is None
    assert inherited(asked=changes("HEAD", file)) is None


@pytest.mark.parametrize(
    ("commit", "says"),
    [
        (None, "recorded at no commit"),
        ("0123456789+", r"with uncommitted changes \('0123456789\+'\)"),
        ("0123456789", "at commit '0123456789', which this repository does not have"),
        ("HEAD", "at commit 'HEAD', which is no commit: that is 7 to 64 hexadecimal digits"),
        ("main", "which is no commit"),
        ("--output={folder}/victim", "which is no commit"),
        ("-1", "which is no commit"),
        ("", "which is no commit"),
        ("012345", "which is no commit"),
        ("0123456789\n", "which is no commit"),
        ("{elsewhere}", "which is no ancestor of the commit that is checked out"),
        ("abcdef0", "which is no ancestor"),
    ],
)
def test_a_baseline_of_nobody_knows_what_code_is_refused(
    tmp_path: Path, commit: str | None, says: str
) -> None:
    saved(tmp_path, {})
    git(tmp_path, "branch", "abcdef0")
    git(tmp_path, "checkout", "--quiet", "--orphan", "elsewhere")
    elsewhere = saved(tmp_path, {"of": "another history"})
    git(tmp_path, "checkout", "--quiet", "main")
    (tmp_path / "victim").write_text("precious")
    recorded = commit and commit.format(folder=tmp_path, elsewhere=elsewhere)
    found = Baseline(written(tmp_path, of_suite(commit=recorded)), SMOKE, NOTHING, tmp_path)
    with pytest.raises(ValueError, match=f"{says}.*; record one from a clean checkout"):
        found.require()
    assert (tmp_path / "victim").read_text() == "precious"


def test_without_a_baseline_every_claim_runs(tmp_path: Path) -> None:
    found = Baseline(tmp_path / "none.json", SMOKE, NOTHING, REPOSITORY)
    assert (found.since, found.inherited_record(claim)) == (None, None)
