"""Check a record against its run's ledger: judge claims again, and draw blocks again."""
