"""Document 3's paths tell every failure in the shape of section 5, with a trace; other origins come in by name."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.flash import client
from support.running import Running, running
from toolwire.server import tokens
from toolwire.server.tokens import Token
from toolwire.settings import Settings

BUILDER = "http://builder.example:5173"


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Running]:
    settings = Settings(flash_body_bytes=100_000)
    async with running(tmp_path, settings=settings, allow_origins=(BUILDER,)) as gateway:
        yield gateway


def failure(answer: httpx.Response) -> dict[str, Any]:
    body: dict[str, Any] = answer.json()
    assert set(body) == {"ok", "code", "message", "tool_id", "trace_id", "error"}
    assert (body["ok"], body["error"]["http_status"]) == (False, answer.status_code)
    return body


@pytest.mark.parametrize(
    ("method", "path", "status", "allow"),
    [
        ("GET", "/agent/flash/nothing", 404, None),
        ("GET", "/api/apps/1", 404, None),
        ("DELETE", "/api/apps", 405, {"GET", "POST", "PATCH"}),
        ("PATCH", "/api/execution_logs", 405, {"GET", "POST"}),
        ("GET", "/agent/flash/tools/call", 405, {"POST"}),
        ("OPTIONS", "/agent/flash/draft", 405, {"GET", "POST"}),
    ],
)
async def test_what_no_route_takes_is_refused_in_the_documents_shape(
    gateway: Running, method: str, path: str, status: int, allow: set[str] | None
) -> None:
    async with client(gateway) as http:
        answer = await http.request(method, path, headers={"X-Trace-Id": "tr-mine"})
    body = failure(answer)
    assert (answer.status_code, body["code"], body["trace_id"]) == (status, "BAD_REQUEST", "tr-mine")
    assert body["error"]["reason_code"] == {404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED"}[status]
    assert allow is None or set(answer.headers["allow"].split(", ")) == allow


async def test_other_paths_keep_their_own_shape(gateway: Running) -> None:
    async with client(gateway) as http:
        answer = await http.delete("/api/sessions")
    assert (answer.status_code, set(answer.json())) == (405, {"code", "message"})


async def test_without_a_token_the_refusal_has_the_documents_shape_too(tmp_path: Path) -> None:
    tokens.add(tmp_path / "tokens", Token(tokens.hash_of(tokens.fresh()), "alice"))
    async with running(tmp_path, token_file=tmp_path / "tokens") as gateway, client(gateway) as http:
        body = failure(answer := await http.get("/api/apps"))
        assert (answer.status_code, body["code"]) == (401, "PERMISSION_DENIED")
        assert (body["error"]["reason_code"], answer.headers["www-authenticate"]) == ("UNAUTHORIZED", "Bearer")


@pytest.mark.parametrize("body", [b"", b"[]", b"\xff", b'{"content": 1, "content": 2}', b"x" * 100_001])
async def test_a_plain_route_gives_every_refusal_a_trace(gateway: Running, body: bytes) -> None:
    async with client(gateway) as http:
        named = await http.post("/agent/flash/draft", content=body, headers={"X-Trace-Id": "tr-mine"})
        unnamed = await http.post("/agent/flash/draft", content=body)
    assert (failure(named)["trace_id"], named.headers["x-trace-id"]) == ("tr-mine", "tr-mine")
    assert failure(unnamed)["trace_id"].startswith("tr_")
    assert unnamed.headers["x-trace-id"] == unnamed.json()["trace_id"]


@pytest.mark.parametrize(
    "path", ["/agent/flash/attachments/nope", "/api/apps?limit=x", "/agent/flash/draft/history?version=x"]
)
async def test_so_do_questions(gateway: Running, path: str) -> None:
    async with client(gateway) as http:
        answer = await http.get(path)
    assert failure(answer)["trace_id"] == answer.headers["x-trace-id"]


async def test_a_trace_that_can_not_be_one_is_refused_and_not_repeated(gateway: Running) -> None:
    async with client(gateway) as http:
        plain = await http.get("/agent/flash/draft", headers={"X-Trace-Id": "x" * 300})
        called = await http.post("/agent/flash/tools/call", json={"trace_id": "x" * 300, "tool_id": "y" * 300})
    assert (failure(plain)["code"], plain.json()["trace_id"]) == ("VALIDATION_FAILED", None)
    assert (failure(called)["trace_id"], called.json()["tool_id"]) == (None, None)


async def test_the_body_of_a_call_is_bounded(gateway: Running) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(200):
            yield b"x" * 1000

    async with client(gateway) as http:
        answer = await http.post("/agent/flash/tools/call", content=pieces())
    assert failure(answer)["error"]["reason_code"] == "BODY_TOO_LARGE"


async def test_the_app_of_a_draft_may_stand_in_the_address(gateway: Running) -> None:
    async with client(gateway) as http:
        saved = await http.post("/agent/flash/draft?appId=leave", json={"content": "x"})
        assert saved.json()["path"].endswith("/drafts/leave/FlashDraft.vue")
        said_twice = await http.post("/agent/flash/draft?appId=leave", json={"content": "x", "appId": "other"})
        assert said_twice.json()["path"].endswith("/drafts/other/FlashDraft.vue")


async def test_pages_of_an_allowed_origin_may_call(gateway: Running) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization, content-type"}
    async with client(gateway, Origin=BUILDER) as http:
        may = await http.options("/agent/flash/tools/call", headers=asked)
        assert (may.status_code, may.headers["access-control-allow-origin"]) == (200, BUILDER)
        answer = await http.get("/api/apps")
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, BUILDER)
        assert "x-trace-id" in answer.headers["access-control-expose-headers"].lower()


async def test_pages_of_any_other_origin_may_not(gateway: Running) -> None:
    asked = {"Access-Control-Request-Method": "POST"}
    async with client(gateway, Origin="http://evil.example") as http:
        for answer in (await http.options("/agent/flash/tools/call", headers=asked), await http.get("/api/apps")):
            assert answer.status_code in (400, 403)
            assert "access-control-allow-origin" not in answer.headers
