"""Search the regime of a theorem for a point at which it fails.

`probe` gives cheap evidence at one point, `search` draws points, climbs and shrinks what it finds,
and `campaign` gives claims their turns and judges a shrunk point on fresh evidence. Probing and
shrinking cost no error probability: nothing is concluded from them.
"""
