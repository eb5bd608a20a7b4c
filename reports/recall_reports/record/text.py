"""Text from anywhere, cleaned so that every form of a report can hold it."""

import re
from functools import lru_cache
from typing import Any

# C0 without tab and newline, DEL and C1, marks without width or that turn the writing direction,
# line separators, surrogates, and the two code points that XML lacks.
CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufffe\uffff]"
)


@lru_cache(maxsize=2**14)  # a record repeats its keys and words
def clean(text: str) -> str:
    r"""Escape a text's control characters and surrogates, like ``\x1b``."""
    return CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def line(text: str) -> str:
    r"""Clean a text, and write it in one line with escaped line ends.

    >>> print(line("claims/a\n::error::"))
    claims/a\n::error::
    """
    return clean(text).replace("\n", r"\n")


def cleaned(plain: Any) -> Any:
    """Clean every text, including keys, in plain JSON types and tuples.

    Raises:
        RecursionError: the values are nested hundreds deep.
    """
    if isinstance(plain, str):
        return clean(plain)
    if isinstance(plain, dict):
        return {cleaned(key): cleaned(value) for key, value in plain.items()}
    if isinstance(plain, list | tuple):
        return type(plain)(map(cleaned, plain))
    return plain
