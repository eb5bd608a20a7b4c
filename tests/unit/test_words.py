"""Pages, docstrings, comments and messages keep the rules of CONTRIBUTING that a machine can check.

`tests/prose.py` checks the pages, and lists the words that neither pages nor code use.
"""

import ast
import io
import re
import tokenize
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests import prose

CLAUSES = {
    *("how", "so", "such", "that", "these", "this", "those", "what", "when", "where", "which"),
    *("who", "whoever", "whose", "why"),
}
PREPOSITIONS = {
    *("above", "across", "after", "against", "along", "among", "as", "at", "because", "before"),
    *("beneath", "beside", "between", "beyond", "by", "during", "for", "from", "in", "into", "of"),
    *("on", "onto", "outside", "over", "since", "through", "to", "toward", "under", "until"),
    *("upon", "with", "within", "without"),
}
ARTICLES = {"a", "an", "the"}
SPARED = {r"of (your|their|its|one's|our) own"}
"""Patterns of `prose.BANNED` that code still uses."""
BANNED = [re.compile(rf"\b(?:{word})\b", re.I) for word in {*prose.BANNED} - SPARED]

CODE = re.compile(
    r"^ *(?:>>>|\.\.\. |\.\. math::)(?:.+\n?)*|``?[^`]*``?|\$\$[^$]*\$\$|\$[^$]*\$", re.M
)
ENTRY = re.compile(r"^ +\**\w+: (?=\S)", re.M)
"""The name of a parameter, an attribute or an error, before its explanation."""
VALUE = re.compile(r"\{\{.*?\}\}")
"""A value of a template."""
INLINE = re.compile(r"\{%-? (?:if|elif|else|endif).*?%\}|</?(?:a|b|code|em|i|span|strong)\b[^>]*>")
"""Conditions of a template and tags within a sentence."""
TAG = re.compile(r"\{#.*?#\}|\{%.*?%\}|<[^>]*>", re.S)
"""Other code and comments of a template, and tags between sentences."""
FOREIGN = re.compile(r"\\[A-Za-z,]|NOT NULL")
"""Pattern found in formulas and in SQL, which are no sentences."""
PART = re.compile(r"\n\s*\n|\n\s*(?=[-*|] |\d+\. )|:\n")
ROW = re.compile(r"\n  (?=\S+(?: \S+)?  )|\n {16}(?=\d )")
"""Begin of a row, or of an exit status, in the table of `pytest --help`."""
SENTENCE = re.compile(r"(?<=[.!?])[)\"”]?\s+(?=[A-Z\"“(])")

FOLDERS = ("theory", "simulation", "claims", "reports", "tests")
FILES = [
    str(path.relative_to(prose.ROOT))
    for folder in FOLDERS
    for path in sorted((prose.ROOT / folder).rglob("*.py"))
    if path.name not in ("prose.py", "test_words.py")
]


def docstrings(source: str) -> Iterator[tuple[str, ast.AST | None]]:
    """Yield each docstring and the node that it documents, or None for data."""
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        for before, found in pairwise([None, *body] if isinstance(body, list) else []):
            match found:
                case ast.Expr(ast.Constant(str(text))):
                    yield text, None if before else node


def comments(source: str) -> Iterator[str]:
    """Yield each comment; successive lines of comments are one."""
    kept: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            kept.append(token.string.lstrip("#: "))
        elif token.type != tokenize.NL and kept:
            yield " ".join(kept)
            kept = []


def messages(source: str) -> Iterator[str]:
    """Yield each string of at least four words that is not a docstring.

    X replaces each value of an f-string.
    """
    tree = ast.parse(source)
    left_out = {id(text) for node in ast.walk(tree) for text in _left_out(node)}
    for node in ast.walk(tree):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        if id(node) not in left_out and isinstance(node, ast.JoinedStr | ast.Constant):
            text = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "X" for part in parts
            )
            if len(re.findall(r"[A-Za-z]{2,}", text)) >= 4 and not FOREIGN.search(text):
                yield text


def _left_out(node: ast.AST) -> Iterator[ast.AST]:
    """Yield docstrings, and the parts of f-strings: an f-string is checked as a whole."""
    match node:
        case ast.Expr(ast.Constant() as text):
            yield text
        case ast.JoinedStr(values):
            yield from values


def broken(parts: list[str]) -> Iterator[str]:
    """Yield banned words and long sentences of a text in parts."""
    for part in parts:
        yield from (f"{at[0]!r}: {part[:80]}" for word in BANNED for at in word.finditer(part))
        for sentence in SENTENCE.split(part):
            words = re.findall(r"[^\W\d_][^\W_]+|\b[aAI]\b", sentence)
            if len(words) > prose.WORDS:
                yield f"{len(words)} words: {' '.join(sentence.split())}"


def wrong_messages(source: str) -> list[str]:
    """List the faults of a file's messages, a line for each."""
    plain = (CODE.sub("X", text) for text in messages(source))
    return [fault for text in plain for row in ROW.split(text) for fault in broken(PART.split(row))]


def faults(source: str, file: str = "") -> list[str]:
    """List the faults of a file's docstrings and comments, a line for each."""
    found, counted = [], file.startswith(("claims/", "simulation/")) and "recall_claims" not in file
    documented = [(text, node, True) for text, node in docstrings(source)]
    for text, node, begins in [*documented, *((text, None, False) for text in comments(source))]:
        first = re.split(r"\W", text.strip().lower(), maxsplit=1)[0]
        # The docstring of a claim or of a test is a sentence, which may begin with a preposition.
        stated = isinstance(node, ast.FunctionDef) and bool(node.decorator_list) and counted
        stated |= isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        refused = CLAUSES if stated else CLAUSES | PREPOSITIONS
        # Properties are data, and formulas may be named by the number that they give.
        if isinstance(node, ast.FunctionDef) and not (node.decorator_list or stated):
            refused = refused if file.startswith(("tests/", "theory/")) else refused | ARTICLES
        if begins and first in refused:
            found.append(f"begins with {first!r}: {text[:80]}")
        found += broken(PART.split(ENTRY.sub("\n\n", CODE.sub("X", text))))
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_and_comments_are_plain(folder: str) -> None:
    files = [file for file in FILES if file.startswith(f"{folder}/")]
    found = {
        file: broken
        for file in files
        if (broken := faults((prose.ROOT / file).read_text(encoding="utf-8"), file))
    }
    assert found == {}


CORPUS = "simulation/factual/language_model.py"
"""File of sentences that a model is trained on."""
SAID = [file for file in FILES if not file.startswith("tests/") and file != CORPUS]


@pytest.mark.parametrize("file", SAID)
def test_messages_are_plain(file: str) -> None:
    assert wrong_messages((prose.ROOT / file).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "page", sorted((prose.ROOT / "reports").rglob("*.j2")), ids=lambda page: page.name
)
def test_templates_use_plain_words(page: Path) -> None:
    text = TAG.sub("\n\n", INLINE.sub("", VALUE.sub("X", page.read_text(encoding="utf-8"))))
    code = page.name.endswith((".css.j2", ".js.j2"))
    assert [*broken(text.split("\n") if code else PART.split(text))] == []


@pytest.mark.parametrize("page", prose.pages(), ids=lambda page: str(page.relative_to(prose.ROOT)))
def test_every_page_keeps_the_rules(page: Path) -> None:
    assert prose.faults(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("paper", sorted((prose.ROOT / "claims/papers").glob("*.toml")))
def test_what_a_paper_is_said_to_state_keeps_the_rules(paper: Path) -> None:
    said = tomllib.loads(paper.read_text(encoding="utf-8"))
    texts = [said.get("summary", ""), *(one["text"] for one in said["statements"])]
    assert [fault for text in texts for fault in prose.faults(text)] == []
