"""Who is asked for their word is told which rule wants it, over HTTP and over the sockets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from support.running import running, script, steps

TOOLS = """
[[tool]]
id = "shop.deploy"
confirm = true
input = {type = "object"}
command = ["true"]
"""
RULES = [
    ("all", {"tool": "read_file", "arguments": {"path": "a.txt"}}, "--approve all"),
    ("writes", {"tool": "Replace", "arguments": {"path": "a.txt", "content": ""}}, "--approve writes"),
    ("high", {"tool": "shop.risky", "arguments": {}}, "--approve high"),
    ("never", {"tool": "shop.deploy", "arguments": {}}, "before every call"),
]


@pytest.mark.parametrize(("policy", "call", "rule"), RULES)
async def test_the_rule_is_told(tmp_path: Path, policy: Any, call: dict[str, Any], rule: str) -> None:
    tools = TOOLS + TOOLS.replace("shop.deploy", "shop.risky").replace("confirm = true", 'risk = "high"')
    (tmp_path / "toolwire.toml").write_text(tools)
    agent = script(tmp_path, steps({"call": [call]}))
    async with running(tmp_path, agent=agent, approve=policy) as gateway:
        peer = await gateway.connect("/ws/s?tools=server&watch=1")
        await peer.send({"type": "user_message", "content": "go"})
        request = (await peer.receive_until("approval_request"))[-1]
        async with httpx.AsyncClient(base_url=gateway.http) as http:
            listed = (await http.get("/api/approvals")).json()["approvals"]
        await peer.close()
    assert rule in request["why"]
    assert [one["why"] for one in listed] == [request["why"]]
    assert request["asked_by"] == listed[0]["asked_by"] == "owner"


async def test_changed_arguments_that_do_not_fit_are_named_field_by_field(tmp_path: Path) -> None:
    agent = script(tmp_path, steps({"call": [{"tool": "Replace", "arguments": {"path": "a.txt", "content": ""}}]}))
    async with running(tmp_path, agent=agent, approve="writes") as gateway:
        peer = await gateway.connect("/ws/s?tools=server&watch=1")
        await peer.send({"type": "user_message", "content": "go"})
        number = (await peer.receive_until("approval_request"))[-1]["approval_id"]
        async with httpx.AsyncClient(base_url=gateway.http) as http:
            word = {"decision": "approve", "arguments": {"path": 1}}
            refused = await http.post(f"/api/approvals/{number}", json=word)
        await peer.close()
    assert refused.status_code == 400
    assert set(refused.json()["fields"]) == {"arguments.path", "arguments.content"}
