"""Turn the record of a verification run into reports for people and machines.

Nothing here knows a theory, a simulation or a claim: the record (`recall_reports.record`) is the
whole input. `recall_reports.write.write` makes all forms, `recall_reports.terminal` the table for a
console, and `python -m recall_reports` shows or renders a report again.
"""
