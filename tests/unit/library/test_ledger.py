"""A ledger's contents, and its use by several processes at once."""

import hashlib
import itertools
import json
import re
import tracemalloc
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recall_claims.evidence.block import FORM, fault, pack, unpack
from recall_claims.evidence.ledger import SPENT, BlockKey, BlockResult, EvidenceSet, Ledger, merge
from recall_claims.model.errors import LedgerError, SimulationError

KEY = BlockKey("claim", "reg", "a=1", 0, 0, 2, "float64", "cpu", "code", "versions")
ONES = BlockResult({"v": np.ones(2)}, 0.1)


def test_many_may_create_one_ledger_at_the_same_moment(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.sqlite" for number in range(20)]

    def put(place: tuple[Path, int]) -> None:
        with Ledger(place[0]) as ledger:
            ledger.put(replace(KEY, block=place[1]), ONES)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(put, itertools.product(paths, range(8))))
    for path in paths:
        with Ledger(path) as ledger:
            assert None not in [ledger.get(replace(KEY, block=block)) for block in range(8)]


def test_another_run_may_remove_its_log_while_a_ledger_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, exists = tmp_path / "ledger.sqlite", Path.exists
    Ledger(path).close()
    monkeypatch.setattr(Path, "exists", lambda file: "sqlite-" in file.name or exists(file))
    for read_only in (False, True):
        Ledger(path, read_only=read_only).close()


def test_a_ledger_is_looked_at_and_filled_under_one_lock(tmp_path: Path) -> None:
    locked = []

    class Watched(Ledger):
        def _tables(self) -> set[tuple[str, str]]:
            locked.append(self._database.in_transaction)
            return super()._tables()

    Watched(tmp_path / "ledger.sqlite").__exit__(None, None, None)
    assert locked == [True, True], "before and after"


@pytest.mark.parametrize(
    ("here", "there", "merges"),
    [
        *((1e-15, 1.9e-15, True), (0.8, 0.8 + 2e-10, True), (0.8, 0.8 + 1e-6, False)),
        *((0.8, 0.8 + 2e-9, False), ([0.7, 0.8], [0.7, 0.8 + 2e-9], True)),
        *(([0.7, 0.8], [0.7, 0.8 + 1e-8], False), ([0.8 + 1e-5, 0.8], [0.8, 0.8], False)),
    ],
)
def test_what_another_processor_rounds_is_no_contradiction(
    tmp_path: Path, here: float | list[float], there: float | list[float], merges: bool
) -> None:
    """AVX2 and SSE round differently. So errors of identities differ, figures of G.optimal-spread
    differ by up to 1.1e-9, and figures of A.critical-samples, in single precision, by 5.4e-5. These
    differences are far below the spread of replicates."""
    paths = [tmp_path / "here", tmp_path / "there"]
    for path, value in zip(paths, (here, there), strict=True):
        with Ledger(path) as ledger:
            ledger.put(KEY, BlockResult({"v": np.full(2, value, np.float64)}, 0.1))
    if merges:
        assert merge(paths, tmp_path / "both") == 1
    else:
        with pytest.raises(LedgerError, match="have different results for block 0"):
            merge(paths, tmp_path / "both")


def test_a_kept_block_is_not_replaced(ledger: Ledger) -> None:
    ledger.put(KEY, ONES)
    ledger.put(KEY, BlockResult({"v": np.zeros(2)}, 0.2))
    kept = ledger.get(KEY)
    assert kept is not None
    assert (kept.seconds, kept.observations["v"].tolist()) == (0.1, [1.0, 1.0])


def test_a_ledger_in_an_impossible_place(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LedgerError, match="choose a writable place with --ledger"):
        Ledger(tmp_path / "file" / "ledger")


def packed(names: str, values: bytes) -> bytes:
    """Make a payload in the ledger's format, with names as JSON and values as bytes."""
    return FORM + names.encode() + b"\n" + zlib.compress(values)


def content(payload: bytes) -> str:
    """Return the checksum that a forger would write for a payload."""
    head, _, body = payload.partition(b"\n")
    with suppress(zlib.error):
        return hashlib.sha256(head + b"\n" + zlib.decompress(body)).hexdigest()
    return hashlib.sha256(payload).hexdigest()


NAN = np.array([np.nan, 1.0])
FORGED = {
    "NaN": pack({"value": NAN})[0],
    "many": pack({"value": np.ones(400)})[0],
    "no names": packed("[]", b""),
    "names that are none": packed("[1]", bytes(16)),
    "a name twice": packed('["a", "a"]', bytes(32)),
    "a name with a line break": packed('["a\\nb"]', bytes(16)),
    "half": pack({"value": np.ones(2)})[0][:-6],
    "more after it": pack({"value": np.ones(2)})[0] + b"more",
    "another form": b"\x02" + pack({"value": np.ones(2)})[0][1:],
    "nothing": b"",
}


ASIDE: dict[str, dict[str, object]] = {
    **{kind: {"payload": body, "checksum": content(body)} for kind, body in FORGED.items()},
    "another checksum": {"checksum": "0"},
    "negative seconds": {"seconds": -1.0},
    "infinite seconds": {"seconds": np.inf},
}


@pytest.mark.parametrize("kind", ASIDE)
def test_a_forged_block_is_put_aside_and_drawn_again(ledger: Ledger, kind: str) -> None:
    ledger.put(KEY, ONES)
    columns, values = ", ".join(ASIDE[kind]), tuple(ASIDE[kind].values())
    marks = ", ".join("?" * len(values))
    ledger.ask(f"UPDATE blocks SET ({columns}) = ({marks})", values)
    assert ledger.get(KEY) is None
    assert re.fullmatch(r"damaged \(.+\)", ledger.why_missing(KEY), re.DOTALL)
    assert ledger.ask(f"SELECT {columns} FROM aside") == [values]
    ledger.put(KEY, ONES)
    assert ledger.get(KEY) is not None


def test_a_block_of_other_observables_is_put_aside_where_they_are_known(ledger: Ledger) -> None:
    other = "it has the observables ['v'], not ['w']"
    assert fault(KEY, ONES, names=["w"]) == other
    assert fault(KEY, ONES, names=["v"]) is fault(KEY, ONES) is None
    ledger.put(KEY, ONES)
    assert ledger.get(KEY, ["v"]) is not None
    assert ledger.get(KEY, ["w"]) is None
    assert ledger.why_missing(KEY) == f"damaged ({other})"


V = {"v": np.ones(2)}


@pytest.mark.parametrize(
    ("result", "says"),
    [
        (BlockResult({"v": NAN}, 0.1), "observable 'v' has 1 values that are not finite"),
        (
            BlockResult({"v": np.ones(20)}, 0.1),
            r"'v' has shape \(20,\), not one value per replicate \(2,\)",
        ),
        (BlockResult({"v": np.ones(2, np.float32)}, 0.1), "of type float32"),
        (BlockResult({"v": np.ones(2, ">f8")}, 0.1), "of type >f8"),
        (BlockResult({"v": np.ma.ones(2)}, 0.1), "not an array of float64"),
        (BlockResult({"v": [1.0, 2.0]}, 0.1), "of type list"),  # type: ignore[dict-item]
        (BlockResult({}, 0.1), "observables"),
        (BlockResult({"v\n": np.ones(2)}, 0.1), "name"),
        (BlockResult({"v" * 201: np.ones(2)}, 0.1), "name"),
        (BlockResult({1: np.ones(2)}, 0.1), "name"),  # type: ignore[dict-item]
        (BlockResult(V, -0.1), "seconds"),
        (BlockResult(V, float("inf")), "seconds"),
        (BlockResult(V, "1"), "seconds"),  # type: ignore[arg-type]
        (BlockResult(V, 0.1, parts=0), "parts"),
        (BlockResult(V, 0.1, parts=3), "parts"),
        (V, "a dict instead of a BlockResult"),
        (None, "a NoneType instead of a BlockResult"),
    ],
)
def test_what_a_worker_returns_is_checked_before_it_is_kept(
    ledger: Ledger, result: Any, says: str
) -> None:
    wrong = fault(KEY, result)
    assert wrong is not None
    assert re.search(says, wrong)
    with pytest.raises(SimulationError, match=f"claim at a=1, block 0: what .*{says}"):
        ledger.put(KEY, result)
    assert ledger.get(KEY) is None
    assert ledger.why_missing(KEY) == "new"


def test_a_block_keeps_every_bit_in_few_bytes(ledger: Ledger) -> None:
    info = np.finfo(float)
    values = np.array([-0.0, info.tiny / 2, info.max, np.nextafter(1, 2), 0.1])
    observations = {"one": values, "another, \u00e9": -values[::-1]}
    key = replace(KEY, replicates=5)
    ledger.put(key, BlockResult(observations, 0.1))
    found = ledger.get(key)
    assert found is not None
    kept = [(name, array.tobytes()) for name, array in found.observations.items()]
    assert kept == [(name, array.tobytes()) for name, array in observations.items()]
    short, single = np.ones(2) / 3, np.random.default_rng(0).normal(size=64).astype(np.float32)
    assert len(pack({"value": short})[0]) < 40
    assert len(pack({"value": single.astype(float)})[0]) < 330


def test_a_checksum_is_of_what_a_block_says_not_of_how_it_is_packed() -> None:
    payload, checksum = pack({"v": np.ones(64)})
    head, _, body = payload.partition(b"\n")
    other = head + b"\n" + zlib.compress(zlib.decompress(body), level=0)
    assert unpack(other, checksum, 64)["v"].tolist() == [1.0] * 64


@pytest.mark.parametrize(("names", "values"), [([str(n) for n in range(10**6)], 8), (["v"], 2**27)])
def test_what_a_block_is_said_to_hold_is_believed_up_to_a_bound(
    names: list[str], values: int
) -> None:
    payload = packed(json.dumps(names), bytes(values))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"none of the forms|another number of values"):
            unpack(payload, "", 64)
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()


def test_a_block_that_would_not_be_read_is_not_kept() -> None:
    many = replace(KEY, replicates=2**22)
    found = fault(many, BlockResult({"v": np.zeros(2**22)}, 1.0))
    assert found is not None
    assert "have the claim's block= be smaller" in found


def test_what_blocks_took_is_added_up_without_reading_them(ledger: Ledger) -> None:
    kept = replace(KEY, block=1), replace(KEY, device="cuda"), replace(KEY, cell="a=2")
    for key in (KEY, *kept):
        ledger.put(key, ONES)
    assert ledger.spent("cpu") == [("claim", "a=1", 4, 0.2), ("claim", "a=2", 2, 0.1)]
    ledger.ask("UPDATE blocks SET seconds = -1.0 WHERE cell = 'a=1'")
    ledger.ask("UPDATE blocks SET replicates = 1 << 62 WHERE cell = 'a=2'")
    assert ledger.spent("cpu") == []
    plan = ledger.ask(f"EXPLAIN QUERY PLAN {SPENT}", ("cpu",))
    assert [row[-1] for row in plan] == ["SCAN blocks USING COVERING INDEX costs"]


def test_blocks_are_counted_by_cell(ledger: Ledger) -> None:
    for changes in ({}, {"block": 1}, {"cell": "a=2"}, {"code": "other"}, {"versions": "other"}):
        ledger.put(replace(KEY, **changes), ONES)
    told = ("claim", "reg", 0, "cpu", "versions")
    assert ledger.counts(*told, "code") == {"a=1": 2, "a=2": 1}


PLACE = ("claim", "cell", "block")
OTHER = {f.name: 7 if isinstance(getattr(KEY, f.name), int) else "other" for f in fields(BlockKey)}
WHY: list[tuple[list[dict[str, Any]], str]] = [
    *(([{name: OTHER[name]}], f"{name} changed") for name in OTHER if name not in PLACE),
    *(([{name: OTHER[name]}], "new") for name in PLACE),
    ([{"code": "x", "versions": "y"}], "code and versions changed"),
    ([{"code": "x"}, {"registration": "z"}], "registration changed"),
    ([{"registration": "z"}, {"device": "cuda"}, {"seed": 77}], "device changed"),
    ([{"code": "old"}], "code changed (added, edited, removed)"),
]


@pytest.mark.parametrize(("kept", "why"), WHY)
def test_a_block_of_any_other_key_is_no_evidence_and_says_what_differs(
    ledger: Ledger, kept: list[dict[str, Any]], why: str
) -> None:
    """The message compares the key with the key of the newest kept block that has the same seed.

    If no block has this seed, the newest block of another seed is compared. If the code differs,
    the message names the changed modules.
    """
    ledger.remember_code("old", lambda: {"same": "1", "edited": "2", "removed": "3"})
    ledger.remember_code(KEY.code, lambda: {"same": "1", "edited": "4", "added": "5"})
    for changes in kept:
        other = replace(KEY, **changes)
        ledger.put(other, BlockResult({"value": np.ones(other.replicates)}, 0.1))
    assert ledger.get(KEY) is None
    assert ledger.why_missing(KEY) == why


DRAWN = EvidenceSet("claim", "smoke", "a", "0", "code")


def test_evidence_sets_are_counted_by_claim_and_tier(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    sets = [
        *(DRAWN._replace(**change) for change in ({}, {"registration": "b"}, {"seed": "1"})),
        *(DRAWN._replace(**change) for change in ({"code": "other"}, {}, {"seed": "1"})),
        *(DRAWN._replace(**change) for change in ({"tier": "standard"}, {"claim": "other"})),
    ]
    places = [(1, 1), (2, 2), (3, 3), (4, 4), (4, 1), (4, 3), (1, 1), (1, 1)]
    with Ledger(path) as ledger, Ledger(path) as beside:
        assert beside.register(DRAWN) == (1, 1)
        assert [ledger.register(drawn) for drawn in sets] == places
        assert beside.register(DRAWN._replace(seed="2")) == (5, 5)
        assert ledger.register(DRAWN._replace(seed="2")) == (5, 5)
