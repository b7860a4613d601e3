"""kill -9 at every step of a write that the gateway runs for an agent: what is in the file decides what is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from crash import ide_serving
from crash.ide_serving import free_port
from crash.ide_writes import AFTER, BEFORE, PROMPT, TURN, ended, http_of
from support.running import script
from toolwire.tools.textfile import content_hash

NOT_YET = ("before the intent", "after the intent", "before the file is written")
BY_THEN = ("after the file is written", "before the write is marked done", "after the write is marked done")


@pytest.mark.parametrize("place", [*NOT_YET, *BY_THEN])
async def test_an_agents_write_in_the_gateway_cut_at_any_step_is_told_as_it_is(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state-home"))
    file = tmp_path / "gateway" / "a.txt"
    file.parent.mkdir()
    file.write_text(BEFORE)
    port, agent = free_port(), script(tmp_path, TURN)
    with ide_serving.gateway(tmp_path, port, agent, place) as first:
        async with connect(f"ws://127.0.0.1:{port}/ws/s1?tools=server", proxy=None) as peer:
            await peer.send(PROMPT)
            await first.died()
    with ide_serving.gateway(tmp_path, port, agent):
        async with http_of(port) as http:
            events = await ended(http)
    (outcome,) = [event for event in events if event["kind"] == "call_settled" and event["tool"] == "Edit"]
    if place in NOT_YET:
        assert (outcome["outcome"], file.read_text()) == ("failed", BEFORE)
        assert "was not run" in outcome["error"]
    else:
        assert (outcome["outcome"], file.read_text()) == ("ok", AFTER)
        assert outcome["result"]["hash_after"] == content_hash(AFTER.encode())
        assert outcome["result"]["patch"]
