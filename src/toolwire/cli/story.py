"""A session's events told to a person, the way the chat shows them."""

from __future__ import annotations

from toolwire.cli.answer_view import AnswerView
from toolwire.cli.screen import call_line, result_line
from toolwire.core.events import (
    AgentChosen,
    AnyEvent,
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
                self._view.note(result_line(tool, outcome == "ok", ms=ms, note=error))
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
