"""Search the regime of a theorem for a point where it fails.

`probe` gives cheap evidence at one point. `search` tries points, then neighbours of the worst, and
simplifies a violation. `campaign` gives claims turns, and judges this violation on fresh evidence.
`probe` and `search` use no error probability: no verdict rests on them.
"""
