"""The real tools on a real folder, as a client would answer with them: objects, or Markdown in either language."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from agents.memory_turn import RunTool
from toolwire.settings import Settings
from toolwire.tools import registry
from toolwire.tools.base import Context, Language
from toolwire.tools.seen import Seen
from toolwire.tools.workspace import Workspace

READING = ("grep_file", "read_file", "list_dir")


def tools_on(
    root: Path, *, state: Path, markdown: Language | None = None, offered: Collection[str] = READING
) -> RunTool:
    """Runs the tools that are offered; any other is unknown, as it is to a plugin of documents 1 and 2."""
    settings = Settings()
    workspace = Workspace(root, state, settings)
    known = registry.default_registry()
    seen = Seen()

    def run(tool: str, arguments: Mapping[str, Any]) -> Any:
        if tool not in offered:
            raise LookupError(f"未知工具: {tool}")
        context = Context(workspace, settings, seen, time.monotonic() + settings.server_tool_timeout)
        outcome = known.run(tool, arguments, context)
        if not outcome.success:
            raise LookupError(registry.as_markdown(outcome, markdown or "en"))
        return registry.as_markdown(outcome, markdown) if markdown else registry.as_object(outcome)

    return run
