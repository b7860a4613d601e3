"""Which lines of two texts differ: as few as possible, whatever the size, in bounded time and memory.

Set aside first what is decided: the common beginning and end, and lines that only one side has. Then, in turn:

1. few differences: Myers' greedy search, exact, cheap however long the texts are;
2. many differences in texts of ordinary size: the bit-parallel LCS of rapidfuzz, exact, quadratic in bits;
3. beyond that: cut at lines that occur once on both sides, then treat the pieces alike; where no such line is left,
   cut both sides into windows. Still a right answer, no longer always the smallest one.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence, Set
from itertools import compress
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from toolwire.settings import Settings

_DEFAULTS = Settings()


class Block(NamedTuple):
    """Lines `old_start:old_end` of the old side became `new_start:new_end` of the new one."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def blocks(
    old: Sequence[str],
    new: Sequence[str],
    *,
    distance: int = _DEFAULTS.diff_distance,
    cells: int = _DEFAULTS.diff_cells,
) -> list[Block]:
    """The differing blocks in order; between them the two sides are equal line by line."""
    head = _common_head(old, new)
    tail = _common_tail(old, new, head)
    mine, theirs = old[head : len(old) - tail], new[head : len(new) - tail]
    found = _few(mine, theirs, distance // 4)
    if found is None:
        found = _among_shared(mine, theirs, _Search(distance, cells))
    return _slide([_moved(block, head, head) for block in found], old, new)


def _among_shared(mine: Sequence[str], theirs: Sequence[str], search: _Search) -> list[Block]:
    a, b = _Side(mine, set(theirs)), _Side(theirs, set(mine))
    return _spread(search.compare(a.lines, b.lines), a, b)


class _Side:
    """One side's lines that the other side has too; a line without a twin differs anyway."""

    def __init__(self, lines: Sequence[str], others: Set[str]) -> None:
        self.length = len(lines)
        kept = list(map(others.__contains__, lines))
        self.places = list(compress(range(len(lines)), kept))
        self.lines = list(compress(lines, kept))


def _spread(found: list[Block], a: _Side, b: _Side) -> list[Block]:
    """Blocks among the shared lines, as blocks among all lines."""
    if len(a.places) == a.length and len(b.places) == b.length:
        return found
    wide: list[Block] = []
    i = j = a_from = b_from = 0
    for block in [*found, Block(len(a.places), len(a.places), len(b.places), len(b.places))]:
        equal = zip(a.places[a_from : block.old_start], b.places[b_from : block.new_start], strict=True)
        for x, y in equal:
            if x != i or y != j:
                wide.append(Block(i, x, j, y))
            i, j = x + 1, y + 1
        a_from, b_from = block.old_end, block.new_end
    if i < a.length or j < b.length:
        wide.append(Block(i, a.length, j, b.length))
    return wide


def _moved(block: Block, down_old: int, down_new: int) -> Block:
    i0, i1, j0, j1 = block
    return Block(i0 + down_old, i1 + down_old, j0 + down_new, j1 + down_new)


def _common_head(old: Sequence[str], new: Sequence[str]) -> int:
    count = 0
    for mine, theirs in zip(old, new, strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _common_tail(old: Sequence[str], new: Sequence[str], head: int) -> int:
    longest = min(len(old), len(new)) - head
    count = 0
    while count < longest and old[-1 - count] == new[-1 - count]:
        count += 1
    return count


def _slide(found: list[Block], old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """Move each pure insertion or deletion as far down as it goes, so that equal inputs read alike.

    An inserted function then ends with its own closing line, not with that of the one before.
    """
    merged: list[Block] = []
    for index, block in enumerate(found):
        i0, i1, j0, j1 = block
        room = (found[index + 1].old_start if index + 1 < len(found) else len(old)) - i1
        if i0 == i1:
            while room > 0 and new[j0] == new[j1]:
                i0, i1, j0, j1, room = i0 + 1, i1 + 1, j0 + 1, j1 + 1, room - 1
        elif j0 == j1:
            while room > 0 and old[i0] == old[i1]:
                i0, i1, j0, j1, room = i0 + 1, i1 + 1, j0 + 1, j1 + 1, room - 1
        _append(merged, Block(i0, i1, j0, j1))
    return merged


def _append(found: list[Block], block: Block) -> None:
    """Add a block, as part of the last one if they touch."""
    if found and found[-1].old_end == block.old_start and found[-1].new_end == block.new_start:
        last = found.pop()
        block = Block(last.old_start, block.old_end, last.new_start, block.new_end)
    found.append(block)


class _Search:
    def __init__(self, distance: int, cells: int) -> None:
        self.distance = distance
        self.cells = cells

    def compare(self, a: list[str], b: list[str], depth: int = 0) -> list[Block]:
        if not a or not b:
            return [Block(0, len(a), 0, len(b))] if a or b else []
        found = _few(a, b, self.distance)
        if found is None:
            found = _lcs(a, b) if len(a) * len(b) <= self.cells else self._cut(a, b, depth)
        return found

    def _cut(self, a: list[str], b: list[str], depth: int) -> list[Block]:
        anchors = _anchors(a, b) if depth < self.distance else []
        if not anchors:
            return self._windows(a, b)
        found: list[Block] = []
        i = j = 0
        for i_next, j_next in [*anchors, (len(a), len(b))]:
            for block in self.compare(a[i:i_next], b[j:j_next], depth + 1):
                _append(found, _moved(block, i, j))
            i, j = i_next + 1, j_next + 1
        return found

    def _windows(self, a: list[str], b: list[str]) -> list[Block]:
        side = max(1, int(self.cells**0.5))
        count = max(-(-len(a) // side), -(-len(b) // side))
        found: list[Block] = []
        for k in range(count):
            i0, i1 = len(a) * k // count, len(a) * (k + 1) // count
            j0, j1 = len(b) * k // count, len(b) * (k + 1) // count
            for block in _lcs(a[i0:i1], b[j0:j1]):
                _append(found, _moved(block, i0, j0))
        return found


def _lcs(a: list[str], b: list[str]) -> list[Block]:
    # Numbers stand for lines because rapidfuzz compares hashes, and small numbers are their own hash: no collisions.
    numbers = {line: number for number, line in enumerate(set(a).union(b))}
    left, right = (array("Q", map(numbers.__getitem__, side)) for side in (a, b))
    found: list[Block] = []
    for step in LCSseq.opcodes(left, right):
        if step.tag != "equal":
            _append(found, Block(step.src_start, step.src_end, step.dest_start, step.dest_end))
    return found


def _anchors(a: list[str], b: list[str]) -> list[tuple[int, int]]:
    """The longest rising run of lines that occur once on each side."""
    once_a, once_b = _once(a), _once(b)
    pairs = [(i, once_b[line]) for line, i in once_a.items() if line in once_b]
    ends: list[int] = []
    last: list[int] = []
    previous: list[int] = []
    for index, (_, j) in enumerate(pairs):
        place = bisect_left(ends, j)
        previous.append(last[place - 1] if place else -1)
        if place == len(ends):
            ends.append(j)
            last.append(index)
        else:
            ends[place] = j
            last[place] = index
    run: list[tuple[int, int]] = []
    index = last[-1] if last else -1
    while index >= 0:
        run.append(pairs[index])
        index = previous[index]
    return run[::-1]


def _once(lines: list[str]) -> dict[str, int]:
    counts = Counter(lines)
    return {line: index for index, line in enumerate(lines) if counts[line] == 1}


def _few(a: Sequence[object], b: Sequence[object], distance: int) -> list[Block] | None:
    """Myers' greedy search up to `distance` differing lines; None if there are more, or if it takes too long.

    At worst every diagonal has long equal runs of its own: the steps along them are counted too.
    """
    if a == b:
        return []
    n, m = len(a), len(b)
    if abs(n - m) > distance:
        return None
    steps = 4 * (n + m) + distance * distance
    reach = {1: 0}
    trail: list[dict[int, int]] = []
    for d in range(distance + 1):
        now: dict[int, int] = {}
        for k in range(-d, d + 1, 2):
            down = k == -d or (k != d and reach[k - 1] < reach[k + 1])
            x = reach[k + 1] if down else reach[k - 1] + 1
            y = start = x - k
            while x < n and y < m and a[x] == b[y]:
                x, y = x + 1, y + 1
            steps -= y - start
            now[k] = x
            if x >= n and y >= m:
                return _walk_back([*trail, now], n, m)
        if steps < 0:
            return None
        trail.append(now)
        reach = now
    return None


def _walk_back(trail: list[dict[int, int]], n: int, m: int) -> list[Block]:
    """Follow the furthest points home; the single steps found on the way, in order, make the blocks."""
    singles: list[Block] = []
    x, y = n, m
    for d in range(len(trail) - 1, 0, -1):
        k, before = x - y, trail[d - 1]
        down = k == -d or (k != d and before[k - 1] < before[k + 1])
        x = before[k + 1] if down else before[k - 1]
        y = x - (k + 1 if down else k - 1)
        singles.append(Block(x, x, y, y + 1) if down else Block(x, x + 1, y, y))
    found: list[Block] = []
    for single in reversed(singles):
        _append(found, single)
    return found
