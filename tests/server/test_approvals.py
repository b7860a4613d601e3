"""Confirmation (document 3): a request is durable and bound to its arguments, is answered once and serves once."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.programs import Program, program, service
from support.patience import PATIENCE
from support.running import Peer, script, steps
from toolwire.server import tokens
from toolwire.server.catalogue import CallContext, Entry, ServiceResult
from toolwire.server.tokens import Token
from toolwire.settings import Settings

QUICK = Settings(approval_wait=0.2, approval_poll=0.05)
NAMED = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
DEPLOY = {"tool": "test.tool", "arguments": {"name": "live"}}


class Deploy:
    """A tool that a person is asked about, and what it was really run with."""

    def __init__(self) -> None:
        self.runs: list[dict[str, Any]] = []

    async def run(self, _: CallContext, arguments: dict[str, Any]) -> ServiceResult:
        self.runs.append(arguments)
        return ServiceResult({"deployed": arguments["name"]})

    def entry(self, **more: Any) -> Entry:
        return service(self.run, takes=NAMED, **{"confirm": True, **more})


async def ask(it: Program, name: str = "bob", key: str = "k") -> dict[str, Any]:
    return await it.call("test.tool", {"name": name}, idempotency_key=key)


async def waiting(it: Program, session: str = "calls") -> dict[str, Any]:
    """The one request that waits, as soon as there is one."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found = (await it.http.get("/api/approvals", params={"session": session})).json()["approvals"]
            if found:
                one: dict[str, Any] = found[0]
                return one
            await asyncio.sleep(0.01)


async def answer(it: Program, number: str, **word: Any) -> httpx.Response:
    return await it.http.post(f"/api/approvals/{number}", json=word)


# Programs --------------------------------------------------------------------------------------------------


async def test_a_call_waits_for_a_yes(tmp_path: Path) -> None:
    tool = Deploy()
    async with program(tmp_path) as it:
        it.add(tool.entry())
        calling = asyncio.create_task(ask(it))
        request = await waiting(it)
        assert tool.runs == []
        await answer(it, request["id"], decision="approve", digest=request["digest"])
        response = await calling
        again = await ask(it)
        kinds = [event["kind"] for event in await it.events()]
    assert response["data"] == {"deployed": "bob"}
    assert again["meta"]["idempotent_replay"] is True
    assert tool.runs == [{"name": "bob"}]
    assert kinds == ["approval_requested", "approval_answered", "call_requested", "call_settled"]


async def test_a_no_is_permission_denied_with_the_reason(tmp_path: Path) -> None:
    tool = Deploy()
    async with program(tmp_path) as it:
        it.add(tool.entry())
        calling = asyncio.create_task(ask(it))
        await answer(it, (await waiting(it))["id"], decision="reject", reason="not today")
        response = await calling
    assert response["code"] == "PERMISSION_DENIED"
    assert "not today" in response["message"]
    assert tool.runs == []


async def test_a_yes_to_other_arguments_runs_those(tmp_path: Path) -> None:
    tool = Deploy()
    async with program(tmp_path) as it:
        it.add(tool.entry())
        calling = asyncio.create_task(ask(it))
        number = (await waiting(it))["id"]
        wrong = await answer(it, number, decision="approve", arguments={"name": 7})
        await answer(it, number, decision="approve", arguments={"name": "eve"})
        response = await calling
    assert wrong.status_code == 400
    assert response["data"] == {"deployed": "eve"}
    assert tool.runs == [{"name": "eve"}]


async def test_a_call_that_waited_too_long_is_a_timeout_with_the_id_and_goes_on_when_it_is_sent_again(
    tmp_path: Path,
) -> None:
    tool = Deploy()
    async with program(tmp_path, settings=QUICK) as it:
        it.add(tool.entry())
        late = await ask(it)
        still = await ask(it)
        number = late["error"]["approval_id"]
        await answer(it, number, decision="approve")
        response = await ask(it)
    assert (late["code"], still["error"]["approval_id"]) == ("TIMEOUT", number)
    assert response["ok"]
    assert len(tool.runs) == 1


async def test_an_answer_serves_one_call_and_only_the_exact_arguments(tmp_path: Path) -> None:
    tool = Deploy()
    async with program(tmp_path, settings=QUICK) as it:
        it.add(tool.entry())
        number = (await ask(it))["error"]["approval_id"]
        await answer(it, number, decision="approve")
        other = await ask(it, name="mallory", key="other")
        another = await ask(it, key="another")
    assert other["code"] == another["code"] == "TIMEOUT"
    assert len({number, other["error"]["approval_id"], another["error"]["approval_id"]}) == 3
    assert tool.runs == []


async def test_a_second_or_stale_answer_is_refused_by_name(tmp_path: Path) -> None:
    async with program(tmp_path, settings=QUICK) as it:
        it.add(Deploy().entry())
        number = (await ask(it))["error"]["approval_id"]
        other = await answer(it, number, decision="approve", digest="0" * 64)
        first = await answer(it, number, decision="reject")
        second = await answer(it, number, decision="approve")
        nobody = await answer(it, "approval-nope", decision="approve")
    assert (other.status_code, first.status_code, second.status_code, nobody.status_code) == (409, 200, 409, 404)
    assert second.json()["code"] == "APPROVAL_STALE"
    assert "rejected already by owner" in second.json()["message"]


async def test_a_request_expires(tmp_path: Path) -> None:
    settings = Settings(approval_wait=0.4, approval_poll=0.05, approval_timeout=0.1)
    async with program(tmp_path, settings=settings) as it:
        it.add(Deploy().entry())
        response = await ask(it)
        late = await answer(it, response["error"]["approval_id"], decision="approve")
    assert (response["code"], response["error"]["reason_code"]) == ("PERMISSION_DENIED", "APPROVAL_EXPIRED")
    assert (late.status_code, late.json()["code"]) == (409, "APPROVAL_STALE")


async def test_a_request_survives_a_restart(tmp_path: Path) -> None:
    tool, store = Deploy(), f"sqlite:///{tmp_path}/s.db"
    async with program(tmp_path, settings=QUICK, store=store) as it:
        it.add(tool.entry())
        number = (await ask(it))["error"]["approval_id"]
    async with program(tmp_path, settings=QUICK, store=store) as it:
        it.add(tool.entry())
        assert (await waiting(it))["id"] == number
        await answer(it, number, decision="approve")
        response = await ask(it)
    assert response["ok"]
    assert len(tool.runs) == 1


async def test_a_role_below_the_tools_may_not_answer_and_another_tenant_does_not_see_it(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    secrets = {}
    for name, tenant, role in (("ed", "acme", "editor"), ("vi", "acme", "viewer"), ("x", "other", "super_admin")):
        secrets[name] = tokens.fresh()
        tokens.add(path, Token(tokens.hash_of(secrets[name]), name, tenant, role))  # type: ignore[arg-type]
    async with program(tmp_path, settings=QUICK, token=secrets["ed"], token_file=path) as it:
        it.add(Deploy().entry())
        number = (await ask(it))["error"]["approval_id"]
        codes = []
        for name in ("vi", "x", "ed"):
            headers = {"Authorization": f"Bearer {secrets[name]}"}
            body = {"decision": "approve"}
            codes.append((await it.http.post(f"/api/approvals/{number}", json=body, headers=headers)).status_code)
    assert codes == [403, 404, 200]


# Agents ----------------------------------------------------------------------------------------------------


def agent(folder: Path) -> str:
    return script(folder, steps({"call": [DEPLOY]}, {"say": ["{{1}}"]}))


async def told(peer: Peer) -> str:
    messages = await peer.receive_until("turn_ended")
    return "".join(message["token"] for message in messages if message["type"] == "assistant_message")


@pytest.mark.parametrize(
    ("policy", "risk", "asked"),
    [("never", "high", False), ("high", "high", True), ("high", "medium", False), ("writes", "medium", True)],
)
async def test_which_calls_of_an_agent_wait_is_a_matter_of_policy(
    tmp_path: Path, policy: str, risk: str, asked: bool
) -> None:
    tool = Deploy()
    async with program(tmp_path, agent=agent(tmp_path), approve=policy) as it:
        entry = tool.entry(confirm=False)
        it.add(Entry(**{name: getattr(entry, name) for name in Entry.__slots__} | {"risk": risk}))
        peer = await it.gateway.connect("/ws/s?tools=server&watch=1")
        await peer.send({"type": "user_message", "content": "go"})
        if asked:
            await answer(it, (await waiting(it, "s"))["id"], decision="approve")
        text = await told(peer)
        await peer.close()
    assert json.loads(text) == {"deployed": "live"}
    assert len(tool.runs) == 1


@pytest.mark.parametrize(
    ("path", "request_type", "word"),
    [
        ("/ws/s?tools=server&watch=1", "approval_request", {"type": "approval_answer", "decision": "reject"}),
        (
            "/ws/agent/chat?sessionId=s&projectKey=demo&tools=server&watch=1",
            "APPROVAL_REQUEST",
            {"type": "APPROVAL_ANSWER", "data": {"decision": "reject", "reason": "no"}},
        ),
        (
            "/ws/analyze?sessionId=s&projectKey=demo&projectPath=/x&tools=server&watch=1",
            "APPROVAL_REQUEST",
            {"type": "APPROVAL_ANSWER", "data": {"decision": "reject", "reason": "no"}},
        ),
    ],
)
async def test_any_attached_client_is_told_and_may_answer(
    tmp_path: Path, path: str, request_type: str, word: dict[str, Any]
) -> None:
    tool = Deploy()
    async with program(tmp_path, agent=agent(tmp_path)) as it:
        it.add(tool.entry())
        peer = await it.gateway.connect(path)
        asker = await it.gateway.connect("/ws/s?tools=server&watch=1")
        await asker.send({"type": "user_message", "content": "go"})
        request = (await peer.receive_until(request_type))[-1]
        inner = request.get("data", request)
        number = inner.get("approvalId") or inner["approval_id"]
        assert inner["arguments"] == {"name": "live"}
        if "data" in word:
            await peer.send({**word, "data": {**word["data"], "approvalId": number}})
        else:
            await peer.send({**word, "approval_id": number})
        text = await told(asker)
        await peer.close()
        await asker.close()
    assert "rejected by owner" in text
    assert tool.runs == []


async def test_document_1_says_that_it_waits(tmp_path: Path) -> None:
    async with program(tmp_path, agent=agent(tmp_path)) as it:
        it.add(Deploy().entry())
        peer = await it.gateway.connect("/ws/agent/chat?sessionId=s&projectKey=demo&tools=server")
        await peer.send({"type": "AGENT_CHAT", "data": {"message": "go"}})
        seen = [await peer.receive()]
        while seen[-1]["type"] != "AGENT_RESPONSE" or seen[-1]["data"]["status"] != "WAITING_CONFIRM":
            seen.append(await peer.receive())
        await peer.close()
    assert "test.tool" in seen[-1]["data"]["content"]


async def test_a_turn_that_is_stopped_takes_its_request_back(tmp_path: Path) -> None:
    async with program(tmp_path, agent=agent(tmp_path)) as it:
        it.add(Deploy().entry())
        peer = await it.gateway.connect("/ws/s?tools=server&watch=1")
        await peer.send({"type": "user_message", "content": "go"})
        number = (await waiting(it, "s"))["id"]
        await it.http.post("/api/sessions/s/stop")
        result = await peer.receive_until("approval_result")
        late = await answer(it, number, decision="approve")
        await peer.close()
    assert result[-1]["decision"] == "withdrawn"
    assert late.status_code == 409


async def test_an_agent_may_do_what_its_asker_may(tmp_path: Path) -> None:
    path, viewer, tool = tmp_path / "tokens", tokens.fresh(), Deploy()
    tokens.add(path, Token(tokens.hash_of(viewer), "v", role="viewer"))
    async with program(tmp_path, agent=agent(tmp_path), token=viewer, token_file=path) as it:
        it.add(tool.entry(confirm=False, reads=True, role="publisher"))
        headers = {"Authorization": f"Bearer {viewer}"}
        peer = await it.gateway.connect("/ws/s?tools=server&watch=1", additional_headers=headers)
        await peer.send({"type": "user_message", "content": "go"})
        text = await told(peer)
        await peer.close()
    assert "PERMISSION_DENIED" in text
    assert tool.runs == []
