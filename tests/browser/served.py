"""A real gateway in a process of its own, as the browser tests need it: on a free port, killed and started again."""

from __future__ import annotations

import json
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

START_TIMEOUT = 30.0
STOP_TIMEOUT = 10.0

PROGRAM = """
import json, sys
from pathlib import Path
from toolwire.server.app import run
from toolwire.server.config import GatewayConfig
from toolwire.settings import Settings

given = json.loads(sys.argv[1])
config = GatewayConfig(
    projects={key: Path(root) for key, root in given["projects"].items()},
    port=given["port"],
    agent=given["agent"],
    store=given["store"],
    token_file=Path(given["token_file"]) if given["token_file"] else None,
    approve=given["approve"],
    settings=Settings.load({}, given["overrides"]),
)
sys.exit(run(config, announce=lambda port: print(port, flush=True)))
"""


@dataclass
class Served:
    """One gateway; `start` and `kill` may be called in turn, the port and the store stay the same."""

    projects: Mapping[str, Path]
    agent: str
    store: str
    log: Path
    token_file: Path | None = None
    overrides: tuple[str, ...] = ()
    approve: str = "high"
    port: int = 0
    process: subprocess.Popen[str] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        given: dict[str, Any] = {
            "projects": {key: str(root) for key, root in self.projects.items()},
            "port": self.port,
            "agent": self.agent,
            "store": self.store,
            "overrides": self.overrides,
            "approve": self.approve,
            "token_file": str(self.token_file) if self.token_file else "",
        }
        with self.log.open("ab") as log:
            command = [sys.executable, "-c", PROGRAM, json.dumps(given)]
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        out = self.process.stdout
        assert out is not None
        line = out.readline() if select.select([out], [], [], START_TIMEOUT)[0] else ""
        if not line.strip():
            self.kill()
            raise AssertionError(f"the gateway did not start:\n{self.log.read_text()}")
        self.port = int(line)

    def kill(self) -> None:
        """As a crash would: nothing is said, nothing is tidied up."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> None:
        process, self.process = self.process, None
        if process is None:
            return
        process.send_signal(number)
        try:
            process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(STOP_TIMEOUT)
        if process.stdout is not None:
            process.stdout.close()
