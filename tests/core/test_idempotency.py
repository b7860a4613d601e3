"""What a call under a key has to do, from what is kept (spec README, "A call")."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.core.idempotency import Kept, decide, digest_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def kept(**changes: Any) -> Kept:
    fields: dict[str, Any] = {
        "digest": "d", "trace": "t1", "call_id": "c1", "owner": "o", "expires": 100, "response": None
    }  # fmt: skip
    return Kept(**(fields | changes))


@pytest.mark.parametrize(
    ("record", "now", "alive", "verdict"),
    [
        (None, 0, False, "run"),
        (kept(response="{}"), 50, False, "replay"),
        (kept(), 50, True, "wait"),
        (kept(), 50, False, "undecided"),
        (kept(digest="other", response="{}"), 50, False, "conflict"),
        (kept(digest="other"), 50, True, "conflict"),
        (kept(digest="other"), 50, False, "conflict"),
        (kept(response="{}"), 100, False, "run"),
        (kept(digest="other", response="{}"), 100, False, "run"),
        (kept(), 100, True, "wait"),
        (kept(), 100, False, "run"),
    ],
)
def test_a_verdict_follows_from_the_record(record: Kept | None, now: int, alive: bool, verdict: str) -> None:
    assert decide(record, "d", now, alive) == verdict


@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_the_order_of_keys_does_not_change_the_digest(arguments: dict[str, Any]) -> None:
    assert digest_of(arguments) == digest_of(dict(reversed(arguments.items())))


@given(st.dictionaries(st.text(), JSON, max_size=3), st.text(), JSON)
def test_another_argument_changes_the_digest(arguments: dict[str, Any], name: str, value: Any) -> None:
    changed = {**arguments, name: [value, "more"]}
    assert (digest_of(changed) == digest_of(arguments)) == (changed == arguments)
