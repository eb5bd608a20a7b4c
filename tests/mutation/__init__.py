"""Tests that the claims notice a wrong theory."""
