"""Names of curves, placed where they hide neither a point nor another curve."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

Point = tuple[float, float]
Box = tuple[float, float, float, float]  # left, top, right, bottom

LETTER, HEIGHT, GAP = 5.3, 9.0, 5.0  # a letter's width and height, a name's gap to its curve
STEP = 3.0  # distance that two places along a curve should have
EACH = 3  # step between places of a curve to try for its name
SQUARE, COLUMNS = 2.0, 256  # side of the squares to search, and number of squares in a row
NEAR, CLEAR = 2.0, 9.0  # margins around a name that must be, and should be, empty
SIDES = {"end": (-1.0, 0.0), "start": (1.0, 0.0), "above": (0.0, -1.0), "below": (0.0, 1.0)}


def along(curve: Sequence[Point]) -> list[Point]:
    """Return places on a curve of straight lines, less than 2 STEP apart in x and in y."""
    found = list(curve[:1])
    for (x, y), (right, down) in pairwise(curve):
        parts = max(1, int(max(abs(right - x), abs(down - y)) / STEP))
        found += [
            (x + (right - x) * i / parts, y + (down - y) * i / parts) for i in range(1, parts + 1)
        ]
    return found


Placed = tuple[Point, str, bool]


def place(
    names: Sequence[tuple[str, Sequence[Point]]],
    drawn: Sequence[Point],
    frame: Box,
    *,
    strict: bool = False,
) -> list[Placed]:
    """Choose where to write the name of each curve.

    Returns for each name its place, the class of its anchor, and whether it hides nothing.

    Args:
        names: texts, each with its curve.
        drawn: places that names should not hide.
        frame: box around all names.
        strict: whether to stop after the first name that hides something.
    """
    taken: list[Box] = []
    found: list[Placed] = []
    bits = 0  # a bit per square, set if something is drawn there, for a fast search
    for row, column in {(int(y // SQUARE), int(x // SQUARE)) for x, y in drawn}:
        if 0 <= row < COLUMNS and 0 <= column < COLUMNS:
            bits |= 1 << row * COLUMNS + column
    for text, curve in names:
        best: tuple[int, int, int] | None = None
        chosen, around = (curve[-1], "end", False), None
        for index, (spot, anchor, box) in enumerate(_places(text, curve)):
            inside = frame[0] < box[0] and frame[1] < box[1]
            inside &= box[2] < frame[2] and box[3] < frame[3]
            if not inside or any(_meet(box, other) for other in taken):
                continue
            near = _around(box, bits, NEAR)
            if best is not None and near > best[0]:
                continue
            rank = near, _around(box, bits, CLEAR), index
            if best is None or rank < best:
                best, chosen, around = rank, (spot, anchor, rank[0] == 0), box
            if rank[:2] == (0, 0):  # no later place is better
                break
        if around is not None:
            taken.append(around)
        found.append(chosen)
        if strict and not chosen[-1]:
            break
    return [*found, *((curve[-1], "end", False) for _, curve in names[len(found) :])]


def _places(text: str, curve: Sequence[Point]) -> Iterator[tuple[Point, str, Box]]:
    """Yield places for a curve's name, from the curve's end: the spot, the anchor and the box."""
    wide = LETTER * len(text)
    for x, y in along(curve)[::-EACH]:
        for side, (right, down) in SIDES.items():
            spot = x + GAP * right, y + (GAP + HEIGHT / 2) * down + HEIGHT / 2 - 1
            left = spot[0] - wide * {"end": 1.0, "start": 0.0}.get(side, 0.5)
            box = left, spot[1] - HEIGHT + 1, left + wide, spot[1] + 1
            yield spot, side if side in ("start", "end") else "", box


def _around(box: Box, bits: int, margin: float) -> int:
    """Count the squares where something is drawn, in a box or in a margin around it."""
    left, top, right, bottom = (
        max(0, int((end + more) / SQUARE))
        for end, more in zip(box, (-margin, -margin, margin, margin), strict=True)
    )
    whole = (1 << right - left + 1) - 1
    rows = range(top, bottom + 1)
    return sum((bits >> row * COLUMNS + left & whole).bit_count() for row in rows)


def _meet(one: Box, other: Box) -> bool:
    return not (one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1])
