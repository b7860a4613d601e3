"""Host, Origin and token: who may talk to a gateway."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolwire.errors import ConfigError
from toolwire.server.config import GatewayConfig
from toolwire.server.security import Guard, Header, presented

SECRET = "a-secret-of-enough-length"


def header(**values: str) -> Header:
    return {name.replace("_", "-"): value for name, value in values.items()}.get


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    path = tmp_path / "tokens"
    path.write_text(f"# ours\n{SECRET}\nanother-secret-of-length\n")
    return path


@pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1", "127.0.0.1:1", "[::1]:8080", "LOCALHOST"])
def test_a_loopback_name_is_admitted(tmp_path: Path, host: str) -> None:
    assert Guard(GatewayConfig({"a": tmp_path})).admits(header(host=host)) is None


ODD_HOSTS = [
    "127.0.0.1:80@evil.example",
    "127.0.0.1, evil.example",
    "127.0.0.1:80, evil.example",
    "127.0.0.1:port",
    "localhost:80:90",
    "[::1",
    "::1",
    "[::1]evil.example",
]


@pytest.mark.parametrize(
    "host", ["", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "[::2]", *ODD_HOSTS]
)
def test_any_other_host_is_refused(tmp_path: Path, host: str) -> None:
    refused = Guard(GatewayConfig({"a": tmp_path})).admits(header(host=host))
    assert refused is not None
    assert refused.status == 403


def test_an_address_of_version_6_is_known_by_its_name_in_brackets(tmp_path: Path, tokens: Path) -> None:
    guard = Guard(GatewayConfig({"a": tmp_path}, host="2001:db8::7", token_file=tokens))
    assert guard.admits(header(host="[2001:DB8::7]:8080")) is None
    assert guard.admits(header(host="[2001:db8::8]")) is not None


def test_a_name_allowed_by_the_operator_is_admitted(tmp_path: Path) -> None:
    guard = Guard(GatewayConfig({"a": tmp_path}, allow_hosts=("gateway.example",)))
    assert guard.admits(header(host="gateway.example:443")) is None


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("http://localhost:8080", True),
        ("http://localhost:9999", False),
        ("https://evil.example", False),
        ("null", False),
        ("", False),
        ("file://localhost:8080", False),
        ("https://plugin.example", True),
    ],
)
def test_a_page_may_connect_only_from_this_gateway_or_an_allowed_origin(
    tmp_path: Path, origin: str, allowed: bool
) -> None:
    guard = Guard(GatewayConfig({"a": tmp_path}, allow_origins=("https://plugin.example",)))
    assert (guard.admits(header(host="localhost:8080", origin=origin)) is None) == allowed


def test_no_origin_is_not_a_browser_and_is_admitted(tmp_path: Path) -> None:
    assert Guard(GatewayConfig({"a": tmp_path})).admits(header(host="localhost")) is None


def test_without_tokens_everybody_on_loopback_is_the_owner(tmp_path: Path) -> None:
    guard = Guard(GatewayConfig({"a": tmp_path}))
    caller = guard.identify(None)
    assert caller is not None
    assert caller.role == "super_admin"


def test_with_tokens_only_a_known_one_identifies(tmp_path: Path, tokens: Path) -> None:
    guard = Guard(GatewayConfig({"a": tmp_path}, token_file=tokens))
    assert guard.needs_token
    assert guard.identify(SECRET) is not None
    for wrong in (None, "", SECRET[:-1], SECRET + "x", "# ours"):
        assert guard.identify(wrong) is None


@pytest.mark.parametrize(
    ("headers", "token", "subprotocol"),
    [
        ({"authorization": f"Bearer {SECRET}"}, SECRET, None),
        ({"authorization": f"bearer  {SECRET} "}, SECRET, None),
        ({"authorization": "Basic abc"}, None, None),
        ({"sec-websocket-protocol": f"bearer, {SECRET}"}, SECRET, "bearer"),
        ({"sec-websocket-protocol": f"bearer.{SECRET}"}, SECRET, None),
        ({"sec-websocket-protocol": f"bearer, bearer.{SECRET}"}, SECRET, "bearer"),
        ({"sec-websocket-protocol": "bearer"}, None, "bearer"),
        ({"sec-websocket-protocol": "chat"}, None, None),
        ({}, None, None),
    ],
)
def test_a_token_is_found_where_it_may_be(
    headers: dict[str, str], token: str | None, subprotocol: str | None
) -> None:
    found = presented(headers.get)
    assert (found.token, found.subprotocol) == (token, subprotocol)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "gateway.example"])
def test_a_gateway_that_others_can_reach_needs_a_token(tmp_path: Path, host: str) -> None:
    with pytest.raises(ConfigError, match="token is required"):
        GatewayConfig({"a": tmp_path}, host=host)


@pytest.mark.parametrize("text", ["", "# nothing\n", "short\n"])
def test_a_useless_token_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tokens"
    path.write_text(text)
    with pytest.raises(ConfigError):
        Guard(GatewayConfig({"a": tmp_path}, token_file=path))


def test_a_missing_project_folder_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        GatewayConfig({"a": tmp_path / "nowhere"})
