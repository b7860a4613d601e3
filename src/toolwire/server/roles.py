"""Roles of document 3: `viewer < editor < publisher < super_admin` (spec README, "Roles").

A role that is not one of these is viewer. `context.user_role` is a claim: it may narrow the caller's role, never
widen it.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

Role = Literal["viewer", "editor", "publisher", "super_admin"]
"""From the least to the greatest."""

ROLES: Final[tuple[Role, ...]] = get_args(Role)
LEAST: Final[Role] = ROLES[0]
WRITER: Final[Role] = "editor"
"""Whoever is less than this only reads."""


def role_of(name: object) -> Role:
    """The role of that name; an unknown one is the least."""
    return next((role for role in ROLES if role == name), LEAST)


def at_least(role: str, needed: Role) -> bool:
    """Whether `role` may do what `needed` may."""
    return ROLES.index(role_of(role)) >= ROLES.index(needed)


def narrowed(role: str, claim: str | None) -> Role:
    """The lesser of a caller's role and the one a request claims."""
    own = role_of(role)
    if claim is None:
        return own
    return min(own, role_of(claim), key=ROLES.index)
