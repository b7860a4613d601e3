"""What a client of documents 1, 2 and 5 says and hears: messages of the dialect's own models ⇄ meanings. Pure.

A tool call is read in any spelling of its id, at the root or in `data`, since gateways mix them up as plugins do
(spec README, "The ids' spelling"); writing is exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from toolwire.dialects import wire
from toolwire.dialects.base import DialectName
from toolwire.dialects.calls import CALL_ID_SPELLINGS, first
from toolwire.dialects.details import DETAILS_HEADER
from toolwire.dialects.wire import Model
from toolwire.errors import InvalidMessage
from toolwire.ide.call import Form, Outcome
from toolwire.ide.meanings import Asked, Meaning, Message, Other

TOOL_CALLS = ("tool_call", "TOOL_CALL")


class Speech(ABC):
    """One connection's way of speaking, from the client's side."""

    name: ClassVar[DialectName]
    form: ClassVar[Form]
    """How results are written."""
    known: ClassVar[Mapping[str, type[Model]]]
    """The document's messages by type."""
    detailed: bool = False
    """Whether the gateway says that it reads what our results have beside the document's fields
    (`dialects.details`). Any other gets the document's fields and no others."""

    def meet(self, headers: Mapping[str, str]) -> None:
        """A gateway has answered the handshake."""
        self.detailed = headers.get(DETAILS_HEADER) == "1"

    def hear(self, raw: bytes) -> Message:
        """Raises InvalidMessage for what is no message at all, or a known one that does not fit."""
        body = wire.parse(raw)
        cursor = body.get("seq")
        return Message(self._meaning_of(body), body, cursor if isinstance(cursor, str) else "")

    @abstractmethod
    def ask(self, prompt: str) -> bytes:
        """A question for the agent."""

    @abstractmethod
    def answer(self, call_id: str, outcome: Outcome) -> bytes:
        """The outcome of a tool call."""

    def ping(self, now: int) -> bytes | None:
        """The dialect's heartbeat; document 5 has none but the WebSocket's own."""
        return None

    def stop(self) -> bytes | None:
        """End the turn, where the dialect has a message for it."""
        return None

    def _told(self, answer: Model, outcome: Outcome) -> bytes:
        """An answer as its document has it and, for a gateway that reads it, what we tell beside that."""
        beside: dict[str, Any] = {}
        if outcome.ok and outcome.details is not None:
            beside["details"] = outcome.details
        elif not outcome.ok and outcome.indeterminate:
            beside["indeterminate"] = True
        if not beside or not self.detailed:
            return wire.encode(answer)
        body = answer.model_dump(exclude_unset=True)
        body.get("data", body).update(beside)
        return msgspec.json.encode(body)

    def _meaning_of(self, body: dict[str, Any]) -> Meaning:
        kind = body.get("type")
        if not isinstance(kind, str):
            raise InvalidMessage("type is not a string", field="type")
        if kind in TOOL_CALLS:
            return _asked(body)
        if kind not in self.known:
            return Other(kind, known=False)
        return self._meaning(self._typed(body))

    @abstractmethod
    def _typed(self, body: dict[str, Any]) -> Model: ...

    @abstractmethod
    def _meaning(self, message: Model) -> Meaning: ...


def _asked(body: Mapping[str, Any]) -> Asked:
    inner = body.get("data")
    data = inner if isinstance(inner, dict) else {}
    call_id = first(CALL_ID_SPELLINGS, body, data)
    tool = first(("tool_name", "toolName"), body, data)
    arguments = first(("arguments", "params"), body, data)
    for field, value in (("call_id", call_id), ("tool_name", tool)):
        if not isinstance(value, str) or not value:
            raise InvalidMessage(f"a tool call without {field}", field=field)
    if arguments is not None and not isinstance(arguments, dict):
        raise InvalidMessage(f"the arguments of {call_id} are not an object", field="arguments")
    return Asked(call_id, tool, arguments or {})


def speech_of(dialect: DialectName) -> Speech:
    """A fresh way of speaking that dialect."""
    from toolwire.ide import speech_agent_chat, speech_analyze, speech_gateway

    speeches: Mapping[DialectName, type[Speech]] = {
        "agent_chat": speech_agent_chat.AgentChatSpeech,
        "analyze": speech_analyze.AnalyzeSpeech,
        "gateway": speech_gateway.GatewaySpeech,
    }
    return speeches[dialect]()
