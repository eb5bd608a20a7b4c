"""Errors that name a cause and a remedy."""


class ClaimError(ValueError):
    """A claim is written wrongly: found at collection, before anything runs."""


class SimulationError(RuntimeError):
    """A simulation returned something that cannot be evidence, such as NaN."""


class OutOfTime(RuntimeError):
    """A block was not begun, as it is not expected to end within the run's time limit."""


class GivenUp(OutOfTime):
    """A block was begun, and given up when the run's time limit had passed.

    Attributes:
        seconds: that it had taken.
    """

    def __init__(self, block: str, seconds: float) -> None:
        super().__init__(block, seconds)  # both, so that a worker can send it
        self.seconds = seconds


class LedgerError(RuntimeError):
    """The ledger cannot be read or written; nothing in it was changed."""


class BundleError(ValueError):
    """A bundle cannot be made, or a file is none that can be audited; nothing was changed."""


class ExecutorError(ValueError):
    """The --executor option names no executor, or one that cannot be had."""
