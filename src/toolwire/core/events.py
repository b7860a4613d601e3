"""What has happened in a session, as frozen values. The log is a list of these, numbered from 1.

Every event carries its sequence number and the time in milliseconds. An event of a turn names the turn and
`request`, the id under which a client knows it (document 2's requestId), so that rendering needs no look-up.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import msgspec

Mode = Literal["ask", "plan", "agent"]
Role = Literal["user", "assistant", "system", "tool"]
Stage = Literal["analyzing", "planning", "executing"]
Placement = Literal["client", "server"]
TurnOutcome = Literal["completed", "failed", "cancelled", "overridden", "timed_out"]
CallOutcome = Literal["ok", "failed", "timed_out", "indeterminate", "cancelled"]
Decision = Literal["approved", "edited", "rejected", "expired", "withdrawn"]


class Event(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind"):
    """What every event has."""

    seq: int
    at: int


class Message(msgspec.Struct, frozen=True):
    """One message of a conversation's history."""

    role: Role
    text: str


class Attachment(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file that came with a prompt (document 3, 7.1): where it lies, and the beginning of its text."""

    path: str
    name: str = ""
    mime_type: str = ""
    size: int = 0
    preview: str = ""


class TurnAsked(Event, frozen=True, tag="turn_asked"):
    """A peer asked for a turn. It starts now or waits in the queue."""

    turn: str
    request: str
    prompt: str
    conversation: str
    project: str = ""
    mode: Mode = "agent"
    placement: Placement = "client"
    agent: str = ""
    """Which agent was asked for: empty means the configured one."""
    caller: str = ""
    limit_ms: int = 0
    """How long the turn may run; 0 means as long as it likes."""
    history: tuple[Message, ...] = ()
    """Earlier messages as the client told them; empty: those that are kept."""
    attachments: tuple[Attachment, ...] = ()
    trace: str = ""
    """Document 3's trace_id, if the asker brought one; it goes on to the turn's calls."""
    role: str = ""
    """What the asker may do, and so the agent on its behalf."""


class TurnStarted(Event, frozen=True, tag="turn_started"):
    turn: str
    request: str


class AgentChosen(Event, frozen=True, tag="agent_chosen"):
    """Which agent answers; `degraded` if a better one could not."""

    turn: str
    request: str
    agent: str
    degraded: bool = False
    reason: str = ""


class Said(Event, frozen=True, tag="said"):
    """A piece of text. `index` counts the turn's pieces from 0, `final` ends a run of text."""

    turn: str
    request: str
    text: str
    index: int
    final: bool = False


class Thought(Event, frozen=True, tag="thought"):
    turn: str
    request: str
    text: str
    stage: Stage
    round: int
    percent: int | None = None
    degraded: bool = False


class CallRequested(Event, frozen=True, tag="call_requested"):
    """A tool call, by the agent of a turn or, with `turn` empty, by a client under its own `asked_as`."""

    turn: str
    request: str
    call_id: str
    tool: str
    arguments: dict[str, Any]
    placement: Placement = "client"
    reads: bool = False
    project: str = ""
    asked_as: str = ""
    asked_by: str = ""
    trace: str = ""
    ledger: str | None = ""
    """Of a write for a client: the ledger that will know what became of it. Empty: there is none; None: no client has
    been asked yet."""


class CallBound(Event, frozen=True, tag="call_bound"):
    """A write goes to another client than the one that was there when it was asked for. Stored before it is sent."""

    call_id: str
    ledger: str


class CallOutput(Event, frozen=True, tag="call_output"):
    """What a tool that takes long has written so far, piece by piece (document 3, flash.build.run)."""

    call_id: str
    tool: str
    text: str


class CallSettled(Event, frozen=True, tag="call_settled"):
    """The one outcome of a call."""

    turn: str
    request: str
    call_id: str
    tool: str
    outcome: CallOutcome
    result: Any = None
    error: str = ""
    ms: int = 0
    """Milliseconds from request to outcome."""
    asked_as: str = ""
    asked_by: str = ""
    details: dict[str, Any] | None = None
    """The typed fields of a result that is itself told in words: for a write, its patch and content hashes."""
    trace: str = ""


class ApprovalRequested(Event, frozen=True, tag="approval_requested"):
    """A person is asked whether a call may be made, with exactly these arguments (document 3, confirmation)."""

    turn: str
    request: str
    approval: str
    tool: str
    arguments: dict[str, Any]
    digest: str
    """Of the arguments."""
    risk: str = ""
    asked_by: str = ""
    expires: int = 0
    trace: str = ""
    why: str = ""
    """Which rule wants a person's word."""


class ApprovalAnswered(Event, frozen=True, tag="approval_answered"):
    """The one answer to such a request. `edited` is a yes to other arguments."""

    turn: str
    request: str
    approval: str
    tool: str
    decision: Decision
    arguments: dict[str, Any] | None = None
    reason: str = ""
    by: str = ""
    trace: str = ""


class TurnEnded(Event, frozen=True, tag="turn_ended"):
    """The one end of a turn, with the whole text and what it took."""

    turn: str
    request: str
    conversation: str
    outcome: TurnOutcome
    prompt: str
    text: str = ""
    code: str = ""
    message: str = ""
    degraded: bool = False
    pieces: int = 0
    calls: int = 0
    failed_calls: int = 0
    rounds: int = 0
    """0 for a turn that never got to run."""
    stages: tuple[Stage, ...] = ()
    ms: int = 0


class Stopped(Event, frozen=True, tag="stopped"):
    """A peer asked to stop; whatever ran has ended before this."""


class SessionReset(Event, frozen=True, tag="session_reset"):
    """The conversation starts anew: earlier messages are no longer given to agents."""

    conversation: str


class MessageAdded(Event, frozen=True, tag="message_added"):
    """A message that only adds to the history (document 5, roles other than user)."""

    conversation: str
    role: Role
    text: str


class PeerReported(Event, frozen=True, tag="peer_reported"):
    """An error an IDE told us about (document 5, `error` from the IDE). Recorded, never answered."""

    text: str


AnyEvent = (
    TurnAsked
    | TurnStarted
    | AgentChosen
    | Said
    | Thought
    | CallRequested
    | CallBound
    | CallOutput
    | ApprovalRequested
    | ApprovalAnswered
    | CallSettled
    | TurnEnded
    | Stopped
    | SessionReset
    | MessageAdded
    | PeerReported
)

EVERY_KIND: frozenset[type[Event]] = frozenset(get_args(AnyEvent))

PASSING = (Said, Thought, AgentChosen, TurnStarted, CallOutput)
"""Events that are committed but need not be synced to disk before they are seen: nothing hangs on them."""


def opens(event: AnyEvent) -> int:
    """+1 if the event begins something that must end (a turn, a client's own call), -1 if it ends it, else 0.

    Where these sum to zero the session is at rest: nothing before that point is needed to go on.
    """
    kind = type(event)
    if kind is CallRequested:
        return 0 if event.turn else 1  # type: ignore[union-attr]
    if kind is CallSettled:
        return 0 if event.turn else -1  # type: ignore[union-attr]
    return 1 if kind is TurnAsked else -1 if kind is TurnEnded else 0


_encoder = msgspec.json.Encoder()
_run_decoder = msgspec.json.Decoder(list[AnyEvent])


def encode_run(events: list[AnyEvent]) -> bytes:
    """Consecutive events as the store keeps them: one JSON array."""
    return _encoder.encode(events)


def decode_run(body: bytes) -> list[AnyEvent]:
    return _run_decoder.decode(body)


def encode(event: AnyEvent) -> bytes:
    return _encoder.encode(event)
