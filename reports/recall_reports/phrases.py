"""The phrases, symbols and numbers that all reports share, so that no two reports disagree."""

import html
import re
from collections.abc import Iterable, Mapping
from typing import Any

from recall_reports import figures
from recall_reports.record import ClaimRow, ComponentRow, Parameters
from recall_reports.record.values import Verdict

SYMBOL = re.compile(r"[b-z](?![a-z])")
"""Pattern of a text's start that is a quantity's letter, not an article."""

WORDS = re.compile(r"\\(?:mathrm|mathbf|operatorname|text)\{[^}]*\}|\bd[a-z]\b")
"""Pattern of LaTeX with letters that denote no quantity."""

LETTER = re.compile(
    r"(?P<base>(?:\\(?:bar|hat)\b ?\{?)?(?:\\[a-zA-Z]+|[a-zA-Z]))"
    r"(?:_(?:\{[^{}]*\}|\\[a-zA-Z]+|.))?(?:'|\^\*)?"
)
"""Pattern of a letter in LaTeX, with its accent, its index, and a prime or star."""

AS_EXPECTED = "false, as expected"
"""The state of a claim that is refuted, as expected."""

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

ABBREVIATED = {
    "dim": "dimension",
    "vocab": "vocabulary",
    "eta": "step size",
    "gamma": "size of later steps",
}
"""Abbreviations in parameters' names, with the words that reports print."""
PILOT = "region from a pilot"

PLACES = {
    Verdict.SUPPORTED: "inside",
    Verdict.REFUTED: "beyond an edge",
    Verdict.INCONCLUSIVE: "undecided",
}

PROVENANCE = {
    "stated": "in the paper's own abstract",
    "reported": "from reviews, notes, released code or figures",
    "derived": "our own derivation, which turns a stated or reported result into numbers",
}

RESOLUTION = {
    "ratio": "a constant off by {}",
    "difference": "a value off by {}",
    "probability": "a probability off by {}",
    "exponent": "an exponent off by {}",
    "share": "a map wrong on {} more of its points",
    "error": "an identity violated by {}",
}


USUAL = "usual analysis, 95%"
"""The heading of the analysis of components by statsmodels, which decides nothing."""


def usually(claim: ClaimRow) -> str:
    """Say in a sentence how the usual analysis of a claim is made."""
    if claim.rule.name == "CriticalLocation":
        how = "a probit curve through the shares; none fits where they separate completely"
    elif claim.rule.scale == "exponent":
        how = "a log-linear fit, weighted by the cells' standard errors"
    else:
        how = "Student's interval for a mean, Wilson's for a share of successes"
    return f"The {USUAL}: {how}. It decides nothing."


def state(claim: ClaimRow) -> str:
    """Return a claim's state: its verdict, or AS_EXPECTED; NOT RUN or ERROR without a verdict."""
    if claim.expected == claim.verdict == "REFUTED":
        return AS_EXPECTED
    return claim.verdict or claim.state


def label(claim: ClaimRow) -> str:
    """Write a claim's state with its symbol, for example `✓ false, as expected`."""
    return f"{SYMBOLS[state(claim)]} {state(claim)}"


def tone(state: str) -> str:
    """Return the style sheet's class for a state."""
    return state.lower().replace(",", "").replace(" ", "-")


def title(claim: ClaimRow) -> str:
    """Write the claim's title, with a note if its region only reproduces a pilot run."""
    return f"{claim.title} ({PILOT})" if claim.from_pilot else claim.title


def caught(claim: ClaimRow) -> tuple[int, int]:
    """Count a claim's refuted controls, and all its controls."""
    return sum(control.verdict == "REFUTED" for control in claim.controls), len(claim.controls)


def controls(claim: ClaimRow) -> str:
    """Write the refuted controls of all controls, for example `3/3`; a dash if none was tried."""
    refuted, total = caught(claim)
    return f"{refuted}/{total}" if claim.state == "DECIDED" and total else "–"


def evidence(claim: ClaimRow) -> str:
    """Say where the claim's blocks came from."""
    blocks = claim.blocks
    if blocks.total and not blocks.recomputed:
        return "all blocks came from the ledger"
    return ", ".join(f"{count} {why}" for why, count in sorted(blocks.recomputed.items()))


def rounds(count: int) -> str:
    """Say how often a claim was judged, for example `2 rounds`."""
    return f"{count} round{'s' * (count != 1)}"


def judged(claim: ClaimRow) -> str:
    """Write how often the claim was judged, and how many sample sizes of a cell were planned.

    Cells take turns, so there can be more rounds than sample sizes.
    """
    sizes = claim.looks_planned
    return f"{rounds(claim.looks)}; at most {sizes} size{'s' * (sizes != 1)} of a cell"


def replicates(claim: ClaimRow) -> str:
    """Write the replicates in all and per cell, for example `3,840, 64 to 512 per cell`."""
    total, counts = f"{claim.replicates:,}", {cell.replicates for cell in claim.cells}
    if len(claim.cells) < 2:
        return total
    low, high = min(counts), max(counts)
    return f"{total}, {low:,}{f' to {high:,}' if high > low else ''} per cell"


def divided(claim: ClaimRow) -> str:
    """Say that a claim's blocks did not fit into memory; empty if they did."""
    count, total = claim.blocks.divided, claim.blocks.total
    return f"{count} of {total} blocks simulated in parts because memory ran out" * (count > 0)


def seconds(value: float) -> str:
    """Write a duration: `0.4 s`, `38 s`, `6 min 05 s`, `2 h 10 min`."""
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
    """Name each component by the parameters in which components differ.

    If no parameters differ, the name has all of them. Without any, a component keeps its name.
    The name of an exponent begins with `exponent of`.
    """
    differ = {*_differing(claim)}
    names = []
    for component in claim.components:
        params = component.params
        differing = {key: value for key, value in params.items() if key in differ}
        name = component_name(claim, component, differing or params)
        names.append(f"exponent of {name}" if claim.rule.scale == "exponent" else name)
    return names


def varying(claim: ClaimRow) -> list[str]:
    """List the parameters that distinguish a claim's components.

    The list is empty for exponents, and for a single parameter, which the names contain.
    """
    found = _differing(claim)
    return found if len(found) > 1 and claim.rule.scale != "exponent" else []


def _differing(claim: ClaimRow) -> list[str]:
    settings = [component.params for component in claim.components]
    keys = dict.fromkeys(key for params in settings for key in params)
    names = _in_order(keys, claim.symbols)
    return [name for name in names if len({params.get(name) for params in settings}) > 1]


def _in_order(names: Iterable[str], symbols: Mapping[str, str]) -> list[str]:
    """Sort names of parameters as the paper does, others last."""
    order = list(symbols)
    return sorted(names, key=lambda name: order.index(name) if name in order else len(order))


def component_name(claim: ClaimRow, component: ComponentRow, params: Parameters) -> str:
    """Name a component by the given parameters; by its own name if none are given."""
    return parameters(params, claim.symbols) or symbol(component.name, claim.symbols)


def reason(claim: ClaimRow) -> str:
    """Say in a sentence why the claim is in its state."""
    told = sentence(claim.reason) if claim.reason else ""
    return f"{standing(claim)} {told}".strip() if claim.state == "DECIDED" else told


def standing(claim: ClaimRow) -> str:
    """Say in a sentence where the bounds lie and, if inside, whether controls are refuted; empty
    without components."""
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
            shown, region = figures.bounds(head.shown), figures.bounds(head.region)
            return f"{whose} {where}{at}: {shown} against {region}."
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
    """Write a number of claims: `1 claim`, `2 claims`."""
    return f"{number} claim{'s' * (number != 1)}"


def sentence(text: str) -> str:
    """Add a full stop and a capital first letter, unless that is a symbol, as in `d > 8`.

    >>> sentence("d >= 12"), sentence("a mean")
    ('d >= 12.', 'A mean.')
    """
    text = text.strip()
    first = text[:1] if SYMBOL.match(text) else text[:1].upper()
    return first + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def resolution(claim: ClaimRow) -> str:
    """Write the smallest error that the data would have refuted; a dash if nothing was decided."""
    if claim.state != "DECIDED":
        return "–"
    if claim.resolution is None:
        return "in one direction, no finite error would have been refuted"
    if claim.resolution == 0:
        return "any error, however small"
    scale, value = claim.rule.scale, claim.resolution
    if scale not in ("ratio", "share"):
        return RESOLUTION[scale].format(figures.number(value, 2))
    return RESOLUTION[scale].format(f"{figures.two_figures(100 * value)}%")


def noticed(claim: ClaimRow) -> str:
    """Write in few words the smallest error that data would refute: `constant 5.3%`, or a dash."""
    if claim.state != "DECIDED" or not claim.resolution:
        return "–"
    words = resolution(claim).split()
    figure = next(word for word in words if any(map(str.isdigit, word)))
    return f"{words[1]} {figure}"


def certificate(claim: ClaimRow) -> str:
    """State the probability of a wrong refutation and how we know it; empty if unknown."""
    if claim.certificate is None:
        return ""
    how = "certified on values simulated under other seeds"
    return f"wrongly refuted with probability at most {figures.number(claim.certificate, 2)}, {how}"


def at_each_look(claim: ClaimRow) -> bool:
    """Whether looks share the claim's error probability: its alpha is then one look's level."""
    shared = not claim.rule.exact or "the looks share" in claim.rule.method  # as laws' do
    return shared and claim.looks_planned > 1


def draws(claim: ClaimRow) -> str:
    """State the error bound over all attempts; empty after a single attempt."""
    sets = claim.draws
    text = f"attempt {claim.draw} of {sets}: together at most {sets} times the claim's slot"
    return text * (sets > 1)


def not_shown(claim: ClaimRow, tier: str = "") -> str:
    """State the limits of a verdict in the run's tier."""
    cells = f"the {len(claim.cells)} cells judged here" if len(claim.cells) > 1 else "its one cell"
    hunt = claim.hunt
    if hunt is None or not hunt.tried:
        searched = "Its regime was not searched for a violation."
    else:
        searched = f"A hunt tried {hunt.tried} other points of its regime, on little data."
    grid = claim.declared.get(f"grid of {tier}", "unknown")
    others = [n for n in claim.tiers if n != tier and claim.declared.get(f"grid of {n}") != grid]
    whose = (
        f"tiers {' and '.join(others)} have" if len(others) > 1 else f"tier {''.join(others)} has"
    )
    beside = f" Cells that only {whose} were not judged." * bool(tier and others)
    return f"Anything beyond {cells}. {searched}{beside}"


def parameters(params: Parameters, symbols: Mapping[str, str]) -> str:
    """Write parameters with the paper's letters, in its order, such as `V = 1024, L = 32`."""
    names = _in_order(params, symbols)
    return ", ".join(f"{symbol(name, symbols)} = {setting(params[name])}" for name in names)


def letters(claim: ClaimRow, others: Mapping[str, str]) -> str:
    """Explain the letters in a claim's formula: `$V$ vocabulary size, $L$ length`.

    `others` maps further letters, in LaTeX, to their meanings, which come last.
    """
    marks = list(LETTER.finditer(WORDS.sub(" ", claim.latex)))
    found = {_plain(text) for mark in marks for text in (mark[0], mark["base"])}
    named: dict[str, list[str]] = {}
    for name, letter in claim.symbols.items():
        if not claim.cells or name in claim.cells[0].params:
            named.setdefault(letter, []).append(in_words(name))
    if claim.plot is not None and claim.plot.words:
        named = {letter: [words] for letter, words in claim.plot.words.items()}
    told = {at: " or ".join(names) for at, names in named.items() if _plain(at) in found}
    plain, used = {*map(_plain, told)}, {mark[0] for mark in marks}
    told |= {at: text for at, text in others.items() if at in used and _plain(at) not in plain}
    return ", ".join(f"${at}$ {text}" for at, text in told.items())


def _plain(letter: str) -> str:
    r"""Write a letter in Unicode without its index's mark: `\alpha_0` and `α₀` alike.

    >>> _plain(r"\alpha_0"), _plain("α₀")
    ('α0', 'α0')
    """
    text = re.sub(r"\\([a-z]+)", r"&\1;", letter).translate(str.maketrans("₀ₕ", "0h", "_{}"))
    return html.unescape(text)


def symbol(name: str, symbols: Mapping[str, str]) -> str:
    """Return the paper's letter for a parameter, or else its name in words."""
    return symbols.get(name, in_words(name))


def in_words(name: str) -> str:
    """Write a parameter's name without abbreviations."""
    return " ".join(ABBREVIATED.get(word, word) for word in name.split("_"))


def axis(name: str, symbols: Mapping[str, str]) -> str:
    """Label a parameter's axis: its name in words and the paper's letter."""
    return " ".join(filter(None, (in_words(name), symbols.get(name))))


def setting(value: Any) -> str:
    """Write the value of a parameter."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return figures.number(value) if isinstance(value, float) else str(value)
