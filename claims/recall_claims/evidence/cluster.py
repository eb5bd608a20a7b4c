"""A dask cluster as an executor; needs the packages of the extra `cluster`."""

import asyncio

from distributed import Client
from distributed.cfexecutor import ClientExecutor
from distributed.comm.core import connect
from distributed.security import Security

from recall_claims.errors import ExecutorError

WAIT_SECONDS = 60


class ClusterExecutor(ClientExecutor):
    """Runs calls on the workers of a dask scheduler.

    A call whose worker dies runs again on another; dask gives up after the fourth death.

    Raises:
        ExecutorError: no scheduler answers at the address, or none of its workers, within
            `WAIT_SECONDS` each.
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
                "and give its address, such as dask:tcp://node1:8786"
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

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the connection; the cluster goes on. What is not done is cancelled, unless `wait`."""
        # Again without types.
        super().shutdown(wait=wait and not cancel_futures)  # type: ignore[no-untyped-call]
        self._client.close()


async def _reach(address: str) -> None:
    arguments = Security().get_connection_args("client")
    comm = await connect(address, timeout=WAIT_SECONDS, **arguments)
    await comm.close()
