"""Everything this gateway executes: the one catalogue, put together when it starts (document 3, sections 2 and 8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from toolwire.errors import ConfigError
from toolwire.server import plugins, project_tools, tools_file
from toolwire.server.catalogue import Catalogue, Entry
from toolwire.server.config import GatewayConfig
from toolwire.server.flash.tools import entries as flash_entries
from toolwire.server.roles import Role, at_least
from toolwire.server.tools_file import NOTHING, ToolsFile
from toolwire.server.workspace_tools import workspace_entries
from toolwire.settings import Settings
from toolwire.tools.base import Tool
from toolwire.tools.registry import MODULES, Registry


def whole(config: GatewayConfig) -> tuple[Registry, Catalogue]:
    """The registry of workspace tools and the catalogue of a gateway, with what projects and packages add."""
    added = plugins.load()
    for tool in added:
        if isinstance(tool, Tool) and tool.name in MODULES:
            raise ConfigError(f"a package adds a tool called {tool.name}, and there is one already", field="tools")
    registry = Registry(MODULES, [tool for tool in added if isinstance(tool, Tool)])
    file = tools_file.find(config.tools_file, config.projects)
    entries = [entry for entry in added if isinstance(entry, Entry)]
    return registry, catalogue_of(registry, config.settings, file, entries)


def catalogue_of(
    registry: Registry, settings: Settings, file: ToolsFile = NOTHING, added: Iterable[Entry] = ()
) -> Catalogue:
    """Raises ConfigError for two tools of one id, and for a role set for a tool there is not."""
    ours = [*workspace_entries(registry), *flash_entries(settings)]
    taken = {entry.tool_id for entry in ours}
    for tool in file.tools:
        if tool.id in taken:
            raise ConfigError(f"{file.places[tool.id]}: there is a tool called {tool.id} already", field="config")
    found = [*ours, *project_tools.entries(file), *added]
    known = {entry.tool_id for entry in found}
    for tool_id in file.roles:
        if tool_id not in known:
            place = file.places[tool_id]
            raise ConfigError(f"{place}: [roles] names {tool_id!r}, and there is no such tool", field="config")
    return Catalogue(_with_role(entry, file.roles, trusted=file.trusted) for entry in found)


def _with_role(entry: Entry, roles: Mapping[str, Role], *, trusted: bool) -> Entry:
    """A file that was found, not named, may make a tool harder to call, never easier."""
    role = roles.get(entry.tool_id)
    if role is None or (not trusted and not at_least(role, entry.role)):
        return entry
    return replace(entry, role=role)
