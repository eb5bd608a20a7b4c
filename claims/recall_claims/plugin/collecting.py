"""The claims of a folder, as pytest collects them."""

from __future__ import annotations

import contextlib
import importlib
import io
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from recall_claims.declare.claim import Claim
from recall_claims.model.errors import ClaimError
from recall_claims.plugin.item import ClaimItem


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
