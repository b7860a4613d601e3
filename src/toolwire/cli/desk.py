"""What a tool needs to run in this process, for commands that run one."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

from toolwire.cli import options
from toolwire.settings import Settings
from toolwire.tools.base import Context
from toolwire.tools.seen import Seen
from toolwire.tools.workspace import Workspace


@contextlib.contextmanager
def desk(path: Path, settings: Settings, *, call_id: str = "") -> Iterator[Context]:
    """A workspace on the folder, and a session of one call."""
    with Workspace(options.folder(path), settings=settings) as workspace:
        yield Context(
            workspace=workspace,
            settings=settings,
            seen=Seen(settings.seen_bytes),
            deadline=time.monotonic() + settings.tool_timeout,
            call_id=call_id,
        )
