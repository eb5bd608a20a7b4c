"""What the page may do: apply its style sheet and run its script, and nothing else."""

import base64
import hashlib


def policy(sheet: str, script: str) -> str:
    """A Content-Security-Policy that allows these two texts alone, and no network."""
    return (
        f"default-src 'none'; style-src {_source(sheet)}; script-src {_source(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
