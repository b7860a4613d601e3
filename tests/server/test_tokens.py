"""Callers: a file of hashed tokens, JSON Web Tokens, and what happens when one is no longer good."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from server.programs import program
from support.patience import PATIENCE
from toolwire.errors import ConfigError
from toolwire.server import tokens
from toolwire.server.callers import Callers
from toolwire.server.config import GatewayConfig
from toolwire.server.jwt_callers import JwtCallers
from toolwire.server.security import Guard
from toolwire.server.tokens import Token

OLD = "a-plain-token-of-the-owner"


def put(path: Path, name: str, **more: Any) -> str:
    secret = tokens.fresh()
    tokens.add(path, Token(tokens.hash_of(secret), name, **more))
    return secret


def test_a_token_stands_for_a_name_a_tenant_and_a_role_and_only_its_hash_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    secret = put(path, "alice", tenant="acme", role="editor")
    caller = Guard(GatewayConfig({"a": tmp_path}, token_file=path)).identify(secret)
    assert caller is not None
    assert (caller.name, caller.tenant, caller.role) == ("alice", "acme", "editor")
    assert secret not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0


def test_plain_lines_are_tokens_of_the_owner(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"# ours\n{OLD}\n")
    put(path, "alice", role="viewer")
    guard = Guard(GatewayConfig({"a": tmp_path}, token_file=path))
    owner = guard.identify(OLD)
    assert owner is not None
    assert (owner.name, owner.role) == ("owner", "super_admin")
    assert guard.identify("something-else-altogether") is None


def test_a_token_past_its_time_is_nobody(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    now = int(time.time())
    good, late = put(path, "a", expires=now + 60), put(path, "b", expires=now - 1)
    callers = Callers(path)
    assert callers.identify(good) is not None
    assert callers.identify(late) is None


def test_a_revoked_token_is_nobody_without_a_restart_and_the_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    alice, bob = put(path, "alice"), put(path, "bob")
    callers = Callers(path)
    assert callers.identify(alice) is not None
    assert tokens.revoke(path, "alice") == 1
    assert callers.identify(alice) is None
    assert callers.identify(bob) is not None
    assert tokens.revoke(path, "alice") == 0


def test_a_file_that_becomes_unreadable_lets_nobody_in(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    alice = put(path, "alice")
    callers = Callers(path)
    path.write_text('{"hash": "nonsense"}\n')
    assert callers.identify(alice) is None
    path.unlink()
    assert callers.identify(alice) is None
    assert callers.required


@pytest.mark.parametrize(
    "line",
    [
        "short",
        "{",
        '{"name": "a"}',
        '{"hash": "sha256:00", "name": "a"}',
        json.dumps({"hash": tokens.hash_of("x"), "name": "a b"}),
        json.dumps({"hash": tokens.hash_of("x"), "name": "a", "expires": "soon"}),
        json.dumps({"hash": tokens.hash_of("x"), "name": "a", "expires": True}),
    ],
)
def test_a_bad_line_is_refused_by_its_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"{OLD}\n\n{line}\n")
    with pytest.raises(ConfigError, match="line 3"):
        Callers(path)


def test_a_role_nobody_knows_is_the_least(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text(json.dumps({"hash": tokens.hash_of("x"), "name": "a", "role": "root"}) + "\n")
    assert tokens.read(path)[0].role == "viewer"


def test_one_name_has_one_token(tmp_path: Path) -> None:
    put(tmp_path / "tokens", "alice")
    with pytest.raises(ConfigError, match="already"):
        put(tmp_path / "tokens", "alice")


async def test_rows_and_sessions_of_another_tenant_are_not_seen(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    acme, other = put(path, "a", tenant="acme", role="editor"), put(path, "b", tenant="other", role="editor")
    (tmp_path / "a.txt").write_text("x")
    async with program(tmp_path, token=acme, token_file=path) as it:
        await it.call("read_file", {"path": "a.txt"}, session_id="mine")
        mine = await it.http.get("/api/sessions/mine/events")
        theirs = await it.http.get("/api/sessions/mine/events", headers={"Authorization": f"Bearer {other}"})
    assert (mine.status_code, theirs.status_code) == (200, 404)


async def test_the_role_of_a_token_decides_what_it_may_call(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    viewer = put(path, "v", role="viewer")
    async with program(tmp_path, token=viewer, token_file=path) as it:
        write = await it.call(
            "Replace",
            {"path": "a.txt", "content": "x"},
            idempotency_key="k",
            context={"user_role": "super_admin"},
        )
        read = await it.call("list_dir", {})
    assert (write["code"], read["code"]) == ("PERMISSION_DENIED", "OK")


async def test_a_viewers_prompt_only_reads(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    viewer = put(path, "v", role="viewer")
    script = {"steps": [{"call": [{"tool": "Replace", "arguments": {"path": "a.txt", "content": "x"}}]}]}
    (tmp_path / "s.json").write_text(json.dumps({"turns": [script]}))
    async with program(tmp_path, token=viewer, token_file=path, agent=f"script:{tmp_path}/s.json") as it:
        peer = await it.gateway.connect(
            "/ws/s?tools=server&watch=1", additional_headers={"Authorization": f"Bearer {viewer}"}
        )
        await peer.send({"type": "user_message", "content": "go"})
        seen = await peer.receive_until("turn_ended")
        await peer.close()
    results = [message for message in seen if message["type"] == "tool_result"]
    assert "may only read" in results[0]["error"]
    assert not (tmp_path / "a.txt").exists()


async def test_revoking_a_token_closes_what_it_has_opened(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    alice = put(path, "alice", role="editor")
    put(path, "bob")
    async with program(tmp_path, token_file=path) as it:
        peer = await it.gateway.connect("/ws/s", additional_headers={"Authorization": f"Bearer {alice}"})
        tokens.revoke(path, "alice")
        assert await peer.closed() == 1008


# JSON Web Tokens -------------------------------------------------------------------------------------------


@pytest.fixture
def key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def jwks(folder: Path, key: ec.EllipticCurvePrivateKey, **more: Any) -> Path:
    public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(key.public_key()))
    path = folder / "jwks.json"
    path.write_text(json.dumps({"keys": [{**public, "kid": "one", "use": "sig", **more}]}))
    return path


def signed(key: Any, algorithm: str = "ES256", **claims: Any) -> str:
    plain = {"sub": "alice", "exp": int(time.time()) + 60, "tenant": "acme", "role": "publisher"}
    return jwt.encode({**plain, **claims}, key, algorithm=algorithm, headers={"kid": "one"})


def test_a_signed_token_stands_for_its_claims(tmp_path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    guard = Guard(GatewayConfig({"a": tmp_path}, host="0.0.0.0", jwks=jwks(tmp_path, key)))
    caller = guard.identify(signed(key))
    assert caller is not None
    assert (caller.name, caller.tenant, caller.role) == ("alice", "acme", "publisher")
    unknown = guard.identify(signed(key, role="god"))
    assert unknown is not None
    assert unknown.role == "viewer"


def test_a_token_that_proves_nothing_is_nobody(tmp_path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    callers = JwtCallers(jwks(tmp_path, key), audience="toolwire", issuer="us")
    good = {"aud": "toolwire", "iss": "us"}
    assert callers.identify(signed(key, **good)) is not None
    another = ec.generate_private_key(ec.SECP256R1())
    no_end = jwt.encode({"sub": "a", **good}, key, algorithm="ES256", headers={"kid": "one"})
    bad = [
        signed(another, **good),
        signed(key, **{**good, "aud": "other"}),
        signed(key, **{**good, "iss": "them"}),
        signed(key, **good, exp=int(time.time()) - 120),
        signed("x" * 32, "HS256", **good),
        jwt.encode({"sub": "a", "exp": 9e9, **good}, "", algorithm="none", headers={"kid": "one"}),
        no_end,
        "a.b.c",
    ]
    assert [callers.identify(token) for token in bad] == [None] * len(bad)


def test_a_symmetric_key_is_refused_at_start(tmp_path: Path) -> None:
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps({"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "one"}]}))
    with pytest.raises(ConfigError, match="oct"):
        JwtCallers(path)


def test_without_any_keys_the_gateway_does_not_start(tmp_path: Path) -> None:
    for text in ("", "{}", '{"keys": []}'):
        (tmp_path / "jwks.json").write_text(text)
        with pytest.raises(ConfigError):
            JwtCallers(tmp_path / "jwks.json")


async def test_a_stream_of_events_ends_with_its_token(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    secret = put(path, "alice", role="editor")
    async with program(tmp_path, token_file=path, token=secret) as it:
        await it.call("flash.app.list", session_id="s")
        async with it.http.stream("GET", "/api/sessions/s/events", headers={"Accept": "text/event-stream"}) as stream:
            lines = stream.aiter_lines()
            assert (await anext(lines)).startswith("id: ")
            tokens.revoke(path, "alice")
            async with asyncio.timeout(PATIENCE):
                async for _ in lines:
                    pass
