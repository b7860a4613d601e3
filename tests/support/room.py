"""A project beside things that must never be reached: a canary outside, a sibling whose name begins the same."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from toolwire.errors import ToolError
from toolwire.settings import Settings
from toolwire.tools import confine
from toolwire.tools.base import Context, ToolOutput
from toolwire.tools.registry import Outcome, default_registry
from toolwire.tools.seen import Seen
from toolwire.tools.workspace import Workspace

CANARY = "CANARY-c0ffee-outside"


class Room:
    def __init__(self, folder: Path, *, kernel: bool = True, settings: Settings | None = None) -> None:
        self.root = folder / "ws"
        self.outside = folder / "outside"
        self.sibling = folder / "ws-evil"
        for place in (self.root, self.outside, self.sibling):
            place.mkdir()
        (self.outside / "secret.txt").write_text(CANARY)
        (self.sibling / "secret.txt").write_text(CANARY)
        self.settings = settings or Settings()
        how = confine.beneath if kernel else confine.WalkBeneath
        self.workspace = Workspace(self.root, folder / "state", self.settings, beneath=how)
        self.registry = default_registry()
        self.seen = Seen()

    def put(self, name: str, content: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def context(self, seconds: float = 60.0) -> Context:
        return Context(self.workspace, self.settings, self.seen, deadline=time.monotonic() + seconds)

    def call(self, tool: str, arguments: dict[str, Any] | None = None, **more: Any) -> Outcome:
        return self.registry.run(tool, {**(arguments or {}), **more}, self.context())

    def done(self, tool: str, **arguments: Any) -> Any:
        outcome = self.call(tool, arguments)
        if outcome.error is not None:
            raise outcome.error
        assert isinstance(outcome.output, ToolOutput)
        return outcome.output

    def refused(self, tool: str, **arguments: Any) -> ToolError:
        error = self.call(tool, arguments).error
        assert error is not None, "the call should have been refused"
        return error

    def outside_is_untouched(self) -> bool:
        """Nothing new outside, and the canary as it was."""
        names = sorted(path.name for place in (self.outside, self.sibling) for path in place.iterdir())
        texts = {(place / "secret.txt").read_text() for place in (self.outside, self.sibling)}
        return names == ["secret.txt", "secret.txt"] and texts == {CANARY}
