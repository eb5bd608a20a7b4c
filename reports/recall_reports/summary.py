"""What a run amounts to: one sentence, what needs attention, the state of each statement."""

from collections import Counter
from typing import Any

from recall_reports import words
from recall_reports.record import Record

PHRASES = {
    "SUPPORTED": "SUPPORTED",
    "as declared": "REFUTED as declared",
    "REFUTED": "REFUTED",
    "SURVIVES": "SURVIVES",
    "BREAKS": "BREAKS",
    "INCONCLUSIVE": "INCONCLUSIVE",
    "NOT RUN": "NOT RUN",
    "ERROR": "ERROR",
}


def count(claims: list[dict[str, Any]]) -> dict[str, int]:
    """How many claims are in each state; those refuted as declared stand apart."""
    found = Counter("as declared" if words.declared(c) else words.state(c) for c in claims)
    return {state: found[state] for state in PHRASES if found[state]}


def sentence(report: Record) -> str:
    """The outcome of the run in one sentence, and one more for exploratory claims."""
    claims, beyond = split(report)
    sentences = [_outcome(claims)] if claims or not beyond else []
    if beyond:
        sentences.append(f"Beyond the theorems: {list_states(beyond)}.")
    return " ".join(sentences)


def split(report: Record) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The claims on theorems, and the exploratory ones, which never fail a run."""
    claims = [claim for claim in report["claims"] if not claim.get("exploratory")]
    return claims, [claim for claim in report["claims"] if claim.get("exploratory")]


def by_paper(claims: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The claims by the key of their paper, in the order of the record."""
    found: dict[str, list[dict[str, Any]]] = {}
    for claim in claims:
        found.setdefault(claim["source"]["paper"], []).append(claim)
    return found


def overview(report: Record) -> list[dict[str, Any]]:
    """How many claims of each paper are in each state; exploratory ones count like the others."""
    return [
        {
            "paper": paper,
            "title": members[0]["source"].get("title", ""),
            "claims": len(members),
            "counts": count(members),
        }
        for paper, members in by_paper(report["claims"]).items()
    ]


def alike(claims: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The claims that share verdict and provenance, together."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for claim in claims:
        found.setdefault((words.label(claim), claim["provenance"]), []).append(claim)
    return list(found.values())


def controls(report: Record) -> tuple[int, int]:
    """Planted wrong theories that were refuted, and all that were tried."""
    tried = [words.caught(claim) for claim in report["claims"] if claim["state"] == "DECIDED"]
    return sum(refuted for refuted, _ in tried), sum(planted for _, planted in tried)


def combined(claims: list[dict[str, Any]]) -> str:
    """One state for several claims: the worst of those on theorems.

    What is refuted as declared counts as it is meant, as a success; it shows where nothing else is
    there to show. Exploratory claims of different verdicts are "exploratory".
    """
    on_theorems = [claim for claim in claims if not claim.get("exploratory")]
    found = count(on_theorems)
    for state in ("ERROR", "REFUTED", "INCONCLUSIVE", "SUPPORTED", "as declared", "NOT RUN"):
        if state in found:
            return "REFUTED" if state == "as declared" else state
    beyond = count(claims)
    return next(iter(beyond), "no claim") if len(beyond) < 2 else "exploratory"


def tried(claims: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that were run. Tables leave out the others, which `attention` lists with the reason."""
    return [claim for claim in claims if claim["state"] != "NOT RUN"]


def _outcome(claims: list[dict[str, Any]]) -> str:
    if not claims:
        return "No claim was selected."
    tally = list_states(claims)
    outcomes = Counter(claim["outcome"] for claim in claims)
    total = f"{len(claims)} claim{'s' * (len(claims) > 1)}"
    if outcomes["failed"]:
        verb = "fails" if outcomes["failed"] == 1 else "fail"
        return f"{outcomes['failed']} of {total} {verb}: {tally}."
    if outcomes["skipped"] == len(claims):
        return f"No claim was decided: {tally}."
    if outcomes["skipped"]:
        left = [claim for claim in claims if claim["outcome"] == "skipped"]
        why = "not run" if not tried(left) else "undecided"
        return f"No claim fails, {len(left)} of {total} {why}: {tally}."
    return f"{'The one claim passes' if len(claims) == 1 else f'All {total} pass'}: {tally}."


def list_states(claims: list[dict[str, Any]]) -> str:
    """The states of at least one claim, counted, for example `8 SUPPORTED and 1 NOT RUN`."""
    parts = [f"{number} {PHRASES[state]}" for state, number in count(claims).items()]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def attention(report: Record) -> list[list[dict[str, Any]]]:
    """The claims that failed or were left undecided, failures first.

    Claims that were not run for the same reason are one entry; every other has its own.
    """
    entries: dict[object, list[dict[str, Any]]] = {}
    for claim in report["claims"]:
        if claim["outcome"] != "passed":
            key = claim["reason"] if claim["state"] == "NOT RUN" else (claim["id"],)
            entries.setdefault(key, []).append(claim)
    return sorted(entries.values(), key=lambda entry: entry[0]["outcome"] != "failed")


def groups(claims: list[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """The claims by paper and file, named in words, in the order of the record."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for claim in claims:
        found.setdefault((claim["source"]["paper"], claim["file"]), []).append(claim)
    return [(f"Paper {paper}: {_in_words(file)}", group) for (paper, file), group in found.items()]


def _in_words(file: str) -> str:
    """The subject of a claim file, from its name."""
    name = file.rpartition("/")[2].removesuffix(".py").removeprefix("test_")
    return " ".join("MLP" if word == "mlp" else word for word in name.split("_"))


def statements(report: Record) -> list[dict[str, Any]]:
    """The papers' statements, each with the claims of this run that put it to the test."""
    return _with_claims(report, "statements")


def derivations(report: Record) -> list[dict[str, Any]]:
    """The files that formulas come from, each with the claims of this run that cite it."""
    return _with_claims(report, "derivations")


def _with_claims(report: Record, kind: str) -> list[dict[str, Any]]:
    claims = {claim["id"]: claim for claim in report["claims"]}
    return [
        {
            **entry,
            "rests_on": entry.get("rests_on", []),
            "claims": [claims[name] for name in entry["claims"]],
        }
        for entry in report.get(kind, [])
    ]
