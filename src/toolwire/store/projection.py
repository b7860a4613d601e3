"""What a committed event adds to a conversation's history. Shared by every store."""

from __future__ import annotations

from toolwire.core.events import AnyEvent, Message, MessageAdded, SessionReset, TurnEnded


def messages(event: AnyEvent) -> tuple[str, list[Message]] | None:
    """(conversation, messages) the event adds; None if it adds none."""
    if isinstance(event, TurnEnded) and event.rounds:
        added = [Message("user", event.prompt)]
        if event.text:
            added.append(Message("assistant", event.text))
        return event.conversation, added
    if isinstance(event, MessageAdded):
        return event.conversation, [Message(event.role, event.text)]
    return None


def resets(event: AnyEvent) -> str | None:
    """The conversation that starts anew with this event."""
    return event.conversation if isinstance(event, SessionReset) else None
