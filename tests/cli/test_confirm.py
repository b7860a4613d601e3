"""Confirmation in the terminal: asked in place, answered in a line."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from support.patience import PATIENCE
from support.running import running, script, steps
from toolwire.cli.api import Api
from toolwire.cli.confirm import Confirm, Desk
from toolwire.ide.address import Address

TOOL = """
[[tool]]
id = "shop.deploy"
input = {type = "object", properties = {to = {type = "string"}}, required = ["to"]}
command = ["echo", "deployed to {to}"]
"""


class View:
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.told = asyncio.Event()

    def piece(self, text: str) -> None: ...

    def end_run(self) -> None: ...

    def progress(self, text: str) -> None: ...

    def asking(self) -> AbstractContextManager[None]:
        return nullcontext()

    def note(self, line: RenderableType, style: str = "") -> None:
        self.notes.append(line.plain if isinstance(line, Text) else str(line))
        if "waits for a person" in self.notes[-1]:
            self.told.set()


@asynccontextmanager
async def asked(folder: Path, *said: str, nobody: bool = False) -> AsyncIterator[tuple[str, View]]:
    """What the agent was told, when a person at the terminal has said these lines."""
    (folder / "toolwire.toml").write_text(TOOL)
    agent = script(
        folder, steps({"call": [{"tool": "shop.deploy", "arguments": {"to": "live"}}]}, {"say": ["{{1}}"]})
    )
    lines, view = list(said), View()

    async def read_line(prompt: str, default: str = "", *, fresh: bool = False) -> str | None:
        return lines.pop(0)

    desk = None if nobody else Desk(read_line, interrupt=lambda: None)

    async with running(folder, agent=agent) as gateway:
        api = Api(Address(gateway.ws(""), "gateway", "s"))
        confirm = asyncio.create_task(Confirm(api, "s", view, desk).run())
        peer = await gateway.connect("/ws/s?tools=server&watch=1")
        await peer.send({"type": "user_message", "content": "go"})
        if nobody:
            async with asyncio.timeout(PATIENCE):
                await view.told.wait()
            yield "", view
        else:
            seen = await peer.receive_until("turn_ended")
            yield "".join(message.get("token", "") for message in seen), view
        confirm.cancel()
        await asyncio.gather(confirm, return_exceptions=True)
        await peer.close()


def output(text: str) -> Any:
    return json.loads(text)["output"]


async def test_a_yes_runs_the_call(tmp_path: Path) -> None:
    async with asked(tmp_path, "y") as (text, view):
        assert output(text) == "deployed to live\n"
    assert "shop.deploy" in view.notes[0]
    assert "high risk" in view.notes[0]


async def test_a_no_has_a_reason(tmp_path: Path) -> None:
    async with asked(tmp_path, "n", "not on a Friday") as (text, _):
        assert "not on a Friday" in text


async def test_arguments_can_be_changed_and_nonsense_is_asked_again(tmp_path: Path) -> None:
    async with asked(tmp_path, "what", "e", "{", '{"to": "test"}') as (text, view):
        assert output(text) == "deployed to test\n"
    assert any("not JSON" in note for note in view.notes)


async def test_without_a_terminal_it_only_says_what_waits(tmp_path: Path) -> None:
    async with asked(tmp_path, nobody=True) as (_, view):
        assert "/api/approvals/approval-" in view.notes[-1]
        assert "/#/approvals/approval-" in view.notes[-1]
