"""Which claims a change leaves as they were."""

import re
from pathlib import Path

import pytest

from claims.attention.test_signal import trigger_score as claim
from recall_claims.declare.papers import papers
from recall_claims.plugin.changes import Changes, commit
from tests.apart import git, saved

REPOSITORY = Path(__file__).parents[3]


def changed(*files: str) -> Changes:
    return Changes("HEAD", frozenset(REPOSITORY / file for file in files))


@pytest.mark.parametrize(
    "file",
    [
        *("claims/attention/test_signal.py", "theory/attention/signal.py"),
        *("claims/recall_claims/judge/region.py", "claims/recall_claims/evidence/seeds.py"),
        *("claims/conftest.py", "claims/attention/conftest.py", "conftest.py", "pytest.ini"),
        *("pyproject.toml", "tox.ini", "claims/papers/__init__.py", "claims/papers/A.toml"),
    ],
)
def test_a_claim_is_touched_by_what_it_imports_and_what_pytest_runs_it_with(file: str) -> None:
    assert changed(file).touched(claim.module, papers()["A"].file)


def test_a_claim_is_not_touched_by_anything_else() -> None:
    other = changed(
        *("theory/lower_bound/width_information.py", "theory/laws/quadrature.py", "README.md"),
        *("claims/attention/test_recall.py", "tests/unit/test_theory.py", "tests/conftest.py"),
        *("claims/memory/conftest.py", "claims/papers/B.toml"),
    )
    assert other.touched(claim.module, papers()["A"].file) == ()
    indirect = ("claims.attention.test_recall", "theory.laws.quadrature")
    assert other.touched(indirect[0]) == indirect


def test_files_changed_since_a_revision(tmp_path: Path) -> None:
    saved(tmp_path, {name: name for name in ("same.py", "changed.py", "removed.py", "in/one.py")})
    (tmp_path / "changed.py").write_text("new")
    (tmp_path / "größer.py").write_text("new")
    (tmp_path / "removed.py").unlink()
    wanted = {tmp_path / name for name in ("changed.py", "größer.py", "removed.py")}
    assert Changes.since("HEAD", tmp_path).files == wanted
    assert Changes.since("HEAD", tmp_path / "in").files == wanted


@pytest.mark.parametrize(
    ("after", "counts"),
    [
        ('"""Another word."""\n\n# A comment\ndef one():\n    return  "a"\n', False),
        ('"""A word."""\ndef one():\n    return "b"\n', True),
        ("# coding: cp500\n", True),
        ("def one(:", True),
        (None, True),
    ],
)
def test_other_words_are_no_change(tmp_path: Path, after: str | None, counts: bool) -> None:
    file, link = tmp_path / "one.py", tmp_path / "link.py"
    text = '"""A word."""\ndef one():\n    return "a"\n'
    saved(tmp_path, {"one.py": text, "link.py": "one.py"})
    link.unlink()
    if after is None:
        file.unlink()
        link.symlink_to("nowhere")
    else:
        file.write_text(after)
        link.write_text("one.py")
    wanted = {file, *([link] if after is None else [])}
    assert Changes.since("HEAD", tmp_path).files == (wanted if counts else set())


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    saved(tmp_path, {"file": "old"})
    return tmp_path


@pytest.mark.parametrize(
    "revision",
    [
        *("nowhere", "", "-1", "--all", "--output={folder}/file", "HEAD --output={folder}/file"),
        *("HEAD..HEAD", "^HEAD", "HEAD^{tree}", "HEAD:file"),
    ],
)
def test_a_revision_is_one_commit_and_never_an_option(repository: Path, revision: str) -> None:
    with pytest.raises(ValueError, match="name a commit, tag or branch"):
        Changes.since(revision.replace("{folder}", str(repository)), repository)
    assert (repository / "file").read_text() == "old"
    assert {entry.name for entry in repository.iterdir()} == {".git", "file"}


def test_a_file_that_was_renamed_counts_under_both_names(repository: Path) -> None:
    (repository / "file").rename(repository / "other")
    git(repository, "add", "--all")
    git(repository, "config", "diff.renames", "true")
    wanted = frozenset({repository / "file", repository / "other"})
    assert Changes.since("HEAD", repository).files == wanted


def test_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(ValueError, match="git cannot compare"):
        Changes.since("HEAD", tmp_path)
    assert commit(tmp_path) is None


def test_commit_with_a_sign_for_uncommitted_changes(repository: Path) -> None:
    (repository / "untracked").write_text("new")
    clean = commit(repository)
    assert clean is not None
    assert re.fullmatch("[0-9a-f]{10}", clean)
    (repository / "file").write_text("new")
    assert commit(repository) == f"{clean}+"
