"""Writes that are one store transaction: together with their record, once, whoever waits for them or goes away."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.routing import Mount

from server.programs import Program, program, service
from support.patience import PATIENCE
from toolwire.errors import FlashError
from toolwire.server.app import create_app
from toolwire.server.catalogue import CallContext, ServiceResult
from toolwire.server.config import GatewayConfig
from toolwire.server.security import OWNER
from toolwire.settings import Settings

Run = Callable[[CallContext, dict[str, Any]], Awaitable[ServiceResult]]


def adding(
    then: Callable[[str], None] = lambda _: None, before: Callable[[], Awaitable[object]] | None = None
) -> Run:
    """Adds a row; `then` happens in the store's thread at the end of it, `before` ahead of it all."""

    async def run(context: CallContext, arguments: dict[str, Any]) -> ServiceResult:
        if before is not None:
            await before()

        def effect(tables: sqlite3.Connection) -> ServiceResult:
            tables.execute("INSERT INTO things VALUES (?)", (arguments["name"],))
            then(arguments["name"])
            return ServiceResult({"added": arguments["name"]}, rows_affected=1)

        return await context.commit(effect)

    return run


async def make_table(it: Program) -> None:
    await it.gateway.hub.store.transact(
        lambda tables: tables.execute("CREATE TABLE things (name TEXT NOT NULL)").close()
    )


async def things(it: Program) -> list[str]:
    query = "SELECT name FROM things ORDER BY name"
    return await it.gateway.hub.store.query(lambda tables: [name for (name,) in tables.execute(query)])


async def test_one_that_takes_too_long_before_its_commit_is_a_timeout_and_can_be_sent_again(tmp_path: Path) -> None:
    go = asyncio.Event()
    async with program(tmp_path, store=f"sqlite:///{tmp_path}/store.db", settings=Settings(call_timeout=0.2)) as it:
        await make_table(it)
        it.add(service(adding(before=go.wait), atomic=True))
        late = await it.call("test.tool", {"name": "a"}, idempotency_key="k")
        go.set()
        again = await it.call("test.tool", {"name": "a"}, idempotency_key="k")
        assert (late["code"], late["error"]["indeterminate"]) == ("TIMEOUT", True)
        assert again["data"] == {"added": "a"}
        assert await things(it) == ["a"]
        outcomes = [(event["kind"], event.get("outcome")) for event in await it.events()]
        asked, ended = ("call_requested", None), "call_settled"
        assert outcomes == [asked, (ended, "failed"), asked, (ended, "ok")]


async def test_a_key_claimed_before_is_not_left_taken_by_a_caller_that_goes_away(tmp_path: Path) -> None:
    go, held = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        held.set()
        await go.wait()

    async with program(tmp_path, store=f"sqlite:///{tmp_path}/store.db", settings=Settings(call_timeout=0.2)) as it:
        await make_table(it)
        it.add(service(adding(before=hold), atomic=True))
        assert (await it.call("test.tool", {"name": "a"}, idempotency_key="k"))["code"] == "TIMEOUT"
        held.clear()
        envelope = {"trace_id": "t", "tool_id": "test.tool", "idempotency_key": "k", "arguments": {"name": "a"}}
        calling = asyncio.create_task(it.gateway.hub.calls.call(envelope, OWNER))
        await asyncio.wait_for(held.wait(), PATIENCE)
        calling.cancel()
        await asyncio.wait([calling])
        go.set()
        assert (await it.call("test.tool", {"name": "a"}, idempotency_key="k"))["data"] == {"added": "a"}
        assert await things(it) == ["a"]


async def test_a_read_of_the_store_is_on_record_in_one_commit_before_it_is_answered(tmp_path: Path) -> None:
    async with program(tmp_path, store=f"sqlite:///{tmp_path}/store.db") as it:
        await it.call("flash.app.list")
        rows = "SELECT count(*) FROM log"
        before = await it.gateway.hub.store.query(lambda tables: tables.execute(rows).fetchone()[0])
        assert (await it.call("flash.app.list"))["ok"]
        after = await it.gateway.hub.store.query(lambda tables: tables.execute(rows).fetchone()[0])
        assert after - before == 1
        assert [event["kind"] for event in await it.events()] == ["call_requested", "call_settled"] * 2


async def test_a_caller_that_goes_away_during_the_commit_does_not_undo_it(tmp_path: Path) -> None:
    inside, leave = threading.Event(), threading.Event()

    def hold(_: str) -> None:
        inside.set()
        leave.wait(PATIENCE)

    async with program(tmp_path, store=f"sqlite:///{tmp_path}/store.db") as it:
        await make_table(it)
        it.add(service(adding(hold), atomic=True))
        envelope = {"trace_id": "t", "tool_id": "test.tool", "idempotency_key": "k", "arguments": {"name": "a"}}
        calling = asyncio.create_task(it.gateway.hub.calls.call(envelope, OWNER))
        await asyncio.to_thread(inside.wait, PATIENCE)
        calling.cancel()
        await asyncio.wait([calling])
        leave.set()
        again = await it.call("test.tool", {"name": "a"}, idempotency_key="k")
        assert calling.cancelled()
        assert (again["data"], again["meta"]["idempotent_replay"]) == ({"added": "a"}, True)
        assert await things(it) == ["a"]
        assert [event["kind"] for event in await it.events()] == ["call_requested", "call_settled"]


async def test_of_many_at_once_a_refused_one_is_undone_alone_and_on_record(tmp_path: Path) -> None:
    def refuse(name: str) -> None:
        if name == "n3":
            raise FlashError("CONFLICT", "not this one")

    async with program(tmp_path, store=f"sqlite:///{tmp_path}/store.db") as it:
        await make_table(it)
        it.add(service(adding(refuse), atomic=True))
        calls = [it.call("test.tool", {"name": f"n{number}"}, idempotency_key=f"k{number}") for number in range(8)]
        answers = await asyncio.wait_for(asyncio.gather(*calls), PATIENCE)
        assert [answer["code"] for answer in answers] == ["OK", "OK", "OK", "CONFLICT", "OK", "OK", "OK", "OK"]
        assert await things(it) == ["n0", "n1", "n2", "n4", "n5", "n6", "n7"]
        outcomes = [event["outcome"] for event in await it.events() if event["kind"] == "call_settled"]
        assert sorted(outcomes) == ["failed", *["ok"] * 7]
        keys = await it.gateway.hub.store.query(
            lambda tables: [key for (key,) in tables.execute("SELECT key FROM call_records")]
        )
        assert sorted(keys) == ["k0", "k1", "k2", "k4", "k5", "k6", "k7"]


async def test_calls_are_answered_below_another_apps_path_too(tmp_path: Path) -> None:
    app = create_app(GatewayConfig(projects={"demo": tmp_path}, store="memory:"))
    outer = Starlette(routes=[Mount("/tools", app)])
    async with app.state.gateway.running():
        transport = httpx.ASGITransport(outer)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=PATIENCE) as client:
            call = {"trace_id": "t", "tool_id": "flash.app.list"}
            answer = await client.post("/tools/agent/flash/tools/call", json=call)
            assert (answer.status_code, answer.json()["code"]) == (200, "OK"), answer.text
