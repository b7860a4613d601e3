"""Asking for a person's word in the terminal, in the middle of an answer (document 3, "Confirmation").

The connection tells of requests and of their answers as they happen, so a question that is answered elsewhere, or has
expired, is taken back at once; a look now and then finds what was asked before the connection was there.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from rich.text import Text

from toolwire.cli.answer_view import AnswerView
from toolwire.cli.api import Api
from toolwire.cli.aside import aside
from toolwire.cli.asked import asked_lines, visible
from toolwire.cli.questions import Interrupted
from toolwire.errors import PeerError, ToolwireError

LOOK: Final = 1.0
"""Seconds between looks at what waits, if nothing is heard of it."""
SHOWN: Final = 30
"""Lines of a request that are shown unasked."""
ABSENT: Final = "HTTP_404"
MISFIT: Final = "VALIDATION_FAILED"
ASKED: Final = "yellow"


class ReadLine(Protocol):
    async def __call__(self, prompt: str, default: str = "", *, fresh: bool = False) -> str | None:
        """A line; None: nothing is said (Ctrl-D). `fresh`: what was typed before it was asked does not count.

        Raises Interrupted.
        """


@dataclass(frozen=True, slots=True)
class Desk:
    """Somebody who can answer: how they are asked, and what their Ctrl-C does."""

    read_line: ReadLine
    interrupt: Callable[[], None]


@dataclass(slots=True)
class _Open:
    """The question somebody is being asked."""

    number: str
    conversation: asyncio.Task[None]
    giving: bool = False
    """Whether their answer is on its way."""


class Confirm:
    """Looks for requests of one session while a turn runs, and asks about each once."""

    def __init__(self, api: Api, session: str, view: AnswerView, desk: Desk | None) -> None:
        self._api = api
        self._session = session
        self._view = view
        self._desk = desk
        """None: nobody is at the terminal; requests are only told."""
        self._known: set[str] = set()
        self._heard = asyncio.Event()
        self._open: _Open | None = None

    async def run(self) -> None:
        """Until cancelled, at the end of the turn."""
        while True:
            try:
                for request in await aside(self._api.approvals, self._session):
                    if request["id"] not in self._known:
                        self._known.add(request["id"])
                        await self._ask(request)
            except PeerError as error:
                if error.code == ABSENT:
                    return  # a gateway without approvals
            except ToolwireError:
                pass  # it may be back in a moment; the conversation itself tells if it is not
            await self._pause()

    def hear(self, message: Mapping[str, Any]) -> None:
        """A message of the gateway, in any dialect."""
        match message:
            case {"type": "approval_request" | "APPROVAL_REQUEST"}:
                self._heard.set()
            case {"type": "approval_result", "approval_id": str(number), "decision": str(decision)}:
                self._ended(number, decision, message.get("by"), message.get("reason"))
            case {"type": "APPROVAL_RESULT", "data": {"approvalId": str(number), "decision": str(decision), **rest}}:
                self._ended(number, decision, rest.get("by"), rest.get("reason"))

    async def _pause(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK):
                await self._heard.wait()
        self._heard.clear()

    def _ended(self, number: str, decision: str, by: object, reason: object) -> None:
        """It was answered, or its time has run out, while somebody here is being asked."""
        self._known.add(number)
        asked = self._open
        if asked is None or asked.number != number or asked.giving:
            return
        self._open = None
        self._say(f"  {decision}{f' by {by}, elsewhere' if by else ''}{f': {reason}' if reason else ''}")
        asked.conversation.cancel()

    async def _ask(self, request: dict[str, Any]) -> None:
        self._view.end_run()
        lines = asked_lines(request["arguments"])
        self._introduce(request)
        self._show(lines[:SHOWN])
        if self._desk is None:
            self._say(
                f"  waits for a person: {self._api.page(request['id'])}, or POST /api/approvals/{request['id']}"
            )
            return
        with self._view.asking():
            await self._until_answered(request, lines, self._desk)

    def _introduce(self, request: dict[str, Any]) -> None:
        left = max(0, round(request["expires_at"] / 1000 - time.time()))
        line = Text("? ", style=ASKED).append(visible(request["tool"]), style="bold")
        line.append(f"  {visible(request['risk'])} risk, {_minutes(left)} to answer", style=ASKED)
        self._view.note(line)
        if why := request.get("why"):
            self._view.note(f"  because {visible(why)}", style="dim")

    def _show(self, lines: list[Text]) -> None:
        for line in lines:
            self._view.note(line)

    async def _until_answered(self, request: dict[str, Any], lines: list[Text], desk: Desk) -> None:
        conversation = asyncio.create_task(self._converse(request, lines, desk))
        self._open = _Open(request["id"], conversation)
        watching = asyncio.create_task(self._watch(request["id"]))
        try:
            await asyncio.wait({conversation})
        finally:
            self._open = None
            conversation.cancel()
            watching.cancel()
            await asyncio.gather(conversation, watching, return_exceptions=True)

    async def _watch(self, number: str) -> None:
        """One that no turn waits for expires without a word, and a lost connection tells nothing."""
        while True:
            await asyncio.sleep(LOOK)
            with contextlib.suppress(ToolwireError):
                waiting = await aside(self._api.approvals, self._session)
                if all(request["id"] != number for request in waiting):
                    found = await aside(self._api.approval, number)
                    state = found["state"] if found["state"] != "pending" else "expired"
                    self._ended(number, state, found["answered_by"], found["reason"])
                    return

    async def _converse(self, request: dict[str, Any], lines: list[Text], desk: Desk) -> None:
        """Ask until there is an answer that counts."""
        try:
            while (word := await self._word(request, lines, desk.read_line)) is not None:
                if await self._give(request, word):
                    return
            self._say(f"  not answered here; it still waits: {self._api.page(request['id'])}")
        except Interrupted:
            desk.interrupt()

    async def _give(self, request: dict[str, Any], word: dict[str, Any]) -> bool:
        """Whether that was it."""
        if self._open is not None:
            self._open.giving = True
        try:
            answered = await aside(self._api.answer, request["id"], {**word, "digest": request["digest"]})
        except ToolwireError as error:
            self._view.note(f"✗ {error.code}: {error.message}", style="red")
            if self._open is not None:
                self._open.giving = False
            return error.code != MISFIT
        self._say(f"  {answered['state']}")
        return True

    async def _word(self, request: dict[str, Any], lines: list[Text], read_line: ReadLine) -> dict[str, Any] | None:
        """None: no answer is given here."""
        more = f" (a)ll {len(lines)} lines" if len(lines) > SHOWN else ""
        fresh = True
        while True:
            said = await read_line(f"  allow it? (y)es (n)o (e)dit{more}: ", fresh=fresh)
            fresh = False
            match said.strip().lower() if said is not None else None:
                case None:
                    return None
                case "y" | "yes":
                    return {"decision": "approve"}
                case "n" | "no":
                    reason = await read_line("  why not? (may be empty) ")
                    if reason is not None:
                        return {"decision": "reject", "reason": reason.strip()}
                case "e" | "edit":
                    arguments = await self._arguments(request["arguments"], read_line)
                    if arguments is not None:
                        return {"decision": "approve", "arguments": arguments}
                case "a" | "all":
                    self._show(lines)

    async def _arguments(self, asked: dict[str, Any], read_line: ReadLine) -> dict[str, Any] | None:
        """Changed in place, until they are JSON; None: they stay as they are."""
        text: str | None = json.dumps(asked, ensure_ascii=False)
        while (text := await read_line("  arguments: ", text or "")) is not None:
            try:
                value = json.loads(text)
            except ValueError as error:
                self._view.note(f"  not JSON: {error}", style="red")
                continue
            if isinstance(value, dict):
                return value
            self._view.note("  arguments are a JSON object: {…}", style="red")
        return None

    def _say(self, text: str) -> None:
        self._view.note(text, style=ASKED)


def _minutes(seconds: int) -> str:
    return f"{seconds // 60} min" if seconds >= 120 else f"{seconds} s"
