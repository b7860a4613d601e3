"""The workers of one build: as many as there are cores, fed in batches, replaced when a file kills one."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence

import msgspec

from toolwire.codemap.frames import Hello, Report, Task, receive, send
from toolwire.codemap.languages import language_of
from toolwire.codemap.source import empty_entry, read_source
from toolwire.settings import Settings
from toolwire.tools.workspace import Workspace

log = logging.getLogger(__name__)

COMMAND = (sys.executable, "-P", "-m", "toolwire.codemap.worker")
"""`-P`: nothing in the folder we happen to be in is ever imported."""

Deliver = Callable[[Report], None]


class Crew:
    """Indexes paths in child processes. `deliver` is called from several threads, once per batch."""

    def __init__(self, workspace: Workspace, settings: Settings, deliver: Deliver, stop: threading.Event) -> None:
        self._workspace = workspace
        self._settings = settings
        self._deliver = deliver
        self._stop = stop
        self._batches: queue.SimpleQueue[list[str]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._processes: set[subprocess.Popen[bytes]] = set()

    def run(self, paths: Sequence[str]) -> None:
        """Returns when every path is delivered, or soon after `stop` is set."""
        size = self._settings.codemap_batch
        for start in range(0, len(paths), size):
            self._batches.put(list(paths[start : start + size]))
        count = min(os.cpu_count() or 1, self._settings.codemap_workers, self._batches.qsize())
        threads = [
            threading.Thread(target=self._drive, name=f"codemap-worker-{n}", daemon=True) for n in range(count)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(self._settings.codemap_look)
                if self._stop.is_set():
                    self._kill()

    def _drive(self) -> None:
        process: subprocess.Popen[bytes] | None = None
        try:
            while not self._stop.is_set():
                try:
                    batch = self._batches.get_nowait()
                except queue.Empty:
                    return
                process = process or self._start()
                report = self._ask(process, batch)
                if report is not None:
                    self._deliver(report)
                elif not self._stop.is_set():
                    self._end(process)
                    process = None
                    self._after_death(batch)
        finally:
            if process is not None:
                self._end(process)

    def _after_death(self, batch: list[str]) -> None:
        """Find the file that killed the worker by asking for each alone; that one is left out of the index."""
        if len(batch) > 1:
            for path in batch:
                self._batches.put([path])
            return
        log.warning("left out of the code index, its parser failed: %s", batch[0])
        language, source = language_of(batch[0]), read_source(self._workspace, batch[0], self._settings)
        entries = [empty_entry(batch[0], language, source)] if language and source else []
        self._deliver(Report(entries, [] if entries else batch))

    def _ask(self, process: subprocess.Popen[bytes], batch: list[str]) -> Report | None:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            send(process.stdin, Task(batch))
            if not self._answers_in_time(process):
                return None
            data = receive(process.stdout)
        except (OSError, ValueError):
            return None
        return msgspec.msgpack.decode(data, type=Report) if data is not None else None

    def _answers_in_time(self, process: subprocess.Popen[bytes]) -> bool:
        """A worker writes its answer in one go, so the first byte is the end of the work."""
        assert process.stdout is not None
        until = time.monotonic() + self._settings.codemap_batch_timeout
        while not self._stop.is_set() and time.monotonic() < until:
            if select.select([process.stdout], [], [], self._settings.codemap_look)[0]:
                return True
        return False

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        with self._lock:
            self._processes.add(process)
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            hello = Hello(
                str(self._workspace.root), self._settings.codemap_file_bytes, self._settings.codemap_line_bytes
            )
            send(process.stdin, hello)
        return process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._processes.discard(process)
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _kill(self) -> None:
        with self._lock:
            for process in self._processes:
                process.kill()
