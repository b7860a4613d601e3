"""Which connection of a session runs which call (spec README, "Two clients on one session"; design, "A call is sent
again").

The client that connected first runs the tools. When it leaves, what it was running goes to the next one if that does
no harm: a call that reads may be sent to anyone, a write only to a connection with the same ledger, which knows
whether it has done it already. Any other write is lost: nobody can say whether it happened.

Whose ledger a write is sent to is on record (`CallRequested.ledger`) before it is sent, so that this also holds over
a restart of the gateway.
"""

from __future__ import annotations

from toolwire.core.events import CallRequested
from toolwire.server.participant import Participant


class Routing:
    """The connections of a session in the order they came, and who runs what."""

    __slots__ = ("_owed", "_running", "connections")

    def __init__(self) -> None:
        self.connections: list[Participant] = []
        self._running: dict[str, tuple[Participant, CallRequested]] = {}
        """Calls that were sent and not answered."""
        self._owed: dict[str, str] = {}
        """Writes whose connection was lost → the ledger that knows about them."""

    @property
    def congested(self) -> bool:
        for connection in self.connections:  # noqa: SIM110 (asked for every piece of text: a generator costs more)
            if connection.outbox.congested:
                return True
        return False

    @property
    def has_ide(self) -> bool:
        """Whether somebody is there to run tools."""
        return any(connection.runs_tools for connection in self.connections)

    @property
    def ledger(self) -> str | None:
        """Of the connection that runs the tools; None: there is none."""
        for connection in self.connections:
            if connection.runs_tools:
                return connection.ledger
        return None

    def attach(self, connection: Participant) -> None:
        self.connections.append(connection)

    def offer(self, call: CallRequested) -> str | None:
        """Send a call to the connection that is to run it, if there is one and nobody runs it yet.

        A ledger is given if that one must be on record first.
        """
        if call.call_id in self._running:
            return None
        ledger = self._owed.get(call.call_id)
        for connection in self.connections:
            if connection.runs_tools and (ledger is None or connection.ledger == ledger):
                if not call.reads and call.ledger != connection.ledger:
                    return connection.ledger
                self._owed.pop(call.call_id, None)
                self._running[call.call_id] = (connection, call)
                connection.send_call(call)
                return None
        return None

    def owe(self, call: CallRequested) -> None:
        """A call from before a restart: whoever keeps that ledger may have it already."""
        if call.ledger and call.call_id not in self._running:
            self._owed[call.call_id] = call.ledger

    def settled(self, call_id: str) -> None:
        self._running.pop(call_id, None)
        self._owed.pop(call_id, None)

    def detach(self, connection: Participant) -> list[str]:
        """Take a connection out; gives the calls that are lost with it."""
        if connection in self.connections:
            self.connections.remove(connection)
        lost = []
        for call_id, (runner, call) in list(self._running.items()):
            if runner is not connection:
                continue
            del self._running[call_id]
            if call.reads:
                continue
            if connection.ledger:
                self._owed[call_id] = connection.ledger
            else:
                lost.append(call_id)
        return lost
