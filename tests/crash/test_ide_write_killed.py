"""kill -9 at every step of a write that an IDE runs for an agent, of the gateway and of the IDE, over all three
dialects: it happens once, and its outcome is told.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from crash import ide_serving
from crash.ide_serving import GATEWAY_PLACES, IDE_PLACES, free_port
from crash.ide_writes import DIALECTS, TURN, check_once, edit_of, ended, folders, http_of, prompt
from ide.running_ide import Bench, running_ide
from support.running import running, script, steps
from toolwire.dialects.base import DialectName
from toolwire.ide.happenings import Connected


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state-home"))
    return folders(tmp_path)


@pytest.mark.parametrize("place", GATEWAY_PLACES)
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_gateway_killed_at_any_step_of_an_ides_write(project: Path, dialect: DialectName, place: str) -> None:
    folder, port = project.parent, free_port()
    agent = script(folder, TURN)
    async with running_ide(project, f"ws://127.0.0.1:{port}", dialect=dialect) as ide:
        with ide_serving.gateway(folder, port, agent, place) as first:
            await ide.told.until(Connected)
            await prompt(port)
            await first.died()
        with ide_serving.gateway(folder, port, agent):
            async with http_of(port) as http:
                edit, events = await edit_of(http), await ended(http)
    check_once(project, edit, events)
    if place != "after the result is committed":
        assert events[-1]["code"] == "INTERRUPTED"


@pytest.mark.parametrize("place", IDE_PLACES)
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_ide_killed_at_any_step_of_its_write(project: Path, dialect: DialectName, place: str) -> None:
    folder = project.parent
    async with running(folder / "gateway", agent=script(folder, TURN)) as gateway:
        with ide_serving.ide(folder, gateway.ws(""), dialect, place) as first:
            await prompt(gateway.port)
            await first.died()
        async with running_ide(project, gateway.ws(""), dialect=dialect), http_of(gateway.port) as http:
            edit, events = await edit_of(http), await ended(http)
    check_once(project, edit, events)
    assert events[-1]["outcome"] == "completed"


@pytest.mark.parametrize("place", ["after the file is written", "after the outcome is in the ledger"])
async def test_an_ide_that_comes_back_over_another_dialect_has_still_done_it(project: Path, place: str) -> None:
    folder = project.parent
    async with running(folder / "gateway", agent=script(folder, TURN)) as gateway:
        with ide_serving.ide(folder, gateway.ws(""), "agent_chat", place) as first:
            await prompt(gateway.port)
            await first.died()
        async with running_ide(project, gateway.ws(""), dialect="gateway"), http_of(gateway.port) as http:
            edit, events = await edit_of(http), await ended(http)
    check_once(project, edit, events)


@pytest.mark.parametrize("kindly", [True, False], ids=["stopped", "killed"])
async def test_what_an_ide_does_while_the_gateway_is_away_is_told_to_the_next_one(
    project: Path, kindly: bool
) -> None:
    """Also of a tool that leaves no content hash: the IDE itself was never interrupted."""
    folder, port, bench = project.parent, free_port(), Bench()
    agent = script(folder, steps({"call": [{"tool": "mark", "arguments": {"note": "once"}}]}))
    async with running_ide(project, f"ws://127.0.0.1:{port}", bench=bench) as ide:
        with ide_serving.gateway(folder, port, agent) as first:
            await ide.told.until(Connected)
            await prompt(port)
            await bench.entered(1)
            await first.stop(kindly=kindly)
        bench.gate.set()
        with ide_serving.gateway(folder, port, agent):
            async with http_of(port) as http:
                events = await ended(http)
    assert bench.runs == ["mark once"]
    assert [event["outcome"] for event in events if event["kind"] == "call_settled"] == ["ok"]
    assert events[-1]["code"] == "INTERRUPTED"


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_both_killed_one_after_the_other(project: Path, dialect: DialectName) -> None:
    folder, port = project.parent, free_port()
    url, agent = f"ws://127.0.0.1:{port}", script(folder, TURN)
    with (
        ide_serving.gateway(folder, port, agent, "after the call is sent") as gateway,
        ide_serving.ide(folder, url, dialect, "after the file is written") as ide,
    ):
        await prompt(port)
        await gateway.died()
        await ide.died()
    with ide_serving.gateway(folder, port, agent):
        async with running_ide(project, url, dialect=dialect), http_of(port) as http:
            edit, events = await edit_of(http), await ended(http)
    check_once(project, edit, events)
