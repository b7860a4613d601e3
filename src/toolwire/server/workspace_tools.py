"""The tools of a workspace as entries of the catalogue: their tool_id is their name (spec README, "A call")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolwire.server.catalogue import Entry
from toolwire.tools.base import Tool
from toolwire.tools.registry import Registry

CALL_PATH: Final = "/agent/flash/tools/call"
CALL_API: Final = (CALL_PATH, "POST")
"""Where a tool without a route of its own is called."""


def workspace_entry(tool: Tool) -> Entry:
    return Entry(
        tool_id=tool.name,
        name_zh=tool.title_zh,
        name_en=tool.title_en,
        intent=tool.intent,
        object=tool.object,
        risk=tool.risk,
        reads=tool.reads,
        role="viewer" if tool.reads else "editor",
        input_schema=tool.schema(),
        output_schema=_output(tool),
        placement="workspace",
        api=CALL_API,
    )


def workspace_entries(registry: Registry) -> list[Entry]:
    return [workspace_entry(registry.get(name)) for name in registry.names()]


def _output(tool: Tool) -> Mapping[str, Any]:
    """The typed fields, and `content`: the text of what was read, or the result in words."""
    schema = tool.output.model_json_schema(by_alias=True, mode="serialization")
    content = {"content": {"type": "string"}, **schema.get("properties", {})}
    # A field without a value is left out, and a result cut for size has others instead: nothing is required.
    return {**{key: part for key, part in schema.items() if key != "required"}, "properties": content}
