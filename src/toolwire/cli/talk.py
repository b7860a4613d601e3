"""A conversation with the agent from a terminal: a connection that asks and watches, and a view of what it hears.

It watches (`?watch=1`), so it sees every call and result and the end of each turn in any dialect, and never runs a
tool itself; with local tools, a headless IDE joins the same session beside it and does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from toolwire.cli.answer_view import AnswerView
from toolwire.cli.screen import call_line, result_line
from toolwire.errors import InvalidMessage
from toolwire.ide.client import Client
from toolwire.ide.happenings import AnyHappening, Connected, Disconnected
from toolwire.ide.meanings import Answered, Asked, Ended, Failed, Greeted, Meaning, Other, Said, Thought
from toolwire.ide.speech import Speech

RECONNECTS = 8
"""Failures in a row after which a conversation that was under way is given up."""


class Talk:
    """One conversation. The maker sets `client`, whose `hear` and `tell` are this object's."""

    client: Client

    def __init__(self, speech: Speech, view: AnswerView, raw: Callable[[Mapping[str, Any]], None] | None) -> None:
        self.speech = speech
        self._view = view
        self._raw = raw
        """Takes every message as it came, instead of the view."""
        self._ended: asyncio.Future[Ended] | None = None
        self._begun = False
        """Whether anything of the present turn was heard."""
        self._tools: dict[str, str] = {}
        self._streamed = False
        self._told = ""
        self.stopping = False
        """Whether the user has had enough of the present answer: that it stops is then no complaint."""
        self.connected = asyncio.Event()
        self.overhear: Callable[[Mapping[str, Any]], None] | None = None
        """Is given every message first; it is how requests for approval are heard of."""

    async def ask(self, prompt: str) -> Ended:
        """Put a question; gives how its turn ended, when it has."""
        self._ended = asyncio.get_running_loop().create_future()
        self._begun = self._streamed = self.stopping = False
        self._told = ""
        self._tools.clear()
        self.client.post(self.speech.ask(prompt))
        try:
            return await self._ended
        finally:
            self._ended = None

    def hear(self, raw: bytes) -> str:
        try:
            message = self.speech.hear(raw)
        except InvalidMessage as error:
            self._view.note(f"! a message of the gateway makes no sense: {error.message}", style="yellow")
            return ""
        if self.overhear is not None:
            self.overhear(message.body)
        if self._raw is not None:
            self._raw(message.body)
        else:
            self._show(message.meaning)
        self._follow(message.meaning)
        return message.cursor

    def tell(self, happening: AnyHappening) -> None:
        if isinstance(happening, Connected):
            self.client.attempts = RECONNECTS
            self.connected.set()
        elif isinstance(happening, Disconnected) and self.connected.is_set():
            self._view.note(f"○ {happening.reason}; connecting again", style="yellow")

    def _follow(self, meaning: Meaning) -> None:
        """Where the turn stands."""
        if isinstance(meaning, Ended):
            self._end(meaning)
        elif isinstance(meaning, Failed) and not self._begun:
            self._end(Ended("failed", "", meaning.message, meaning.code))
        elif not isinstance(meaning, Greeted | Failed | Other):
            self._begun = True

    def _end(self, ended: Ended) -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(ended)

    def _show(self, meaning: Meaning) -> None:
        match meaning:
            case Said(text=text, final=final):
                self._streamed = self._streamed or bool(text)
                self._view.piece(text)
                if final:
                    self._view.end_run()
            case Thought(text=text, percent=percent) if text:
                self._view.progress(text if percent is None else f"{percent} % {text}")
            case Asked(call_id=call_id, tool=tool, arguments=arguments):
                self._tools[call_id] = tool
                self._view.end_run()
                self._view.note(call_line(tool, arguments))
            case Answered(call_id=call_id, ok=ok, error=error):
                self._view.note(result_line(self._tools.get(call_id, call_id), ok, note=error))
            case Failed(message=message) if not self.stopping:
                self._complain(message)
            case Ended():
                self._show_end(meaning)
            case _:
                pass

    def _show_end(self, ended: Ended) -> None:
        if ended.text and not self._streamed:
            self._view.piece(ended.text)
        self._view.end_run()
        if ended.outcome == "cancelled":
            if not self._told:
                self._view.note("■ stopped", style="yellow")
        elif ended.outcome == "failed" and not self.stopping and ended.message not in self._told:
            self._complain(ended.message)

    def _complain(self, message: str) -> None:
        self._told += message
        self._view.end_run()
        self._view.note(f"✗ {message}", style="red")
