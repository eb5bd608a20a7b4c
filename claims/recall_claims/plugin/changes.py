"""What changed since a revision, and which claims that leaves as they were.

A claim's verdict follows from its own file, from every module that file imports, directly or
through others, from its paper's file, and from what runs it: this library, each conftest.py beside
or above it, and pytest's configuration. It has to be judged anew if one of these files differs from
the revision in more than comments, layout and docstrings. Its blocks are reused all the same where
neither its registration nor the code that simulates has changed: see
`recall_claims.declare.registration` and `recall_claims.evidence.fingerprints`.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from recall_claims.evidence.fingerprints import (
    CONFIGURATION,
    folders,
    in_library,
    loaded,
    meaning,
    source,
    upstream,
)

RUN = "recall_claims.evidence.scheduler"


@dataclass(frozen=True)
class Changes:
    """Files that differ between a revision and the working tree.

    Attributes:
        revision: as git was asked for it.
        files: changed, added and removed files of the repository, without Python files in which
            only comments, layout or docstrings are different.
    """

    revision: str
    files: frozenset[Path]

    @classmethod
    def since(cls, revision: str, folder: Path) -> Changes:
        """Ask git, in a folder of the repository.

        Raises:
            ValueError: there is no git, no repository or no such revision.
        """
        root = Path(_git(folder, "rev-parse", "--show-toplevel").strip())
        since = resolved(revision, folder)
        changed = _git(
            root, "diff", "--name-only", "--no-renames", "-z", "--end-of-options", since, "--"
        )
        untracked = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
        names = [name for name in (changed + untracked).split("\0") if name]
        return cls(revision, frozenset(root / f for f in names if not _reworded(root, since, f)))

    def touched(self, module: str, paper: Path | None = None) -> tuple[str, ...]:
        """What changed of a claim's module, its paper's file, what it depends on and what runs it.

        Modules, conftest files, files of pytest's configuration and the paper's; sorted.
        """
        modules = {module, RUN, *upstream(module), *loaded(module)}
        if source(RUN) is not None:  # the library is developed here too
            modules = modules.union(*map(upstream, filter(in_library, modules)))
        above, names = folders(module), ("conftest.py", *CONFIGURATION)
        files = {f for f in self.files if f.name in names and f.parent in above}
        files |= {paper.resolve()} & self.files if paper is not None else set()
        found = {m for m in modules if source(m) in self.files}
        return tuple(sorted(found | {f.name for f in files}))


def _reworded(root: Path, since: str, name: str) -> bool:
    """Whether a file means to Python what it meant in a commit."""
    file = root / name
    if file.suffix != ".py" or file.is_symlink() or not file.is_file():
        return False
    try:
        before = _git(root, "cat-file", "blob", f"{since}:{name}").encode()
        return meaning(before) == meaning(file.read_bytes())
    except (ValueError, SyntaxError):  # it is new, or no Python
        return False


def resolved(revision: str, folder: Path) -> str:
    """The full hash of the commit that a revision names; git takes no part of it for an option.

    Raises:
        ValueError: there is no git, no repository or no such revision.
    """
    name = f"{revision}^{{commit}}"
    found = _git(folder, "rev-parse", "--verify", "--end-of-options", name).strip()
    if not found.isalnum():  # a range: git answers with two commits, or with ^ before one
        raise ValueError(f"--changed-since: {revision!r} is a range; name a commit, tag or branch")
    return found


def ancestor(commit: str, folder: Path) -> str:
    """The full hash of a commit that a file names, in the history of the one that is checked out.

    Raises:
        ValueError: it is none; the message goes on from "it was recorded at commit ..., ".
    """
    if re.fullmatch("[0-9a-f]{7,64}", commit) is None:
        raise ValueError("which is no commit: that is 7 to 64 hexadecimal digits")
    try:
        found = resolved(commit, folder)
    except ValueError as error:
        raise ValueError("which this repository does not have") from error
    try:
        _git(folder, "merge-base", "--is-ancestor", "--end-of-options", found, "HEAD")
        known = found.startswith(commit)  # else it is that of a branch or tag with such a name
    except ValueError:
        known = False
    if not known:
        raise ValueError("which is no ancestor of the commit that is checked out")
    return found


def commit(root: Path) -> str | None:
    """The commit that is checked out, with a plus sign if tracked files differ from it.

    None where there is no git or no repository.
    """
    try:
        name = _git(root, "rev-parse", "--short=10", "HEAD").strip()
        return name + "+" * bool(_git(root, "status", "--porcelain", "--untracked-files=no"))
    except ValueError:
        return None


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise ValueError(f"--changed-since needs git: {error}") from error
    if done.returncode:
        reason = done.stderr.strip().splitlines()[0] if done.stderr else "git failed"
        raise ValueError(
            f"--changed-since: git cannot compare with that revision ({reason}); name a commit, "
            "tag or branch of this repository"
        )
    return done.stdout
