"""The door: which path speaks which dialect, and what a connection must bring to be let in.

Shared by every WebSocket implementation: `knock` decides before the upgrade, `enter` after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qsl, unquote

from toolwire.dialects.agent_chat import AgentChat
from toolwire.dialects.analyze import Analyze
from toolwire.dialects.base import Dialect, Handshake
from toolwire.dialects.details import DETAILS, DETAILS_HEADER
from toolwire.dialects.flash import Flash
from toolwire.dialects.gateway import Gateway
from toolwire.errors import PeerError
from toolwire.server.clock import now_ms
from toolwire.server.connection import REFUSED, Connection
from toolwire.server.flash.socket import FlashSocket
from toolwire.server.hub import Hub
from toolwire.server.outbox import Wire
from toolwire.server.security import Caller, Header, Refused, presented

AGENT_CHAT_PATH = "/ws/agent/chat"
ANALYZE_PATH = "/ws/analyze"
GATEWAY_PREFIX = "/ws/"
FLASH_PATH = "/agent/ws"
NO_TEXT = "surrogateescape"
"""How bytes that are no UTF-8 come out of a URL: as something that dialects can refuse, and take for nothing else."""
WITH_CONNECT: tuple[type[Dialect], ...] = (AgentChat, Analyze)
"""Dialects that can bring a token in a message, so need none in the handshake."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A connection that may be upgraded."""

    dialect: type[Dialect]
    query: dict[str, str]
    session: str
    caller: Caller | None
    subprotocol: str | None

    @property
    def headers(self) -> dict[str, str]:
        """What the answer to the handshake says beside the protocol's own."""
        return {DETAILS_HEADER: "1"} if self.query.get(DETAILS) == "1" else {}


def dialect_of(path: str) -> tuple[type[Dialect], str] | None:
    """The dialect spoken at a path (as it came, not decoded), and the session id in it."""
    if path == AGENT_CHAT_PATH:
        return AgentChat, ""
    if path == ANALYZE_PATH:
        return Analyze, ""
    if path == FLASH_PATH:
        return Flash, ""
    name = path.removeprefix(GATEWAY_PREFIX)
    if name != path and "/" not in name:
        return Gateway, unquote(name, errors=NO_TEXT)
    return None


def knock(hub: Hub, path: str, query: str, header: Header) -> Admitted | Refused:
    """Before the upgrade: Host, Origin, token, path."""
    refused = hub.guard.admits(header)
    if refused is not None:
        return refused
    spoken = dialect_of(path)
    if spoken is None:
        places = "/ws/{session_id}, /ws/analyze, /ws/agent/chat or /agent/ws"
        return Refused(HTTPStatus.NOT_FOUND, f"no WebSocket here; try {places}")
    dialect, session = spoken
    offer = presented(header)
    caller = hub.guard.identify(offer.token)
    if caller is None and (offer.token is not None or dialect not in WITH_CONNECT):
        return Refused(HTTPStatus.UNAUTHORIZED, "a valid token is required: Authorization: Bearer TOKEN")
    if hub.stopping or len(hub.connections) >= hub.settings.connections_limit:
        return Refused(HTTPStatus.SERVICE_UNAVAILABLE, "the gateway takes no more connections now; try again later")
    fields = dict(parse_qsl(query, keep_blank_values=True, errors=NO_TEXT))
    return Admitted(dialect, fields, session, caller, offer.subprotocol)


def enter(hub: Hub, admitted: Admitted, wire: Wire) -> Connection | None:
    """After the upgrade: a connection, or None if the socket was told why not and is being closed."""
    now = now_ms()
    handshake = Handshake(
        query=admitted.query,
        connection=hub.ids.next(now),
        session=admitted.session,
        fresh_request=f"req-{hub.ids.next(now)}",
        default_project=next(iter(hub.projects.roots), ""),
        nesting_limit=hub.settings.nesting_limit,
        details_limit=hub.settings.details_limit,
    )
    try:
        if admitted.dialect is Flash and admitted.caller is not None:
            return FlashSocket(hub, wire, handshake, admitted.caller)
        dialect = admitted.dialect(handshake)
        if dialect.placement == "server":
            hub.projects.check(dialect.project)
    except PeerError as error:
        wire.write([admitted.dialect.refusal(error)])
        wire.close(REFUSED, error.code)
        return None
    return Connection(hub, wire, dialect, admitted.caller)
