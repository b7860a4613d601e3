"""One trace as a story: who asked what, what was decided, called and answered, which files changed, how long it took.

Everything told is redacted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from toolwire.audit.redact import redact, redact_value
from toolwire.audit.trace import Traced
from toolwire.core.events import (
    AgentChosen,
    AnyEvent,
    CallRequested,
    CallSettled,
    Said,
    Thought,
    TurnAsked,
    TurnEnded,
    TurnStarted,
)
from toolwire.store.ledger import Note

_HASHES = ("hash_before", "hash_after", "hashBefore", "hashAfter", "sha256")
_PATHS = ("path", "filePath", "file_path")


class FileChange(msgspec.Struct, frozen=True, omit_defaults=True):
    path: str
    before: str | None = None
    after: str | None = None


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that happened."""

    at: int
    kind: str
    """prompt, agent, thought, call, result, answer, noted; or an event's own kind."""
    text: str
    session: str = ""
    seq: int = 0
    ms: int | None = None
    call_id: str = ""
    data: Any = None
    """Arguments of a call, or what it gave."""
    files: list[FileChange] = []
    digest: str = ""


def story(events: Iterable[Traced], notes: Iterable[Note] = ()) -> list[Step]:
    steps = [step for found in events for step in _steps(found)]
    steps += [
        Step(
            note.at,
            "noted",
            f"{note.kind.replace('_', ' ')} of {redact(note.subject)} is in the ledger",
            digest=note.digest,
        )
        for note in notes
    ]
    return sorted(steps, key=lambda step: step.at)


def _steps(found: Traced) -> Iterator[Step]:
    event = found.event
    if isinstance(event, TurnStarted | Said):  # the whole text is told at the end
        return
    kind, text, more = _told(event)
    yield Step(event.at, kind, redact(text), found.session, event.seq, **more)


def _told(event: AnyEvent) -> tuple[str, str, dict[str, Any]]:
    match event:
        case TurnAsked():
            who = f"{event.caller} asked" if event.caller else "asked"
            return "prompt", f"{who} ({event.mode}): {event.prompt}", {}
        case AgentChosen():
            why = f" ({event.reason})" if event.reason else ""
            return "agent", f"{event.agent} answers{why}", {}
        case Thought():
            return "thought", event.text, {}
        case CallRequested():
            where = "in the gateway" if event.placement == "server" else "in the IDE"
            data = redact_value(event.arguments)
            return "call", f"{event.tool} {where}", {"call_id": event.call_id, "data": data}
        case CallSettled():
            return "result", f"{event.tool}: {event.outcome}{_because(event.error)}", _outcome(event)
        case TurnEnded():
            return "answer", f"{event.outcome}{_because(event.message)}: {event.text}", {"ms": event.ms}
        case _:
            return _other(event)


def _other(event: AnyEvent) -> tuple[str, str, dict[str, Any]]:
    """Decisions of people, and whatever else there is: its own fields tell it."""
    fields = msgspec.to_builtins(event)
    kind = fields.pop("kind")
    for field in ("seq", "at", "turn", "request", "trace"):
        fields.pop(field, None)
    call_id = fields.pop("call_id", "")
    text = ", ".join(
        f"{name}: {value}" for name, value in fields.items() if isinstance(value, str | int) and value != ""
    )
    return kind, text or kind.replace("_", " "), {"call_id": call_id, "data": redact_value(fields) or None}


def _outcome(event: CallSettled) -> dict[str, Any]:
    result = event.details if event.details is not None else event.result
    return {
        "call_id": event.call_id,
        "ms": event.ms,
        "data": redact_value(result),
        "files": list(_files(result)),
    }


def _files(result: Any) -> Iterator[FileChange]:
    """The files a result tells of, by their content hashes."""
    if isinstance(result, dict) and any(result.get(name) for name in _HASHES):
        path = next((str(result[name]) for name in _PATHS if result.get(name)), "")
        before = result.get("hash_before") or result.get("hashBefore")
        after = result.get("hash_after") or result.get("hashAfter") or result.get("sha256")
        yield FileChange(redact(path), before, after)
    elif isinstance(result, dict | list):
        for item in result.values() if isinstance(result, dict) else result:
            yield from _files(item)


def _because(reason: str) -> str:
    return f" ({reason})" if reason else ""
