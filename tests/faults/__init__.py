"""Behaviour of the suite when something is broken."""
