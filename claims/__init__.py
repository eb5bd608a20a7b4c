"""Where theory meets evidence: one file per theorem group."""
