"""Check a record against the ledger of its run: judge every claim again, draw blocks again."""
