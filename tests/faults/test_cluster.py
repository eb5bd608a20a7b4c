"""Blocks on a dask cluster have the figures of a serial run, even if processes die."""

import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import closing

import dask
import pytest
from distributed import Client, LocalCluster, Security

from recall_claims.evidence import cluster
from tests.faults.conftest import REPOSITORY, Suite, until
from tests.faults.test_time import slices_come_to_one_run

pytestmark = pytest.mark.usefixtures("sockets_freed")


def started(*, processes: bool = True) -> LocalCluster:
    """Start a scheduler and two workers of one thread each."""
    return LocalCluster(
        n_workers=2, threads_per_worker=1, processes=processes, dashboard_address=None
    )


@pytest.mark.thorough
def test_a_time_limit_holds_on_a_cluster(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(suite.folder)
    with started() as workers:
        slices_come_to_one_run(suite, ("--executor", f"dask:{workers.scheduler_address}"))


def kill_one(workers: LocalCluster) -> None:
    with Client(workers.scheduler_address, set_as_default=False) as client:
        victim = next(iter(client.run(os.getpid).values()))
    os.kill(victim, signal.SIGKILL)


def come_and_go(workers: LocalCluster) -> None:
    """Scale up to eight workers of one thread each, then down to three."""
    workers.scale(8)
    until(lambda: len(workers.scheduler_info["workers"]) == 8)
    workers.scale(3)
    until(lambda: len(workers.scheduler_info["workers"]) == 3)


@pytest.mark.parametrize("change", [kill_one, come_and_go], ids=lambda change: change.__name__)
def test_workers_that_die_come_or_go_change_nothing(
    suite: Suite, change: Callable[[LocalCluster], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.write("one", "two", pause=0.05)
    monkeypatch.syspath_prepend(suite.folder)
    suite.run("--ledger", "serial.sqlite", "--report-dir", "serial")
    kept = list[int]()

    def meanwhile() -> None:
        until(lambda: suite.kept("dask.sqlite") >= 3)
        change(workers)
        kept.append(suite.kept("dask.sqlite"))

    with started(processes=change is kill_one) as workers:
        beside = threading.Thread(target=meanwhile)
        beside.start()
        suite.run("--executor", f"dask:{workers.scheduler_address}", "--ledger", "dask.sqlite")
        beside.join()

    assert suite.figures() == suite.figures("serial")
    assert places(suite, "dask.sqlite") == places(suite, "serial.sqlite")
    total = len(places(suite, "serial.sqlite"))
    assert suite.report()["suite"]["blocks"] == {"total": total, "reused": 0}
    assert kept[0] < total


def test_a_cluster_of_tls_takes_those_who_have_its_certificate(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command for a certificate is from `.github/docs/cluster.md`."""
    made = r"openssl (req .* -keyout cluster.pem -out cluster.pem)\)"
    [command] = re.findall(made, (REPOSITORY / ".github/docs/cluster.md").read_text("utf-8"))
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl")
    subprocess.run(["openssl", *command.split()], cwd=suite.folder, check=True, capture_output=True)
    monkeypatch.setattr(cluster, "WAIT_SECONDS", 20)
    monkeypatch.syspath_prepend(suite.folder)
    suite.write("one")
    file = str(suite.folder / "cluster.pem")
    certificate = {f"tls_{role}_cert": file for role in ("client", "scheduler", "worker")}
    own = Security(require_encryption=True, tls_ca_file=file, **certificate)
    with LocalCluster(
        n_workers=1, processes=False, dashboard_address=":0", security=own, protocol="tls://"
    ) as started:
        executor = ("--executor", f"dask:{started.scheduler_address}")
        stranger = suite.run(*executor, status=1)
        tls = "distributed.comm.tls"
        with dask.config.set({f"{tls}.ca-file": file, f"{tls}.client.cert": file}):
            suite.run(*executor)
    assert "this process has no certificate" in stranger.text


def test_no_scheduler_is_one_clear_error(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine that runs cuda blocks needs cuda; the machine that sends them does not."""
    monkeypatch.setattr(cluster, "WAIT_SECONDS", 0.5)
    suite.write("one", "two", "three")
    with closing(socket.create_server(("127.0.0.1", 0))) as closed_soon:
        address = f"tcp://127.0.0.1:{closed_soon.getsockname()[1]}"

    start = time.monotonic()
    result = suite.run("--device", "cuda:77", "--executor", f"dask:{address}", status=1)
    assert f"--executor dask:{address}: no dask scheduler answers there" in result.text
    assert "start one with `dask scheduler`" in result.text
    assert "Traceback" not in result.text
    assert {*suite.states().values()} == {"ERROR"}
    assert time.monotonic() - start < 60, "every claim waits anew"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    without = suite.run("--executor", f"dask:{address}", status=4)
    assert "needs dask: pip install 'recall-claims[cluster]'" in without.text


def test_no_workers_is_one_clear_error(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "WAIT_SECONDS", 0.5)
    suite.write("one")
    with LocalCluster(n_workers=0, processes=False, dashboard_address=None) as idle:
        result = suite.run("--executor", f"dask:{idle.scheduler_address}", status=1)
    assert "the scheduler has had no workers for 0.5 seconds" in result.text
    assert "Traceback" not in result.text


def places(suite: Suite, ledger: str) -> list[tuple[str, str, int]]:
    return sorted(suite.ask("SELECT claim, cell, block FROM blocks", ledger))
