from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.errors import ConfigError
from toolwire.ide.address import Address
from toolwire.ide.backoff import Backoff


@pytest.mark.parametrize(
    ("address", "url"),
    [
        (Address("ws://h:1", "gateway", "a b/ü"), "ws://h:1/ws/a%20b%2F%C3%BC"),
        (Address("http://h:1/", "gateway", "s", "p"), "ws://h:1/ws/s?projectKey=p"),
        (Address("https://h", "agent_chat", "s", "p"), "wss://h/ws/agent/chat?projectKey=p&sessionId=s"),
        (
            Address("ws://h", "analyze", "s", "p", "/a b"),
            "ws://h/ws/analyze?projectKey=p&sessionId=s&projectPath=%2Fa%20b",
        ),
        (Address("wss://h/their/{session_id}/path?x=1", "gateway", "s"), "wss://h/their/s/path?x=1"),
        (Address("ws://h", "gateway", "s", query={"watch": "1"}), "ws://h/ws/s?watch=1"),
    ],
)
def test_every_dialect_has_its_path_and_a_whole_path_is_kept(address: Address, url: str) -> None:
    assert address.url() == url


def test_a_cursor_is_asked_for_only_if_there_is_one() -> None:
    address = Address("ws://h", "gateway", "s")
    assert address.url() == "ws://h/ws/s"
    assert address.url("e.7") == "ws://h/ws/s?last_event=e.7"


@pytest.mark.parametrize("base", ["", "h:1", "telnet://h", "ws://", "ws://h:99999", "ws://h:x", "//h"])
def test_what_is_no_gateways_address_is_refused(base: str) -> None:
    with pytest.raises(ConfigError, match="not a URL of a gateway"):
        Address(base, "gateway", "s")


def test_a_session_has_a_name() -> None:
    with pytest.raises(ConfigError, match="needs a name"):
        Address("ws://h", "gateway", "")


@pytest.mark.parametrize(
    ("base", "readable"),
    [
        ("ws://localhost:1", False),
        ("ws://127.0.0.9", False),
        ("ws://[::1]", False),
        ("wss://h", False),
        ("ws://h", True),
    ],
)
def test_a_token_that_others_could_read_is_noticed(base: str, readable: bool) -> None:
    assert Address(base, "gateway", "s", token="secret").readable_token is readable
    assert not Address(base, "gateway", "s").readable_token


def test_the_token_is_not_in_the_url_nor_in_the_repr() -> None:
    address = Address("ws://h", "gateway", "s", token="secret")
    assert address.headers() == {"Authorization": "Bearer secret"}
    assert "secret" not in repr(address) + address.url() + address.http("/api/sessions")


@given(st.integers(0, 2**32), st.integers(1, 60))
def test_waiting_doubles_within_bounds_and_never_stops_growing_early(seed: int, failures: int) -> None:
    backoff = Backoff(0.5, 30.0, Random(seed))
    for number in range(failures):
        longest = min(30.0, 0.5 * 2**number)
        assert longest / 2 <= backoff.next() <= longest
    backoff.reset()
    assert backoff.next() <= 0.5


def test_two_clients_do_not_come_back_at_the_same_moment() -> None:
    first, second = (Backoff(1.0, 30.0, Random(seed)) for seed in (1, 2))
    assert [first.next() for _ in range(5)] != [second.next() for _ in range(5)]
