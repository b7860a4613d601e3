"""The gateway's own projects: key → workspace. Roots come from the settings alone, never from a peer."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

from toolwire.errors import PeerError
from toolwire.settings import Settings
from toolwire.tools.workspace import Workspace


class ProjectNotFound(PeerError):
    code = "PROJECT_NOT_FOUND"


class Projects:
    """Workspaces, opened when first used."""

    def __init__(self, roots: Mapping[str, Path], settings: Settings) -> None:
        self.roots = dict(roots)
        self._settings = settings
        self._open: dict[str, Workspace] = {}
        self._lock = threading.Lock()

    def check(self, key: str) -> None:
        """Raise ProjectNotFound unless the gateway has that project."""
        if key not in self.roots:
            known = ", ".join(sorted(self.roots)) or "none"
            error = ProjectNotFound(
                f"no project {key[:80]!r} here", field="projectKey", hint=f"this gateway has: {known}"
            )
            error.given = key[:80]
            raise error

    def workspace(self, key: str) -> Workspace:
        self.check(key)
        with self._lock:
            if key not in self._open:
                self._open[key] = Workspace(self.roots[key], settings=self._settings)
            return self._open[key]

    def close(self) -> None:
        with self._lock:
            for workspace in self._open.values():
                workspace.close()
            self._open.clear()
