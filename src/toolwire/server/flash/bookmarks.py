"""Where clients of `/agent/ws` left off, for those that come back without a cursor. Bounded: the oldest go first."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A place in the log of a session."""

    epoch: str
    seq: int


class Bookmarks:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._left: OrderedDict[tuple[str, str], Bookmark] = OrderedDict()

    def leave(self, tenant: str, session: str, bookmark: Bookmark) -> None:
        self._left[tenant, session] = bookmark
        self._left.move_to_end((tenant, session))
        while len(self._left) > self._limit:
            self._left.popitem(last=False)

    def take(self, tenant: str, session: str) -> Bookmark | None:
        return self._left.pop((tenant, session), None)
