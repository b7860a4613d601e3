"""Which connection of a session runs which call (spec README, "Two clients on one session"; design, "A call is sent
again").

The client that connected first runs the tools. When it leaves, what it was running goes to the next one if that does
no harm: a call that reads may be sent to anyone, a write only to a connection with the same ledger, which knows
whether it has done it already. Any other write is lost: nobody can say whether it happened.
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

    def attach(self, connection: Participant) -> None:
        self.connections.append(connection)

    def offer(self, call: CallRequested) -> None:
        """Send a call to the connection that is to run it, if there is one and nobody runs it yet."""
        if call.call_id in self._running:
            return
        ledger = self._owed.get(call.call_id)
        for connection in self.connections:
            if connection.runs_tools and (ledger is None or connection.ledger == ledger):
                self._owed.pop(call.call_id, None)
                self._running[call.call_id] = (connection, call)
                connection.send_call(call)
                return

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
