"""The phrases, symbols and numbers that all reports share, so that no two of them disagree."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from recall_reports.record import ClaimRow, ComponentRow, ControlRow, Parameters, Range
from recall_reports.record.values import Verdict

SYMBOL = re.compile(r"[b-z](?![a-z])")
"""The start of a text whose first letter is the name of a quantity, not an article."""

AS_EXPECTED = "false, as expected"
"""The state of a claim that was expected to be refuted, and is."""

SYMBOLS = {
    "SUPPORTED": "✓",
    AS_EXPECTED: "✓",
    "REFUTED": "✕",
    "INCONCLUSIVE": "?",
    "SURVIVES": "◆",
    "BREAKS": "◇",
    "NOT RUN": "–",
    "ERROR": "!",
}

FINDING = "estimate [bounds]"
"""The heading of what `finding` returns."""

STAR = "* The edge of the region, where testing stops: the data may say more."
"""What the star that `finding` puts to a bound means."""
EDGE = 0.02
"""How close a bound is to the edge that it is on, in widths of the region."""
NARROW = 0.005
"""The width of a region about 1 of which deviations from 1 are printed."""
MORE_DIGITS = 6
"""How many digits are tried at most."""

PILOT = "region from a pilot"

PLACES = {
    Verdict.SUPPORTED: "inside",
    Verdict.REFUTED: "beyond an edge",
    Verdict.INCONCLUSIVE: "undecided",
}

PROVENANCE = {
    "stated": "in the paper's own abstract",
    "reported": "quoted or paraphrased by reviewers or readers of the paper",
    "derived": "our own derivation, which turns a stated or reported result into numbers",
}

RESOLUTION = {
    "ratio": "a constant off by {}",
    "difference": "a value off by {:.3g}",
    "probability": "a probability off by {:.3g}",
    "exponent": "an exponent off by {:.2g}",
    "share": "a map wrong on {} more of its points",
    "error": "an identity violated by {:.1e}",
}


def state(claim: ClaimRow) -> str:
    """How a claim came out: its verdict, AS_EXPECTED, or NOT RUN or ERROR where it has none."""
    if claim.expected == claim.verdict == "REFUTED":
        return AS_EXPECTED
    return claim.verdict or claim.state


def label(claim: ClaimRow) -> str:
    """Symbol and word, for example `✓ false, as expected`."""
    return f"{SYMBOLS[state(claim)]} {state(claim)}"


def tone(state: str) -> str:
    """The class of a state in the style sheet."""
    return state.lower().replace(",", "").replace(" ", "-")


def title(claim: ClaimRow) -> str:
    """The claim's title, and whether its region only reproduces a pilot run."""
    return f"{claim.title} ({PILOT})" if claim.from_pilot else claim.title


def caught(claim: ClaimRow) -> tuple[int, int]:
    """How many of a claim's controls are refuted, and how many there are."""
    return sum(control.verdict == "REFUTED" for control in claim.controls), len(claim.controls)


def controls(claim: ClaimRow) -> str:
    """Refuted controls of all controls, for example `3/3`; a dash where none was tried."""
    refuted, total = caught(claim)
    return f"{refuted}/{total}" if claim.state == "DECIDED" and total else "–"


def evidence(claim: ClaimRow) -> str:
    """Where the claim's blocks came from."""
    blocks = claim.blocks
    if blocks.total and not blocks.recomputed:
        return "all blocks came from the ledger"
    return ", ".join(f"{count} {why}" for why, count in sorted(blocks.recomputed.items()))


def rounds(count: int) -> str:
    """How often a claim was judged: `2 rounds`."""
    return f"{count} round{'s' * (count != 1)}"


def judged(claim: ClaimRow) -> str:
    """Rounds, and the sizes that a cell may have: cells take turns, so that rounds can be more."""
    sizes = claim.looks_planned
    return f"{rounds(claim.looks)}; at most {sizes} size{'s' * (sizes != 1)} of a cell"


def replicates(claim: ClaimRow) -> str:
    """Replicates over all cells, and per cell, for example `3,840, 64 to 512 per cell`."""
    total, counts = f"{claim.replicates:,}", {cell.replicates for cell in claim.cells}
    if len(claim.cells) < 2:
        return total
    low, high = min(counts), max(counts)
    return f"{total}, {low:,}{f' to {high:,}' if high > low else ''} per cell"


def divided(claim: ClaimRow) -> str:
    """What to say of a claim whose blocks did not fit into memory; empty if they did."""
    count, total = claim.blocks.divided, claim.blocks.total
    return f"{count} of {total} blocks simulated in parts because memory ran out" * (count > 0)


def number(value: float | None, digits: int = 3) -> str:
    """A number in plain figures where that is short, else as 1.2e-9; a dash for none."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    size = abs(value)
    if not 1e-3 <= size < 1e6:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        if "." in mantissa:
            mantissa = mantissa.rstrip("0").rstrip(".")
        return f"{mantissa}e{int(exponent)}"
    if size >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def finding(found: ComponentRow | ControlRow | None) -> str:
    """The estimate of a component or control with its interval; a dash for none.

    A bound on an edge of the region has a star, since testing stops there. Where both are, this is
    no interval: `1.00, within 0.88 to 1.13*`.
    """
    if found is None:
        return "–"
    ends = found.shown if isinstance(found, ComponentRow) else found.interval
    low, high = on_edges(found)
    if low and high:
        decimals = _decimals(found.region) if found.region else 0
        estimate = near_one(found) or _rounded(found.estimate, decimals)
        return f"{f'{estimate}, ' if estimate else ''}within {allowed(found)}*"
    if found.estimate is not None and ends and (one := near_one(found)):
        inner = [
            f"1 {_signed(end - 1)}" if end is not None else None for end in (ends.low, ends.high)
        ]
        same = ends.low == ends.high == found.estimate
        return one if same else f"{one} {_bracket(*inner, low_edge=low, high_edge=high)}"
    apart = found.region if found.verdict is Verdict.REFUTED else None
    return with_interval(found.estimate, ends, apart, (low, high))


def on_edges(found: ComponentRow | ControlRow) -> tuple[bool, bool]:
    """Whether the bounds of what is inside its region lie on the region's edges, or within 2%."""
    region = found.region
    if not isinstance(found, ComponentRow) or found.verdict is not Verdict.SUPPORTED:
        return False, False
    if region is None or region.low is None or region.high is None:
        return False, False
    close = EDGE * (region.high - region.low)
    low, high = found.shown.low, found.shown.high
    return (
        low is not None and low - region.low <= close,
        high is not None and region.high - high <= close,
    )


def starred(found: Iterable[ComponentRow | None]) -> bool:
    """Whether `finding` puts a star to one of these, which STAR explains."""
    return any("*" in finding(part) for part in found)


def in_words(found: ComponentRow | None) -> str:
    """The finding, which says what is meant where bounds are edges of the region."""
    text = finding(found)
    if "*" not in text:
        return text
    if "within" in text:
        shown = text.removesuffix("*").replace("within", "shown to be within")
        return f"{shown} (allowed: the same)"
    return f"{text} (* an edge of the region, where testing stops)"


def near_one(found: ComponentRow | ControlRow) -> str:
    """The estimate as `1 + 2e-4` where the region is narrow and about 1; else empty."""
    region, estimate = found.region, found.estimate
    if region is None or estimate is None or not _about_one(region) or abs(estimate - 1) > 0.1:
        return ""
    return f"1 {_signed(estimate - 1)}"


def allowed(found: ComponentRow | ControlRow) -> str:
    """The region as `0.88 to 1.13`, or `1 ± 1e-6`."""
    text = region(found)
    return text.strip("[]").replace(", ", " to ")


def _about_one(region: Range) -> bool:
    low, high = region.ends
    return low < 1 < high and high - low <= NARROW


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'} {number(abs(value), 2)}"


def _bracket(low: str | None, high: str | None, *, low_edge: bool, high_edge: bool) -> str:
    return f"[{low or '-∞'}{'*' * low_edge}, {high or '∞'}{'*' * high_edge}]"


def with_interval(
    estimate: float | None,
    interval: Range | None,
    apart: Range | None = None,
    edges: tuple[bool, bool] = (False, False),
) -> str:
    """An estimate and its interval with as many decimals as the interval's width deserves.

    There are more where less would print a figure inside a region that the interval is `apart`
    from. `edges` says which ends have a star.
    """
    point = interval is None or (estimate is not None and interval.low == interval.high == estimate)
    ends = Range(estimate, estimate) if interval is None or point else interval
    forms = _forms(estimate, ends, point=point)
    form = next((form for form in forms if apart is None or _apart(form, apart)), None)
    if form is None and apart is not None:  # the interval ends where the region does
        above = apart.high is not None and ends.ends[0] >= apart.high
        side, edge = ("above", apart.high) if above else ("below", apart.low)
        return f"{number(estimate)}, {side} {number(edge, 4)}"
    assert form is not None
    if point:
        return form[0] or "–"
    bounds = _bracket(*form[1:], low_edge=edges[0], high_edge=edges[1])
    return f"{form[0]} {bounds}" if form[0] is not None else bounds


def _forms(
    estimate: float | None, ends: Range, *, point: bool
) -> Iterator[tuple[str | None, str | None, str | None]]:
    """The estimate and the ends in figures, with one more digit each time."""
    values = estimate, ends.low, ends.high
    known = [value for value in values if value is not None]
    width = ends.high - ends.low if ends.low is not None and ends.high is not None else 0.0
    plain = not point and width > 1e-4 and max(map(abs, known)) < 1e5
    for more in range(MORE_DIGITS):
        if plain:
            estimated, low, high = (_rounded(v, _decimals(ends) + more) for v in values)
        else:
            estimated, low, high = (None if v is None else number(v, 3 + more) for v in values)
        yield estimated, low, high


def _apart(form: Sequence[str | None], region: Range) -> bool:
    """Whether the printed interval is beyond the printed edge of the region."""
    low, high = (
        _read(text, end) for text, end in zip(form[1:], (-math.inf, math.inf), strict=True)
    )
    left, right = (_read(number(end, 4), end) for end in region.ends)
    return low > max(right, region.ends[1]) or high < min(left, region.ends[0])


def _read(text: str | None, otherwise: float) -> float:
    return otherwise if text is None or "∞" in text else float(text.replace(",", ""))


def _decimals(ends: Range) -> int:
    """As many decimals as the distance of two ends deserves."""
    width = ends.ends[1] - ends.ends[0]
    return max(0, 1 - math.floor(math.log10(width))) if 0 < width < math.inf else 0


def _rounded(value: float | None, decimals: int) -> str | None:
    """With so many decimals; adding 0.0 turns minus zero into zero."""
    return None if value is None else f"{round(value, decimals) + 0.0:.{decimals}f}"


def region(found: ComponentRow | ControlRow | None) -> str:
    """The region of a component or control; a dash for none."""
    return "–" if found is None or found.region is None else bounds(found.region)


def bounds(ends: Range) -> str:
    """A range as `[0.97, 1.03]`, as `≤ 1e-9` with one edge, or as `1 ± 1e-6` close to 1."""
    if ends.low is None and ends.high is None:
        return "anything"
    if ends.low is None:
        return f"≤ {number(ends.high, 4)}"
    if ends.high is None:
        return f"≥ {number(ends.low, 4)}"
    if _about_one(ends) and math.isclose(ends.high - 1, 1 - ends.low, rel_tol=1e-6):
        return f"1 ± {number(ends.high - 1, 2)}"
    largest, width = max(abs(ends.low), abs(ends.high)), ends.high - ends.low
    digits = max(4, 2 + math.ceil(math.log10(largest / width))) if width > 0 else 4
    return f"[{number(ends.low, digits)}, {number(ends.high, digits)}]"


def seconds(value: float) -> str:
    """A duration: `0.4 s`, `38 s`, `6 min 05 s`, `2 h 10 min`."""
    if value < 10:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    minutes = round(value / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min"


def component_names(claim: ClaimRow) -> list[str]:
    """What each component of a claim is about.

    Cells are named by the parameters in which they differ, exponents by their parameter.
    """
    settings = [component.params for component in claim.components]
    keys = {key for params in settings for key in params}
    differ = {key for key in keys if len({params.get(key) for params in settings}) > 1}
    names = []
    for component in claim.components:
        params = component.params
        differing = {key: value for key, value in params.items() if key in differ}
        name = component_name(claim, component, differing or params)
        names.append(f"exponent of {name}" if claim.rule.scale == "exponent" else name)
    return names


def component_name(claim: ClaimRow, component: ComponentRow, params: Parameters) -> str:
    """A component by these of its parameters, or by its name where it has none."""
    return parameters(params, claim.symbols) or symbol(component.name, claim.symbols)


def reason(claim: ClaimRow) -> str:
    """Why the claim is in its state, as a sentence."""
    told = sentence(claim.reason) if claim.reason else ""
    return f"{standing(claim)} {told}".strip() if claim.state == "DECIDED" else told


def standing(claim: ClaimRow) -> str:
    """Where the bounds lie and whether controls are refuted, as a sentence; empty without any."""
    head = claim.head
    if head is None:
        return ""
    total = len(claim.components)
    verdicts = [component.verdict for component in claim.components]
    for verdict, where in (
        (Verdict.REFUTED, "lie outside the region"),
        (Verdict.INCONCLUSIVE, "cross an edge of the region"),
    ):
        if count := verdicts.count(verdict):
            whose, at = "The bounds", ""
            if total > 1:
                whose += f" of {count} of {total} components"
                at = f", worst at {component_name(claim, head, head.params)}"
            return f"{whose} {where}{at}: {bounds(head.shown)} against {bounds(head.region)}."
    several = "both" if total == 2 else f"all {total}"
    inside = f"The bounds of {several} components lie inside their regions"
    if total == 1:
        inside = "The bounds lie inside the region"
    missed = [control.id for control in claim.controls if control.verdict != "REFUTED"]
    if missed:
        plural = "s" * (len(missed) > 1)
        return f"{inside}, but the data do not refute the control{plural} {', '.join(missed)}."
    return f"{inside} and every control is refuted." if claim.controls else f"{inside}."


def claims(number: int) -> str:
    """`1 claim`, `2 claims`."""
    return f"{number} claim{'s' * (number != 1)}"


def sentence(text: str) -> str:
    """The text with a full stop and a capital first letter, unless that is a symbol, as in `d > 8`.

    >>> sentence("d >= 12"), sentence("a mean")
    ('d >= 12.', 'A mean.')
    """
    text = text.strip()
    first = text[:1] if SYMBOL.match(text) else text[:1].upper()
    return first + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def resolution(claim: ClaimRow) -> str:
    """The smallest error that the data would have refuted; a dash where nothing was decided."""
    if claim.state != "DECIDED":
        return "–"
    if claim.resolution is None:
        return "no finite error would have been refuted"
    scale, value = claim.rule.scale, claim.resolution
    percent = f"{value:.1%}" if value >= 1e-3 else f"{100 * value:.2g}%"
    return RESOLUTION[scale].format(percent if scale in ("ratio", "share") else value)


def noticed(claim: ClaimRow) -> str:
    """The smallest error that would have been refuted in a few words, such as `constant 5.3%`."""
    if claim.state != "DECIDED" or claim.resolution is None:
        return "–"
    words = resolution(claim).split()
    figure = next(word for word in words if any(map(str.isdigit, word)))
    return f"{words[1]} {figure}"


def certificate(claim: ClaimRow) -> str:
    """How probable it is to refute the claim wrongly, and how that is known; empty if it is not."""
    if claim.certificate is None:
        return ""
    how = "certified on values simulated under other seeds"
    return f"wrongly refuted with probability at most {number(claim.certificate, 2)}, {how}"


def draws(claim: ClaimRow) -> str:
    """What it costs that evidence was drawn more than once; empty if it was not."""
    sets = claim.draws
    text = f"evidence set {claim.draw} of {sets}: at most {sets} times alpha"
    return text * (sets > 1)


def not_shown(claim: ClaimRow, tier: str = "") -> str:
    """What a verdict does not say; `tier` is that of the run."""
    cells = f"the {len(claim.cells)} cells judged here" if len(claim.cells) > 1 else "its one cell"
    hunt = claim.hunt
    if hunt is None or not hunt.tried:
        searched = "Its regime was not searched for a violation."
    else:
        searched = f"A hunt tried {hunt.tried} other points of its regime, on little data."
    others = [name for name in claim.tiers if name != tier]
    whose = f"tier{'s' * (len(others) > 1)} {' and '.join(others)}"
    beside = f" The cells of {whose} were not judged." * bool(tier and others)
    return f"Anything beyond {cells}. {searched}{beside}"


def parameters(params: Parameters, symbols: Mapping[str, str]) -> str:
    """Parameters by the paper's letters and in its order, for example `V = 1024, L = 32`."""
    names = [name for name in symbols if name in params]
    names += [name for name in params if name not in symbols]
    return ", ".join(f"{symbol(name, symbols)} = {setting(params[name])}" for name in names)


def symbol(name: str, symbols: Mapping[str, str]) -> str:
    """The paper's letter of a parameter, or its name in words."""
    return symbols.get(name, name.replace("_", " "))


def axis(name: str, symbols: Mapping[str, str]) -> str:
    """The label of a parameter's axis: its name in words and the paper's letter."""
    return " ".join(filter(None, (name.replace("_", " "), symbols.get(name))))


def setting(value: Any) -> str:
    """The value of a parameter."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, float) else str(value)
