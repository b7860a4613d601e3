"""Searches that could run for ever end within their limit, and nobody else waits for them."""

from __future__ import annotations

import asyncio
import subprocess
import threading
from pathlib import Path

import pytest

from support.patience import PATIENCE, bounded
from support.room import Room
from support.running import running, script, steps
from toolwire.settings import Settings
from toolwire.tools import landlock, rg
from toolwire.tools.base import Context
from toolwire.tools.registry import Outcome

SLOW = r"(\w ?){1,300}(\w ?){1,300}Z"
"""Too many states for a table: the engine has to walk them one by one."""


@pytest.fixture
def room(tmp_path: Path) -> Room:
    room = Room(tmp_path)
    room.put("a.txt", "a" * 5_000 + "!\n")
    return room


BOMBS = ["(a+)+$", "(a|aa)+$", "(a|a?)+$", "(.*a){20}", "(a*)*b", "((a+)+)+!x", r"(\w+\s?)*$", "(?:a{1,100}){1,10}b"]


@pytest.mark.parametrize("pattern", BOMBS)
def test_patterns_that_blow_up_elsewhere_are_answered_at_once(room: Room, pattern: str) -> None:
    with bounded():
        assert room.call("grep_file", pattern=pattern, regex=True, path="a.txt").success


@pytest.mark.parametrize(
    "pattern", ["(a{1000}){1000}", r"\w{1000}{1000}", "((a{100}){100}){100}", "(?:" * 500 + "x" + ")" * 500]
)
def test_patterns_too_large_to_compile_are_refused(room: Room, pattern: str) -> None:
    assert room.refused("grep_file", pattern=pattern, regex=True).kind == "bad_pattern"


def slow_search(room: Room, context: Context) -> Outcome:
    return room.registry.run("grep_file", {"pattern": SLOW, "regex": True, "path": "."}, context)


def test_a_search_ends_at_its_deadline_and_its_process_with_it(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    processes = watched(monkeypatch)
    room.put("big.txt", "ab c\n" * 100 + "a b " * 12_000_000)
    with bounded():
        outcome = slow_search(room, room.context(seconds=0.2))
    assert outcome.error is not None
    assert outcome.error.kind == "timeout"
    assert processes
    assert all(process.returncode is not None for process in processes)


def test_a_search_nobody_waits_for_is_stopped(room: Room) -> None:
    room.put("big.txt", "a b " * 12_000_000)
    context = room.context(seconds=60)
    threading.Timer(0.3, context.stop.set).start()
    with bounded():
        outcome = slow_search(room, context)
    assert outcome.error is not None
    assert outcome.error.kind == "stopped"


async def test_the_pings_of_others_are_answered_while_it_runs(
    room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = watched(monkeypatch)
    room.put("big.txt", "a b " * 12_000_000)
    search = steps({"call": [{"tool": "grep_file", "arguments": {"pattern": SLOW, "regex": True, "path": "."}}]})
    patient = Settings(server_tool_timeout=600.0, tool_timeout=600.0)
    async with running(room.root, agent=script(tmp_path, search), settings=patient) as gateway:
        searching, other = await gateway.connect("/ws/a?tools=server&watch=1"), await gateway.connect("/ws/b")
        await searching.send({"type": "user_message", "content": "search", "role": "user"})
        await searching.receive_until("tool_call")
        async with asyncio.timeout(PATIENCE):
            while not processes:
                await (await other.socket.ping())
            for _ in range(50):
                await (await other.socket.ping())
        assert processes[-1].poll() is None, "the pings should have been answered before the search ended"
    assert processes[-1].wait(PATIENCE), "the search should have been killed with the gateway"


def test_output_without_end_is_not_read_without_end(tmp_path: Path) -> None:
    room = Room(tmp_path, settings=Settings(grep_output_bytes=2_000))
    for number in range(200):
        room.put(f"{'n' * 50}{number:03}", "needle\n")
    found = room.done("grep_file", pattern="needle", limit=5)
    assert found.truncated


def test_the_search_program_can_not_open_what_is_outside(room: Room) -> None:
    if not landlock.available(rg.program()):
        return  # this kernel has no Landlock: what rg names is then checked by the workspace alone
    folder = room.workspace.open_folder(".")
    with rg.Run(room.context(), ["CANARY", str(room.outside), "./"], folder=folder) as run:
        assert b"".join(run) == b""
    room.put("in.txt", "CANARY")
    with rg.Run(room.context(), ["--files-with-matches", "CANARY", str(room.outside), "./"], folder=folder) as run:
        assert b"".join(run) == b"./in.txt\n"


def test_without_landlock_the_workspace_still_decides_what_is_read(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landlock, "available", lambda program: False)
    (room.root / "out").symlink_to(room.outside)
    room.put("in.txt", "CANARY")
    assert [hit.path for hit in room.done("grep_file", pattern="CANARY").matches] == ["in.txt"]


@pytest.mark.parametrize("landlocked", [True, False])
def test_rules_above_the_root_are_not_read(room: Room, monkeypatch: pytest.MonkeyPatch, landlocked: bool) -> None:
    if not landlocked:
        monkeypatch.setattr(landlock, "available", lambda program: False)
    (room.root.parent / ".gitignore").write_text("*\n")
    room.put("in.txt", "needle")
    assert [hit.path for hit in room.done("grep_file", pattern="needle").matches] == ["in.txt"]


def test_a_folder_is_entered_by_descriptor_also_where_it_has_no_name(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rg, "ENTERED_BY_NAME", False)
    room.put("sub/in.txt", "needle")
    assert [hit.path for hit in room.done("grep_file", pattern="needle", path="sub").matches] == ["sub/in.txt"]


def test_a_program_that_does_not_run_under_landlock_runs_without(tmp_path: Path) -> None:
    assert not landlock.available(str(tmp_path / "missing"))


def watched(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Every process started from here on."""
    processes: list[subprocess.Popen[bytes]] = []
    real = landlock.start

    def start(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
        process = real(*arguments, **options)  # type: ignore[arg-type]
        processes.append(process)
        return process

    monkeypatch.setattr(landlock, "start", start)
    return processes
