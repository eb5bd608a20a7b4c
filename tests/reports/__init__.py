"""Tests of the record and of the reports made from it."""
