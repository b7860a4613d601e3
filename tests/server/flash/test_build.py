"""flash.build.run: a configured command, streamed, ended with its whole process group."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from support.flash import Calls
from support.patience import PATIENCE
from support.running import running
from toolwire.errors import ConfigError
from toolwire.server.registered import catalogue_of
from toolwire.settings import Settings
from toolwire.tools.registry import default_registry


async def test_not_configured_is_a_clear_error(tmp_path: Path) -> None:
    async with running(tmp_path) as gateway:
        refused = await Calls(gateway)("flash.build.run")
        assert (refused["code"], refused["error"]["reason_code"]) == ("VALIDATION_FAILED", "BUILD_NOT_CONFIGURED")
        assert "flash_build_command" in refused["error"]["hint"]


async def test_it_runs_in_the_controlled_folder_and_gives_output_and_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "hush")
    settings = Settings(flash_build_command="sh -c 'pwd; echo 构建 $SECRET_KEY; echo oops >&2; exit 3'")
    async with running(tmp_path, settings=settings, controlled=tmp_path / "controlled") as gateway:
        call = Calls(gateway)
        data = await call.done("flash.build.run")
        assert (data["exitCode"], data["success"], data["truncated"]) == (3, False, False)
        assert data["output"] == f"{tmp_path}/controlled\n构建\noops\n"
        logs = (await call.done("flash.audit.query", tool_id="flash.build.run"))["logs"]
        assert [(row["status"], row["output_data"]["exitCode"]) for row in logs] == [("failed", 3)]
        assert await call.by("ed", "editor").code("flash.build.run") == "PERMISSION_DENIED"


async def test_its_output_is_streamed_to_the_session_while_it_runs(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    settings = Settings(flash_build_command=f"sh -c 'echo first; cat {gate}; echo last'")
    async with running(tmp_path, settings=settings) as gateway:
        builder = await gateway.connect("/agent/ws?sessionId=b-1")
        await builder.send({"type": "flash:cline_stop", "sessionId": "b-1"})
        assert (await builder.receive())["status"] == "stopped"
        envelope = {"trace_id": "t", "idempotency_key": "k", "tool_id": "flash.build.run", "session_id": "b-1"}
        await builder.send({"type": "flash:tool_call", "id": 7, **envelope})
        line = await builder.receive()
        assert line == {"type": "flash:cline_status", "sessionId": "b-1", "status": "log", "message": "first\n"}
        await asyncio.to_thread(gate.write_text, "go\n")
        result = (await builder.receive_until("flash:tool_result"))[-1]
        assert (result["id"], result["ok"], result["data"]["output"]) == (7, True, "first\ngo\nlast\n")


async def test_only_the_end_of_a_long_output_is_kept(tmp_path: Path) -> None:
    settings = Settings(flash_build_command="sh -c 'yes x | head -c 500000; echo end'", flash_build_output=1000)
    async with running(tmp_path, settings=settings) as gateway:
        data = await Calls(gateway).done("flash.build.run")
        assert (len(data["output"]), data["truncated"], data["output"][-4:]) == (1000, True, "end\n")


async def test_a_build_that_takes_too_long_is_ended_with_everything_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    command = f"sh -c 'sleep 600 & echo $! > {pids}; echo $$ >> {pids}; wait'"
    settings = Settings(flash_build_command=command, flash_build_timeout=0.3)
    async with running(tmp_path, settings=settings) as gateway:
        call = Calls(gateway)
        assert await call.code("flash.build.run") == "TIMEOUT"
        left = [int(pid) for pid in pids.read_text().split()]
        assert len(left) == 2
        await eventually(lambda: not any(map(_lives, left)))


async def eventually(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - a process of the system rings no bell
            await asyncio.sleep(0.01)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def test_two_builds_do_not_run_at_once(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    settings = Settings(flash_build_command=f"cat {gate}")
    async with running(tmp_path, settings=settings) as gateway:
        call = Calls(gateway)
        first = asyncio.create_task(call("flash.build.run"))
        await eventually(lambda: bool(gateway.hub.controlled.building))
        assert await call.code("flash.build.run") == "CONFLICT"
        await asyncio.to_thread(gate.write_text, "")
        assert (await first)["data"]["exitCode"] == 0


async def test_a_command_that_is_not_there_is_an_upstream_error(tmp_path: Path) -> None:
    async with running(tmp_path, settings=Settings(flash_build_command="no-such-program-here")) as gateway:
        assert await Calls(gateway).code("flash.build.run") == "UPSTREAM_ERROR"


async def test_a_build_without_a_result_is_in_the_execution_log(tmp_path: Path) -> None:
    settings = Settings(flash_build_command="sleep 60", flash_build_timeout=0.3)
    async with running(tmp_path, settings=settings) as gateway:
        call = Calls(gateway)
        assert await call.code("flash.build.run") == "TIMEOUT"
        (line,) = (await call.done("flash.audit.query", tool_id="flash.build.run"))["logs"]
        assert (line["status"], line["output_data"]) == ("failed", {"code": "TIMEOUT"})
        assert "0.3" in line["error_message"]


async def test_what_a_build_leaves_behind_does_not_hold_up_its_result(tmp_path: Path) -> None:
    """A daemon in a session of its own keeps the output open."""
    leave = "import os, time; print('built', flush=True); os.fork() or (os.setsid(), time.sleep(600))"
    settings = Settings(flash_build_command=f'{sys.executable} -c "{leave}"', flash_build_timeout=PATIENCE)
    async with running(tmp_path, settings=settings) as gateway:
        data = await Calls(gateway).done("flash.build.run")
    assert (data["exitCode"], data["output"]) == (0, "built\n")


def test_a_command_with_a_quote_too_few_is_refused_at_start(tmp_path: Path) -> None:
    settings = Settings(flash_build_command="sh -c 'oops")
    with pytest.raises(ConfigError, match="flash_build_command: No closing quotation"):
        catalogue_of(default_registry(), settings)
