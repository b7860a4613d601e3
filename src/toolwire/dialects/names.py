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
    return None if _is_text(name) else "is not valid UTF-8"


def check_text(query: Mapping[str, str]) -> None:
    """Raise HandshakeRefused, naming the parameter, where one was given bytes that are no text."""
    for field, value in query.items():
        if not _is_text(field) or not _is_text(value):
            named = field if _is_text(field) else "a parameter"
            raise HandshakeRefused(f"{named} is not valid UTF-8", field=named)


def _is_text(value: str) -> bool:
    """Bytes that are none came in as lone surrogates."""
    return value.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in value)


def required(query: Mapping[str, str], field: str, limit: int = NAME_LIMIT, *, where: str = "query") -> str:
    """A parameter a connection can't be opened without."""
    name = query.get(field, "")
    if not name:
        raise HandshakeRefused(f"{field} is missing in the {where}", field=field)
    return _checked(name, field, limit)


def optional(query: Mapping[str, str], field: str, limit: int = NAME_LIMIT) -> str:
    return _checked(query.get(field, ""), field, limit)


def _checked(name: str, field: str, limit: int) -> str:
    what = fault(name, limit)
    if what is not None:
        raise HandshakeRefused(f"{field} {what}", field=field)
    return name
