"""`--why`: which blocks came from the ledger, and why the others were simulated."""

from collections.abc import Iterator

from recall_claims.evidence.ledger import DAMAGED
from recall_reports import phrases
from recall_reports.record import Claim, Record

REASONS = {
    DAMAGED: "what the ledger had is no evidence, and was put aside",
    "new": "no such evidence so far",
    "registration": "another declaration or prediction",
    "seed": "another seed",
    "replicates": "another number of replicates a block",
    "dtype": "another floating-point type",
    "device": "another kind of device",
    "code": "other simulation code",
    "versions": "other versions of Python, numpy, scipy or torch",
}


def put_aside(record: Record) -> Iterator[str]:
    """A line for each claim of which the ledger had blocks that are no evidence."""
    for claim in record.claims:
        whys = claim.blocks.recomputed.items()
        count = sum(count for why, count in whys if why.startswith(DAMAGED))
        if count:
            yield (
                f"{claim.id}: {count} blocks of the ledger were no evidence; they were drawn again "
                "(--why says more, `python -m recall_claims ledger list` names them)"
            )


def line(claim: Claim) -> str:
    """Where a claim's blocks came from."""
    blocks = claim.blocks
    if blocks.kept is not None:
        return f"{claim.id}: not judged again, {phrases.evidence(claim)}"
    if not blocks.total:
        return f"{claim.id}: no blocks" + f", {claim.reason}" * bool(claim.reason)
    told = [f"{count} simulated: {in_words(why)}" for why, count in blocks.recomputed.items()]
    return "; ".join([f"{claim.id}: {blocks.total} blocks, {blocks.reused} from the ledger", *told])


def in_words(why: str) -> str:
    """A reason of the ledger, such as "seed and code changed (simulation.tokens)", in words."""
    reasons, _, modules = why.partition(" (")
    words = [REASONS[name] for name in reasons.removesuffix(" changed").split(" and ")]
    return " and ".join(words) + (f" ({modules}" if modules else "")
