"""Options and ledgers that chance has spoilt: a clear error, or the same meaning."""

import hashlib
import shutil
import sqlite3
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recall_claims.errors import LedgerError
from recall_claims.evidence.cost import Costs
from recall_claims.evidence.draws import EvidenceSet
from recall_claims.evidence.ledger import BlockKey, BlockResult, Ledger
from recall_claims.evidence.validate import fault
from recall_claims.hunt.probe import Probe
from recall_claims.hunt.tables import HuntTables
from recall_claims.judge.region import Verdict
from recall_claims.plugin.housekeeping import held
from recall_claims.plugin.options import PATHS, VALUED
from recall_claims.plugin.session import ClaimSession

pytestmark = pytest.mark.thorough
SETTINGS = settings(
    max_examples=1_000,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

DEFAULTS = {
    **dict.fromkeys(VALUED),
    **dict.fromkeys(("--dry-run", "--pilot"), False),
    "--tier": "smoke",
    "--device": "cpu",
    "--seed": "0",
    "--error-budget": "0.001",
    "--executor": "serial",
    "--inconclusive": "fail",
    "--report-dir": "report",
    "--ledger": "ledger",
}
WORDS = st.sampled_from(
    [
        *("", "cpu", "cuda:", "fresh", "-1", "1e-3", "nan", "inf", "9" * 400, "0" * 40, "HEAD"),
        *("processes:", "dask:", "tcp://", "tls://[::1", "localhost", "127.0.0.1:1", "os:", "path"),
        *("/", "..", "~", "90s", "0m", "h", ":", "\u0663", "\u00b2", "%", "x" * 300),
        "report/report.json",
    ]
)
# What a command line cannot hold: NUL, and halves of a pair.
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
VALUES = st.one_of(TEXT, st.lists(WORDS, max_size=4).map("".join))


@SETTINGS
@given(given_options=st.dictionaries(st.sampled_from([*VALUED]), VALUES, min_size=1, max_size=3))
def test_options(given_options: dict[str, str], tmp_path: Path) -> None:
    for name in ("--tier", "--inconclusive"):  # of which argparse takes the declared ones alone
        given_options.pop(name, None)
    option = DEFAULTS | given_options
    asked = SimpleNamespace(keyword="", deselect=None)
    config: Any = SimpleNamespace(
        getoption=option.__getitem__, rootpath=tmp_path, option=asked, args=[]
    )
    try:
        session = ClaimSession(config)
    except ValueError:  # what pytest shows as a usage error
        return
    session.close()
    assert all(option[name] for name in given_options)
    assert 0 < session.settings.budget.probability <= 0.5
    assert 0 <= session.settings.seed < 2**63
    for name in PATHS:
        if name in given_options:
            (tmp_path / given_options[name]).exists()  # as any later call will: no error


KEYS = [
    BlockKey("claim", "reg", f"dim={dim}", 0, block, 4, "float64", "cpu", "code", "versions")
    for dim in (8, 16)
    for block in range(3)
]
DRAWN = EvidenceSet("claim", "smoke", "reg", "0", "code")
PROBE = Probe({"dim": 8}, "key", 0.5, Verdict.REFUTED, 0.1)
COLUMNS = {
    "blocks": (
        *("claim", "registration", "cell", "block", "replicates", "device", "code"),
        *("versions", "seconds", "checksum", "payload", "key", "seed"),
    ),
    "draws": ("number", "claim", "registration", "seed", "first_used", "link"),
    "codes": ("code", "modules"),
    "given_up": ("claim", "cell", "replicates", "seconds"),
    "probes": ("key", "point", "discrepancy", "verdict", "seconds"),
    "confirmations": ("number", "key", "verdict"),
}


def result(key: BlockKey) -> BlockResult:
    values = np.random.default_rng(key.block).normal(size=(2, 4))
    return BlockResult({"one": values[0], "two": values[1]}, 0.5)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger that has a row of everything."""
    path = tmp_path_factory.mktemp("whole") / "ledger"
    with Ledger(path) as ledger:
        for key in KEYS:
            ledger.put(key, result(key))
        ledger.register(DRAWN)
        ledger.remember_code("code", lambda: {"module": "1"})
        Costs(lambda: ledger, "cpu", dict).give_up(replace(KEYS[0], claim="other"), 2.0)
        hunts = HuntTables(ledger, 0)
        hunts.keep("claim", "code", PROBE)
        hunts.end_confirmation(hunts.begin_confirmation("claim", PROBE), Verdict.REFUTED)
        ledger.ask("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


def edited(path: Path, place: tuple[str, str], value: object) -> None:
    """Change a column of some rows, as far as the table's types allow."""
    table, column = place
    with closing(sqlite3.connect(path)) as database, database, suppress(sqlite3.Error):
        database.execute(f"UPDATE OR IGNORE {table} SET {column} = ?", (value,))


def forged(path: Path, at: int, size: int, other: bytes) -> None:
    """Put other bytes into payloads, with the checksum that belongs to them."""
    with closing(sqlite3.connect(path)) as database, database:
        for key, old in database.execute("SELECT key, payload FROM blocks").fetchall():
            new = old[:at] + other + old[at + size :]
            row = (new, hashlib.sha256(new).hexdigest(), key)
            database.execute("UPDATE blocks SET payload = ?, checksum = ? WHERE key = ?", row)


def flipped(path: Path, places: list[tuple[int, int]], length: int | None) -> None:
    """Change bytes of the file, or cut it."""
    content = bytearray(path.read_bytes()[:length])
    for at, byte in places if content else ():
        content[at % len(content)] = byte
    path.write_bytes(content)


PLACES = st.sampled_from([*COLUMNS, "blocks", "blocks"]).flatmap(
    lambda table: st.tuples(st.just(table), st.sampled_from(COLUMNS[table]))
)
CELLS = st.one_of(
    *(st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), TEXT, st.binary()),
    st.sampled_from(['{"a": []}', "[" * 10**4, "dim=inf", "dim=1e-320"]),
)
BYTES = st.tuples(st.integers(0, 2**17), st.integers(0, 255))
SPOILT = st.one_of(
    st.tuples(st.just(edited), PLACES, CELLS),
    st.tuples(st.just(forged), st.integers(0, 60), st.integers(0, 8), st.binary(max_size=8)),
    st.tuples(st.just(flipped), st.lists(BYTES, max_size=20), st.none() | st.integers(0, 2**17)),
)


@SETTINGS
@given(spoilt=SPOILT)
def test_ledgers(spoilt: tuple[Any, ...], whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    for leftover in tmp_path.glob("ledger*"):
        leftover.unlink()
    shutil.copy(whole, path)
    spoil, *arguments = spoilt
    spoil(path, *arguments)
    with suppress(LedgerError), Ledger(path) as ledger:
        for key in KEYS:
            found = ledger.get(key)
            if found is None:
                assert ledger.why_missing(key)
                ledger.put(key, result(key))
                found = ledger.get(key)
            assert found is not None
            assert fault(key, found) is None
            if spoil is not forged:  # which alone gives other figures a checksum
                for name, values in result(key).observations.items():
                    assert found.observations[name].tobytes() == values.tobytes()
        other = replace(KEYS[0], code="other")
        ledger.remember_code("other", dict)
        assert ledger.why_missing(other)
        ledger.register(DRAWN._replace(registration="later"))
        costs = Costs(lambda: ledger, "cpu", dict)
        for claim in ("claim", "other"):
            seconds = costs.seconds(claim, "dim=32", 4)
            assert seconds is None or 0 <= seconds < 1e300
        assert held(ledger)
        hunts = HuntTables(ledger, 0)
        hunts.probes("claim", "code")
        hunts.confirmed("claim", {"key": None})
