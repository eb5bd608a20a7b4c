"""The words, symbols and numbers that all reports share, so that no two of them disagree."""

import math
import re
from collections.abc import Sequence
from typing import Any

Range = Sequence[float | None]

SYMBOLS = {
    "SUPPORTED": "✓",
    "REFUTED": "✕",
    "INCONCLUSIVE": "?",
    "SURVIVES": "◆",
    "BREAKS": "◇",
    "NOT RUN": "–",
    "ERROR": "!",
}

PROVENANCE = {
    "stated": "in the paper's own abstract",
    "reported": "quoted or paraphrased by the paper's reviewers or readers",
    "derived": "our own derivation, which makes a stated or reported result quantitative",
}

ASSIGNMENT = re.compile(r"\b([A-Za-z_]+)=([^\s,:;]+)")  # as in the id of a cell
BETWEEN = re.compile(r",(?=[A-Za-z_]+=)")

PARAMETERS = {
    "vocab_size": "V",
    "length": "L",
    "samples": "N",
    "dim": "d",
    "width": "m",
    "eta": "η",
    "gamma": "γ",
    "associations": "N",
    "outputs": "M",
    "subjects": "S",
    "relations": "R",
    "answers": "D",
    "heads": "H",
    "head_dim": "dₕ",
    "tokens": "T",
}


def state(claim: dict[str, Any]) -> str:
    """The verdict of a claim, or NOT RUN or ERROR where it has none."""
    return str(claim["verdict"] if claim["state"] == "DECIDED" else claim["state"])


def declared(claim: dict[str, Any]) -> bool:
    """Whether the claim is refuted, and declares that it should be."""
    return bool(claim["expected"] == "REFUTED" and claim["verdict"] == "REFUTED")


def divided(claim: dict[str, Any]) -> str:
    """What to say of a claim whose blocks did not fit into memory; empty if they did."""
    count = claim["blocks"].get("divided", 0)
    if not count:
        return ""
    return f"{count} of {claim['blocks']['total']} blocks simulated in parts, as memory ran out"


def label(claim: dict[str, Any]) -> str:
    """Symbol and word, for example `✕ REFUTED as declared`."""
    word = state(claim)
    return f"{SYMBOLS[word]} {word}{' as declared' if declared(claim) else ''}"


def caught(claim: dict[str, Any]) -> tuple[int, int]:
    """How many of a claim's controls are refuted, and how many there are."""
    controls = claim["controls"]
    return sum(control["verdict"] == "REFUTED" for control in controls), len(controls)


def controls(claim: dict[str, Any]) -> str:
    """Refuted controls of all controls, for example `3/3`; a dash where none was tried."""
    refuted, total = caught(claim)
    return f"{refuted}/{total}" if claim["state"] == "DECIDED" and total else "–"


def number(value: float | None, digits: int = 3) -> str:
    """A number in plain figures where that is short, else as 1.2e-9; a dash for none."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    size = abs(value)
    if not 1e-3 <= size < 1e6:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        if "." in mantissa:
            mantissa = mantissa.rstrip("0").rstrip(".")
        return f"{mantissa}e{int(exponent)}"
    if size >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def finding(estimate: float | None, interval: Range | None) -> str:
    """An estimate and its interval with as many decimals as the interval's width deserves."""
    if interval is None or (estimate is not None and list(interval) == [estimate] * 2):
        return number(estimate)
    low, high = interval
    known = [value for value in (estimate, low, high) if value is not None]
    width = high - low if low is not None and high is not None else 0.0
    if width > 1e-4 and max(map(abs, known)) < 1e5:
        decimals = max(0, 1 - math.floor(math.log10(width)))
        figures = [_rounded(v, decimals) for v in (estimate, low, high)]
    else:
        figures = [None if v is None else number(v) for v in (estimate, low, high)]
    bounds = f"[{figures[1] or '-∞'}, {figures[2] or '∞'}]"
    return f"{figures[0]} {bounds}" if figures[0] is not None else bounds


def _rounded(value: float | None, decimals: int) -> str | None:
    """With so many decimals; adding 0.0 turns minus zero into zero."""
    return None if value is None else f"{round(value, decimals) + 0.0:.{decimals}f}"


def region(bounds: Range | None) -> str:
    """A region as `[0.97, 1.03]`, or as `≤ 1e-9` where only one side is bounded."""
    if bounds is None:
        return "–"
    low, high = bounds
    if low is None and high is None:
        return "anything"
    if low is None:
        return f"≤ {number(high, 4)}"
    if high is None:
        return f"≥ {number(low, 4)}"
    return f"[{number(low, 4)}, {number(high, 4)}]"


def seconds(value: float) -> str:
    """A duration: `0.4 s`, `38 s`, `6 min 05 s`, `2 h 10 min`."""
    if value < 10:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def findings(components: Sequence[dict[str, Any]]) -> list[str]:
    """What each component of a claim is about.

    Cells are named by the parameters in which they differ, exponents by their parameter.
    """
    named = [_assignments(component["name"]) for component in components]
    names: list[str] = []
    for component, params in zip(components, named, strict=True):
        differing = [key for key in params if any(o.get(key) != params[key] for o in named)]
        varying = {key: _number_or_text(params[key]) for key in differing or params}
        if params:
            names.append(parameters(varying))
        elif component["scale"] == "exponent":
            names.append(f"exponent of {symbol(component['name'])}")
        else:
            names.append(str(component["name"]))
    return names


def _assignments(name: str) -> dict[str, str]:
    """The parameters in the id of a cell; empty if the name is not such an id."""
    parts = [part.partition("=") for part in BETWEEN.split(name)]
    is_id = all(sign and key.isidentifier() for key, sign, _ in parts)
    return {key: value for key, _, value in parts} if is_id else {}


def _number_or_text(text: str) -> float | int | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def reason(claim: dict[str, Any]) -> str:
    """Why the claim is in its state, as a sentence."""
    text = claim["reason"].strip().removeprefix(f"{claim['state']}: ")
    text = ASSIGNMENT.sub(lambda m: f"{symbol(m[1])} = {setting(_number_or_text(m[2]))}", text)
    text = re.sub(r"\bworst at (\w+):", lambda m: f"worst at {symbol(m[1])}:", text)
    text = re.sub(r"(= [^\s,]+|\)),(?=\S)", r"\1, ", text)
    return sentence(text)


def sentence(text: str) -> str:
    """The text with a capital first letter and a full stop."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def resolution(claim: dict[str, Any]) -> str:
    """The smallest error that the data would have refuted; a dash where nothing was decided."""
    return str(claim["resolution"]["text"]) if claim["state"] == "DECIDED" else "–"


def parameters(params: dict[str, Any]) -> str:
    """Parameters with the papers' letters and in their order, for example `V = 1024, L = 32`."""
    known = [name for name in PARAMETERS if name in params]
    names = known + [name for name in params if name not in PARAMETERS]
    return ", ".join(f"{symbol(name)} = {setting(params[name])}" for name in names)


def symbol(name: str) -> str:
    """The papers' letter of a parameter, or its name in words."""
    return PARAMETERS.get(name, name.replace("_", " "))


def setting(value: Any) -> str:
    """The value of a parameter."""
    if str(value) in ("True", "False"):
        return "yes" if str(value) == "True" else "no"
    if isinstance(value, int):
        return str(value)
    return number(value) if isinstance(value, float) else str(value)
