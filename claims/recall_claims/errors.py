"""Errors that name a cause and a remedy."""


class ClaimError(ValueError):
    """A claim is written wrongly: found at collection, before anything runs."""


class SimulationError(RuntimeError):
    """A simulation returned something that cannot be evidence, such as NaN."""


class OutOfTime(RuntimeError):
    """A block was not begun, as it is not expected to end within the run's time limit."""


class LedgerError(RuntimeError):
    """The ledger cannot be read or written; nothing in it was changed."""


class ExecutorError(ValueError):
    """The --executor option names no executor, or one that cannot be had."""
