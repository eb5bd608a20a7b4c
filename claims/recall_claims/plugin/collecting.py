"""The claims of a folder, as pytest collects them."""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import re
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from recall_claims.declare.claim import Claim
from recall_claims.model.errors import ClaimError
from recall_claims.plugin.item import ClaimItem
from recall_reports.record import ID


def collected(folder: Path) -> list[Claim]:
    """Return the claims that pytest collects in a folder; nothing is written.

    Raises:
        ClaimError: pytest cannot collect them, or there are none.
    """
    claims: list[Claim] = []

    def finish(session: pytest.Session) -> None:
        claims.extend(item.claim for item in session.items if isinstance(item, ClaimItem))

    found = SimpleNamespace(pytest_collection_finish=finish)
    hooks = importlib.import_module("recall_claims.plugin")  # -p would warn that it is loaded
    with (
        contextlib.redirect_stdout(io.StringIO()) as printed,
        tempfile.TemporaryDirectory() as nothing,  # so that no ledger is opened
    ):
        arguments = ["--collect-only", "-p", "no:cacheprovider", "--ledger", f"{nothing}/none"]
        status = pytest.main([str(folder), *arguments], plugins=[found, hooks])
    if status != pytest.ExitCode.OK or not claims:
        raise ClaimError(f"no claims could be collected in {folder}:\n{printed.getvalue()}")
    return claims


def claim_at(file: Path, line: int) -> str:
    """Return the id that a call around this line of a file gives to a claim; else nothing."""
    for call in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(call, ast.Call) and call.lineno <= line <= (call.end_lineno or 0):
            named = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "id")]
            for name in (str(getattr(part, "value", "")) for part in named):
                if "claim" in ast.unparse(call.func) and re.fullmatch(ID, name):
                    return name
    return ""
