"""A lasting conversation with a gateway over connections that come and go.

`run` connects, and connects again, until `stop` or until the gateway refuses in a way that trying again can't mend.
What is posted while there is no connection waits, in order, for the next one. The heartbeat (document 2, 6.3) is a
task of its own: nothing that is read, run or sent holds it up.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, WebSocketException

from toolwire.ide.address import Address
from toolwire.ide.backoff import Backoff
from toolwire.ide.happenings import Connected, Connecting, Disconnected, Tell
from toolwire.ide.refusals import refusal_of, why_closed, why_not
from toolwire.settings import Settings

Hear = Callable[[bytes], str]
"""Takes a message; gives the cursor it carried, or an empty string."""
Ping = Callable[[int], bytes | None]
"""The dialect's heartbeat message for a time in milliseconds, if it has one."""
Meet = Callable[[Mapping[str, str]], None]
"""Takes the headers of the gateway's answer to the handshake, before anything else of that connection."""


def _anybody(_: Mapping[str, str]) -> None:
    """Whoever the gateway is."""


@dataclass(slots=True)
class Posted:
    message: bytes
    connection: int
    """The number of the connection that was open, or last open, when it was posted."""


@dataclass(slots=True, kw_only=True)
class Client:
    """One conversation. `post` and `stop` are called on the event loop."""

    address: Address
    dialect: str
    hear: Hear
    ping: Ping
    tell: Tell
    meet: Meet = _anybody
    settings: Settings = field(default_factory=Settings)
    random: Random = field(default_factory=Random)
    cursor: str = ""
    """The last message seen, where the gateway numbers them; the next connection goes on after it."""
    tls: ssl.SSLContext | None = None
    attempts: int = 0
    """Failures in a row after which it gives up; 0: never."""

    _outbox: dict[str, Posted] = field(default_factory=dict)
    _caught_up: set[str] = field(default_factory=set)
    """Keys whose message was posted before this connection, and has been sent on it."""
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _room: asyncio.Event = field(default_factory=asyncio.Event)
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _connection: int = 0
    _posted: int = 0

    async def run(self) -> None:
        """Returns after `stop`; raises PeerError or ConfigError when it is of no use to try again."""
        backoff = Backoff(self.settings.reconnect_first, self.settings.reconnect_most, self.random)
        failures = 0
        while not self._stopping.is_set():
            before = self._connection
            reason = await self._once(backoff)
            if self._stopping.is_set():
                return
            failures = 1 if self._connection != before else failures + 1
            if self.attempts and failures >= self.attempts:
                raise self.address.unreachable(reason)
            delay = backoff.next()
            self.tell(Disconnected(reason, round(delay, 3)))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), delay)

    def stop(self) -> None:
        """Close the connection and let `run` return."""
        self._stopping.set()

    def post(self, message: bytes, key: str = "") -> None:
        """Queue a message. Under a `key`, a later message takes the place of one that has not gone out."""
        self._posted += 1
        self._outbox[key or f"#{self._posted}"] = Posted(message, self._connection)
        self._news.set()

    def underway(self, key: str) -> bool:
        """Whether the gateway, which asks again, will have this answer anyway: it waits, or it was sent just now."""
        if key in self._caught_up:
            # Once only: should the gateway ask a third time, it has not got it.
            self._caught_up.discard(key)
            return True
        return key in self._outbox

    async def drained(self) -> None:
        """Wait until everything posted has been sent; as long as that takes."""
        while self._outbox:
            self._room.clear()
            await self._room.wait()

    async def _once(self, backoff: Backoff) -> str:
        """One connection, from handshake to close. Gives the reason it ended."""
        url = self.address.url(self.cursor)
        self.tell(Connecting(url))
        try:
            opened = await self._open(url)
            if opened is None:
                return "stopped"
            async with opened as socket:
                self._connection += 1
                self._caught_up.clear()
                self.meet(socket.response.headers if socket.response is not None else {})
                self.tell(Connected(url, self.address.session, self.dialect))
                await self._converse(socket, backoff)
                return why_closed(socket)
        except InvalidStatus as error:
            if error.response.status_code in (429, 500, 502, 503, 504):
                return f"the gateway answered {error.response.status_code}"
            raise refusal_of(error, url) from error
        except ssl.SSLCertVerificationError as error:
            raise refusal_of(error, url) from error
        except (OSError, TimeoutError, InvalidHandshake) as error:
            return why_not(error)
        except WebSocketException as error:
            raise refusal_of(error, url) from error

    async def _open(self, url: str) -> ClientConnection | None:
        """A connection, after its handshake; None if `stop` came first."""

        async def opening() -> ClientConnection:
            return await connect(
                url,
                additional_headers=self.address.headers(),
                compression=None,
                proxy=None if self.address.local else True,
                ssl=(self.tls or True) if url.startswith("wss:") else None,
                open_timeout=self.settings.open_timeout,
                close_timeout=self.settings.shutdown_grace,
                max_size=self.settings.frame_limit,
            )

        attempt = asyncio.create_task(opening(), name="open")
        stopping = asyncio.create_task(self._stopping.wait(), name="stop")
        try:
            await asyncio.wait((attempt, stopping), return_when=asyncio.FIRST_COMPLETED)
            return await attempt if attempt.done() else None
        finally:
            attempt.cancel()
            stopping.cancel()

    async def _converse(self, socket: ClientConnection, backoff: Backoff) -> None:
        tasks = [
            asyncio.create_task(self._read(socket, backoff), name="read"),
            asyncio.create_task(self._write(socket), name="write"),
            asyncio.create_task(self._beat(socket), name="beat"),
            asyncio.create_task(self._stopping.wait(), name="stop"),
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except ConnectionClosed:
            pass
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, socket: ClientConnection, backoff: Backoff) -> None:
        async for message in socket:
            backoff.reset()
            raw = message if isinstance(message, bytes) else message.encode("utf-8")
            self.cursor = self.hear(raw) or self.cursor
            while len(self._outbox) >= self.settings.outbox_messages:
                # A gateway that asks and does not read the answers is not read either.
                self._room.clear()
                await self._room.wait()

    async def _write(self, socket: ClientConnection) -> None:
        while True:
            while self._outbox:
                key, posted = next(iter(self._outbox.items()))
                await socket.send(posted.message, text=True)
                if self._outbox.get(key) is posted:
                    del self._outbox[key]
                    self._room.set()
                if posted.connection != self._connection:
                    self._caught_up.add(key)
            self._news.clear()
            await self._news.wait()

    async def _beat(self, socket: ClientConnection) -> None:
        while True:
            await asyncio.sleep(self.settings.heartbeat)
            message = self.ping(int(time.time() * 1000))
            if message is not None:
                await socket.send(message, text=True)
