"""Runs a gateway in this process and says, once it listens, where it is and how each kind of client connects."""

from __future__ import annotations

import os
import sys
import threading
import webbrowser

from toolwire.cli.screen import console, json_line
from toolwire.server.app import run
from toolwire.server.config import GatewayConfig
from toolwire.server.logs import set_up

APPROVALS = {
    "never": "an agent's calls are made without asking",
    "high": "you are asked before an agent's calls of high risk",
    "writes": "you are asked before an agent writes",
    "all": "you are asked before every call of an agent",
}


def run_gateway(
    config: GatewayConfig, *, level: str, log_json: bool = False, json: bool = False, browser: bool = False
) -> int:
    set_up(level=level, json=log_json)

    def announce(port: int) -> None:
        page = _page(config, port)
        if json:
            json_line({"event": "listening", "url": page, "port": port, "projects": list(config.projects)})
        else:
            _banner(config, page)
        if browser and _has_screen():
            # In a thread: a browser that takes its time must not hold the gateway up.
            threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()

    return run(config, announce)


def _page(config: GatewayConfig, port: int) -> str:
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "::1": "[::1]"}.get(config.host, config.host)
    return f"{'https' if config.cert else 'http'}://{host}:{port}/"


def _banner(config: GatewayConfig, page: str) -> None:
    screen = console()
    socket = "ws" + page.removeprefix("http").rstrip("/")
    where = "" if page == "http://127.0.0.1:8080/" else f" --url {socket}"
    project = config.default_project or "KEY"
    screen.print(f"Toolwire is ready: {page}", style="bold green")
    for key, root in config.projects.items():
        screen.print(f"  project   {key} = {root}")
    screen.print(f"  agent     {config.agent}")
    screen.print(f"  store     {config.store}")
    screen.print(f"  approval  {APPROVALS[config.approve]} (--approve)")
    screen.print()
    screen.print("Talk to it:")
    screen.print(f"  browser     {page}")
    screen.print(f"  terminal    toolwire chat{where}")
    screen.print("Connect an IDE:")
    screen.print(f"  document 5  {socket}/ws/SESSION")
    screen.print(f"  document 2  {socket}/ws/analyze?sessionId=ID&projectKey={project}&projectPath=PATH")
    screen.print(f"  document 1  {socket}/ws/agent/chat?sessionId=ID&projectKey={project}")
    screen.print(f"  document 3  {socket}/agent/ws")
    screen.print(f"  headless    toolwire ide PATH{where}")
    if config.token_file:
        screen.print(
            f"Clients need a token of {config.token_file}: Authorization: Bearer TOKEN, or --token-file FILE."
        )
        screen.print(f"  make one    toolwire token create NAME --file {config.token_file}")
    screen.print("Ctrl-C stops it.", style="dim")


def _has_screen() -> bool:
    """Whether a browser would open a window, rather than take over this terminal."""
    if not sys.stdout.isatty():
        return False
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
