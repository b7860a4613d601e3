"""Why a store refuses an append, in the same words in every store."""

from __future__ import annotations

import msgspec

from toolwire.core.events import AnyEvent
from toolwire.errors import StoreError

CONFLICT = "STORE_CONFLICT"
NOT_STORABLE = "STORE_UNSTORABLE"
UNSTORABLE = (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError)
"""What encoding raises for a value that JSON has no place for, such as a lone surrogate."""


def not_started() -> StoreError:
    return StoreError("the store has not been started")


def closed() -> StoreError:
    return StoreError("the store is closed")


def nowhere(session: int) -> StoreError:
    return StoreError(f"no session has the number {session}")


def unstorable(error: Exception) -> StoreError:
    return StoreError(f"it can't be stored: {error}", code=NOT_STORABLE)


def follows(events: list[AnyEvent], last: int) -> bool:
    """Whether events are consecutive and go on where a log ends."""
    first = events[0].seq
    return first == last + 1 and events[-1].seq == first + len(events) - 1


def not_following(session: int, first: int, last: int) -> StoreError:
    """An earlier append failed, or another process has written to the session."""
    return StoreError(
        f"event {first} of session {session} does not follow the last one stored, {last}",
        code=CONFLICT,
        hint="open the session again",
    )
