"""Turn the record of a verification run into reports for people and machines.

Nothing here knows a theory, a simulation or a claim: the record (`schema.json`) is the whole
input. `reports.write.write` makes all forms, `reports.terminal` the table for a console, and
`python -m reports` shows or renders a report again.
"""
