"""Asking for a person's word in the terminal, in the middle of an answer (document 3, "Confirmation")."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from rich.text import Text

from toolwire.cli.answer_view import AnswerView
from toolwire.cli.api import Api
from toolwire.cli.screen import call_line, clean
from toolwire.errors import ToolwireError

LOOK = 0.5
"""Seconds between looks at whether anything waits."""
CHOICES = "y: yes, n: no, e: change the arguments"

ReadLine = Callable[[str], Awaitable[str]]


class Confirm:
    """Looks for requests of one session while a turn runs, and asks about each once."""

    def __init__(self, api: Api, session: str, view: AnswerView, read_line: ReadLine | None) -> None:
        self._api = api
        self._session = session
        self._view = view
        self._read_line = read_line
        """None: nobody is at the terminal; requests are only told."""
        self._known: set[str] = set()

    async def run(self) -> None:
        """Until cancelled, at the end of the turn."""
        while True:
            try:
                waiting = await asyncio.to_thread(self._api.approvals, self._session)
            except ToolwireError:
                return  # a gateway without approvals
            for request in waiting:
                if request["id"] not in self._known:
                    self._known.add(request["id"])
                    await self._ask(request)
            await asyncio.sleep(LOOK)

    async def _ask(self, request: dict[str, Any]) -> None:
        self._view.end_run()
        line = Text("? ", style="yellow")
        line.append_text(call_line(request["tool"], request["arguments"]))
        line.append(f"  ({clean(request['risk'])} risk)", style="yellow")
        self._view.note(line)
        if self._read_line is None:
            self._view.note(f"  waits for approval: POST /api/approvals/{request['id']}", style="yellow")
            return
        word = await self._word(request)
        try:
            answered = await asyncio.to_thread(self._api.answer, request["id"], {**word, "digest": request["digest"]})
        except ToolwireError as error:
            self._view.note(f"✗ {error.message}", style="red")
            return
        self._view.note(f"  {answered['state']}", style="yellow")

    async def _word(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._read_line is not None
        while True:
            said = (await self._read_line(f"  allow it? ({CHOICES}) ")).strip()
            match said.lower():
                case "y" | "yes":
                    return {"decision": "approve"}
                case "n" | "no" | "":
                    reason = await self._read_line("  why not? (may be empty) ")
                    return {"decision": "reject", "reason": reason.strip()}
                case "e" | "edit":
                    arguments = await self._arguments(request["arguments"])
                    if arguments is not None:
                        return {"decision": "approve", "arguments": arguments}

    async def _arguments(self, asked: dict[str, Any]) -> dict[str, Any] | None:
        assert self._read_line is not None
        text = await self._read_line(f"  arguments (JSON; now {json.dumps(asked, ensure_ascii=False)}): ")
        try:
            value = json.loads(text)
        except ValueError as error:
            self._view.note(f"  not JSON: {error}", style="red")
            return None
        if not isinstance(value, dict):
            self._view.note("  arguments are a JSON object", style="red")
            return None
        return value
