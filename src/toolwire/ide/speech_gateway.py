"""Document 5 from the client's side. `turn_ended` is told to watching connections only."""

from __future__ import annotations

from typing import Any

from toolwire.dialects import gateway_messages as messages
from toolwire.dialects.calls import as_object
from toolwire.dialects.wire import Model, encode
from toolwire.ide.call import Outcome
from toolwire.ide.meanings import Answered, Ended, Ending, Failed, Meaning, Other, Prompted, Said
from toolwire.ide.speech import Speech

_ENDINGS: dict[str, Ending] = {"completed": "completed", "cancelled": "cancelled"}


class GatewaySpeech(Speech):
    name = "gateway"
    form = "object"
    known = messages.MESSAGES

    def ask(self, prompt: str) -> bytes:
        return encode(messages.WSUserMessage(type="user_message", content=prompt, role="user"))

    def answer(self, call_id: str, outcome: Outcome) -> bytes:
        if outcome.ok:
            # From a ledger that was kept over another dialect it may be text, with its fields beside it.
            result = {**as_object(outcome.result), **(outcome.details or {})}
            return encode(messages.WSToolResult(type="tool_result", call_id=call_id, result=result))
        failed = messages.WSToolResult(type="tool_result", call_id=call_id, error=outcome.error)
        return self._told(failed, outcome)

    def _typed(self, body: dict[str, Any]) -> Model:
        return messages.typed(body)

    def _meaning(self, message: Model) -> Meaning:
        match message:
            case messages.WSAssistantMessage():
                return Said(message.token, message.is_final)
            case messages.WSToolResult():
                return Answered(message.call_id, message.error is None, message.result, message.error or "")
            case messages.WSErrorResponse():
                return Failed(message.content)
            case messages.WSTurnEnded():
                ending = _ENDINGS.get(message.outcome, "failed")
                return Ended(ending, "", message.message or message.outcome, message.code)
            case messages.WSUserMessage(role="user"):
                return Prompted(message.content)
            case _:
                return Other(type(message).__name__)
