"""One tool call in a gateway's own workspace: document 1's TOOL_CALL, sent by a client (its manual test)."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from typing import Any

from toolwire.dialects.agent_chat_messages import ToolCall
from toolwire.dialects.wire import encode
from toolwire.errors import InvalidMessage, PeerError
from toolwire.ide.address import Address
from toolwire.ide.call import Outcome
from toolwire.ide.client import Client
from toolwire.ide.meanings import Answered, Failed
from toolwire.ide.speech import speech_of
from toolwire.settings import Settings


async def remote_call(
    address: Address,
    call_id: str,
    tool: str,
    arguments: Mapping[str, Any],
    *,
    settings: Settings,
    tls: ssl.SSLContext | None = None,
) -> Outcome:
    """The outcome as the gateway tells it; PeerError if it does not."""
    speech = speech_of("agent_chat")
    answered: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

    def hear(raw: bytes) -> str:
        try:
            meaning = speech.hear(raw).meaning
        except InvalidMessage:
            return ""
        if answered.done():
            return ""
        if isinstance(meaning, Answered) and meaning.call_id == call_id:
            answered.set_result(Outcome(meaning.ok, meaning.result, meaning.error))
        elif isinstance(meaning, Failed):
            answered.set_exception(PeerError(meaning.message, code=meaning.code))
        return ""

    client = Client(
        address=address,
        dialect=speech.name,
        hear=hear,
        ping=speech.ping,
        tell=lambda _: None,
        settings=settings,
        tls=tls,
        attempts=1,
    )
    client.post(encode(ToolCall(type="TOOL_CALL", toolCallId=call_id, toolName=tool, params=dict(arguments))))
    running = asyncio.create_task(client.run())
    try:
        async with asyncio.timeout(settings.tool_timeout):
            await asyncio.wait((running, answered), return_when=asyncio.FIRST_COMPLETED)
        if not answered.done():
            await running
        return await answered
    except TimeoutError:
        raise PeerError(f"no answer from {address.base} within {settings.tool_timeout:g} s", code="TIMEOUT") from None
    finally:
        client.stop()
        await asyncio.wait((running,), timeout=settings.shutdown_grace)
