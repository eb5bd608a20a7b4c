"""Search the regime of a theorem for a point at which it fails.

`probe` gives cheap evidence at one point. `search` draws points, climbs, and shrinks a violation.
`campaign` gives claims their turns, and judges a shrunk violation on fresh evidence. Probes and
shrinking use no error probability, since nobody concludes anything from them.
"""
