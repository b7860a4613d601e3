"""A transport's errors in words that say what to do."""

from __future__ import annotations

import os
import ssl
from http import HTTPStatus

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import InvalidStatus, InvalidURI

from toolwire.errors import ConfigError, HandshakeRefused, NotAuthenticated, ToolwireError

POLICY = 1008
"""The close code of a handshake the gateway refuses in its own dialect (spec README, "A bad handshake")."""

_HINTS = {
    HTTPStatus.FORBIDDEN: "the gateway does not go by that name, or not for you: see `toolwire serve --allow-host`",
    HTTPStatus.NOT_FOUND: "check the path of --url and --dialect",
}


def refusal_of(error: Exception, url: str) -> ToolwireError:
    """What to tell about an attempt that would fail the same way again."""
    if isinstance(error, InvalidStatus):
        status = error.response.status_code
        body = (error.response.body or b"").decode("utf-8", "replace").strip()[:200]
        reason = f"the gateway refused the connection: {status} {body}".rstrip()
        if status == HTTPStatus.UNAUTHORIZED:
            return NotAuthenticated(reason, hint="pass the gateway's token with --token-file FILE")
        return HandshakeRefused(reason, hint=_HINTS.get(HTTPStatus(status)) if status in _STATUSES else None)
    if isinstance(error, ssl.SSLCertVerificationError):
        return HandshakeRefused(
            f"the certificate of {url} is not trusted: {error.verify_message}",
            hint="pass the authority that signed it with --ca FILE",
        )
    if isinstance(error, InvalidURI):
        return ConfigError(
            f"{url} is not the address of a gateway", field="url", hint="for example ws://127.0.0.1:8080"
        )
    return HandshakeRefused(f"{url} does not answer like a gateway: {error}", hint="check --url")


def why_not(error: Exception) -> str:
    """Why an attempt failed that may succeed next time."""
    # The number of a TLS error is not one of the system's.
    if isinstance(error, OSError) and error.errno and not isinstance(error, ssl.SSLError):
        return os.strerror(error.errno).lower()
    return str(error) or type(error).__name__


_CLOSED = {
    "PROJECT_NOT_FOUND": "name one of its projects with --project, or leave it out for the first",
    "UNAUTHENTICATED": "pass the gateway's token with --token-file FILE",
}
"""What to do about a refusal, by its name."""
_STATUSES = frozenset(status.value for status in HTTPStatus)


def why_closed(socket: ClientConnection) -> str:
    """The reason a connection ended; raises HandshakeRefused if the gateway will not have this client at all."""
    code, reason = socket.close_code, socket.close_reason
    text = f"closed with {code}" + (f": {reason}" if reason else "")
    if code == POLICY:
        raise HandshakeRefused(
            f"the gateway ended the connection: {reason or 'refused'}", hint=_CLOSED.get(reason or "")
        )
    return text
