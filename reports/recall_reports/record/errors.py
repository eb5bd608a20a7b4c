"""The one exception of this package."""


class ReportError(Exception):
    """An unusable record or report file; names the file, the cause and a remedy."""
