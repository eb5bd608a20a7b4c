"""A dask cluster as an executor; needs the packages of the extra `cluster`.

Scheduler, workers and client send each other pickles, and reading a pickle runs the code in it. So
anybody who can connect to one of these processes runs code as its user.
"""

import asyncio
import ipaddress
import math
import time
from urllib.parse import urlsplit

from distributed import Client
from distributed.cfexecutor import ClientExecutor
from distributed.comm.core import connect
from distributed.security import Security

from recall_claims.model.errors import ExecutorError

WAIT_SECONDS = 60


def refuse_open(address: str) -> None:
    """Refuse an address to which other machines may connect without a certificate.

    Raises:
        ExecutorError: the address is neither on this machine nor protected by TLS.
    """
    protocol, _, place = address.rpartition("://")
    try:
        host = urlsplit(f"//{place}").hostname or ""
        own = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        own = False
    if not own and protocol not in ("tls", "inproc"):
        raise ExecutorError(
            f"--executor dask:{address}: everybody who reaches that address can run code in this "
            "process. Use TLS (dask:tls://..., see .github/docs/cluster.md) or a scheduler on this "
            f"machine. If you trust the whole network, say dask-insecure:{address}"
        )


class ClusterExecutor(ClientExecutor):
    """Executor that runs calls on the workers of a dask scheduler.

    A call whose worker dies runs again on another worker; dask gives up after four deaths.

    Raises:
        ExecutorError: no scheduler answers at the address, or none of its workers, within
            `WAIT_SECONDS` each; or this process lacks a certificate for TLS.
    """

    def __init__(self, address: str) -> None:
        start = "start one with `dask scheduler`, and workers with `dask worker`"
        try:
            # A client that cannot connect leaves threads behind: try the address first.
            asyncio.run(_reach(address))
            client = Client(address, timeout=WAIT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ExecutorError(
                f"--executor dask:{address}: no dask scheduler answers there ({error}); {start}, "
                "and give its address, such as dask:tls://node1:8786"
            ) from error
        except TypeError as error:  # dask's error for a wrong address
            raise ExecutorError(
                f"--executor dask:{address}: this process has no certificate ({error}); name one, "
                "as .github/docs/cluster.md says"
            ) from error
        try:
            client.wait_for_workers(1, timeout=WAIT_SECONDS)
        except TimeoutError as error:
            client.close()
            raise ExecutorError(
                f"--executor dask:{address}: the scheduler has had no workers for {WAIT_SECONDS} "
                f"seconds; start some with `dask worker {address} --nthreads 1`"
            ) from error
        # Impure: dask must not take an earlier run's result for this one's. (Dask has no types.)
        super().__init__(client, pure=False)  # type: ignore[no-untyped-call]
        self._threads, self._asked = 0, -math.inf

    @property
    def workers(self) -> int:
        """Number of threads of all present workers, asked for at most once a second."""
        if time.monotonic() > self._asked + 1:
            self._threads = sum(self._client.nthreads().values())
            self._asked = time.monotonic()
        return max(self._threads, 1)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the connection; the cluster goes on.

        Wait for unfinished tasks if `wait`; cancel them without `wait`, or if `cancel_futures`.
        """
        # Dask has no types here either.
        super().shutdown(wait=wait and not cancel_futures)  # type: ignore[no-untyped-call]
        self._client.close()


async def _reach(address: str) -> None:
    arguments = Security().get_connection_args("client")
    comm = await connect(address, timeout=WAIT_SECONDS, **arguments)
    await comm.close()
