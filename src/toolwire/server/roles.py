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
_RANKS: Final[dict[object, int]] = {role: rank for rank, role in enumerate(ROLES)}


def role_of(name: object) -> Role:
    """The role of that name; an unknown one is the least."""
    return ROLES[_rank(name)]


def at_least(role: str, needed: Role) -> bool:
    """Whether `role` may do what `needed` may."""
    return _rank(role) >= _RANKS[needed]


def narrowed(role: str, claim: str | None) -> Role:
    """The lesser of a caller's role and the one a request claims."""
    own = _rank(role)
    return ROLES[own if claim is None else min(own, _rank(claim))]


def _rank(name: object) -> int:
    """From the least, which is also whoever is not known."""
    return _RANKS.get(name, 0) if isinstance(name, str) else 0
