"""A desk for tool tests: a real workspace in a temporary folder, one session's memory, and any tool by name."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any

from toolwire.errors import ToolError
from toolwire.settings import Settings
from toolwire.tools import raw
from toolwire.tools.base import Context, ToolOutput
from toolwire.tools.registry import Outcome, default_registry
from toolwire.tools.seen import Seen
from toolwire.tools.textfile import content_hash
from toolwire.tools.workspace import Workspace


class Desk:
    def __init__(self, folder: Path, settings: Settings | None = None) -> None:
        self.root = folder / "project"
        self.root.mkdir()
        self.settings = settings or Settings()
        self.workspace = Workspace(self.root, folder / "state", self.settings)
        self.registry = default_registry()
        self.seen = Seen()
        self._numbers = itertools.count(1)

    def context(self, call_id: str = "") -> Context:
        return Context(
            self.workspace,
            self.settings,
            self.seen,
            deadline=time.monotonic() + 60,
            call_id=call_id or f"call-{next(self._numbers)}",
        )

    def put(self, name: str, content: str | bytes, *, read: bool = True) -> Path:
        """A file in the project, read by the session unless told otherwise."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(data)
        if read:
            self.seen.note(name, content_hash(data), data)
        return path

    def call(self, tool: str, call_id: str = "", **arguments: Any) -> Outcome:
        return self.registry.run(tool, arguments, self.context(call_id))

    def done(self, tool: str, call_id: str = "", **arguments: Any) -> Any:
        """The output of a call that must succeed."""
        outcome = self.call(tool, call_id, **arguments)
        if outcome.error is not None:
            raise outcome.error
        assert isinstance(outcome.output, ToolOutput)
        return outcome.output

    def refused(self, tool: str, **arguments: Any) -> ToolError:
        """The refusal of a call that must not succeed."""
        outcome = self.call(tool, **arguments)
        assert outcome.error is not None, outcome.output
        assert outcome.error.kind != "internal_error", outcome.error.__cause__
        return outcome.error

    def data(self, tool: str, **arguments: Any) -> raw.Data:
        """Document 4's `data` of a call."""
        return raw.answer(self.call(tool, **arguments), arguments)
