"""Check a record against the ledger of its run: judge again, and draw blocks again."""
