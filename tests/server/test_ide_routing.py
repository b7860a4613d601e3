"""Whose ledger knows about a write is in the log before the write is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.running import Peer, Running, running, script, steps

WRITE = {"call": [{"tool": "their_own_write", "arguments": {}}]}
PROMPT = {"type": "user_message", "content": "go"}


async def bindings(gateway: Running) -> list[Any]:
    """The ledgers of the session's one write, as the log has them in turn."""
    record = await gateway.hub.store.find_session("default", "s1")
    assert record is not None
    events = await gateway.hub.store.read(record.number)
    return [event.ledger for event in events if hasattr(event, "ledger")]


async def asked(gateway: Running) -> Peer:
    watcher = await gateway.connect("/ws/s1?watch=1")
    await watcher.send(PROMPT)
    await watcher.receive_until("tool_call")
    return watcher


async def ended(watcher: Peer) -> list[dict[str, Any]]:
    return await watcher.receive_until("turn_ended")


async def answer(peer: Peer) -> None:
    call = (await peer.receive_until("tool_call"))[-1]
    await peer.send({"type": "tool_result", "call_id": call["call_id"], "result": {"content": "x"}})


async def test_a_write_names_the_ledger_of_the_client_that_is_there(tmp_path: Path) -> None:
    async with running(tmp_path, agent=script(tmp_path, steps(WRITE))) as gateway:
        ide = await gateway.connect("/ws/s1?ledger=L")
        watcher = await asked(gateway)
        await answer(ide)
        await ended(watcher)
        assert await bindings(gateway) == ["L"]


async def test_a_write_nobody_is_there_for_gets_its_ledger_on_record_before_it_is_sent(tmp_path: Path) -> None:
    async with running(tmp_path, agent=script(tmp_path, steps(WRITE))) as gateway:
        watcher = await asked(gateway)
        ide = await gateway.connect("/ws/s1?ledger=L")
        call = (await ide.receive_until("tool_call"))[-1]
        assert await bindings(gateway) == [None, "L"]
        await ide.send({"type": "tool_result", "call_id": call["call_id"], "result": {"content": "x"}})
        await ended(watcher)


async def test_a_client_without_a_ledger_that_takes_a_write_over_is_on_record_too(tmp_path: Path) -> None:
    async with running(tmp_path, agent=script(tmp_path, steps(WRITE))) as gateway:
        watcher = await asked(gateway)
        ide = await gateway.connect("/ws/s1")
        await answer(ide)
        await ended(watcher)
        assert await bindings(gateway) == [None, ""]


async def test_a_write_waits_for_its_own_ledger_while_another_client_runs_what_reads(tmp_path: Path) -> None:
    async with running(tmp_path, agent=script(tmp_path, steps(WRITE))) as gateway:
        first = await gateway.connect("/ws/s1?ledger=L")
        watcher = await asked(gateway)
        call = (await first.receive_until("tool_call"))[-1]
        await first.close()
        other = await gateway.connect("/ws/s1?ledger=M")
        back = await gateway.connect("/ws/s1?ledger=L")
        again = (await back.receive_until("tool_call"))[-1]
        assert again["call_id"] == call["call_id"]
        await back.send({"type": "tool_result", "call_id": call["call_id"], "result": {"content": "x"}})
        await ended(watcher)
        assert await bindings(gateway) == ["L"]
        await other.close()


async def test_after_a_restart_a_write_goes_to_no_other_client_than_the_one_that_may_have_done_it(
    tmp_path: Path,
) -> None:
    agent, store = script(tmp_path, steps(WRITE)), f"sqlite:///{tmp_path}/store.db"
    async with running(tmp_path, agent=agent, store=store) as gateway:
        first = await gateway.connect("/ws/s1?ledger=L")
        await asked(gateway)
        call = (await first.receive_until("tool_call"))[-1]
    async with running(tmp_path, agent=agent, store=store) as gateway:
        strangers = [await gateway.connect(f"/ws/s1{ledger}") for ledger in ("", "?ledger=M")]
        back = await gateway.connect("/ws/s1?ledger=L")
        assert (await back.receive())["call_id"] == call["call_id"]
        await back.send({"type": "tool_result", "call_id": call["call_id"], "result": {"content": "x"}})
        for peer in strangers:
            told = await peer.receive()
            assert told["type"] == "error"
            assert "restarted" in told["content"]
