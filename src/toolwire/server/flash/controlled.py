"""The controlled folder: document 3's drafts and uploads lie here, and nothing outside it is opened (section 8).

One workspace per tenant: the tenant `default` has the folder itself, any other one a folder of its own inside.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import threading
from pathlib import Path

from toolwire.errors import ConfigError, FlashError, ToolError
from toolwire.settings import Settings
from toolwire.tools.texts import sentence
from toolwire.tools.workspace import Workspace

TENANTS = ".tenants"
"""Where the folders of other tenants are; not reachable as a path of the default one."""
_OUTSIDE = ("outside_workspace", "link_refused", "bad_path", "protected_path", "not_a_file", "not_a_folder")
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class ControlledFolder:
    """Made when it is first used; without a path it is a temporary folder, gone with the gateway."""

    def __init__(self, root: Path | None, settings: Settings) -> None:
        self._root = root
        self._settings = settings
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._open: dict[str, Workspace] = {}
        self.building: set[str] = set()
        """Tenants in whose folder a build runs."""
        self._lock = threading.Lock()

    def of(self, tenant: str) -> Workspace:
        """The tenant's workspace. (Opens files, so never on the event loop.)"""
        with self._lock:
            if tenant not in self._open:
                self._open[tenant] = self._workspace(tenant)
            return self._open[tenant]

    def path(self, tenant: str, path: str) -> str:
        """A caller's path, clean and relative; refused if it means anything outside the tenant's folder."""
        if path.startswith("/") or "\\" in path or ".." in path.split("/"):
            raise outside(path)
        try:
            rel = self.of(tenant).normalise(path)
        except ToolError as error:
            raise refused(error) from error
        if rel == "." or rel.split("/")[0].casefold() == TENANTS:
            raise outside(path)
        return rel

    def close(self) -> None:
        with self._lock:
            for workspace in self._open.values():
                workspace.close()
            self._open.clear()
            if self._temporary is not None:
                self._temporary.cleanup()
                self._temporary = None

    def _workspace(self, tenant: str) -> Workspace:
        root = self._folder()
        place = root if tenant == "default" else root / TENANTS / _folder_name(tenant)
        try:
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise ConfigError(
                f"can't make the controlled folder {place}: {error.strerror}", field="controlled"
            ) from None
        return Workspace(place, settings=self._settings)

    def _folder(self) -> Path:
        if self._root is not None:
            return self._root
        if self._temporary is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="toolwire-flash-")
        return Path(self._temporary.name)


def outside(path: str) -> FlashError:
    return FlashError(
        "VALIDATION_FAILED",
        f"路径不在受控目录内: {path[:200]!r}",
        reason="PATH_ESCAPE",
        hint="give a path relative to the controlled folder, without .. in it",
    )


def refused(error: ToolError) -> FlashError:
    """What the folder said, in document 3's words: their mistake, or our disk."""
    text = sentence(error, "zh")
    if error.kind == "outside_workspace":
        return outside(str(error.facts.get("path", "")))
    if error.kind in _OUTSIDE or error.kind in ("file_not_found", "folder_not_found", "file_too_large"):
        return FlashError("VALIDATION_FAILED", text)
    return FlashError("INTERNAL_ERROR", text)


def _folder_name(tenant: str) -> str:
    """A tenant's name as the name of a folder; anything unusual is told apart by its digest."""
    if _PLAIN.fullmatch(tenant) and tenant == tenant.lower():
        return tenant
    return "t." + hashlib.sha256(tenant.encode("utf-8", "surrogateescape")).hexdigest()[:32]
