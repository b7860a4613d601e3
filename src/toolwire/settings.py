"""Every limit and default of the documents, named once.

A setting is changed by `--set name=value` on the command line or by `TOOLWIRE_NAME` in the environment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from toolwire.errors import ConfigError

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Settings:
    # Messages (document 2, 6.1; spec README, "Size")
    message_limit: int = 10 * MIB
    """Largest message a peer may send, in bytes, all fragments together."""
    frame_limit: int = 16 * MIB
    """Beyond this the transport itself closes with 1009."""
    nesting_limit: int = 64
    """Deepest JSON that fits."""

    # Waiting
    tool_timeout: float = 120.0
    """Seconds a client has to answer a tool call."""
    server_tool_timeout: float = 30.0
    """Seconds a tool run by the gateway may take."""
    turn_timeout: float = 300.0
    """Document 2, 6.3: an analysis ends with ANALYSIS_TIMEOUT after this many seconds."""
    idle_timeout: float = 60.0
    """Document 2, 6.3: no message from the client for this long closes the connection."""
    auth_timeout: float = 10.0
    """Seconds a connection opened without a token has to send CONNECT."""
    reconnect_grace: float = 120.0
    """Seconds a session without any connection keeps its running turn."""
    shutdown_grace: float = 5.0
    """Seconds a shutdown may take to end turns and flush sockets."""
    slow_reader_grace: float = 10.0
    """Seconds a full outbox may stay full before its reader is cut with 1013."""

    # Queues
    queue_limit: int = 32
    """Prompts that may wait behind a running turn."""
    calls_limit: int = 4096
    """Tool calls in flight in one session."""
    outbox_messages: int = 8192
    """Messages waiting for one slow reader."""
    outbox_bytes: int = 64 * MIB
    """Bytes waiting for one slow reader."""
    store_backlog: int = 8192
    """Events waiting for the store before agents are made to wait."""
    tool_workers: int = 8
    """Tools the gateway runs at once."""
    tool_backlog: int = 1024
    """Tool calls waiting for one of those workers."""
    connections_limit: int = 10_000
    """Open WebSocket connections."""

    # Turns
    history_limit: int = 50
    """Messages of a conversation that an agent is given."""

    # Tools (document 1, tool definitions)
    grep_limit: int = 20
    read_context_lines: int = 20
    read_max_lines: int = 2000
    """A longer file is cut, with a line that says how to go on."""
    read_max_bytes: int = 64 * MIB
    """A larger file is not read at all."""
    result_limit: int = 100_000
    """Characters of a tool result that go out at once; the whole is kept."""
    language: str = "zh"
    """Language of tool results in documents 1 and 2: `zh` or `en`."""

    @classmethod
    def load(cls, environment: Mapping[str, str], overrides: Iterable[str] = ()) -> Settings:
        """Defaults, then TOOLWIRE_* of the environment, then `name=value` overrides."""
        known = {field.name: field for field in fields(cls)}
        changes: dict[str, Any] = {}
        for name in known:
            value = environment.get(f"TOOLWIRE_{name.upper()}")
            if value is not None:
                changes[name] = _parse(name, value, f"TOOLWIRE_{name.upper()}")
        for override in overrides:
            name, equals, value = override.partition("=")
            if not equals or name not in known:
                raise ConfigError(
                    f"no such setting: {override}",
                    field=name,
                    hint="write --set name=value; names: " + ", ".join(sorted(known)),
                )
            changes[name] = _parse(name, value, f"--set {name}")
        return replace(cls(), **changes)


def _parse(name: str, value: str, source: str) -> int | float | str:
    kind: type[int | float | str] = type(_DEFAULTS[name])
    try:
        parsed = kind(value)
    except ValueError:
        raise ConfigError(f"{source}: {value!r} is not a {kind.__name__}", field=name) from None
    if isinstance(parsed, int | float) and parsed <= 0:
        raise ConfigError(f"{source}: {value} must be above zero", field=name)
    if name == "language" and parsed not in ("zh", "en"):
        raise ConfigError(f"{source}: language is zh or en, not {value!r}", field=name)
    return parsed


_DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(Settings)}
