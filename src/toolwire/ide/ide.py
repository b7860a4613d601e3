"""The headless IDE itself: hears a gateway's calls, has them run, answers each in the dialect, once.

Calls run side by side. A call that is asked again while it runs, or while its answer waits to be sent, is the same
call; one asked again later is answered from the ledger.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace

from toolwire.errors import HandshakeRefused, InvalidMessage
from toolwire.ide import happenings
from toolwire.ide.call import Call, Outcome
from toolwire.ide.client import Client
from toolwire.ide.happenings import Tell
from toolwire.ide.meanings import Asked, Failed, Other
from toolwire.ide.speech import Speech
from toolwire.ide.workbench import Workbench
from toolwire.settings import Settings


class Ide:
    """Speaks through `client`, which its maker sets (see `opening`)."""

    client: Client

    def __init__(self, session: str, speech: Speech, workbench: Workbench, settings: Settings, tell: Tell) -> None:
        self._session = session
        self._speech = speech
        self._workbench = workbench
        self._settings = settings
        self._tell = tell
        self._working: dict[str, asyncio.Task[None]] = {}
        """Calls that run, by id."""
        self._leaving = asyncio.Event()
        self._hurrying = asyncio.Event()
        self._last_error = ""

    async def run(self) -> None:
        """Until `stop`, or until the gateway will not have us."""
        client = asyncio.create_task(self.client.run(), name="client")
        leaving = asyncio.create_task(self._leave(), name="leave")
        hurrying = asyncio.create_task(self._hurrying.wait(), name="hurry")
        try:
            await asyncio.wait((client, leaving, hurrying), return_when=asyncio.FIRST_COMPLETED)
            self.client.stop()
            await client
        except HandshakeRefused as error:
            if self._last_error:
                raise HandshakeRefused(f"{error.message}: {self._last_error}", hint=error.hint) from error
            raise
        finally:
            for task in (client, leaving, hurrying, *self._working.values()):
                task.cancel()
            await self._workbench.close()
            self._tell(happenings.Closed())

    def stop(self) -> None:
        """Answer what runs, begin nothing new, close. A second time: close at once."""
        if self._leaving.is_set():
            self._hurrying.set()
        self._leaving.set()

    async def _leave(self) -> None:
        """Bounded: what does not end in time goes to the ledger when it does, for a gateway that asks again."""
        await self._leaving.wait()
        grace = self._settings.shutdown_grace
        if self._working:
            await asyncio.wait(list(self._working.values()), timeout=grace)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await self.client.drained()

    def hear(self, raw: bytes) -> str:
        """One message of the gateway. What makes no sense is told, and nothing else happens."""
        try:
            message = self._speech.hear(raw)
        except InvalidMessage as error:
            self._tell(happenings.Warned(f"a message of the gateway makes no sense: {error.message}"))
            return ""
        meaning = message.meaning
        if isinstance(meaning, Asked):
            self._asked(Call(self._session, meaning.call_id, meaning.tool, meaning.arguments))
        else:
            if isinstance(meaning, Failed):
                self._last_error = meaning.message
            elif isinstance(meaning, Other) and not meaning.known:
                self._tell(happenings.Warned(f"a message of a kind not known here: {meaning.kind}"))
            self._tell(happenings.Heard(message.body))
        return message.cursor

    def _asked(self, call: Call) -> None:
        if call.call_id in self._working or self.client.underway(call.call_id) or self._leaving.is_set():
            return
        if len(self._working) >= self._settings.calls_limit:
            limit = self._settings.calls_limit
            self._answer(call, Outcome(False, error=f"this IDE runs {limit} calls already; {call.tool} was not run"))
            return
        self._tell(happenings.CallBegun(call.call_id, call.tool, call.arguments))
        self._working[call.call_id] = asyncio.create_task(self._work(call), name=f"call {call.call_id}")

    async def _work(self, call: Call) -> None:
        try:
            outcome = await self._workbench.run(call)
        finally:
            del self._working[call.call_id]
        self._answer(call, outcome)

    def _answer(self, call: Call, outcome: Outcome) -> None:
        message = self._speech.answer(call.call_id, outcome)
        limit = self._settings.message_limit
        if len(message) > limit and outcome.details is not None:
            message = self._speech.answer(call.call_id, replace(outcome, details=None))
        if len(message) > limit:
            outcome = Outcome(False, error=f"the result has {len(message)} bytes; a message may have at most {limit}")
            message = self._speech.answer(call.call_id, outcome)
        self.client.post(message, call.call_id)
        self._tell(
            happenings.CallAnswered(
                call.call_id, call.tool, outcome.ok, outcome.ms, error=outcome.error, replayed=outcome.replayed
            )
        )
