"""Read seeds, devices, durations and error budgets as people write them.

For a senseless value, each function raises a ValueError that names the option.
"""

import re
import secrets

from recall_claims.model.budget import Budget

LONGEST_TIME = 10 * 365 * 24 * 3600
"""Longest duration, in seconds."""
MOST_DIGITS = 18
"""Largest number of digits of a seed, so that it fits into 64 bits."""


def seed(text: str, option: str = "--seed") -> int:
    """Read the suite's seed, or draw one for "fresh"; errors name `option`."""
    if text == "fresh":
        return secrets.randbits(32)
    if not re.fullmatch(f"[0-9]{{1,{MOST_DIGITS}}}", text):
        raise ValueError(
            f"{option} takes a non-negative integer of up to {MOST_DIGITS} digits or 'fresh', got "
            f"{text[:100]!r}"
        )
    return int(text)


def budget(text: str) -> Budget:
    """Read a run's error budget."""
    try:
        return Budget(float(text))
    except ValueError as error:
        message = f"--error-budget takes a probability such as 1e-3, got {text[:100]!r}: {error}"
        raise ValueError(message) from error


def device(text: str, *, local: bool) -> str:
    """Read a torch device, which must exist here if blocks run on this machine (`local`)."""
    if text == "cpu":
        return text
    try:
        import torch  # a suite on numpy alone needs none
    except ModuleNotFoundError as error:
        raise ValueError(f"--device {text!r} needs torch; install it, or use cpu") from error
    try:
        device = torch.device(text)
    except RuntimeError as error:
        raise ValueError(f"--device {text!r} is no torch device; try cpu or cuda") from error
    if device.type not in ("cpu", "cuda"):
        raise ValueError(f"--device {text}: claims run on cpu and cuda, not on {device.type}")
    if local and device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ValueError(
            f"--device {text}: torch sees {torch.cuda.device_count()} CUDA devices here; use "
            "--device cpu, or install a CUDA build of torch and a driver"
        )
    return text


def duration(text: str, option: str) -> float:
    """Convert an option's value such as 90s, 10m or 1h to seconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text)
    seconds = float(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2]] if found else 0.0
    if not 0 < seconds <= LONGEST_TIME:
        raise ValueError(f"{option} takes a time such as 90s, 10m or 1h, got {text[:100]!r}")
    return seconds
