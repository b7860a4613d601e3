"""Document 1 and its version 2 from the client's side."""

from __future__ import annotations

from typing import Any

from toolwire.dialects import agent_chat_messages as messages
from toolwire.dialects.calls import as_text
from toolwire.dialects.enveloped import Beat, Ping
from toolwire.dialects.wire import Model, encode
from toolwire.ide.call import Outcome
from toolwire.ide.meanings import Answered, Ended, Ending, Failed, Greeted, Meaning, Other, Prompted, Said, Thought
from toolwire.ide.speech import Speech

_ENDINGS: dict[messages.Status, Ending] = {"COMPLETED": "completed", "FAILED": "failed", "CANCELLED": "cancelled"}


class AgentChatSpeech(Speech):
    name = "agent_chat"
    form = "markdown"
    known = messages.MESSAGES

    def ask(self, prompt: str) -> bytes:
        return encode(messages.Chat(type="AGENT_CHAT", data=messages.ChatData(message=prompt)))

    def answer(self, call_id: str, outcome: Outcome) -> bytes:
        told = {"result": as_text(outcome.result)} if outcome.ok else {"error": outcome.error}
        data = messages.ToolResultData(toolCallId=call_id, success=outcome.ok, executionTime=outcome.ms, **told)
        return self._told(messages.ToolResult(type="TOOL_RESULT", data=data), outcome)

    def ping(self, now: int) -> bytes:
        return encode(Ping(type="PING", data=Beat(timestamp=now)))

    def stop(self) -> bytes:
        return encode(messages.Stop(type="STOP", data=messages.StopData()))

    def _typed(self, body: dict[str, Any]) -> Model:
        return messages.typed(body)

    def _meaning(self, message: Model) -> Meaning:
        match message:
            case messages.Connected():
                return Greeted()
            case messages.Piece(data=data):
                return Said(data.content, data.isComplete)
            case messages.Response(data=data):
                return _progress(data)
            case messages.Error(data=data):
                return Failed(data.message, data.code)
            case messages.ToolResult(data=data):
                return Answered(data.toolCallId, data.success, data.result, data.error or "")
            case messages.Chat(data=data):
                return Prompted(data.message)
            case _:
                return Other(type(message).__name__)


def _progress(data: messages.ResponseData) -> Meaning:
    ending = _ENDINGS.get(data.status)
    if ending is None:
        return Thought(data.content, data.stage)
    if ending == "completed":
        return Ended(ending, data.content)
    return Ended(ending, "", data.content)
