"""A session's events told to a person, the way the chat shows them."""

from __future__ import annotations

from toolwire.cli.answer_view import AnswerView
from toolwire.cli.screen import call_line, result_line
from toolwire.core.events import (
    AgentChosen,
    AnyEvent,
    ApprovalAnswered,
    ApprovalRequested,
    CallRequested,
    CallSettled,
    MessageAdded,
    PeerReported,
    Said,
    SessionReset,
    Thought,
    TurnAsked,
    TurnEnded,
)

HASH = 12
"""Digits of a content hash that tell it from any other one sees."""


class Story:
    def __init__(self, view: AnswerView) -> None:
        self._view = view

    def tell(self, event: AnyEvent) -> None:
        match event:
            case TurnAsked(prompt=prompt):
                self._view.note(f"› {prompt}", style="bold cyan")
            case Said(text=text, final=final):
                self._view.piece(text)
                if final:
                    self._view.end_run()
            case Thought(text=text, percent=percent):
                self._view.progress(text if percent is None else f"{percent} % {text}")
            case CallRequested(tool=tool, arguments=arguments):
                self._view.end_run()
                self._view.note(call_line(tool, arguments))
            case CallSettled(tool=tool, outcome=outcome, error=error, ms=ms):
                self._view.note(result_line(tool, outcome == "ok", ms=ms, note=error or _change(event)))
            case ApprovalRequested(tool=tool, risk=risk, why=why):
                self._view.end_run()
                because = f" because {why}" if why else ""
                self._view.note(f"? {tool} ({risk} risk) waits for a person{because}", style="yellow")
            case ApprovalAnswered(tool=tool, decision=decision, by=by, reason=reason):
                who, said = f" by {by}" if by else "", f": {reason}" if reason else ""
                self._view.note(f"  {tool} {decision}{who}{said}", style="yellow")
            case AgentChosen(degraded=True, agent=agent, reason=reason):
                self._view.note(f"! answered by {agent}: {reason}", style="yellow")
            case MessageAdded(role=role, text=text):
                self._view.note(f"{role}: {text}", style="dim")
            case PeerReported(text=text):
                self._view.note(f"! the IDE reports: {text}", style="yellow")
            case SessionReset():
                self._view.note("○ the conversation starts anew", style="dim")
            case TurnEnded():
                self._end(event)
            case _:
                pass

    def _end(self, ended: TurnEnded) -> None:
        self._view.end_run()
        seconds = f"{ended.ms / 1000:.1f} s, {ended.calls} calls"
        if ended.outcome == "completed":
            self._view.note(f"■ answered in {seconds}", style="dim")
        else:
            why = f": {ended.message}" if ended.message else ""
            self._view.note(f"■ {ended.outcome.replace('_', ' ')} after {seconds}{why}", style="red")


def _change(settled: CallSettled) -> str:
    """Which file a write has changed: its name, the lines, and the content's hash before and after."""
    fields = settled.details or settled.result
    if not isinstance(fields, dict) or not {"path", "hash_after"} <= fields.keys():
        return ""
    lines = [line for hunk in fields.get("patch") or () for line in hunk.get("lines", ())]
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    before, after = str(fields.get("hash_before") or "-")[:HASH], str(fields["hash_after"])[:HASH]
    return f"{fields['path']} +{added} -{removed} ({before} → {after})"
