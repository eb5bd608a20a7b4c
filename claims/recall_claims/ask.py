"""Print the value of a formula at given sizes: `python -m recall_claims predict`.

It also prints the stated error, whether the sizes lie in the regime of that error, and the results
and verdicts of the baseline's claims on the formula.
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import inspect
import itertools
import math
import pkgutil
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import numpy as np

from recall_claims.model.cell import Cell, Scalar
from recall_claims.model.errors import told
from recall_claims.model.predictions import Prediction, predictions
from recall_reports import figures, phrases
from recall_reports.formula import line
from recall_reports.record import ClaimRow
from recall_reports.record.files import load
from recall_reports.record.spelling import meant

Table = Mapping[str, Sequence[Scalar]]
"""Values of each parameter; every combination of values is a point."""

SUGGESTED = 4
"""Largest number of formulas to suggest for an unknown name."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """Value of a formula at one point, with its stated error.

    Attributes:
        point: the parameters.
        value: the prediction.
        error: the formula's stated error at the point; empty if none is stated, or if the value is
            no finite number.
        ends: lowest and highest value that this error allows; None without an error.
        outside: why the point is outside the formula's regime; None if it is inside, or if no
            regime is stated.
    """

    point: Mapping[str, Scalar]
    value: float | str
    error: str
    ends: tuple[float, float] | None
    outside: str | None


def known(package: str) -> dict[str, Prediction]:
    """Map full names to the predictions of a package of theory.

    Raises:
        ValueError: there is no such package.
    """
    try:
        theory = importlib.import_module(package)
    except (ModuleNotFoundError, TypeError, ValueError) as error:  # the last two for "." and ""
        raise ValueError(
            f"--theory {package}: {error}; call this in the folder that has a package of formulas, "
            "such as a checkout's, and name it with --theory if its name is not theory"
        ) from error
    for module in pkgutil.walk_packages(getattr(theory, "__path__", ()), f"{package}."):
        importlib.import_module(module.name)
    found = (p for p in predictions() if f"{p.module}.".startswith(f"{package}."))
    return {f"{formula.module}.{formula.name}": formula for formula in found}


def find(name: str, package: str) -> Prediction:
    """Find a prediction of a package of theory by its full name, or by the end of its name.

    Raises:
        ValueError: there is no such package or prediction, or there are several.
    """
    there = known(package)
    found = [full for full in there if full == name or full.endswith(f".{name}")]
    if len(found) > 1:
        raise ValueError(f"{name!r} may be {' or '.join(found)}: give more of its name")
    if not found:
        short = {full: full.rpartition(".")[2] for full in there}
        like = difflib.get_close_matches(name.rpartition(".")[2], {*short.values()})
        alike = [full for full, n in short.items() if n in like]
        near = difflib.get_close_matches(f"{package}.{name}", alike, SUGGESTED, 0.0)
        within = sorted((name not in n, full) for full, n in short.items() if name in full)
        about = (full for full in there if name.lower() in meaning(there[full]).lower())
        near = near or [*(full for _, full in within), *about][:SUGGESTED]
        hint = f" (did you mean {' or '.join(near)}?)" * bool(near)
        raise ValueError(
            f"{package} has no prediction {name!r}{hint}; `python -m recall_claims predict` lists "
            "all"
        )
    return there[found[0]]


def values(texts: Sequence[str]) -> dict[str, list[Scalar]]:
    """Read parameters from the command line, such as ``dim=256,512``.

    Raises:
        ValueError: a text is not of the form name=value, or a name comes twice.

    >>> values(["dim=256,512", "embeddings=sphere", "balanced=true", "alpha=1.5"])
    {'dim': [256, 512], 'embeddings': ['sphere'], 'balanced': [True], 'alpha': [1.5]}
    """
    found: dict[str, list[Scalar]] = {}
    for text in texts:
        name, sign, given = text.partition("=")
        if not (name.isidentifier() and sign and given):
            raise ValueError(f"{text!r} sets no parameter: write name=value, as in dim=256")
        if name in found:
            raise ValueError(f"{name} is given twice: give its values together, as in dim=8,768")
        found[name] = [_scalar(value) for value in given.split(",")]
    return found


def _scalar(text: str) -> Scalar:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)


def answers(formula: Prediction, table: Table) -> Iterator[Answer]:
    """Evaluate the formula at each point of a table.

    Raises:
        ValueError: a parameter is missing or unknown, or has a value that the formula does not
            take; or the formula fails at a point.
    """
    taken = _parameters(formula)
    needed = [name for name, one in taken.items() if one.default is one.empty]
    unknown, missing = [n for n in table if n not in taken], [n for n in needed if n not in table]
    if unknown or missing:
        what = f"needs {', '.join(missing)}"
        if unknown:
            what = f"has no parameter {unknown[0]}{meant(unknown[0], taken)}"
        free = [name for name in taken if name not in needed]
        more = f", and may have {', '.join(free)}" if free else ""
        raise ValueError(f"{formula.name} {what}; it takes {', '.join(needed)}{more}")
    for name, given in table.items():
        words = [value for value in given if isinstance(value, str)]
        if words and taken[name].annotation in (int, float):
            raise ValueError(f"{formula.name} takes a number as {name}, not {words[0]!r}")
        if not all(math.isfinite(value) for value in given if isinstance(value, float)):
            raise ValueError(f"{formula.name} takes a finite number as {name}")
        choices = _choices(taken[name].annotation)
        strange = [str(value) for value in given if choices and value not in choices]
        if strange:
            known = [str(choice) for choice in choices]
            hint = meant(strange[0], known)
            raise ValueError(
                f"{formula.name} takes {' or '.join(known)} as {name}, not {strange[0]!r}{hint}"
            )
    for point in itertools.product(*table.values()):
        yield _answer(formula, dict(zip(table, point, strict=True)))


def _choices(kind: Any) -> tuple[Any, ...]:
    """Return the values of a bool or Literal type; none for other types."""
    if kind is bool:
        return (True, False)
    return get_args(kind) if get_origin(kind) is Literal else ()


def _answer(formula: Prediction, point: dict[str, Scalar]) -> Answer:
    arguments: dict[str, Any] = dict(point)
    try:
        for name, kind in _problem(formula).items():
            sizes = inspect.signature(kind).parameters
            arguments[name] = kind(**{n: arguments.pop(n) for n in sizes if n in point})
        with np.errstate(all="ignore"):  # a value of NaN is reported
            value = formula.function(**arguments)
        value = value if isinstance(value, str) else float(value)
    except Exception as error:
        at = _at(point, point)
        raise ValueError(f"{formula.name} has no value at {at}: {told(error)}") from error
    regime = formula.regime
    named = {n: v for n, v in point.items() if n in regime.ranges} if regime else {}
    outside = regime.why_outside(Cell(**named)) if regime and named else None
    stated = next((e for e in formula.errors if _holds(e.holds, point)), None)
    if stated is None or isinstance(value, str) or not math.isfinite(value):
        return Answer(point, value, "", None, outside)
    size = stated.at(point) * (abs(value) if stated.relative else 1.0)
    return Answer(point, value, str(stated), (value - size, value + size), outside)


def _holds(condition: Callable[[Any], bool], point: Mapping[str, Scalar]) -> bool:
    try:
        return condition(point)
    except KeyError:  # the condition reads an option that was not given
        return False


def _problem(formula: Prediction) -> dict[str, Any]:
    """Return a formula's first parameter and its type, if the type is a dataclass of sizes."""
    own = [*inspect.signature(formula.function, eval_str=True).parameters.values()]
    return {p.name: p.annotation for p in own[:1] if dataclasses.is_dataclass(p.annotation)}


def _parameters(formula: Prediction) -> dict[str, inspect.Parameter]:
    """Return all parameters of a formula; the sizes of its dataclass, if any, come first."""
    problem = _problem(formula)
    called = [inspect.signature(f, eval_str=True) for f in (*problem.values(), formula.function)]
    found = {name: one for each in called for name, one in each.parameters.items()}
    return {name: one for name, one in found.items() if name not in problem}


def _at(point: Mapping[str, Scalar], names: Container[str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in point.items() if name in names)


def listed(package: str) -> Iterator[str]:
    """Name each formula of a package of theory, and say in a line what it is."""
    for name, formula in known(package).items():
        yield f"{name.removeprefix(f'{package}.')}: {meaning(formula)}"


def meaning(formula: Prediction) -> str:
    """Say in words what a formula predicts: the first paragraph of its docstring."""
    words = (inspect.getdoc(formula.function) or "").partition("\n\n")[0].split()
    return re.sub(r"\$([^$]+)\$", lambda found: line(found[1]), " ".join(words)).replace("``", "`")


def _figure(value: float | str) -> str:
    if isinstance(value, str) or not math.isfinite(value):
        return str(value)
    return figures.number(value, 4)


def tested_by(formula: Prediction, baseline: Path) -> list[ClaimRow]:
    """Return a report's claims on the formula, or if none, on any formula of its module.

    Without the report the list is empty.
    """
    claims = load(baseline).claims if baseline.is_file() else []
    found = [claim for claim in claims if claim.source.module == formula.module]
    return [claim for claim in found if claim.latex == formula.latex] or found


def seen(formula: Prediction, claims: Sequence[ClaimRow]) -> dict[str, tuple[float, float]]:
    """Return each parameter's range over the cells of SUPPORTED claims on the formula."""
    found: dict[str, list[float]] = {}
    taken = _parameters(formula)
    held = [c for c in claims if c.verdict == "SUPPORTED" and c.latex == formula.latex]
    for name, value in (item for c in held for cell in c.cells for item in cell.params.items()):
        if name in taken and not isinstance(value, bool | str):
            found.setdefault(name, []).append(value)
    return {name: (min(numbers), max(numbers)) for name, numbers in found.items()}


def lines(
    formula: Prediction, found: Sequence[Answer], claims: Sequence[ClaimRow]
) -> Iterator[str]:
    """Yield formula, answers and claims as text."""
    varied = {n for a in found for n, v in a.point.items() if v != found[0].point[n]}
    for answer in found:
        at = _at(answer.point, varied or answer.point)
        yield f"{formula.name} = {_figure(answer.value)} at {at}"
        if answer.ends is not None:
            low, high = (figures.number(end, 4) for end in answer.ends)
            near = f"the simulated value should be between {low} and {high}"
            yield f"  stated error {answer.error}: {near}"
        elif not formula.errors:
            yield "  it states no error"
        if answer.outside is not None:
            yield f"  OUTSIDE the regime of the formula and of its error: {answer.outside}"
    yield f"meaning: {meaning(formula)}"
    yield f"formula: {line(formula.latex)}"
    yield f"source: {formula.source} ({formula.provenance}), {formula.module}"
    if formula.regime is not None and formula.regime.text:
        yield f"regime: {formula.regime.text}"
    if claims and claims[0].latex != formula.latex:
        yield "no claim of the baseline tests this formula by itself; those on its module:"
    for claim in claims:
        yield f"tested by {claim.id}: {phrases.label(claim)} {figures.in_words(claim.head)}"
    for name, (least, most) in seen(formula, claims).items():
        yield f"seen to hold at {name} {least:g}" + f" to {most:g}" * (least < most)
