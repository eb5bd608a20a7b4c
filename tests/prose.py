"""Check the pages against the rules of `.github/CONTRIBUTING.md` that a machine can check.

    python -m tests.prose            # every page
    python -m tests.prose FILE ...   # these pages

A sentence has at most 30 words. It does not begin with "What", "Those" or "Who", unless it is a
question or a heading. A heading, paragraph, list item or table cell has at most one semicolon. No
page uses a word of `BANNED`, except in quotations. Comments, blocks of code or formulas and
addresses of links are left out. Code or a formula within a line counts as one word.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[1]
FOLDERS = (".github", "claims", "reports", "simulation", "tests", "theory")
MADE = (
    "reports/latest/",
    "reports/part/",
    "reports/reference/",
    "tests/benchmarks/",
    "tests/calibration/",
)
"""Folders of pages that a program writes, or that quote its output."""

WORDS = 30
BANNED = {
    r"as declared": "as expected",
    r"evidence sets?": "attempt",
    r"worlds?": "resampled data set",
    r"spend(s|ing)?|spent": "use",
    r"tells?|told": "show, say, list",
    r"bears?|bore|borne": "allow",
    r"quiet|blunt|firm": "weak, soft, large",
    r"mend(s|ed|ing)?": "fix",
    r"rungs?|ladders?": "test sizes",
    r"anew": "again",
    r"in place of": "instead of",
    r"besides?": "next to, as well as",
    r"(those|that) of": "repeat the noun",
    r"of (your|their|its|one's|our) own": "your own, its own",
    r"the press has it|as a reader has it": "name and cite the source",
    r"(bits?|facts?|items?|patterns?|seconds) an? (weight|claim|dimension|token)": "per",
    r"whoever|whichever|whosoever": "name the subject",
    r"stands? (in|once|for|beside)": "is",
}
"""Patterns of words that are not used, and what to write instead."""
_BANNED = [(re.compile(rf"\b(?:{word})\b", re.I), instead) for word, instead in BANNED.items()]
_NOMINAL = re.compile(r"(What|Those|Who)\b[^?]*[.!]$")

_READER = MarkdownIt().enable("table")
_LEFT_OUT = re.compile(r"<!--.*?-->|\A---\n.*?^---\n|^\$\$.*?\$\$", re.S | re.M)
_ONE_WORD = re.compile(r"`[^`]*`|\$[^$]+\$")
_QUOTED = re.compile(r"[\"“][^\"”]*[\"”]|\*[A-Z][^*]{20,}\*")
_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_SENTENCE = re.compile(r"(?<=[.!?])[)\"”*]* +(?=[(\"“*]*[A-Z0-9`X])")


def pages() -> list[Path]:
    """Return the README and every page in `FOLDERS`, except pages in `MADE`."""
    found = (file for folder in FOLDERS for file in (ROOT / folder).rglob("*.md"))
    written = (file for file in found if not str(file.relative_to(ROOT)).startswith(MADE))
    return [ROOT / "README.md", *sorted(written)]


def blocks(text: str) -> Iterator[str]:
    """Yield each heading, paragraph, list item and table cell as one line."""
    for token in _READER.parse(_LEFT_OUT.sub("\n\n", text)):
        if token.type == "inline":
            yield " ".join(token.content.split())


def faults(text: str) -> list[str]:
    """List the faults of a page's text, a line for each."""
    found = []
    for block in blocks(text):
        plain = _ONE_WORD.sub("X", _LINK.sub(r"\1", block))
        if plain.count(";") > 1:
            found.append(f"{plain.count(';')} semicolons: {plain}")
        for sentence in _SENTENCE.split(plain):
            words = len(re.findall(r"[\w’'.,^/*+=<>~-]*\w[\w’'.,^/*+=<>~-]*", sentence))
            if words > WORDS:
                found.append(f"{words} words: {sentence}")
            if _NOMINAL.match(sentence):
                found.append(f"nominal clause as subject: {sentence}")
        unquoted = _QUOTED.sub("X", plain)
        for word, instead in _BANNED:
            found += [f"{at[0]!r}, write {instead!r}: {plain}" for at in word.finditer(unquoted)]
    return found


def main(files: Iterable[Path]) -> int:
    """Print the faults of pages; return 1 if there are any, else 0."""
    lines = [f"{file}: {fault}" for file in files for fault in faults(file.read_text("utf-8"))]
    print(*lines, sep="\n")
    return min(len(lines), 1)


if __name__ == "__main__":
    sys.exit(main(map(Path, sys.argv[1:]) if sys.argv[1:] else pages()))
