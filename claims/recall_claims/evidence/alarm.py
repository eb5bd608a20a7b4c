"""Stop what runs too long."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Rung(Exception):
    """The alarm has rung."""


@contextmanager
def alarm(when: float | None) -> Iterator[None]:
    """Raise `Rung` in the body once it is later than that, in seconds since 1970.

    The system's timer does it, which only the main thread has, and not on Windows; elsewhere, or
    where somebody else has set it, the body runs as long as it takes.
    """
    free = (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getitimer(signal.ITIMER_REAL)[0] == 0
    )
    if when is None or not free:
        yield
        return

    def ring(*_: object) -> None:
        raise Rung

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(when - time.time(), 1e-3))
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
