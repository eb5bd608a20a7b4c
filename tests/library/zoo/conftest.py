"""Let pytest collect the claims of this folder, and add the paper that they cite."""

from pathlib import Path

from recall_claims import add_paper
from recall_claims.hook import pytest_addoption  # noqa: F401

add_paper(Path(__file__).with_name("paper.toml"))
