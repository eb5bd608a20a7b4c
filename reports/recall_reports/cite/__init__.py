"""A run as other programs cite and sign it."""
