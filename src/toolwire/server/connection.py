"""One connection: bytes in, commands to its session; events of the session out, in its dialect.

The same for every transport: picows and ASGI differ only in their `Wire`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from toolwire.core import commands, recovery
from toolwire.core.events import EVERY_KIND, AnyEvent, CallRequested
from toolwire.dialects.base import Dialect
from toolwire.errors import (
    InvalidMessage,
    MessageTooLarge,
    NotAuthenticated,
    PeerError,
    StoreError,
    ToolwireError,
)
from toolwire.server.clock import now_ms
from toolwire.server.inbox import Inbox
from toolwire.server.logs import log
from toolwire.server.outbox import Outbox, Wire
from toolwire.server.roles import LEAST, Role
from toolwire.server.security import Caller
from toolwire.server.tokens import OWNER_NAME

if TYPE_CHECKING:
    from toolwire.server.hub import Hub
    from toolwire.server.live import LiveSession

IDLE = 1001
REFUSED = 1008
BROKEN = 1011
RESTARTING = 1012

LARGE = 256 * 1024
"""Messages above this are decoded off the event loop, so that they cost nobody else anything."""
REPLAY_PAGE = 500
TOKEN_TRIES = 3


class Connection:
    """A peer. `receive` takes what it sends, `deliver` what its session has to tell it."""

    def __init__(self, hub: Hub, wire: Wire, dialect: Dialect, caller: Caller | None) -> None:
        self.hub = hub
        self.id = dialect.handshake.connection
        self.dialect = dialect
        self.caller = caller
        self.outbox = Outbox(wire, hub.flusher, hub.settings)
        self.live: LiveSession | None = None
        """The session, once this connection takes part in it."""
        self.ledger = dialect.handshake.query.get("ledger", "")
        self.runs_tools = dialect.placement == "client" and not dialect.watches
        self.shows = EVERY_KIND if dialect.watches else dialect.shows
        """The kinds of events this peer is told about."""
        self.opened_at = self.heard_at = self.message_at = hub.loop.time()
        """When anything, and when a message, last came in."""
        self.closed = False
        self._wire = wire
        self._resume = dialect.handshake.query.get("last_event")
        self._seen = 0
        self._inbox = Inbox(wire, hub.settings.message_limit)
        self._busy = True
        self._tries = 0
        self._handlers: dict[type[msgspec.Struct], Callable[[LiveSession, Any], object]] = {
            commands.Answer: lambda live, command: live.handle_tool_result(command),
            commands.AnswerWithFaults: self._answer_with_faults,
            commands.Prompt: self._prompt,
            commands.RunTool: self._run_tool,
            commands.Stop: lambda live, _: live.stop(),
            commands.Reset: lambda live, _: live.reset(),
            commands.AddMessage: lambda live, command: live.add_message(command),
            commands.Report: lambda live, command: live.report(command),
            commands.Decide: self._decide,
        }

    @property
    def caller_name(self) -> str:
        return self.caller.name if self.caller else ""

    @property
    def role(self) -> Role:
        """What the caller may do."""
        return LEAST if self.caller is None else self.caller.role

    # Opening -----------------------------------------------------------------------------------------------

    def open(self) -> None:
        """The socket is there: take part in the session, or wait for a token first."""
        self.hub.connected(self)
        if self.caller is not None:
            self.hub.keep(asyncio.create_task(self._join()))
        else:
            self._busy = False

    async def _join(self) -> None:
        assert self.caller is not None
        try:
            async with self.hub.visit(self.caller.tenant, self.dialect.session) as live:
                for message in self.dialect.greeting(now_ms()):
                    self.send(message, live)
                self._seen = live.published
                if self._resume is not None:
                    await self._replay(live, self._resume)
                if self.closed:
                    return
                self.live = live
                live.attach(self)
        except StoreError as error:
            self.fail(error)
            return
        self._busy = False
        self._catch_up()

    async def _replay(self, live: LiveSession, cursor: str) -> None:
        """Send what the reader has missed, until it is level with the session."""
        where = recovery.resume(cursor, epoch=live.record.epoch, last=live.published)
        if isinstance(where, recovery.Lost):
            hint = "reconnect with last_event=0 to see everything that is kept"
            self.refuse(PeerError(where.reason, code="CURSOR_LOST", field="last_event", hint=hint), live)
            return
        self._seen = where.after
        while not self.closed and self._seen < live.published:
            for event in await self.hub.store.read(live.record.number, after=self._seen, limit=REPLAY_PAGE):
                self._show(event, live)
            await self.outbox.relieved()

    # In ----------------------------------------------------------------------------------------------------

    def receive(self, message: bytes) -> None:
        """A message from the peer."""
        hub = self.hub
        self.heard_at = self.message_at = hub.loop.time()
        hub.metrics.messages_in += 1
        if self._busy:
            self._inbox.put(message)
        elif len(message) > LARGE:
            self._busy = True
            self.hub.keep(asyncio.create_task(self._receive_large(message)))
        else:
            self._receive(message)

    def receive_too_large(self, size: int) -> None:
        """A message over the limit was thrown away."""
        self.heard_at = self.message_at = self.hub.loop.time()
        limit = self.hub.settings.message_limit
        self.refuse(MessageTooLarge(f"{size} bytes; a message may have at most {limit}"))

    def receive_binary(self) -> None:
        self.heard_at = self.message_at = self.hub.loop.time()
        self.refuse(InvalidMessage("a binary frame", hint="send JSON in text frames"))

    def _receive(self, message: bytes) -> None:
        try:
            command = self.dialect.decode(message)
            if type(command) is commands.Answer and self.live is not None:  # nearly all there is, most of the time
                self.live.handle_tool_result(command)
            else:
                self._obey(command)
        except ToolwireError as error:
            self.refuse(error)

    async def _receive_large(self, message: bytes) -> None:
        try:
            command = await self.hub.loop.run_in_executor(self.hub.decoders, self.dialect.decode, message)
            self._obey(command)
        except ToolwireError as error:
            self.refuse(error)
        self._busy = False
        self._catch_up()

    def _catch_up(self) -> None:
        while not self._busy and not self.closed and (message := self._inbox.take()) is not None:
            if len(message) > LARGE:
                self._busy = True
                self.hub.keep(asyncio.create_task(self._receive_large(message)))
            else:
                self._receive(message)

    def _obey(self, command: commands.Command) -> None:
        try:
            self._carry_out(command)
        except PeerError as error:
            if isinstance(command, commands.Prompt):
                error.request = command.request
            raise

    def _carry_out(self, command: commands.Command) -> None:
        live = self.live
        handler = self._handlers.get(type(command))
        if handler is not None:
            if live is None:
                raise NotAuthenticated("send CONNECT with a token first", field="token")
            handler(live, command)
        elif isinstance(command, commands.Ping):
            pong = self.dialect.pong(command, now_ms())
            if pong is not None:
                self.send(pong)
        elif isinstance(command, commands.Authenticate):
            self._authenticate(command)

    def _authenticate(self, command: commands.Authenticate) -> None:
        if self.caller is not None:
            for message in self.dialect.greeting(now_ms()):
                self.send(message)
            return
        self.caller = self.hub.guard.identify(command.token)
        if self.caller is not None:
            self._busy = True
            self.hub.keep(asyncio.create_task(self._join()))
            return
        self._tries += 1
        self.refuse(NotAuthenticated("that token is not known here", field="data.token"))
        if self._tries >= TOKEN_TRIES:
            self.close(REFUSED, "no valid token")

    def _answer_with_faults(self, live: LiveSession, command: commands.AnswerWithFaults) -> None:
        """The result counts; what does not fit beside it is left out, and the peer is told."""
        live.handle_tool_result(command)
        said = "; ".join(f"{field}: {what}" for field, what in command.faults.items())
        raise InvalidMessage(said, fields=command.faults, hint="the result itself was taken")

    def _prompt(self, live: LiveSession, command: commands.Prompt) -> None:
        project = self.dialect.prompt_project(command)
        if self.dialect.placement == "server":
            self.hub.projects.check(project)
        conversation = self._own(command.conversation)
        if project != command.project or conversation != command.conversation:
            command = msgspec.structs.replace(command, project=project, conversation=conversation)
        live.prompt(command, self)

    def _own(self, conversation: str) -> str:
        """A conversation that a request names is its caller's alone (spec README, document 2)."""
        if not conversation or self.caller_name == OWNER_NAME:
            return conversation
        return f"caller:{quote(self.caller_name, safe='')}:{conversation}"

    def _run_tool(self, live: LiveSession, command: commands.RunTool) -> None:
        self.hub.projects.check(self.dialect.project)
        live.run_tool(command, self)

    def _decide(self, live: LiveSession, command: commands.Decide) -> None:
        self.hub.keep(asyncio.create_task(self._deciding(command)))

    async def _deciding(self, command: commands.Decide) -> None:
        assert self.caller is not None
        try:
            await self.hub.approvals.answer(
                command.approval,
                self.caller,
                command.decision,
                arguments=command.arguments,
                reason=command.reason,
                digest=command.digest,
            )
        except ToolwireError as error:
            self.refuse(error)

    # Out ---------------------------------------------------------------------------------------------------

    def deliver(self, event: AnyEvent) -> None:
        """An event of the session, committed."""
        if event.seq > self._seen:
            assert self.live is not None
            self._show(event, self.live)

    def send_call(self, call: CallRequested) -> None:
        """A tool call for this connection to run."""
        self.send(self.dialect.call(call))

    def send(self, message: bytes, live: LiveSession | None = None) -> None:
        if self._resume is not None:
            session = live or self.live
            if session is not None:
                message = numbered(message, session.record.epoch, min(self._seen, session.published))
        self.hub.metrics.messages_out += 1
        self.outbox.push(message)

    def refuse(self, error: ToolwireError, live: LiveSession | None = None) -> None:
        """Tell the peer, in its own words, what was wrong with what it sent. The connection lives on."""
        self.hub.metrics.refused += 1
        request = error.request if isinstance(error, PeerError) else ""
        if request and self.live is not None and self.live.core.has(request):
            request = ""  # it runs, and its end is still to come
        self.send(self.dialect.error(error, request=request), live)

    def _show(self, event: AnyEvent, live: LiveSession) -> None:
        self._seen = event.seq
        messages = self.dialect.render(event)
        if self.dialect.watches:
            messages = messages + self._watched(event)
        if not messages:
            return
        if self._resume is not None:
            # A reader cut off between two messages of one event must get that event again.
            for message in messages[:-1]:
                self.outbox.push(numbered(message, live.record.epoch, event.seq - 1))
            self.outbox.push(numbered(messages[-1], live.record.epoch, event.seq))
        else:
            for message in messages:
                self.outbox.push(message)
        self.hub.metrics.messages_out += len(messages)

    def _watched(self, event: AnyEvent) -> list[bytes]:
        if isinstance(event, CallRequested):
            return [self.dialect.call(event)]
        return self.dialect.mirror(event)

    # Closing -----------------------------------------------------------------------------------------------

    def tick(self, now: float) -> None:
        """Time has passed: is the peer still there, may it still be?"""
        settings = self.hub.settings
        if self.closed:
            return
        if self.caller is None and now - self.opened_at > settings.auth_timeout:
            self.close(REFUSED, "no token within the time allowed")
        elif self.dialect.idle_timeout and now - self.message_at > settings.idle_timeout:
            self.close(IDLE, "no message within the idle time")
        elif now - self.heard_at > 2 * settings.ping_interval + settings.ping_timeout:
            self.close(IDLE, "no sign of life")
        elif now - self.heard_at > settings.ping_interval:
            self._wire.ping()
        paused = self.outbox.paused_at
        if paused is not None and now - paused > settings.slow_reader_grace:
            self.outbox.cut("too slow: nothing was read for too long")

    def pause_writing(self) -> None:
        """The transport's buffer is full."""
        self.outbox.pause(self.hub.loop.time())

    def resume_writing(self) -> None:
        self.outbox.resume()
        if self.live is not None:
            self.live.let_go()

    def heard(self) -> None:
        """A sign of life below the level of messages (a pong)."""
        self.heard_at = self.hub.loop.time()

    def fail(self, error: ToolwireError) -> None:
        """Our side can't go on with this connection."""
        self.send(self.dialect.error(error))
        self.close(BROKEN, "the gateway could not go on")

    def close(self, code: int, reason: str) -> None:
        if not self.closed:
            log.debug("closing", connection=self.id, code=code, reason=reason)
            self.outbox.flush()
            self.outbox.discard()
            self._wire.close(code, reason)

    def lost(self) -> None:
        """The socket is gone."""
        if self.closed:
            return
        self.closed = True
        self.outbox.discard()
        self.hub.disconnected(self)
        if self.live is not None:
            self.live.detach(self)


def numbered(message: bytes, epoch: str, seq: int) -> bytes:
    """Add the root field `seq`, the cursor to resume from."""
    return b'%b,"seq":"%b"}' % (message[:-1], recovery.cursor(epoch, seq).encode())
