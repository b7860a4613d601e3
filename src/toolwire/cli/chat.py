"""`toolwire chat`: talk to the agent in the terminal."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer

from toolwire.cli import options, questions
from toolwire.cli.answer_view import AnswerView, PlainView, view
from toolwire.cli.api import Api
from toolwire.cli.aside import aside
from toolwire.cli.confirm import Confirm, Desk
from toolwire.cli.screen import json_line
from toolwire.cli.talk import RECONNECTS, Talk
from toolwire.errors import PeerError
from toolwire.ide.address import Address
from toolwire.ide.client import Client
from toolwire.ide.happenings import AnyHappening, Connected, Warned
from toolwire.ide.meanings import Ended
from toolwire.ide.opening import open_ide
from toolwire.ide.speech import speech_of

T = TypeVar("T")
INTERRUPTED = 130
LEAVING = 1.0
"""Seconds for goodbyes, if somebody leaves in the middle of a turn."""
NOT_OURS = "HTTP_404"
"""What a gateway that is not Toolwire's answers where it has no such route."""
KNOWN_SESSIONS = 1000
"""Sessions of a gateway among which a named one is looked for."""


def chat(
    message: Annotated[
        str, typer.Option("--message", "-m", help="Ask this, print the answer and leave.", metavar="TEXT")
    ] = "",
    url: options.Url = options.DEFAULT_URL,
    dialect: options.Dialect = "gateway",
    session: Annotated[str, typer.Option("--session", help="Go on in this session; default: a new one.")] = "",
    project: Annotated[
        str, typer.Option("--project", help="Project key; default: the gateway's first.", metavar="KEY")
    ] = "",
    tools: Annotated[
        Literal["server", "client"], typer.Option("--tools", help="Where tools run: in the gateway, or in an IDE.")
    ] = "server",
    local_tools: Annotated[
        Path | None, typer.Option("--local-tools", help="Run the tools here, on this folder.", metavar="PATH")
    ] = None,
    token_file: options.TokenFile = None,
    ca: options.Ca = None,
    json: options.Json = False,
    overrides: options.Set = None,
) -> None:
    """Ask the agent, watch it work, read its answer.

    Ctrl-C stops the answer that is being given, a second one leaves. A call that needs your word is shown in place:
    (y)es, (n)o with a reason, or (e)dit its arguments; it may as well be answered on the page.

    With --json every message of the gateway is a line, as it came. Without a terminal, a line of stdin is a question,
    and the exit code is 0 only if the last one was answered.
    """
    if local_tools is not None:
        tools = "client"
    address = Address(
        base=url,
        dialect=dialect,
        session=session or _new_session(),
        project=project,
        project_path=str(options.folder(local_tools or Path()).resolve()),
        token=options.token_of(token_file),
        query={"watch": "1"} | ({"tools": "server"} if tools == "server" else {}),
    )
    tls = options.tls_of(ca)
    api = Api(address, tls)
    if not project and dialect != "gateway":
        address = replace(address, project=api.default_project())
    shown: AnswerView = PlainView() if json else view()
    talk = Talk(speech_of(dialect), shown, json_line if json else None)
    talk.client = Client(
        address=address,
        dialect=dialect,
        hear=talk.hear,
        ping=talk.speech.ping,
        tell=talk.tell,
        settings=options.settings_of(overrides),
        cursor=_cursor(api, session) if session else "0",
        tls=tls,
        attempts=1,
    )
    interactive = not message and not json and sys.stdin.isatty()
    somebody = not json and sys.stdin.isatty() and sys.stdout.isatty()
    conversation = _Chat(talk, api, address, shown, local_tools)
    if not json:
        desk = Desk(questions.line, conversation.interrupt) if somebody else None
        conversation.confirm = Confirm(api, address.session, shown, desk)
        talk.overhear = conversation.confirm.hear
    if message:
        asked = questions.one(message)
    else:
        asked = questions.from_terminal(lambda: conversation.stopped) if interactive else questions.from_stdin()
    ended = asyncio.run(conversation.run(asked))
    # Who leaves a conversation has not failed, however its last turn ended.
    raise typer.Exit(0 if interactive and ended is not None else _code(ended))


class _Chat:
    """The parts of one chat, running together."""

    def __init__(
        self,
        talk: Talk,
        api: Api,
        address: Address,
        shown: AnswerView,
        local_tools: Path | None,
    ) -> None:
        self._talk = talk
        self._api = api
        self._address = address
        self._view = shown
        self._local_tools = local_tools
        self.confirm: Confirm | None = None
        self._turn: asyncio.Task[Ended] | None = None
        self._presses = 0
        """How often Ctrl-C was pressed in the present turn."""
        self._tasks: list[asyncio.Task[None]] = []
        """What must run all the time; if one of them ends, so does the chat."""

    async def run(self, asked: AsyncIterator[str]) -> Ended | None:
        """How the last turn ended; None: the user left in the middle of it."""
        ended: Ended | None = Ended("completed")
        with contextlib.ExitStack() as held:
            try:
                self._keep(self._talk.client.run())
                await self._unless_broken(self._talk.connected.wait())
                if self._local_tools is not None:
                    await self._join_ide(held, self._local_tools)
                async for question in asked:
                    ended = await self._answer(question)
                    if ended is None:
                        break
            finally:
                await self._close(LEAVING if ended is None else self._talk.client.settings.shutdown_grace)
        return ended

    async def _answer(self, question: str) -> Ended | None:
        """How the turn ended; None: the user left before it did."""
        loop = asyncio.get_running_loop()
        turn = self._turn = asyncio.create_task(self._talk.ask(question))
        self._presses = 0
        loop.add_signal_handler(signal.SIGINT, self.interrupt)
        asking = asyncio.create_task(self.confirm.run()) if self.confirm is not None else None
        try:
            ended = await self._unless_broken(turn)
        except asyncio.CancelledError:
            if not self._presses:
                raise
            return None
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            turn.cancel()
            if asking is not None:
                asking.cancel()
                await asyncio.gather(asking, return_exceptions=True)
        return replace(ended, outcome="cancelled") if self._presses else ended

    @property
    def stopped(self) -> bool:
        """Whether Ctrl-C has ended the last turn."""
        return self._presses > 0

    def interrupt(self) -> None:
        """Ctrl-C, as a signal or as a key at a question."""
        self._presses += 1
        if self._presses == 1:
            self._view.note("stopping; Ctrl-C again leaves", style="yellow")
            self._stopping = asyncio.create_task(self._stop())
        elif self._turn is not None:
            self._turn.cancel()

    async def _stop(self) -> None:
        self._talk.stopping = True
        message = self._talk.speech.stop()
        if message is not None:
            self._talk.client.post(message)
            return
        try:
            await aside(self._api.stop, self._address.session)
        except PeerError as error:
            self._view.note(f"✗ could not stop it: {error.message}", style="red")

    async def _join_ide(self, held: contextlib.ExitStack, folder: Path) -> None:
        joined = asyncio.Event()

        def tell(happening: AnyHappening) -> None:
            if isinstance(happening, Connected):
                joined.set()
            elif isinstance(happening, Warned):
                self._view.note(f"! {happening.text}", style="yellow")

        ide = held.enter_context(
            open_ide(
                folder,
                replace(self._address, query={}),
                tell=tell,
                settings=self._talk.client.settings,
                tls=self._talk.client.tls,
                attempts=RECONNECTS,
            )
        )
        self._keep(ide.run())
        await self._unless_broken(joined.wait())

    def _keep(self, running: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.create_task(running))

    async def _unless_broken(self, wanted: Awaitable[T]) -> T:
        """Wait for it, but not longer than the connections live."""
        waiting = asyncio.ensure_future(wanted)
        done, _ = await asyncio.wait((waiting, *self._tasks), return_when=asyncio.FIRST_COMPLETED)
        if waiting not in done:
            waiting.cancel()
            for task in self._tasks:
                if task.done():
                    task.result()
        return await waiting

    async def _close(self, patience: float) -> None:
        self._talk.client.stop()
        for task in self._tasks[1:]:
            task.cancel()
        await asyncio.wait(self._tasks, timeout=patience)


def _code(ended: Ended | None) -> int:
    if ended is None or ended.outcome == "cancelled":
        return INTERRUPTED
    return 0 if ended.outcome == "completed" else 1


def _new_session() -> str:
    return f"chat-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"


def _cursor(api: Api, session: str) -> str:
    """The end of a session's log, so that only what is new is shown; a session not known yet begins at 0."""
    try:
        known = api.sessions(KNOWN_SESSIONS)
    except PeerError as error:
        if error.code == NOT_OURS:
            return ""
        raise
    for line in known:
        if line["name"] == session:
            return f"{line['epoch']}.{line['last']}"
    return "0"


app = options.command(
    chat,
    examples="""\
  toolwire chat
  toolwire chat -m "where are ZIP files read?"
  toolwire chat -m "who calls parse_args?" --json | jq -r 'select(.token).token'
  toolwire chat --local-tools ~/work/shop --url wss://gateway.example.com --token-file token
  toolwire chat --session pair-1 --tools client    # an IDE in that session runs the tools
""",
)
