"""How much of a large product is held at a time."""

TILE_ELEMENTS = {"cpu": 2**18, "cuda": 2**26}
"""Elements of one tile by device type: what fits the level-2 cache of a CPU core, and 0.5 GB."""
