"""Who answers a turn: an agent. `open_agents` makes the ones that `--agent A[,B…]` names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from toolwire.agents.base import Agent
from toolwire.agents.chain import Chain
from toolwire.errors import ConfigError
from toolwire.settings import Settings

__all__ = ["KINDS", "Agent", "Chain", "open_agents"]

OpenKind = Callable[[str, Settings], Agent]


def open_agents(spec: str, settings: Settings | None = None) -> Chain:
    """The agents that `--agent` names, in order of preference, as one."""
    settings = settings or Settings()
    names = [name.strip() for name in spec.split(",")]
    agents = [_open(name, settings) for name in names]
    return Chain(agents, settings=settings, more={"local": lambda: _local("", settings)})


def _open(name: str, settings: Settings) -> Agent:
    kind, _, rest = name.partition(":")
    if kind not in KINDS:
        raise ConfigError(f"no agent called {name!r}", field="agent", hint="there are: " + ", ".join(FORMS))
    return KINDS[kind](rest, settings)


def _local(rest: str, settings: Settings) -> Agent:
    from toolwire.agents.local import LocalAgent  # its glossary is read only when it is used

    if rest:
        raise ConfigError(f"the agent local takes nothing after its name: local:{rest}", field="agent")
    return LocalAgent(settings)


def _scripted(rest: str, settings: Settings) -> Agent:
    from toolwire.agents.scripted import ScriptedAgent

    if not rest:
        raise ConfigError("the agent script needs a file", field="agent", hint="write --agent script:FILE")
    return ScriptedAgent.from_file(Path(rest).expanduser(), settings)


KINDS: dict[str, OpenKind] = {"local": _local, "script": _scripted}
FORMS = ("local", "script:FILE")
