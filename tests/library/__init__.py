"""The library in the hands of a stranger."""
