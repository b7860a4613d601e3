"""The tool calls of a session that wait for their outcome. Each gets exactly one: the first.

An answer to an id nobody waits for (late, second, or never asked) finds no call here, and that is all it takes.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from toolwire.core.events import CallBound, CallRequested, Placement


class Calls:
    """Waiting calls by placement, in the order they were asked: the oldest is first to expire."""

    __slots__ = ("_client", "_server")

    def __init__(self) -> None:
        self._client: dict[str, CallRequested] = {}
        self._server: dict[str, CallRequested] = {}

    def __len__(self) -> int:
        return len(self._client) + len(self._server)

    def __iter__(self) -> Iterator[CallRequested]:
        yield from self._client.values()
        yield from self._server.values()

    def add(self, call: CallRequested) -> None:
        (self._client if call.placement == "client" else self._server)[call.call_id] = call

    def get(self, call_id: str, placement: Placement) -> CallRequested | None:
        """The waiting call, if it is to be answered from that side: a client can't answer for the gateway."""
        return (self._client if placement == "client" else self._server).get(call_id)

    def bind(self, event: CallBound) -> None:
        """It waits for another client now; its number is that of the event which says so."""
        call = self._client.get(event.call_id)
        if call is not None:
            self._client[event.call_id] = msgspec.structs.replace(call, ledger=event.ledger, seq=event.seq)

    def remove(self, call_id: str) -> None:
        if self._client.pop(call_id, None) is None:
            self._server.pop(call_id, None)

    def of_client(self) -> list[CallRequested]:
        return list(self._client.values())

    def of_turn(self, turn: str) -> list[CallRequested]:
        return [call for call in self if call.turn == turn]

    def expired(self, now: int, timeout_ms: int) -> list[CallRequested]:
        """Client calls that have waited too long. (A tool the gateway runs has a clock of its own.)"""
        late = []
        for call in self._client.values():
            if call.at + timeout_ms > now:
                break
            late.append(call)
        return late
