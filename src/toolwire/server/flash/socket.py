"""The socket of document 3, `/agent/ws`: each message names its session, and one socket may serve many of them.

Beside the sessions it carries tool calls of section 4, which any number of may be under way at once.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from toolwire.core import commands
from toolwire.dialects import flash, flash_calls
from toolwire.dialects.base import Handshake
from toolwire.dialects.flash import Flash
from toolwire.dialects.flash_messages import (
    AnyToolCall,
    FlashApprovalAnswer,
    FlashReset,
    FlashStop,
    FlashTask,
    Received,
    received,
    session_of,
)
from toolwire.errors import FlashError, StoreError, ToolwireError
from toolwire.server.clock import now_ms
from toolwire.server.connection import BROKEN, REFUSED, Connection
from toolwire.server.flash.attachments import attached
from toolwire.server.flash.seat import Seat
from toolwire.server.outbox import Wire
from toolwire.server.security import Caller

if TYPE_CHECKING:
    from toolwire.server.hub import Hub
    from toolwire.server.live import LiveSession

_encode = msgspec.json.Encoder().encode


class FlashSocket(Connection):
    """A connection that belongs to no one session."""

    def __init__(self, hub: Hub, wire: Wire, handshake: Handshake, caller: Caller) -> None:
        self._first = handshake.query.get("sessionId", "")
        super().__init__(hub, wire, Flash(replace(handshake, session=self._first or handshake.connection)), caller)
        self.who = caller
        self.counts = self._resume is not None
        """Whether every message carries `seq`."""
        self._cursor = self._resume
        """The place to resume from, until the first session it belongs to has been named."""
        self._seats: dict[str, Seat] = {}
        self._calls = 0

    def open(self) -> None:
        self.hub.connected(self)
        if self._first:
            self.hub.keep(asyncio.create_task(self._sit_down_first(), name=f"flash {self.id}"))
        else:
            self._busy = False

    async def _sit_down_first(self) -> None:
        try:
            await self._seat(self._first)
        except ToolwireError as error:
            self.refuse(error)
        self._free()

    # In ----------------------------------------------------------------------------------------------------

    def _receive(self, message: bytes) -> None:
        if not self._still_known():
            return
        limit = self.hub.settings.nesting_limit
        try:
            self._attend(received(message, limit))
        except ToolwireError as error:
            self._refuse_in(session_of(message, limit) or self._first, error)

    async def _receive_large(self, message: bytes) -> None:
        if not self._still_known():
            return
        loop, limit = self.hub.loop, self.hub.settings.nesting_limit
        try:
            heard = await loop.run_in_executor(self.hub.decoders, received, message, limit)
            if isinstance(heard, AnyToolCall):
                self._start_call(heard)
            else:
                await self._serve(heard)
        except ToolwireError as error:
            named = await loop.run_in_executor(self.hub.decoders, session_of, message, limit)
            self._refuse_in(named or self._first, error)
        self._free()

    def _still_known(self) -> bool:
        """The hub looks at tokens now and then; nothing is done for one whose time was up a moment ago."""
        known = self.hub.guard.still_knows(self.who)
        if not known:
            self.close(REFUSED, "the token is not valid any more")
        return known

    def _attend(self, message: Received) -> None:
        """A call goes its own way; everything else is done in order, one after another."""
        if isinstance(message, AnyToolCall):
            self._start_call(message)
        else:
            self._busy = True
            self.hub.keep(asyncio.create_task(self._serve(message), name=f"flash {self.id}"))

    async def _serve(self, message: FlashTask | FlashStop | FlashReset | FlashApprovalAnswer) -> None:
        try:
            seat = await self._seat(message.sessionId)
            if not self.closed:
                await self._obey_in(seat, flash.command(message))
        except ToolwireError as error:
            self._refuse_in(message.sessionId, error)
        self._free()

    def _free(self) -> None:
        self._busy = False
        self._catch_up()

    async def _obey_in(self, seat: Seat, command: commands.Command) -> None:
        live = seat.live
        if isinstance(command, commands.Prompt):
            await self._begin(seat, command)
        elif isinstance(command, commands.Reset):
            live.reset()
        elif isinstance(command, commands.Decide):
            await self.hub.approvals.answer(
                command.approval,
                self.who,
                command.decision,
                arguments=command.arguments,
                reason=command.reason,
                digest=command.digest,
            )
        elif isinstance(command, commands.Stop):
            if live.core.running is None and not live.core.queue:
                seat.send(seat.dialect.status("stopped", "没有正在运行的任务"))
            else:
                live.stop()

    async def _begin(self, seat: Seat, asked: commands.Prompt) -> None:
        settings = self.hub.settings
        if len(asked.attachments) > settings.flash_attachments:
            raise FlashError(
                "VALIDATION_FAILED",
                f"attachments: {len(asked.attachments)} files; at most {settings.flash_attachments}",
                field="attachments",
            )
        attachments = await attached(self.hub, self.who, asked.attachments)
        if self.closed:
            return
        history = asked.history[-settings.flash_history :] if settings.flash_history > 0 else ()
        task = msgspec.structs.replace(
            asked,
            attachments=attachments,
            history=history,
            project=seat.dialect.project,
            trace=asked.trace or f"tr_{self.hub.ids.next(now_ms())}",
        )
        seat.live.prompt(task, seat)
        running = seat.live.core.running
        seat.task = running.id if running is not None else ""

    # Sessions ----------------------------------------------------------------------------------------------

    async def _seat(self, session: str) -> Seat:
        """The seat in that session, taken now if this is the first time it is named."""
        seat = self._seats.get(session)
        if seat is not None and not seat.live.broken:
            return seat
        self._make_room()
        dialect = Flash(replace(self.dialect.handshake, session=session))
        async with self.hub.visit(self.who.tenant, session) as live:
            seat = Seat(self, dialect, live)
            cursor = self._cursor_for(live, session)
            bookmark = self.hub.bookmarks.take(self.who.tenant, session)
            await seat.catch_up(cursor, bookmark)
            if not self.closed:
                self._seats[session] = seat
                live.attach(seat)
        return seat

    def _cursor_for(self, live: LiveSession, session: str) -> str | None:
        """A cursor belongs to the session of the query, or else to the first that is named."""
        if self._cursor is None or (self._first and session != self._first):
            return None
        cursor, self._cursor = self._cursor, None
        return cursor

    def _make_room(self) -> None:
        """Leave the session that has been at rest the longest, if there are as many as there may be."""
        if len(self._seats) < self.hub.settings.flash_sessions:
            return
        for session, seat in self._seats.items():
            if seat.live.broken or seat.live.core.at_rest:
                del self._seats[session]
                self.hub.bookmarks.leave(self.who.tenant, session, seat.bookmark)
                seat.live.detach(seat)
                return
        raise FlashError(
            "CONFLICT",
            f"tasks of {len(self._seats)} sessions run on this connection already",
            field="sessionId",
            hint="wait for one to end, or open another connection",
        )

    # Tool calls --------------------------------------------------------------------------------------------

    def _start_call(self, message: AnyToolCall) -> None:
        limit = self.hub.settings.flash_socket_calls
        if self._calls >= limit:
            raise FlashError("CONFLICT", f"{limit} tool calls are under way on this connection already", field="id")
        self._calls += 1
        self.hub.keep(asyncio.create_task(self._call(message), name=f"flash call {self.id}"))

    async def _call(self, message: AnyToolCall) -> None:
        try:
            response, _ = await self.hub.calls.call(message.envelope, self.who)
        finally:
            self._calls -= 1
        body = {"type": flash_calls.TOOL_RESULT, **response}
        if message.id is not None:
            body["id"] = message.id
        self.send(_encode(body))

    # Out ---------------------------------------------------------------------------------------------------

    def refuse(self, error: ToolwireError, live: LiveSession | None = None) -> None:
        self._refuse_in(self._first, error)

    def _refuse_in(self, session: str, error: ToolwireError) -> None:
        seat = self._seats.get(session)
        if seat is not None:
            seat.refuse(error)
            return
        self.hub.metrics.refused += 1
        self.send(flash.failure(error, session))
        if isinstance(error, StoreError):
            self.give_up()

    def give_up(self) -> None:
        """Our side can't go on with this connection."""
        self.close(BROKEN, "the gateway could not go on")

    def resume_writing(self) -> None:
        self.outbox.resume()
        for seat in self._seats.values():
            seat.live.let_go()

    def lost(self) -> None:
        """The socket is gone. Its tasks go on, or end with it, as the setting says."""
        if self.closed:
            return
        self.closed = True
        self.outbox.discard()
        self.hub.disconnected(self)
        for session, seat in self._seats.items():
            live = seat.live
            self.hub.bookmarks.leave(self.who.tenant, session, seat.bookmark)
            running = live.core.running
            if self.hub.settings.flash_on_disconnect == "stop" and running is not None and running.id == seat.task:
                live.stop()
            live.detach(seat)
        self._seats.clear()
