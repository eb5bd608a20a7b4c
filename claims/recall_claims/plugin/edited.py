"""Edits since the baseline was made, and the claims that depend on them."""

import ast
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from recall_claims.declare.claim import TIERS, Claim
from recall_claims.evidence.fingerprints import without_docstrings
from recall_claims.evidence.imports import source, upstream
from recall_claims.evidence.reach import names, reached
from recall_claims.model.predictions import predictions
from recall_claims.plugin.report import git

Name = tuple[str, str]
"""A module, and the name of a function, class or constant in it."""
SHOWN = 8
"""Largest number of edited formulas, or claims, to name."""


class Edits:
    """Changes since a commit in the modules of claims and in their imports.

    Docstrings, comments, and decorators of a module's functions do not count.

    Attributes:
        commit: the baseline's commit, or HEAD if git lacks it; empty without git.

    Args:
        root: a folder of the repository.
        baseline: the commit of the baseline; None if it has none.
        claims: all collected claims.
    """

    def __init__(self, root: Path, baseline: str | None, claims: Sequence[Claim]) -> None:
        self._root, self._claims = root, claims
        tried = [(baseline or "").strip("+"), "HEAD"]
        self.commit = next(
            (c for c in tried if c and self._git("cat-file", "-e", c) is not None), ""
        )

    @cached_property
    def names(self) -> set[Name]:
        """The edited, added and removed names."""
        return self._since(self.commit)

    def _since(self, commit: str) -> set[Name]:
        changed = self._git("diff", "--name-only", "--relative", commit) if commit else ""
        modules = {m for claim in self._claims for m in (claim.module, *upstream(claim.module))}
        files = {source(module): module for module in modules}
        found = set[Name]()
        for file in (changed or "").splitlines():
            module = files.get((self._root / file).resolve())
            if module is not None:
                now = _parts((self._root / file).read_text("utf-8-sig", "replace"))
                before = _parts(self._git("show", f"{commit}:./{file}") or "")
                found |= {(module, name) for name, _ in now.items() ^ before.items()}
        return found

    def of(self, *starts: object) -> set[Name]:
        """Return the edited names that these functions, or functions they call, use."""
        if not self.names:
            return set()
        return self.names.intersection(*[set().union(*map(names, reached(*starts)))])

    def since(self, claim: Claim) -> str:
        """Say whether a claim's theory and whether its simulation was edited."""
        parts = {"theory": self.of(claim.predict), "simulation": self.of(claim.observe)}
        told = [
            f"its {part} was edited ({listed('.'.join(one) for one in edited)})"
            for part, edited in parts.items()
            if edited
        ]
        told += [f"its {part} was not" for part in parts if told and not parts[part]]
        words = " and ".join(told) or "neither its theory nor its simulation was edited"
        return f"since commit {self.commit}, {words}" * bool(self.commit)

    def lines(self, judged: Iterable[str]) -> Iterator[str]:
        """Yield sentences about edited formulas and the claims that depend on them.

        Claims `judged` in this run are listed apart from the others. Uncommitted edits come first.
        """
        fresh = self._since("HEAD") if self.names else set[Name]()
        edited = sorted(name for name in self.names if "theory" in name[0].split("."))
        edited.sort(key=lambda name: name not in fresh)
        formulas = {(one.module, one.name) for one in predictions()}
        seen, alike = {*judged}, dict[tuple[bool, str], list[str]]()
        for name in edited:
            takes = [c for c in self._claims if name in self.of(c.predict)]
            plants = [c for c in self._claims if name in self.of(*(o.predict for o in c.controls))]
            here = listed(c.id for c in takes if c.id in seen)
            left = listed(f"{c.id}{_tiers(c)}" for c in takes if c.id not in seen)
            told = [f"judged here: {here}"] * bool(here) + [f"not judged here: {left}"] * bool(left)
            if not takes:
                told = ["no claim predicts with it"]
                told += [f"controls do: {listed(c.id for c in plants)}"] * bool(plants)
            if takes or plants or name in formulas:  # else it is the name of a text or a regime
                alike.setdefault((name in fresh, "; ".join(told)), []).append(".".join(name))
        for (new, told_of), group in [*alike.items()][:SHOWN]:
            when = "edited, not committed" if new else f"edited since {self.commit}"
            yield f"{when}: {listed(group)}; {told_of}"
        if len(alike) > SHOWN:
            yield f"and {len(alike) - SHOWN} more"

    def _git(self, *arguments: str) -> str | None:
        with suppress(OSError, subprocess.CalledProcessError):
            return git(self._root, *arguments)
        return None


def _parts(text: str) -> dict[str, str]:
    """Map names of functions, classes and constants of a module to their code.

    The map is empty if the text is not valid Python, as may happen in a commit.
    """
    found: dict[str, str] = {}
    try:
        nodes = ast.parse(text).body
    except SyntaxError:
        return found
    for node in nodes:
        targets = getattr(node, "targets", None) or [getattr(node, "target", node)]
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
        for target in targets:
            name = getattr(target, "name", None) or getattr(target, "id", None)
            if name is not None:
                found[name] = without_docstrings(node)
    return found


def _tiers(claim: Claim) -> str:
    listed_ = getattr(claim.cells, "listed", True)
    return f" (in {', '.join(t for t in TIERS if t in claim.cells)})" if listed_ else ""


def listed(texts: Iterable[str]) -> str:
    """List the first SHOWN of these names, and count the others."""
    found = sorted(texts)
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return f"{', '.join(found[:SHOWN])}{more}"
