"""Peak memory of a process."""

import sys
from pathlib import Path

STATUS = Path("/proc/self/status")


def peak_memory() -> float | None:
    """Largest resident memory of this process so far, MiB; None where the system does not tell.

    Linux's own count comes first: there, `getrusage` gives a process that another one started
    at least the memory of its parent.
    """
    try:
        for line in STATUS.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass  # not Linux
    try:
        import resource
    except ImportError:
        return None  # Windows
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)
