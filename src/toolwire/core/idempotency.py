"""A write happens once (spec README, "A call"): what a call under an idempotency key has to do, from what is kept.

Pure: the clock and whether an owner still lives are arguments.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode

Verdict = Literal["run", "replay", "conflict", "wait", "undecided"]
"""
- run: nothing is kept under the key; the effect may begin.
- replay: the call has ended; its stored response is the answer.
- conflict: the key was used with other arguments.
- wait: the first call is still running; its answer will be this one's.
- undecided: whoever ran the first call is gone and left no response. Look at what it did before doing anything.
"""


class Kept(msgspec.Struct, frozen=True):
    """What is known of a key that has been used."""

    digest: str
    """Of the arguments it was used with."""
    trace: str
    """The first call's."""
    call_id: str
    owner: str
    """The process that runs, or ran, the call."""
    expires: int
    """Milliseconds; from then on the key may be used for something else."""
    response: str | None
    """None until the call has ended."""


def digest_of(arguments: Mapping[str, Any]) -> str:
    """The canonical digest of arguments: their JSON with sorted keys and no spaces, hashed."""
    return hashlib.sha256(_canonical(arguments).encode()).hexdigest()


def decide(kept: Kept | None, digest: str, now: int, owner_alive: bool) -> Verdict:
    """What a call with these arguments has to do. `owner_alive` matters only while there is no response."""
    if kept is None:
        return "run"
    running = kept.response is None and owner_alive
    if kept.expires <= now and not running:
        return "run"
    if kept.digest != digest:
        return "conflict"
    if kept.response is not None:
        return "replay"
    return "wait" if owner_alive else "undecided"
