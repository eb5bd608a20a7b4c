"""Names of curves next to them, where they hide neither a point nor another curve."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

Point = tuple[float, float]
Box = tuple[float, float, float, float]  # left, top, right, bottom

LETTER, HEIGHT, GAP = 5.3, 9.0, 5.0  # in units of the drawing
STEP = 3.0  # between two places along a curve
NEAR, CLEAR = 2.0, 9.0  # around a name, where anything drawn is in its way, or had better not be
SIDES = {"end": (-1.0, 0.0), "start": (1.0, 0.0), "above": (0.0, -1.0), "below": (0.0, 1.0)}


def along(curve: Sequence[Point]) -> list[Point]:
    """Places on a curve of straight lines, at most STEP apart."""
    found = list(curve[:1])
    for (x, y), (right, down) in pairwise(curve):
        parts = max(1, int(max(abs(right - x), abs(down - y)) / STEP))
        found += [
            (x + (right - x) * i / parts, y + (down - y) * i / parts) for i in range(1, parts + 1)
        ]
    return found


def place(
    names: Sequence[tuple[str, Sequence[Point]]], drawn: Sequence[Point], frame: Box
) -> list[tuple[Point, str]]:
    """Choose where to write the name of each curve, with the class of the text's anchor.

    Args:
        names: texts, each with its curve.
        drawn: places that a name had better not hide.
        frame: which no name leaves.
    """
    taken: list[Box] = []
    found = []
    drawn = sorted(drawn)
    for text, curve in names:
        tried = [
            (_around(box, drawn, NEAR), _around(box, drawn, CLEAR), index, spot, anchor, box)
            for index, (spot, anchor, box) in enumerate(_places(text, curve))
            if _inside(box, frame) and not any(_meet(box, other) for other in taken)
        ]
        if tried:
            *_, spot, anchor, box = min(tried, key=lambda one: one[:3])
            taken.append(box)
            found.append((spot, anchor))
        else:
            found.append((curve[-1], "end"))
    return found


def _places(text: str, curve: Sequence[Point]) -> Iterator[tuple[Point, str, Box]]:
    """Places next to a curve for its name, from its end on: the spot, the anchor and the box."""
    wide = LETTER * len(text)
    for x, y in reversed(along(curve)):
        for side, (right, down) in SIDES.items():
            spot = x + GAP * right, y + (GAP + HEIGHT / 2) * down + HEIGHT / 2 - 1
            left = spot[0] - wide * {"end": 1.0, "start": 0.0}.get(side, 0.5)
            box = left, spot[1] - HEIGHT + 1, left + wide, spot[1] + 1
            yield spot, side if side in ("start", "end") else "", box


def _around(box: Box, drawn: Sequence[Point], margin: float) -> int:
    """Count the places, from the left one on, in a box or within a margin around it."""
    left, top, right, bottom = box
    first = bisect_right(drawn, (left - margin, math.inf))
    last = bisect_left(drawn, (right + margin, -math.inf))
    return sum(top - margin < y < bottom + margin for _, y in drawn[first:last])


def _inside(box: Box, frame: Box) -> bool:
    return box[0] > frame[0] and box[1] > frame[1] and box[2] < frame[2] and box[3] < frame[3]


def _meet(one: Box, other: Box) -> bool:
    return not (one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1])
