"""The names a peer gives: of a session, a project, a request. What fits, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping

from toolwire.errors import HandshakeRefused

NAME_LIMIT = 256
"""Characters a name may have."""
PATH_LIMIT = 4096
"""Characters a path may have; it is only ever repeated to the peer that gave it."""


def fault(name: str, limit: int = NAME_LIMIT) -> str | None:
    """What is wrong with a name that was given, or None."""
    if len(name) > limit:
        return f"is longer than {limit} characters"
    if not name.isprintable() and any(ord(sign) < 32 or 127 <= ord(sign) < 160 for sign in name):
        return "contains control characters"
    if any("\ud800" <= sign <= "\udfff" for sign in name):
        return "is not valid Unicode"
    return None


def required(query: Mapping[str, str], field: str, limit: int = NAME_LIMIT) -> str:
    """A parameter a connection can't be opened without."""
    name = query.get(field, "")
    if not name:
        raise HandshakeRefused(f"{field} is missing in the query", field=field)
    return _checked(name, field, limit)


def optional(query: Mapping[str, str], field: str, limit: int = NAME_LIMIT) -> str:
    return _checked(query.get(field, ""), field, limit)


def _checked(name: str, field: str, limit: int) -> str:
    what = fault(name, limit)
    if what is not None:
        raise HandshakeRefused(f"{field} {what}", field=field)
    return name
