"""What changed since a revision, and which claims that leaves as they were.

A claim's verdict follows from its own file and from every module that file imports, directly or
through others, by grimp's import graph. It has to be judged anew if one of these files differs from
the revision. Simulated blocks are reused all the same where only theory changed: see `code`.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from claims.engine.code import upstream


@dataclass(frozen=True)
class Changes:
    """Files that differ between a revision and the working tree.

    Attributes:
        revision: as git was asked for it.
        files: changed, added and removed files, relative to the root of the tree.
    """

    revision: str
    files: frozenset[str]

    @classmethod
    def since(cls, revision: str, root: Path) -> Changes:
        """Ask git.

        Raises:
            ValueError: there is no git, no repository or no such revision.
        """
        changed = _git(root, "diff", "--name-only", "--relative", revision, "--")
        untracked = _git(root, "ls-files", "--others", "--exclude-standard")
        return cls(revision, frozenset([*changed, *untracked]))

    def touched(self, module: str) -> tuple[str, ...]:
        """Modules that changed, among a claim's own and those that it depends on; sorted."""
        changed = {_module(file) for file in self.files if file.endswith(".py")}
        return tuple(sorted(changed & {module, *upstream(module)}))


def commit(root: Path) -> str | None:
    """The commit that is checked out, with a plus sign if tracked files differ from it.

    None where there is no git or no repository.
    """
    try:
        [name] = _git(root, "rev-parse", "--short=10", "HEAD")
        return name + "+" * bool(_git(root, "status", "--porcelain", "--untracked-files=no"))
    except ValueError:
        return None


def _module(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _git(root: Path, *arguments: str) -> list[str]:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise ValueError(f"--changed-since needs git: {error}") from error
    if done.returncode:
        reason = done.stderr.strip().splitlines()[0] if done.stderr else "git failed"
        raise ValueError(
            f"--changed-since: git cannot compare with that revision ({reason}); name a commit, "
            "tag or branch of this repository"
        )
    return done.stdout.split("\n")[:-1]
