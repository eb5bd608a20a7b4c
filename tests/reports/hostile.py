"""Text that would run or load something, and records that have it wherever they take text."""

from typing import Any

from latex2mathml import commands
from msgspec import Struct
from msgspec.structs import asdict, replace

from recall_reports.files import validated
from recall_reports.record import Claim, Record, Source

WORDS = ("version", "verdict", "state", "outcome", "expected", "scale", "kind", "log")
"""Fields that take one of a few words; a claim's id and provenance are no free text either."""


def attacks(address: str) -> list[str]:
    """Markup that sets the page's `ran`, or asks for something of the address."""
    return [
        "<script>ran=1</script>",
        f"<script src={address}/script></script>",
        f"<img src={address}/image onerror=ran=1>",
        f"<link rel=stylesheet href={address}/sheet>",
        f"<iframe src={address}/frame></iframe>",
        f"<p style=background:url({address}/style)>",
        "<svg onload=ran=1></svg>",
    ]


def everywhere(record: Record, address: str) -> Record:
    """The record with attacks in each of its texts and keys, plain and in formulas."""
    texts = attacks(address)
    inside = [rf"$\text{{{text}}}$" for text in texts]
    inside.append(rf"$\href{{javascript:ran=1}}{{x}} \style{{background:url({address}/tex)}}{{x}}$")
    attack = " ".join(["'\">", "</title></style></noscript>", *texts, *inside])

    def attacked(value: Any) -> Any:
        if isinstance(value, Struct):
            fixed = WORDS + ("id",) * isinstance(value, Claim)
            fixed += ("provenance",) * isinstance(value, Source)
            free = {name: part for name, part in asdict(value).items() if name not in fixed}
            return replace(value, **{name: attacked(part) for name, part in free.items()})
        if isinstance(value, dict):
            return {attacked(key): attacked(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(map(attacked, value))
        return value + attack if isinstance(value, str) else value

    return validated(attacked(record))


def formulas(address: str) -> list[str]:
    """Each command of the converter, and some that it lacks, with attacks for arguments."""
    tables = [value for value in vars(commands).values() if isinstance(value, str | dict | tuple)]
    known = {name for table in tables for name in ([table] if isinstance(table, str) else table)}
    names = {name for name in known if isinstance(name, str) and name[:1] == "\\"}
    names |= {rf"\{name}" for name in ("url", "id", "cssId", "data", "includegraphics", "unicode")}
    script, link = "<script>ran=1</script>", "javascript:ran=1"
    load = f"background:url({address}/tex)"
    return [
        form
        for name in sorted(names)
        for form in (
            f"{name}{{{script}}}{{{link}}}{{{load}}}",
            f"{name}{{{link}}}{{{script}}}",
            f"{name}{{{load}}}{{x}}",
            f"{name}[{script}]{{{link}}}",
        )
    ]
