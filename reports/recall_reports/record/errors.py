"""The one exception of this package."""


class ReportError(Exception):
    """A record or a report file that cannot be used: says which, why, and what to do about it."""
