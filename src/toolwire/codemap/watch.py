"""Following changes of a project's files. Where the system can't watch them, questions look at them all instead."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path

from toolwire.codemap.languages import language_of
from toolwire.settings import Settings

log = logging.getLogger(__name__)

Changed = Callable[[set[str], set[str], bool], None]
"""Paths of source files; other names that vanished, which may have been folders; whether there may be new files."""

_PRIVATE = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__"})
_RULES = (".gitignore", ".ignore", ".rgignore")


class Watch:
    def __init__(self, root: Path, settings: Settings, changed: Changed) -> None:
        self._root = str(root)
        self._settings = settings
        self._changed = changed
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="codemap-watch", daemon=True)
        self._failed = False

    @property
    def alive(self) -> bool:
        return self._thread.is_alive() and not self._failed

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(self._settings.shutdown_grace)

    def _follow(self) -> None:
        from watchfiles import Change, watch

        settle = self._settings.codemap_settle_ms
        try:
            for changes in watch(
                self._root,
                watch_filter=self._concerns,
                stop_event=self._stop,
                debounce=settle * 4,
                step=settle,
                rust_timeout=1000,
                raise_interrupt=False,
                ignore_permission_denied=True,
            ):
                self._report({(change == Change.deleted, path) for change, path in changes})
        except (OSError, RuntimeError) as error:
            self._failed = True
            log.warning("files of %s can't be watched (%s): questions look at them all instead", self._root, error)

    def _concerns(self, change: object, path: str) -> bool:
        parts = path[len(self._root) + 1 :].split("/")
        return not _PRIVATE.intersection(parts)

    def _report(self, changes: set[tuple[bool, str]]) -> None:
        sources: set[str] = set()
        vanished: set[str] = set()
        rescan = False
        for deleted, path in changes:
            relative = path[len(self._root) + 1 :]
            if language_of(relative):
                sources.add(relative)
            elif deleted:
                vanished.add(relative)
            elif relative.endswith(_RULES) or os.path.isdir(path):  # noqa: PTH112 - a plain question
                rescan = True
        if sources or vanished or rescan:
            self._changed(sources, vanished, rescan)
