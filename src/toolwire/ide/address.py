"""Where a gateway is, and the URL each dialect opens there (documents 1, 2 and 5, "connection")."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from toolwire.dialects.base import DialectName
from toolwire.errors import ConfigError, PeerError

PATHS: Mapping[DialectName, str] = {
    "agent_chat": "/ws/agent/chat",
    "analyze": "/ws/analyze",
    "gateway": "/ws/{session_id}",
}
_SCHEMES = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}


@dataclass(frozen=True, slots=True)
class Address:
    """Checked when built. `base` may be the gateway alone, or a whole path of a gateway that has others."""

    base: str
    dialect: DialectName
    session: str
    project: str = ""
    project_path: str = ""
    token: str = field(default="", repr=False)
    query: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.base)
            known = parts.scheme in _SCHEMES and parts.hostname and (parts.port is None or parts.port > 0)
        except ValueError:
            known = False
        if not known:
            raise ConfigError(
                f"{self.base!r} is not a URL of a gateway", field="url", hint="for example ws://127.0.0.1:8080"
            )
        if not self.session:
            raise ConfigError("a session needs a name", field="session")

    @property
    def local(self) -> bool:
        """Whether it is on this machine: then no proxy is asked."""
        host = urlsplit(self.base).hostname or ""
        try:
            return host == "localhost" or ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    @property
    def readable_token(self) -> bool:
        """Whether the token would travel where others can read it."""
        return bool(self.token) and not self.local and _SCHEMES[urlsplit(self.base).scheme] == "ws"

    def headers(self) -> dict[str, str]:
        """The token never goes into the URL."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def url(self, cursor: str = "") -> str:
        """The address to open; with a cursor, to go on after the message that carried it."""
        parts = urlsplit(self.base)
        path = parts.path if parts.path not in ("", "/") else PATHS[self.dialect]
        path = path.replace("{session_id}", quote(self.session, safe=""))
        query = dict(parse_qsl(parts.query, keep_blank_values=True)) | self._asked()
        if cursor:
            query["last_event"] = cursor
        return urlunsplit((_SCHEMES[parts.scheme], parts.netloc, path, urlencode(query, quote_via=quote), ""))

    def http(self, path: str) -> str:
        """A page or route beside the socket."""
        parts = urlsplit(self.base)
        scheme = "https" if _SCHEMES[parts.scheme] == "wss" else "http"
        return urlunsplit((scheme, parts.netloc, path, "", ""))

    def unreachable(self, reason: str) -> PeerError:
        return PeerError(
            f"no gateway at {self.base}: {reason}",
            code="UNREACHABLE",
            field="url",
            hint="start one with `toolwire up`, or name another with --url",
        )

    def _asked(self) -> dict[str, str]:
        named = {"projectKey": self.project} if self.project else {}
        if self.dialect != "gateway":
            named |= {"sessionId": self.session}
        if self.dialect == "analyze":
            named |= {"projectPath": self.project_path}
        return named | dict(self.query)
