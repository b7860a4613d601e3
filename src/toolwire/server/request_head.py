"""The head of an HTTP request: bounded in size and time, and made fit for picows where it asks for a WebSocket.

uvicorn itself waits for a head for ever and keeps all of it. RFC 6455, 4.2.1 says what an upgrade must bring:
HTTP/1.1, `Connection` with `upgrade` among its words (Firefox sends `keep-alive, Upgrade`), version 13.
"""

from __future__ import annotations

import asyncio
import sys
from http import HTTPStatus
from typing import Any, ClassVar

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from toolwire.settings import Settings

VERSION = b"13"
HANDSHAKE_LIMIT = 16 * 1024 - 64
"""Bytes of an upgrade that picows takes, less what is written around the headers."""
_UNUSED = frozenset({b"cookie"})
"""Headers no socket looks at. Browsers send the cookies of every program on this host."""


class HeadRefused(Exception):
    """Raised in the parser's callbacks, which stops it."""


class BoundedHttp(HttpToolsProtocol):
    """uvicorn's HTTP, with a head that must come whole, in time and not too large. Made by `http_protocol_class`."""

    settings: ClassVar[Settings]

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._taken = 0
        """Bytes read since the head began."""
        self._waiting: asyncio.TimerHandle | None = None
        """Runs while a head is expected; None while there is none."""
        self._status = HTTPStatus.BAD_REQUEST
        self._chunk = b""
        """What the parser is reading."""

    # From the transport ------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._chunk = data
        super().data_received(data)
        self._chunk = b""
        if self._waiting is not None:
            self._taken += len(data)
            if self._taken > self.settings.http_head_limit:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    # From the parser ---------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._expect_head()

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        if self._size() > self.settings.http_head_limit:
            self._status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            raise HeadRefused
        if len(self._values(b"host")) > 1:
            raise HeadRefused
        super().on_headers_complete()

    def handle_websocket_upgrade(self) -> None:
        if self.scope["http_version"] != "1.1":
            self._refuse(HTTPStatus.BAD_REQUEST)
            return
        if self._values(b"sec-websocket-version") != [VERSION]:
            self._refuse(HTTPStatus.UPGRADE_REQUIRED, b"sec-websocket-version: " + VERSION + b"\r\n")
            return
        kept = [header for header in self.headers if header[0] not in _UNUSED and header[0] != b"connection"]
        self.headers[:] = [*kept, (b"connection", b"Upgrade")]
        if self._size() > HANDSHAKE_LIMIT:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            return
        super().handle_websocket_upgrade()
        self._pass_on_the_rest()

    def send_400_response(self, msg: str) -> None:
        """The parser has stopped, for reasons of its own or because we refused."""
        self._refuse(self._status)

    # -------------------------------------------------------------------------------------------------------

    def _pass_on_the_rest(self) -> None:
        """Frames a client has sent right behind its handshake: uvicorn would drop them."""
        stopped = sys.exception()
        if isinstance(stopped, httptools.HttpParserUpgrade) and not self.transport.is_closing():
            rest = self._chunk[stopped.args[0] :]
            socket = self.transport.get_protocol()
            if rest and isinstance(socket, asyncio.Protocol | asyncio.BufferedProtocol):
                socket.data_received(rest)  # type: ignore[union-attr]

    def _expect_head(self) -> None:
        self._taken = 0
        if self._waiting is None:
            self._waiting = self.loop.call_later(
                self.settings.http_head_timeout, self._refuse, HTTPStatus.REQUEST_TIMEOUT
            )

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _values(self, name: bytes) -> list[bytes]:
        return [value for each, value in self.headers if each == name]

    def _size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _refuse(self, status: HTTPStatus, extra: bytes = b"") -> None:
        self._stop_waiting()
        if self.transport.is_closing():
            return
        body = f"{status.phrase}: {status.description}".encode() if status.description else status.phrase.encode()
        head = b"content-type: text/plain; charset=utf-8\r\nconnection: close\r\ncontent-length: %d\r\n" % len(body)
        self.transport.write(STATUS_LINE[status] + extra + head + b"\r\n" + body)
        self.transport.close()


def http_protocol_class(settings: Settings) -> type[BoundedHttp]:
    """The protocol class for one gateway: uvicorn makes instances without arguments of ours."""
    return type("GatewayHttpProtocol", (BoundedHttp,), {"settings": settings})
