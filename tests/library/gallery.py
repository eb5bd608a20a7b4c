"""The page `.github/docs/gallery.md`, made of the zoo: `python -m tests.library.gallery`."""

from __future__ import annotations

import ast
from pathlib import Path

ZOO = Path(__file__).with_name("zoo")
PAGE = Path(__file__).parents[2] / ".github" / "docs" / "gallery.md"
HEAD = """# A theorem of each kind, in ten lines

Theorems of other fields, whose truth is known, as claims: each shows a rule at work.
[rules.md](rules.md) says which rule fits which theorem. `theorem` is `rc.claim` with what all of
these share (source, why, 1,024 replicates, 6 looks), and `each` calls a function with every
replicate's generator; both are in `tests/library/zoo/__init__.py`, beside fifteen more. All
of them are judged under five seeds, and every planted error is refuted.
"""
SHOWN = {
    "means.py": ("coupons", "least_norm"),
    "shapes.py": (
        *("johnson_lindenstrauss", "last_coupon", "chi_squared"),
        *("gumbel", "ratio_of_means"),
    ),
    "growth.py": ("wishart_edge", "spike", "random_walk", "hopfield", "hoeffding"),
}
"""Functions of the zoo, by file."""


def page() -> str:
    """The page's text."""
    found = [HEAD]
    for file, names in SHOWN.items():
        text = (ZOO / file).read_text(encoding="utf-8")
        lines = text.splitlines()
        functions = {n.name: n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)}
        for name in names:
            node = functions[name]
            claim = node.decorator_list[0]
            assert isinstance(claim, ast.Call)
            rule = next(ast.unparse(k.value) for k in claim.keywords if k.arg == "rule")
            kind = rule.removeprefix("rc.").partition("(")[0]
            title = ast.literal_eval(claim.args[1])
            source = "\n".join(lines[claim.lineno - 1 : node.end_lineno])
            found.append(f"## `{kind}`: {title}\n\n```python\n{source}\n```\n")
    return "\n".join(found)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
