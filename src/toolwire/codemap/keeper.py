"""Keeps the index as the files are: builds it, follows changes, and catches up before a question is answered."""

from __future__ import annotations

import logging
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from toolwire.codemap.crew import Crew
from toolwire.codemap.entry import digest_of
from toolwire.codemap.frames import Report
from toolwire.codemap.languages import language_of
from toolwire.codemap.listing import files_with, source_files
from toolwire.codemap.shelf import Shelf, Stamp
from toolwire.codemap.source import read_source
from toolwire.codemap.watch import Watch
from toolwire.codemap.worker import report as read_files
from toolwire.errors import ToolwireError
from toolwire.settings import Settings
from toolwire.tools.workspace import Workspace

log = logging.getLogger(__name__)

State = Literal["missing", "building", "ready"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the index is: `done` of `total` files of the present round."""

    state: State
    done: int = 0
    total: int = 0


Listener = Callable[[Progress], None]


class Keeper:
    def __init__(self, workspace: Workspace, shelf: Shelf, settings: Settings, listener: Listener | None) -> None:
        self._workspace = workspace
        self._shelf = shelf
        self._settings = settings
        self._listener = listener
        self._stop = threading.Event()
        self._ready = threading.Event()
        self._wanted = threading.Event()
        """Set when there is something for the background thread to do."""
        self._rescan = True
        self._pending: set[str] = set()
        self._lock = threading.Lock()
        self._indexing = threading.Lock()
        """Held while pending files are taken and written, so that a question waits for another one's catching up."""
        self._progress = Progress("missing")
        self._waiting: list[Report] = []
        """Read, not yet written."""
        self._done = self._total = 0
        self._swept = 0.0
        self._watch = Watch(workspace.root, settings, self._seen_changes)
        self._thread = threading.Thread(target=self._work, name="codemap", daemon=True)

    # Life

    def start(self) -> None:
        self._progress = Progress("building")
        self._wanted.set()
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._wanted.set()
        self._watch.close()
        if self._thread.is_alive():
            self._thread.join(self._settings.shutdown_grace)

    @property
    def stopped(self) -> threading.Event:
        return self._stop

    def progress(self) -> Progress:
        return self._progress

    def wait(self, timeout: float) -> bool:
        """True if the index is whole; waits no longer than `timeout` for it."""
        return self._ready.wait(timeout)

    def _work(self) -> None:
        self._watch.start()
        while not self._stop.is_set():
            self._wanted.wait()
            self._wanted.clear()
            if self._stop.is_set():
                return
            try:
                self._round()
            except ToolwireError as error:
                log.warning("the code index could not be brought up to date: %s", error)
                self._set(Progress("ready" if self._ready.is_set() else "missing"))
            finally:
                self._ready.set()

    def _round(self) -> None:
        with self._lock:
            rescan, self._rescan = self._rescan, False
        if rescan:
            self._scan()
        self.catch_up(limit=None)

    # All files

    def _scan(self) -> None:
        """Compare every file with its stamp; index what is new or changed, forget what is gone."""
        self._swept = time.monotonic()
        paths = source_files(self._workspace, self._settings, self._stop)
        stamps = self._shelf.stamps()
        if self._stop.is_set():
            return
        changed = [path for path in paths if not self._as_stamped(path, stamps.get(path))]
        self._shelf.put([], gone=stamps.keys() - set(paths))
        self._build(changed, len(paths))
        self._set(Progress("ready", len(paths), len(paths)))

    def _build(self, paths: list[str], total: int) -> None:
        self._done = total - len(paths)
        self._total = total
        if not paths:
            return
        self._set(Progress("building", self._done, total))
        if len(paths) >= self._settings.codemap_parallel:
            Crew(self._workspace, self._settings, self._deliver, self._stop).run(paths)
        else:
            self._build_here(paths)
        with self._lock:
            ready, self._waiting = self._waiting, []
        self._write(ready)

    def _build_here(self, paths: list[str]) -> None:
        size = self._settings.codemap_batch
        for start in range(0, len(paths), size):
            if self._stop.is_set():
                return
            self._deliver(read_files(self._workspace, paths[start : start + size], self._settings))

    def _deliver(self, report: Report) -> None:
        """Written in larger pieces than they come in: a commit costs about the same however much is in it."""
        with self._lock:
            self._waiting.append(report)
            self._done += len(report.entries) + len(report.gone)
            self._progress = Progress("building", self._done, self._total)
            enough = sum(len(one.entries) for one in self._waiting) >= self._settings.codemap_commit
            ready, self._waiting = (self._waiting, []) if enough else ([], self._waiting)
        self._write(ready)
        self._tell()

    def _write(self, reports: list[Report]) -> None:
        entries = [entry for report in reports for entry in report.entries]
        self._shelf.put(entries, [path for report in reports for path in report.gone])

    def _as_stamped(self, path: str, stamp: Stamp | None) -> bool:
        if stamp is None:
            return False
        try:
            found = os.lstat(f"{self._workspace.root}/{path}")
        except OSError:
            return False
        return found.st_size == stamp.size and found.st_mtime_ns == stamp.modified and stat.S_ISREG(found.st_mode)

    # Single files

    def changed(self, paths: Iterable[str]) -> None:
        """These files may have changed; the next question sees them as they are then."""
        with self._lock:
            self._pending.update(path for path in paths if language_of(path))

    def _seen_changes(self, sources: set[str], vanished: set[str], rescan: bool) -> None:
        known = {path for path in sources if self._shelf.stamp(path) is not None}
        rescan = rescan or len(known) < len(sources) or any(self._shelf.has_below(path) for path in vanished)
        if not known and not rescan:
            return
        with self._lock:
            self._pending |= known
            self._rescan = self._rescan or rescan
        self._wanted.set()

    def catch_up(self, limit: int | None) -> bool:
        """Index what is known to have changed, in this thread; False if it is too much for that."""
        with self._indexing:
            with self._lock:
                if limit is not None and len(self._pending) > limit:
                    self._wanted.set()
                    return False
                paths = sorted(self._pending)
                self._pending.clear()
            self.index(paths)
            return True

    def index(self, paths: Iterable[str]) -> None:
        """Bring these files' parts of the index up to date, now."""
        changed = [path for path in paths if self._really_changed(path)]
        if changed:
            report = read_files(self._workspace, changed, self._settings)
            self._shelf.put(report.entries, report.gone)

    def _really_changed(self, path: str) -> bool:
        stamp = self._shelf.stamp(path)
        if stamp is None or self._stop.is_set():
            return True
        source = read_source(self._workspace, path, self._settings)
        if source is None or source.size != stamp.size or digest_of(source.data) != stamp.digest:
            return True
        self._shelf.touch(path, source.size, source.modified)
        return False

    def stale(self, paths: Iterable[str]) -> list[str]:
        """Those of the files that are no longer as they were indexed."""
        return [path for path in paths if not self._as_stamped(path, self._shelf.stamp(path))]

    # Before a question

    def prepare(self, words: Iterable[str], patience: float) -> None:
        """Catch up with changes; while the index is being built, read first the files that have the words."""
        self.wait(patience)
        self.catch_up(self._settings.codemap_pending)
        if not self._ready.is_set():
            self._prime(words)
        elif not self._watch.alive and time.monotonic() - self._swept > self._settings.codemap_sweep:
            with self._indexing:
                self._scan()

    def _prime(self, words: Iterable[str]) -> None:
        for word in words:
            found = files_with(self._workspace, self._settings, word, self._stop)
            missing = [path for path in found if self._shelf.stamp(path) is None]
            self.index(missing[: self._settings.codemap_pending])

    def _set(self, progress: Progress) -> None:
        with self._lock:
            self._progress = progress
        self._tell()

    def _tell(self) -> None:
        if self._listener is not None:
            self._listener(self._progress)
