"""What changed since a revision, and which claims that leaves as they were.

A claim's verdict follows from its own file, from every module that file imports, directly or
through others, and from what runs it. It has to be judged anew if one of these files differs from
the revision. Its blocks are reused all the same where neither its registration nor the code that
simulates has changed: see `recall_claims.declare.registration` and
`recall_claims.evidence.fingerprints`.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from recall_claims.evidence.fingerprints import source, upstream

RUN = "recall_claims.evidence.run"


@dataclass(frozen=True)
class Changes:
    """Files that differ between a revision and the working tree.

    Attributes:
        revision: as git was asked for it.
        files: changed, added and removed files of the repository.
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
        changed = _git(root, "diff", "--name-only", "-z", revision, "--")
        untracked = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
        return cls(revision, frozenset(root / f for f in (changed + untracked).split("\0") if f))

    def touched(self, module: str) -> tuple[str, ...]:
        """Modules that changed, among a claim's own and those that it depends on; sorted."""
        modules = {module, *upstream(module)}
        if source(RUN) is not None:  # the library is developed here too
            modules |= {RUN, *upstream(RUN)}
        return tuple(sorted(m for m in modules if source(m) in self.files))


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
