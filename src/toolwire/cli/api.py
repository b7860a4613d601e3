"""A gateway's HTTP routes, for commands: a few small requests, so the standard library will do."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from toolwire.errors import ConfigError, NotAuthenticated, PeerError, ToolwireError
from toolwire.ide.address import Address
from toolwire.ide.refusals import refusal_of, why_not

TIMEOUT = 10.0
HINTS = {"SESSION_NOT_FOUND": "`toolwire sessions` lists them"}
"""What somebody at a command line can do; the gateway's own hints are for programs."""


class Api:
    """Blocks: from an event loop, call it in a thread."""

    def __init__(self, address: Address, tls: ssl.SSLContext | None = None) -> None:
        self._address = address
        handlers: list[urllib.request.BaseHandler] = [urllib.request.HTTPSHandler(context=tls)]
        if address.local:
            handlers.append(urllib.request.ProxyHandler({}))
        self._open = urllib.request.build_opener(*handlers).open

    def default_project(self) -> str:
        """The project that is meant when none is named."""
        try:
            name = self._ask("GET", "/api/about")["default_project"]
        except (PeerError, KeyError) as error:
            if isinstance(error, PeerError) and not error.code.startswith("HTTP_"):
                raise
            name = ""
        if not name:
            raise ConfigError("which project?", field="project", hint="the gateway names none: pass --project KEY")
        return str(name)

    def sessions(self, limit: int) -> list[dict[str, Any]]:
        """Lines of the list, the most recently used first."""
        found: list[dict[str, Any]] = self._ask("GET", "/api/sessions", {"limit": limit})["sessions"]
        return found

    def events(self, session: str, after: int, limit: int) -> dict[str, Any]:
        """A page of a session's log."""
        return self._ask("GET", f"/api/sessions/{quote(session, safe='')}/events", {"after": after, "limit": limit})

    def stop(self, session: str) -> bool:
        """End what runs in a session; False if nothing did."""
        return bool(self._ask("POST", f"/api/sessions/{quote(session, safe='')}/stop")["stopped"])

    def approvals(self, session: str) -> list[dict[str, Any]]:
        """What waits for a person's word in a session."""
        found: list[dict[str, Any]] = self._ask("GET", "/api/approvals", {"session": session})["approvals"]
        return found

    def approval(self, number: str) -> dict[str, Any]:
        """A request for a person's word, answered or not."""
        return self._ask("GET", f"/api/approvals/{quote(number, safe='')}")

    def page(self, approval: str) -> str:
        """Where a person finds a request on the gateway's page."""
        return self._address.http(f"/#/approvals/{quote(approval, safe='')}")

    def answer(self, approval: str, word: Mapping[str, Any]) -> dict[str, Any]:
        """Give a person's word: `decision`, and `reason` or `arguments`."""
        return self._ask("POST", f"/api/approvals/{quote(approval, safe='')}", body=word)

    def _ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        url = self._address.http(path) + (f"?{urlencode(query)}" if query else "")
        headers = self._address.headers()
        data = None
        if body is not None:
            headers = {**headers, "Content-Type": "application/json"}
            data = json.dumps(body).encode()
        request = urllib.request.Request(url, data=data, method=method, headers=headers)
        try:
            with self._open(request, timeout=TIMEOUT) as answer:
                answered = json.load(answer)
        except urllib.error.HTTPError as error:
            raise _refused(error) from None
        except (OSError, ValueError) as error:
            raise self._failed(error.reason if isinstance(error, urllib.error.URLError) else error, url) from None
        if not isinstance(answered, dict):
            raise PeerError(f"{url} does not answer like a gateway", hint="check --url")
        return answered

    def _failed(self, cause: object, url: str) -> ToolwireError:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return refusal_of(cause, url)
        return self._address.unreachable(why_not(cause) if isinstance(cause, Exception) else str(cause))


def _refused(error: urllib.error.HTTPError) -> PeerError:
    try:
        told = json.load(error)
        code, message, hint = str(told["code"]), str(told["message"]), told.get("hint")
    except (ValueError, KeyError, TypeError, OSError):
        code, message, hint = f"HTTP_{error.code}", f"the gateway answered {error.code} {error.reason}", None
    if error.code == 401:
        return NotAuthenticated(message, hint="pass the gateway's token with --token-file FILE")
    return PeerError(message, code=code, hint=HINTS.get(code, hint))
