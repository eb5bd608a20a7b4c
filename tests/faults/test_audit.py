"""Bundles of evidence: the same bytes, what is forged in them, and files that are none."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from recall_claims.__main__ import main
from recall_claims.audit import bundle
from recall_claims.audit.bundle import COMMENT, Index, packed
from recall_claims.declare import papers
from recall_claims.errors import BundleError
from recall_claims.judge.methods import Array
from recall_reports.record import Record
from tests.faults.conftest import HEAD, HOOKS, LEDGER, PAPER, judged, reported, written

Printed = pytest.CaptureFixture[str]
FILE = "test_tiny_audited.py"


@dataclass(frozen=True)
class Opened:
    """The parts of a bundle as plain types, to be changed; and the values of tiny.two by cell."""

    record: dict[str, Any]
    index: dict[str, Any]
    blocks: dict[str, bytes]
    values: dict[str, Array]

    def entry(self, name: str = "one") -> dict[str, Any]:
        """The record of a claim."""
        return next(claim for claim in self.record["claims"] if claim["id"] == f"tiny.{name}")

    def save(self, path: Path) -> None:
        """Write it with a manifest that fits."""
        record = msgspec.convert(self.record, Record)
        index = msgspec.convert(self.index, Index)
        path.write_bytes(bundle.written(record, index, self.blocks))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of three claims, its record, its ledger and the bundle of them."""
    folder = tmp_path_factory.mktemp("audited")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (folder / "claims").mkdir()
    (folder / "claims" / "paper.toml").write_text(PAPER, encoding="utf-8")
    two = ('return {"value"', 'return {"zero": np.zeros(len(block.rngs)), "value"')
    open_end = ("Region(0.95, 1.05)", "Region(0.95, np.inf)")
    text = HEAD + written("one") + written("two") + written("three", two, open_end)
    (folder / "claims" / FILE).write_text(text, encoding="utf-8")
    done = judged(folder, *HOOKS, "claims/")
    assert done.status == 0, done.text
    return folder


@pytest.fixture(scope="module")
def path(folder: Path) -> Iterator[Path]:
    """The bundle of the suite, in its folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(papers, "_added", {})
        assert main(["bundle", "whole.zip"]) == 0
        yield folder / "whole.zip"


@pytest.fixture
def opened(path: Path) -> Opened:
    whole = bundle.read(path)
    values = {cell: found["value"] for cell, found in whole.observations("tiny.two").items()}
    record, index = msgspec.to_builtins(whole.record), msgspec.to_builtins(whole.index)
    return Opened(record, index, dict(whole.blocks), values)


def audit(path: Path, *options: str) -> int:
    """The exit status of an audit of all blocks."""
    return main(["audit", str(path), "--executor", "serial", "--blocks", "99", *options])


def test_a_bundle_is_the_same_each_time_and_holds(
    path: Path, tmp_path: Path, capsys: Printed
) -> None:
    again = tmp_path / "again.zip"
    assert main(["bundle", str(again), "--manifest", str(tmp_path / "manifest.json")]) == 0
    assert again.read_bytes() == path.read_bytes()
    files = ["--json", str(tmp_path / "a.json"), "--html", str(tmp_path / "a.html")]
    assert audit(path, "--manifest", str(tmp_path / "manifest.json"), *files) == 0
    printed = capsys.readouterr().out
    assert "3 claims judged again" in printed
    assert "0 differ: these are all" in printed
    found = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert not found["findings"]
    for claim in found["claims"].values():
        assert claim["blocks"] == claim["drawn"] == claim["exact"] > 0
    assert "<title>recall-claims: audit</title>" in (tmp_path / "a.html").read_text()


def test_part_of_the_blocks_shows_less(path: Path, capsys: Printed) -> None:
    arguments = ["audit", str(path), "--executor", "serial", "--seed", "1"]
    assert main([*arguments, "--blocks", "2"]) == 0
    text = capsys.readouterr().out
    assert "fewer than 90% where every claim counts the same" in text
    assert "1 claims had no block drawn again" in text
    assert main([*arguments, "--blocks", "12"]) == 0
    assert "with 99% confidence fewer than" in capsys.readouterr().out
    assert main([*arguments, "--time-limit", "1s"]) == 0


def put(opened: Opened, name: str, values: Array) -> None:
    """Give other observations to a cell of the claim tiny.two."""
    opened.values[name] = values
    [cell] = [c for c in opened.index["claims"]["tiny.two"]["cells"] if c["cell"] == name]
    cell["blocks"] = len(values)
    opened.blocks["tiny.two"] = b"".join(packed(each)[1] for each in opened.values.values())


def blocks_of_two(opened: Opened) -> None:
    """The first block is one of the second cell, scaled to look like one of the first; the next is
    a copy; and one figure is off by a thousandth: too little for any verdict to notice."""
    values = opened.values["scale=1.0"].copy()
    values[0] = opened.values["scale=2.0"][0] / 2
    values[1] = values[2]
    values[3, 2] *= 1.001
    put(opened, "scale=1.0", values)


def other_claim(opened: Opened) -> None:
    opened.index["claims"]["tiny.two"]["cells"] = opened.index["claims"]["tiny.three"]["cells"]
    opened.blocks["tiny.two"] = opened.blocks["tiny.three"]


def other_seed(opened: Opened) -> None:
    for part in (opened.record["suite"], *opened.record["claims"]):
        part["seed"] = 5


def record(opened: Opened) -> None:
    """SUPPORTED becomes REFUTED, with an interval that agrees; and many other fields."""
    entry = opened.entry()
    first, second, _ = entry["components"]
    first.update(verdict="REFUTED", interval=[1.2, 1.3], one_sided=[1.21, 1.29], estimate=1.25)
    second.update(region=[0.5, 1.5], one_sided=[1 - 1e-4, 1 + 1e-4])
    entry.update(verdict="REFUTED", outcome="failed", certificate=1e-12, alpha=1e-9, looks=1)
    entry["controls"].append(dict(entry["controls"][0], id="another"))
    opened.record["papers"][0]["statements"][0]["text"] = "Another statement."


def without(opened: Opened, name: str) -> None:
    del opened.index["claims"][f"tiny.{name}"], opened.blocks[f"tiny.{name}"]


def left_out(opened: Opened) -> None:
    opened.record["claims"].remove(opened.entry("three"))
    without(opened, "three")


def no_verdicts(opened: Opened) -> None:
    left_out(opened)
    opened.entry().update(state="NOT RUN", verdict=None, outcome="skipped", components=[])
    opened.entry()["reason"] = "time: 9m did not suffice"
    without(opened, "one")
    without(opened, "two")


def another_number(opened: Opened, more: int) -> None:
    """Of blocks in the last cell."""
    values = opened.values["scale=5.0"]
    put(opened, "scale=5.0", np.concatenate([values, values])[: len(values) + more])


def declaration(opened: Opened) -> None:
    held = opened.index["claims"]["tiny.one"]
    held["declaration"] = held["declaration"].replace('"looks": 6', '"looks": 7')
    assert '"looks": 7' in held["declaration"]


def chain(opened: Opened) -> None:
    (_, *drawn), *link = opened.index["chain"][0]
    opened.index["chain"][0] = [["tiny.two", *drawn], *link]


MISSING = "has no verdict of this run, in whose tier it has cells:"
FORGERIES: dict[Callable[[Opened], object], list[str]] = {
    blocks_of_two: [
        "tiny.two: block 0 of scale=1.0 is not what the code gives",
        "tiny.two: block 1 of scale=1.0 is not what the code gives",
        "tiny.two: block 3 of scale=1.0 is not what the code gives: 'value' is off by 0.001",
    ],
    other_claim: ["tiny.two: block"],
    other_seed: ["57 of 57 blocks drawn again, 57 differ"],
    record: [
        "tiny.one: verdict: REFUTED in the record, SUPPORTED when judged again",
        "tiny.one: components[1].one_sided[0]: 0.9999 in the record",
        "tiny.one: components[1].region[0]: 0.5 in the record, 0.95 when judged again",
        "tiny.one: controls: 2 entries in the record, 1 when judged again",
        "tiny.one: certificate: 1e-12 in the record, None when judged again",
        "tiny.one: alpha:",
        "tiny.one: looks:",
        "paper tiny: statements or budget differ in this checkout",
    ],
    no_verdicts: [
        f"tiny.one: {MISSING} NOT RUN",
        f"tiny.three: {MISSING} left out of the record",
    ],
    lambda opened: without(opened, "three"): [
        "tiny.three: evidence without a verdict, or a verdict without evidence"
    ],
    lambda opened: another_number(opened, -1): [
        "tiny.two: cannot be judged: BundleError: the bundle lacks block"
    ],
    lambda opened: another_number(opened, 1): ["tiny.two: it has blocks that no look asks for"],
    declaration: ["tiny.one: its declaration or predictions are not those of this checkout"],
    lambda opened: opened.entry().update(draw=2, draws=2): [
        "tiny.one: evidence set 2 of 2: not as the chain says"
    ],
    chain: ["the ledger: its chain of draws was edited at number 1"],
}
"""Each of them is found, with what is said of it."""


@pytest.mark.parametrize("forge", FORGERIES)
def test_a_forgery_is_found(
    opened: Opened,
    tmp_path: Path,
    capsys: Printed,
    forge: Callable[[Opened], object],
) -> None:
    """The manifest, and as far as it can the record, agree with what was forged."""
    forge(opened)
    opened.save(tmp_path / "forged.zip")
    assert audit(tmp_path / "forged.zip") == 1
    text = capsys.readouterr().out.replace("FOUND ", "")
    assert not [says for says in FORGERIES[forge] if says not in text], text


def test_a_run_of_some_claims_leaves_out_the_others(opened: Opened, tmp_path: Path) -> None:
    left_out(opened)
    opened.save(tmp_path / "part.zip")
    assert audit(tmp_path / "part.zip", "--part") == 0


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[content.find(b"tiny.one.bin") + 40] ^= 1
    path.write_bytes(content)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def rewritten(path: Path, comment: bytes = COMMENT, **parts: bytes) -> None:
    """The same archive with other parts, under the manifest that it had."""
    with zipfile.ZipFile(path) as archive:
        kept = {name: archive.read(name) for name in archive.namelist()}
    names = {name.replace("_", "."): data for name, data in parts.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = comment
        for name, data in {**kept, **names}.items():
            archive.writestr(name, data)


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "truncated": (
        lambda path: path.write_bytes(path.read_bytes()[:2000]),
        "no bundle, or a damaged one",
    ),
    "flipped": (flipped, "no bundle"),
    "foreign": (lambda path: rewritten(path, b""), "no bundle"),
    "text": (lambda path: path.write_text("PK"), "no bundle, or a damaged one"),
    "nothing": (Path.unlink, "cannot be read (No such file"),
    "a folder": (a_folder, "cannot be read (Is a directory"),
    "another record": (lambda path: rewritten(path, record_json=b"{}"), "not what its manifest"),
    "a part more": (
        lambda path: rewritten(path, **{"blocks/tiny.four.bin": b"1"}),
        "not what its manifest says: 'blocks/tiny.four.bin'",
    ),
    "a path": (lambda path: rewritten(path, **{"../../out.bin": b"1"}), "it holds '../../out.bin'"),
    "a bomb": (
        lambda path: rewritten(path, **{"blocks/bomb.bin": bytes(2**26 + 1)}),
        "bytes where a bundle has at most",
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_file_that_is_no_bundle_gives_one_clear_error(
    path: Path, tmp_path: Path, capsys: Printed, kind: str
) -> None:
    damage, says = DAMAGE[kind]
    copy = tmp_path / "copy.zip"
    shutil.copy(path, copy)
    damage(copy)
    capsys.readouterr()
    assert audit(copy) == 2
    captured = capsys.readouterr()
    assert says in captured.err
    assert captured.err.count("\n") == 1
    assert not captured.out


def test_a_bundle_spoilt_by_chance_gives_a_clear_error(path: Path, tmp_path: Path) -> None:
    whole, rng = path.read_bytes(), np.random.default_rng(5)
    for _ in range(300):
        content = bytearray(whole)
        for place in rng.integers(0, len(whole), rng.integers(1, 5)):
            content[place] = rng.integers(0, 256)
        (tmp_path / "spoilt.zip").write_bytes(content)
        with suppress(BundleError):
            found = bundle.read(tmp_path / "spoilt.zip")
            for name in found.blocks:
                found.observations(name)


def test_a_bundle_of_other_code_is_refused(opened: Opened, tmp_path: Path, capsys: Printed) -> None:
    opened.index["claims"]["tiny.one"]["code"] = "0" * 16
    opened.record["suite"]["commit"] = "c0ffee\x1b"
    opened.save(tmp_path / "other.zip")
    assert audit(tmp_path / "other.zip") == 2
    said = capsys.readouterr().err
    assert "made with other code than this checkout has, for 1 of 3 claims" in said
    assert "\x1b" not in said


def test_a_bundle_needs_the_ledger_of_its_record(
    folder: Path, path: Path, tmp_path: Path, capsys: Printed
) -> None:
    out, ledger = tmp_path / "out.zip", tmp_path / "ledger.sqlite"
    assert main(["bundle", str(out), "--ledger", str(ledger)]) == 2
    assert "no such file; name a ledger" in capsys.readouterr().err
    record = reported(folder / "reports/latest")
    record["claims"][0]["title"] = "Another title"
    (tmp_path / "report.json").write_text(json.dumps(record), encoding="utf-8")
    assert main(["bundle", str(out), "--record", str(tmp_path / "report.json")]) == 2
    assert "title: Another title in the record" in capsys.readouterr().err
    assert not out.exists()
    out.write_text("mine")
    assert main(["bundle", str(out)]) == 2
    assert out.read_text() == "mine"
    assert (folder / LEDGER).exists()
