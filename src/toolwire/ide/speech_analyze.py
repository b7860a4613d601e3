"""Document 2 from the client's side. A conversation goes on under the requestId the first connection was given."""

from __future__ import annotations

from typing import Any

from toolwire.dialects import analyze_messages as messages
from toolwire.dialects.calls import as_text
from toolwire.dialects.enveloped import Beat, Ping
from toolwire.dialects.wire import Model, encode
from toolwire.ide.call import Outcome
from toolwire.ide.meanings import Answered, Ended, Failed, Greeted, Meaning, Other, Prompted, Thought
from toolwire.ide.speech import Speech


class AnalyzeSpeech(Speech):
    name = "analyze"
    form = "markdown"
    known = messages.MESSAGES

    def __init__(self) -> None:
        self._request = ""

    def ask(self, prompt: str) -> bytes:
        data = messages.AnalyzeData(message=prompt)
        if self._request:
            data = messages.AnalyzeData(message=prompt, requestId=self._request)
        return encode(messages.AnalyzeRequest(type="ANALYZE", data=data))

    def answer(self, call_id: str, outcome: Outcome) -> bytes:
        told = {"result": as_text(outcome.result)} if outcome.ok else {"error": outcome.error}
        data = messages.ToolResultData(callId=call_id, success=outcome.ok, **told)
        return self._told(messages.ToolResult(type="TOOL_RESULT", data=data), outcome)

    def ping(self, now: int) -> bytes:
        return encode(Ping(type="PING", data=Beat(timestamp=now)))

    def _typed(self, body: dict[str, Any]) -> Model:
        return messages.typed(body)

    def _meaning(self, message: Model) -> Meaning:
        match message:
            case messages.Connected():
                self._request = self._request or message.data.requestId
                return Greeted()
            case messages.Thinking(data=data):
                percent = None if data.percent is None else int(data.percent)
                return Thought(data.thinking, data.stage or "", percent)
            case messages.Complete(data=data):
                return Ended("completed", data.result)
            case messages.Error(data=data) if data.requestId:
                # An error that names a request is that request's one terminal message.
                return Ended("failed", "", data.message, data.code or "")
            case messages.Error(data=data):
                return Failed(data.message, data.code or "")
            case messages.ToolResult(data=data):
                return Answered(data.callId, data.success, data.result, data.error or "")
            case messages.AnalyzeRequest(data=data):
                return Prompted(data.message)
            case _:
                return Other(type(message).__name__)
