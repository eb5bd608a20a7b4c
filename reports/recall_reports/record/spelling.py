"""Answer wrong words on a command line in one sentence with the right word."""

import argparse
import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

CHOICE = re.compile(r"invalid choice: '(.*?)' \(choose from (.*)\)", re.DOTALL)
UNKNOWN = re.compile("unrecognized arguments: (.*)", re.DOTALL)
OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*")
LONGEST = 100
"""Largest number of characters of a wrong word to repeat."""


def meant(word: str, known: Iterable[str], most: int = 1) -> str:
    """Return "did you mean" with up to `most` of these words; empty if none is near.

    >>> meant("smok", ["smoke", "standard"])
    ' (did you mean smoke?)'
    """
    near = difflib.get_close_matches(word, [*known], most)
    return f" (did you mean {' or '.join(near)}?)" * bool(near)


def meant_in(text: str, names: Iterable[str]) -> str:
    """Return "did you mean" for a text that is part of no name, with the nearest name or word.

    >>> meant_in("triger", ["A.trigger-signal"])
    ' (did you mean trigger?)'
    """
    whole = [*names]
    return meant(text, {*whole, *(word for name in whole for word in re.split("[.-]", name))})


def corrected(message: str, told: str) -> str:
    """Turn argparse's message about a wrong option or choice into a sentence; keep other messages.

    Args:
        message: message of argparse.
        told: help text, which names all options.
    """
    if found := UNKNOWN.search(message):
        word = found[1].split()[0][:LONGEST] if found[1].split() else found[1]
        if not word.startswith("-"):
            return f"there is no place for the argument {word!r}"
        name = word.partition("=")[0]
        return f"there is no option {name}{meant(name, OPTION.findall(told))}"
    if found := CHOICE.search(message):
        where, word = message[: found.start()].removeprefix("argument ").strip(" :"), found[1]
        words = re.findall(r"[\w-]+", found[2])
        return f"{where} {word[:LONGEST]}: it is one of {', '.join(words)}{meant(word, words)}"
    return message


class CommandLine(argparse.ArgumentParser):
    """A parser that answers a wrong word in one sentence, with the nearest right word."""

    def parse_known_args(  # type: ignore[override]  # its overloads differ in the namespace alone
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse, and refuse unknown arguments at once.

        A plain parser leaves a subcommand's unknown arguments to the main parser, whose help does
        not name the subcommand's options.
        """
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, unknown

    def error(self, message: str) -> NoReturn:
        """Print the corrected message, and exit with status 2."""
        said = corrected(message, self.format_help())
        self.exit(2, f"{self.prog}: {said}; `{self.prog} --help` lists all\n")
