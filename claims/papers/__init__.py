"""The papers' statements, as data; importing this package registers the papers."""

from pathlib import Path

from recall_claims import add_paper

for path in sorted(Path(__file__).parent.glob("*.toml")):
    add_paper(path)
