"""`python -m recall_claims bundle` and `audit`: what they are asked, and what they say."""

import argparse
import time
from pathlib import Path

from msgspec import json

from recall_claims import parse
from recall_claims.audit.audit import Audit, Auditor
from recall_claims.audit.bundle import COMMENT, read
from recall_claims.audit.making import bundle as made
from recall_claims.errors import BundleError
from recall_claims.evidence import executors
from recall_claims.evidence.ledger import Ledger
from recall_claims.plugin.housekeeping import collected
from recall_reports import templating
from recall_reports.record import files
from recall_reports.record.certificates import load
from recall_reports.record.text import clean

SHOWN = 40
"""Findings that are printed; the others are in the JSON file."""


def bundle(options: argparse.Namespace) -> int:
    """Make a bundle; the exit status."""
    out: Path = options.out
    if out.exists() and not (out.is_file() and out.read_bytes().endswith(COMMENT)):
        raise BundleError(f"{out} is there and no bundle; move it away, or name another file")
    if not options.ledger.exists():
        raise FileNotFoundError(f"{options.ledger}: no such file; name a ledger with --ledger")
    record = files.load(options.record)
    claims = {claim.id: claim for claim in collected(options.claims, options.ledger.absolute())}
    with Ledger(options.ledger) as ledger:
        data = made(record, claims, ledger, load(options.certificates))
    files.replace(out, data)
    manifest = read(out).manifest
    if options.manifest is not None:
        files.replace(options.manifest, manifest)
    blocks = sum(claim.blocks.total for claim in record.claims)
    print(f"{out}: {blocks:,} blocks in {len(data) / 2**20:.1f} MiB; audit it with")
    print(f"python -m recall_claims audit {out.name}")
    return 0


def audit(options: argparse.Namespace) -> int:
    """Audit a bundle: 0 if all is what code and evidence give, 1 if not."""
    start = time.monotonic()
    limit = parse.duration(options.time_limit, "--time-limit")
    seed, local = parse.seed(options.seed), executors.is_local(options.executor)
    device = parse.device(options.device, local=local)
    spec = executors.resolve(options.executor, device, nested=False)
    if options.blocks is not None and options.blocks < 0:
        raise ValueError(f"--blocks takes a number from 0, got {options.blocks}")
    opened = read(options.bundle)
    if options.manifest is not None and options.manifest.read_bytes() != opened.manifest:
        raise BundleError(f"{options.bundle} is not the bundle of {options.manifest}")
    claims = {claim.id: claim for claim in collected(options.claims)}
    auditor = Auditor(opened, claims, load(options.certificates), device, part=options.part)
    auditor.judge()
    left = 1e9 if options.blocks is not None else max(0.0, limit - (time.monotonic() - start))
    with executors.make(spec) as workers:
        auditor.draw_again(workers, seed, blocks=options.blocks, seconds=left)
    found = auditor.found
    for line in [*said(found), *findings(found)]:
        print(line)
    if options.json is not None:
        files.replace(options.json, json.format(json.encode(found), indent=1) + b"\n")
    if options.html is not None:
        page = templating.page("audit.html.j2", found=found, said=said(found))
        files.replace(options.html, page.encode())
    return int(bool(found.findings))


def said(found: Audit) -> list[str]:
    """What the audit has shown, with its error."""
    blocks, drawn, wrong = (found.total(name) for name in ("blocks", "drawn", "wrong"))
    counts = f"{drawn:,} of {blocks:,} blocks drawn again"
    rounded = drawn - found.total("exact")
    lines = [f"{found.judged} claims judged again on the blocks of the bundle"]
    if wrong:
        lines.append(f"{counts}, {wrong} differ")
    else:
        text = f"{counts}, 0 differ" + f" ({rounded} by rounding alone)" * bool(rounded)
        bound = f"fewer than {_percent(found.share)} of the blocks are not what the code gives"
        each = f"{_percent(found.share_by_claim)} where every claim counts the same"
        if found.share == found.share_by_claim == 0:
            text += ": these are all"
        elif found.share < 1:
            text += f": with 99% confidence {bound} ({each})"
        elif drawn:
            text += f": with 99% confidence, fewer than {each}, are not what the code gives"
        lines.append(text)
    unseen = sum(not claim.drawn for claim in found.claims.values())
    if unseen:
        lines.append(
            f"{unseen} claims had no block drawn again: give it more time, or more --blocks"
        )
    if found.elsewhere:
        names = ", ".join(found.elsewhere[:5]) + ", ..." * (len(found.elsewhere) > 5)
        lines.append(f"{len(found.elsewhere)} claims could not be drawn again here: {names}")
    made, here = found.processors
    if (wrong or rounded) and made != here:
        lines.append(f"made on {made}, drawn again on {here}: training amplifies such rounding")
    return lines


def findings(found: Audit) -> list[str]:
    """What is not as it should be, one line each."""
    lines = [f"FOUND {f.claim or 'the ledger'}: {f.what}" for f in found.findings[:SHOWN]]
    more = len(found.findings) - len(lines)
    lines = [" ".join(clean(line).split()) for line in lines]
    return [*lines, f"and {more} more"] if more else lines


def _percent(share: float) -> str:
    return f"{100 * share:.2g}%" if share < 0.995 else "100%"
