"""Make the page `.github/docs/gallery.md` from the zoo: `python -m tests.library.gallery`."""

from __future__ import annotations

import ast
from pathlib import Path

ZOO = Path(__file__).with_name("zoo")
PAGE = Path(__file__).parents[2] / ".github" / "docs" / "gallery.md"
HEAD = """# A theorem of each kind, in ten lines or so

Thirteen known theorems of other fields as claims, for authors who look for an example of a rule.
[rules.md](rules.md) says which rule fits which theorem, and [api.md](api.md) what each name does.
Fourteen more theorems are in `tests/library/zoo/`. All are judged under five seeds, and every
planted error is refuted.

Four kinds of theorem have no rule of their own:

- **Where an optimum lies**: return the values at some candidates, and let `WinnerShare` say which
  is the largest. Between the candidates nothing is shown.
- **Growth with a logarithm**: predict it in full, as below for coupons. `Exponents` cannot tell a
  logarithm from a small power.
- **Independence**: `MeanDifference` of a product of two centred observables from 0 shows that they
  are uncorrelated, and no more.
- **One fixed data set**: make it at the top level of a module. Within a function a fixed seed is
  refused, and the claim is about that data set alone.

## What the examples share

`block.each` calls a function with the generator of each replicate. `theorem` is `rc.claim` with
what all these claims say:
"""
SHOWN = (
    *("coupons", "gaps", "least_norm", "johnson_lindenstrauss", "last_coupon", "chi_squared"),
    *("gumbel", "ratio_of_means", "half_life", "spike", "random_walk", "hopfield", "hoeffding"),
)
"""Functions of the zoo."""


def text_of(name: str) -> tuple[str, str]:
    """First sentence of a claim's docstring, and the claim's source text."""
    for file in ZOO.glob("*.py"):
        text = file.read_text(encoding="utf-8")
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef) and node.name == name and node.decorator_list:
                lines = text.splitlines()[node.decorator_list[0].lineno - 1 : node.end_lineno]
                return (ast.get_docstring(node) or "").removesuffix("."), "\n".join(lines)
    raise KeyError(name)


def page() -> str:
    """Write the page's text."""
    shared = (ZOO / "__init__.py").read_text(encoding="utf-8").partition('"""\n\n')[2]
    shared = shared.replace("from functools", "import math\nfrom functools", 1)
    shared = shared.replace("as npt\n", "as npt\nfrom scipy import stats\n", 1)
    shared = shared.replace("import numpy.t", "import numpy as np\nimport numpy.t", 1)
    found = [f"{HEAD}\n```python\n{shared}```\n"]
    for title, text in map(text_of, SHOWN):
        kind = text.partition("rule=rc.")[2].partition("(")[0]
        found.append(f"## `{kind}`: {title}\n\n```python\n{text}\n```\n")
    return "\n".join(found)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
