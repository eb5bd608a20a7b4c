"""The library as a stranger uses it."""
