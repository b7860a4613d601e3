"""WebSockets by picows, as uvicorn's `ws` protocol class: callbacks straight from the parser, no queue per message.

uvicorn reads the HTTP request; on an upgrade it makes one of these, hands it the transport and the request's bytes
again, and puts it on the socket. The protocol registers with uvicorn's server state, so that a shutdown finds it.
"""

from __future__ import annotations

import asyncio
import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from picows import (
    WSAutoPingStrategy,
    WSCloseCode,
    WSFrame,
    WSListener,
    WSMsgType,
    WSTransport,
    WSUpgradeRequest,
    WSUpgradeResponse,
    WSUpgradeResponseWithListener,
)
from picows.picows import WSProtocol  # type: ignore[attr-defined]

from toolwire.server.connection import Connection
from toolwire.server.gateway import Admitted, enter, knock
from toolwire.server.security import Refused

if TYPE_CHECKING:
    from uvicorn import Config
    from uvicorn.server import ServerState

    from toolwire.server.hub import Hub

PROTOCOL_ERROR = 1002
TOO_LARGE = 1009
CLOSE_PATIENCE = 5.0
"""Seconds a peer has to answer a close frame and read what was sent before it."""
READ_BUFFER = 4096

_quiet = logging.LoggerAdapter(logging.getLogger("toolwire.picows"))
"""An adapter, since picows makes a logger for each connection out of a plain one."""
_quiet.logger.addFilter(lambda record: not str(record.msg).startswith("WS parser error"))
"""A peer that breaks the protocol hears so in its close frame; it is no error of ours."""


class PicowsWire:
    """Implements `outbox.Wire` on a picows transport."""

    __slots__ = ("_closing", "_loop", "_transport")

    def __init__(self, transport: WSTransport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._closing = False

    def write(self, messages: list[bytes]) -> None:
        if len(messages) == 1:
            self._transport.send(WSMsgType.TEXT, messages[0])
        elif not self._closing and not self._transport.is_disconnected:
            # One system call for all of them: frames of a server are not masked, so they can simply be joined.
            self._transport.underlying_transport.write(b"".join([_header(message) + message for message in messages]))

    def ping(self) -> None:
        self._transport.send_ping()

    def pause_reading(self) -> None:
        if not self._transport.is_disconnected:
            self._transport.underlying_transport.pause_reading()

    def resume_reading(self) -> None:
        if not self._transport.is_disconnected:
            self._transport.underlying_transport.resume_reading()

    def close(self, code: int, reason: str) -> None:
        if self._closing or self._transport.is_disconnected:
            return
        self._closing = True
        self._transport.send_close(WSCloseCode(code), reason.encode()[:120])
        self._loop.call_later(CLOSE_PATIENCE, self._transport.underlying_transport.abort)


def _header(message: bytes) -> bytes:
    """The header of an unmasked, unfragmented text frame."""
    size = len(message)
    if size < 126:
        return bytes((0x81, size))
    if size < 65536:
        return b"\x81\x7e" + size.to_bytes(2, "big")
    return b"\x81\x7f" + size.to_bytes(8, "big")


class Socket(WSListener):
    """Frames of one WebSocket, joined to messages for its connection."""

    def __init__(self, hub: Hub, admitted: Admitted) -> None:
        self._hub = hub
        self._admitted = admitted
        self._connection: Connection | None = None
        self._fragments: list[bytes] = []
        self._size = 0
        """Bytes of the message so far; more than the limit means its fragments are no longer kept."""
        self._in_message = False
        self._text = True

    def on_ws_connected(self, transport: WSTransport) -> None:
        self._connection = enter(self._hub, self._admitted, PicowsWire(transport, self._hub.loop))
        if self._connection is not None:
            self._connection.open()

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        connection = self._connection
        kind = frame.msg_type
        if frame.rsv1 or frame.rsv2 or frame.rsv3:
            self._violate(transport, "reserved bits are set, and no extension was agreed on")
        elif kind == WSMsgType.TEXT and frame.fin and not self._in_message and connection is not None:
            size = frame.payload_size
            if size > self._hub.settings.message_limit:
                connection.receive_too_large(size)
            else:
                connection.receive(frame.get_payload_as_bytes())
        elif kind in (WSMsgType.TEXT, WSMsgType.BINARY, WSMsgType.CONTINUATION):
            self._on_fragment(transport, frame)
        elif kind == WSMsgType.CLOSE:
            transport.send_close(frame.get_close_code() or WSCloseCode.OK)
            transport.disconnect()
        elif connection is not None:
            connection.heard()

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        if self._connection is not None:
            self._connection.lost()

    def pause_writing(self) -> None:
        if self._connection is not None:
            self._connection.pause_writing()

    def resume_writing(self) -> None:
        if self._connection is not None:
            self._connection.resume_writing()

    def _on_fragment(self, transport: WSTransport, frame: WSFrame) -> None:
        """A part of a message (or a whole binary one): parts are joined here and counted together."""
        if (frame.msg_type == WSMsgType.CONTINUATION) != self._in_message:
            self._violate(transport, "a continuation without a beginning, or a beginning inside a message")
            return
        if not self._in_message:
            self._text = frame.msg_type == WSMsgType.TEXT
            self._in_message = True
        self._size += frame.payload_size
        settings = self._hub.settings
        if self._size > settings.frame_limit:
            transport.send_close(WSCloseCode(TOO_LARGE), b"message too large")
            transport.disconnect()
            return
        if self._size > settings.message_limit:
            self._fragments = []
        else:
            self._fragments.append(frame.get_payload_as_bytes())
        if frame.fin:
            self._finish_message()

    def _finish_message(self) -> None:
        message, size, text = b"".join(self._fragments), self._size, self._text
        self._fragments, self._size, self._in_message = [], 0, False
        if self._connection is None:
            return
        if size > self._hub.settings.message_limit:
            self._connection.receive_too_large(size)
        elif not text:
            self._connection.receive_binary()
        else:
            self._connection.receive(message)

    def _violate(self, transport: WSTransport, reason: str) -> None:
        transport.send_close(WSCloseCode(PROTOCOL_ERROR), reason.encode())
        transport.disconnect()


class SocketProtocol(WSProtocol):  # type: ignore[misc]
    """What uvicorn puts on an upgraded connection. Made by `protocol_class`, which knows the hub."""

    hub_of: Any = None

    def __init__(
        self, config: Config, server_state: ServerState, app_state: dict[str, Any], _loop: object = None
    ) -> None:
        self._hub: Hub = type(self).hub_of()
        self._connections = server_state.connections
        super().__init__(
            None,
            None,
            False,
            self._listen,
            _quiet,
            True,
            None,
            False,
            None,
            None,
            WSAutoPingStrategy.PING_WHEN_IDLE,
            True,
            self._hub.settings.frame_limit,
            None,
            READ_BUFFER,
        )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """The request's bytes, from uvicorn; everything after comes through the buffered protocol."""
        rest = memoryview(data)
        while rest:
            room = self.get_buffer(-1)
            taken = min(len(room), len(rest))
            room[:taken] = rest[:taken]
            self.buffer_updated(taken)
            rest = rest[taken:]

    def shutdown(self) -> None:
        """uvicorn is stopping. The hub tells every connection once, whichever is asked first."""
        self._hub.begin_stop()

    def _listen(self, request: WSUpgradeRequest) -> WSUpgradeResponseWithListener:
        url = urlsplit(request.path.decode("latin-1"))

        def header(name: str) -> str | None:
            values = request.headers.getall(name, None)
            return None if values is None else ", ".join(values)

        answer = knock(self._hub, url.path, url.query, header)
        if isinstance(answer, Refused):
            return WSUpgradeResponseWithListener(_refusal(answer), None)
        extra = answer.headers | ({"Sec-WebSocket-Protocol": answer.subprotocol} if answer.subprotocol else {})
        response = WSUpgradeResponse.create_101_response(extra or None)
        return WSUpgradeResponseWithListener(response, Socket(self._hub, answer))


def _refusal(refused: Refused) -> WSUpgradeResponse:
    headers = {"Content-Type": "text/plain; charset=utf-8", "Connection": "close"}
    if refused.status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    response: WSUpgradeResponse = WSUpgradeResponse.create_error_response(
        refused.status, refused.reason.encode(), headers
    )
    return response


def protocol_class(hub_of: Any) -> type[SocketProtocol]:
    """The protocol class for one gateway: uvicorn makes instances without arguments of ours."""
    return type("GatewaySocketProtocol", (SocketProtocol,), {"hub_of": staticmethod(hub_of)})
