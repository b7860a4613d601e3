"""One session of a `/agent/ws` socket: what the session tells it, it passes on in document 3's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolwire.core import recovery
from toolwire.core.events import AnyEvent, CallRequested
from toolwire.dialects.flash import Flash
from toolwire.errors import PeerError, ToolwireError
from toolwire.server.connection import REPLAY_PAGE, numbered
from toolwire.server.flash.bookmarks import Bookmark

if TYPE_CHECKING:
    from toolwire.server.flash.socket import FlashSocket
    from toolwire.server.live import LiveSession


class Seat:
    """Takes part in a session for its socket (see `server.participant`)."""

    runs_tools = False
    """Tools of these tasks run in the gateway (spec README, "Who executes")."""
    ledger = ""

    def __init__(self, socket: FlashSocket, dialect: Flash, live: LiveSession) -> None:
        self.socket = socket
        self.id = socket.id
        self.dialect = dialect
        self.shows = dialect.shows
        self.caller_name = socket.caller_name
        self.role = socket.role
        self.outbox = socket.outbox
        self.live = live
        self.seen = live.published
        """Number of the last event this seat has been shown."""
        self.task = ""
        """The turn last asked from here."""

    @property
    def bookmark(self) -> Bookmark:
        """Where a client that comes back goes on."""
        return Bookmark(self.live.record.epoch, min(self.seen, self.live.published))

    async def catch_up(self, cursor: str | None, bookmark: Bookmark | None) -> None:
        """Send what the client has missed: since its cursor, since it left, or of the task that runs."""
        live = self.live
        self.seen = self._start(cursor, bookmark)
        while not self.socket.closed and self.seen < live.published:
            for event in await live.hub.store.read(live.record.number, after=self.seen, limit=REPLAY_PAGE):
                self._show(event)
            await self.outbox.relieved()

    def _start(self, cursor: str | None, bookmark: Bookmark | None) -> int:
        record, live = self.live.record, self.live
        if cursor is not None:
            where = recovery.resume(cursor, epoch=record.epoch, last=live.published)
            if isinstance(where, recovery.Replay):
                return where.after
            hint = "reconnect with last_event=0 to see everything that is kept"
            self.refuse(PeerError(where.reason, code="CURSOR_LOST", field="last_event", hint=hint))
            return live.published
        if bookmark is not None and bookmark.epoch == record.epoch:
            return min(bookmark.seq, live.published)
        running = live.core.running
        return min(running.asked.seq, live.published) if running is not None else live.published

    def deliver(self, event: AnyEvent) -> None:
        if event.seq > self.seen:
            self._show(event)

    def send_call(self, call: CallRequested) -> None:
        """Never asked for: `runs_tools` is False."""

    def send(self, message: bytes) -> None:
        """Something that is no event of the session."""
        self._push(message, self.seen)

    def refuse(self, error: ToolwireError) -> None:
        self.socket.hub.metrics.refused += 1
        self.send(self.dialect.error(error))

    def fail(self, error: ToolwireError) -> None:
        self.send(self.dialect.error(error))
        self.socket.give_up()

    def _show(self, event: AnyEvent) -> None:
        self.seen = event.seq
        messages = self.dialect.render(event)
        for message in messages[:-1]:
            # A reader cut off between two messages of one event must get that event again.
            self._push(message, event.seq - 1)
        if messages:
            self._push(messages[-1], event.seq)

    def _push(self, message: bytes, seq: int) -> None:
        if self.socket.counts:
            message = numbered(message, self.live.record.epoch, seq)
        self.socket.hub.metrics.messages_out += 1
        self.outbox.push(message)
