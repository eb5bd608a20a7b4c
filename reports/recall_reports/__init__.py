"""Turn the record of a verification run into reports for people and machines.

This package knows no theory, simulation or claim: its only input is the record
(`recall_reports.record`). `recall_reports.write.write` makes all forms, `recall_reports.terminal`
the table for a console, and `python -m recall_reports` shows or renders a report again.
"""
