"""Who may talk to this gateway: Host, Origin and token, checked before anything else happens (spec README,
"A bad handshake"). Fail closed: what is not plainly allowed is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import pairwise
from urllib.parse import urlsplit

from toolwire.server.callers import Callers
from toolwire.server.config import LOOPBACK_NAMES, GatewayConfig, is_loopback
from toolwire.server.jwt_callers import JwtCallers
from toolwire.server.roles import Role
from toolwire.server.tokens import DEFAULT_TENANT, OWNER_NAME

Header = Callable[[str], str | None]
"""Looks a request header up by its lower-case name."""

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]*)?")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is on the other side."""

    name: str = OWNER_NAME
    tenant: str = DEFAULT_TENANT
    role: Role = "super_admin"
    credential: str = field(default="", compare=False, repr=False)
    """The hash of the token it came with."""
    expires: int | None = field(default=None, compare=False)


OWNER = Caller()


@dataclass(frozen=True, slots=True)
class Refused:
    """A request turned away before it is looked at."""

    status: HTTPStatus
    reason: str


@dataclass(frozen=True, slots=True)
class Presented:
    """A token as it came in; `subprotocol` is what the handshake must select in return."""

    token: str | None = None
    subprotocol: str | None = None


class Guard:
    """The rules of one gateway."""

    def __init__(self, config: GatewayConfig) -> None:
        names = [*LOOPBACK_NAMES, *config.allow_hosts]
        if not is_loopback(config.host) and config.host not in ("0.0.0.0", "::"):
            names.append(f"[{config.host.strip('[]')}]" if ":" in config.host else config.host)
        self._names = frozenset(name.lower() for name in names)
        self._origins = frozenset(origin.lower().rstrip("/") for origin in config.allow_origins)
        jwt = JwtCallers(config.jwks, audience=config.jwt_audience, issuer=config.jwt_issuer) if config.jwks else None
        self.callers = Callers(config.token_file, jwt)

    @property
    def needs_token(self) -> bool:
        return self.callers.required

    def admits(self, header: Header) -> Refused | None:
        """Check Host and Origin; None if both are fine."""
        host = (header("host") or "").lower()
        if _name_of(host) not in self._names:
            return Refused(HTTPStatus.FORBIDDEN, "this gateway is not called by that Host; see --allow-host")
        origin = header("origin")
        if origin is not None and not self._origin_allowed(origin.lower(), host):
            return Refused(HTTPStatus.FORBIDDEN, "pages of that Origin may not connect; see --allow-origin")
        return None

    def identify(self, token: str | None) -> Caller | None:
        """The caller a token stands for. Without tokens configured (loopback only), everybody is the owner."""
        if not self.callers.required:
            return OWNER
        found = self.callers.identify(token) if token is not None else None
        return None if found is None else Caller(found.name, found.tenant, found.role, found.hash, found.expires)

    def still_knows(self, caller: Caller) -> bool:
        """Whether a caller that was let in before still would be."""
        return self.callers.still_good(caller.credential, caller.expires)

    def _origin_allowed(self, origin: str, host: str) -> bool:
        if origin.rstrip("/") in self._origins:
            return True
        parts = urlsplit(origin)
        return parts.scheme in ("http", "https") and parts.netloc == host


def presented(header: Header) -> Presented:
    """The token in an Authorization header, or in the WebSocket subprotocols `bearer, TOKEN` or `bearer.TOKEN`."""
    scheme, _, token = (header("authorization") or "").partition(" ")
    offered = [part.strip() for part in (header("sec-websocket-protocol") or "").split(",") if part.strip()]
    subprotocol = _subprotocol(offered)
    if scheme.lower() == "bearer" and token.strip():
        return Presented(token.strip(), subprotocol)
    return Presented(_offered_token(offered), subprotocol)


def _subprotocol(offered: Sequence[str]) -> str | None:
    """Select `bearer` if it was offered: a client turns down what it did not offer. The token is never echoed."""
    return "bearer" if "bearer" in offered else None


def _offered_token(offered: Sequence[str]) -> str | None:
    """`bearer.TOKEN` alone is for clients that can do without a subprotocol; browsers offer `bearer` beside it."""
    for part in offered:
        if part.startswith("bearer.") and len(part) > len("bearer."):
            return part.removeprefix("bearer.")
    for part, following in pairwise(offered):
        if part == "bearer":
            return following
    return None


def _name_of(host: str) -> str:
    """The name in a Host header, without its port; empty if it is not one name and at most a port."""
    whole = _HOST.fullmatch(host)
    return whole[1] if whole is not None else ""
