"""A record held against the ledger of its run: judged again, and blocks drawn again."""
