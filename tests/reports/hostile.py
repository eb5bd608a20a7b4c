"""Text that would run, load, format or steer something, in records that have it everywhere."""

from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from recall_reports.record import ClaimRow, Record, SourceRow

WORDS = ("version", "verdict", "state", "outcome", "expected", "scale", "kind", "log")
"""Fields that take one of a few words; a claim's id and provenance are no free text either."""
MARKDOWN = (
    "`![x](https://evil.example/i.png)` **Nothing changed** _x_ ~~x~~ <img src=x> [x](y) | a |",
    "\n\n` `` @somebody a@b.co #1 o/r#2 GH-3 https://evil.example www.evil.example &#64;x $x^2$ \\",
)
CONTROL = "\x1b[2J\x1b]0;title\x07\x9b31m\u202e\ud800\r"


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


def text(address: str) -> str:
    """All attacks in one, plain and in formulas."""
    texts = attacks(address)
    inside = [rf"$\text{{{text}}}$" for text in texts]
    inside.append(rf"$\href{{javascript:ran=1}}{{x}} \style{{background:url({address}/tex)}}{{x}}$")
    return " ".join(["'\">", "</title></style></noscript>", *texts, *inside, CONTROL, *MARKDOWN])


def everywhere(record: Record, attack: str) -> Record:
    """The record with an attack at the end of each of its texts and keys."""

    def attacked(value: Any) -> Any:
        if isinstance(value, Struct):
            fixed = WORDS + ("id",) * isinstance(value, ClaimRow)
            fixed += ("provenance",) * isinstance(value, SourceRow)
            free = {name: part for name, part in asdict(value).items() if name not in fixed}
            return replace(value, **{name: attacked(part) for name, part in free.items()})
        if isinstance(value, dict):
            return {attacked(key): attacked(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(map(attacked, value))
        return value + attack if isinstance(value, str) else value

    found: Record = attacked(record)
    return found
