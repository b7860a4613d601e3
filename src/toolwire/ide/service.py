"""Document 4 over lines: a request line in, a `backend_only` line out, in order (design, `toolwire service`).

Every line gets an answer, also one that is no request: `data` is then a string that says what is wrong with it. All
requests of one run are one session, so a file read by one of them may be written by the next.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import orjson

from toolwire.dialects import backend_only
from toolwire.errors import InvalidMessage, MessageTooLarge, PeerError
from toolwire.settings import Settings
from toolwire.tools import raw
from toolwire.tools.base import Context
from toolwire.tools.registry import Registry
from toolwire.tools.seen import Seen
from toolwire.tools.workspace import Workspace


class Lines(Protocol):
    """A binary stream, as far as it is needed here."""

    def readline(self, limit: int, /) -> bytes: ...


class Service:
    """One session of requests on one workspace."""

    def __init__(
        self,
        workspace: Workspace,
        registry: Registry,
        settings: Settings,
        new_uuid: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        self._workspace = workspace
        self._registry = registry
        self._settings = settings
        self._new_uuid = new_uuid
        self._seen = Seen(settings.seen_bytes)

    def answer(self, line: bytes) -> bytes:
        """The answer line of a request line, without its newline. Never raises for anything a line may hold."""
        try:
            if len(line) > self._settings.message_limit:
                raise MessageTooLarge(f"a line may have {self._settings.message_limit} bytes")
            request = backend_only.decode_request(line)
        except PeerError as error:
            name, use_id = _whose(line if isinstance(error, InvalidMessage) else b"")
            return self._line(name, use_id, f"Error: {error.message}")
        return self._line(request.tool_name, request.tool_use_id, self._run(request))

    def _run(self, request: backend_only.Request) -> raw.Data:
        context = Context(
            self._workspace,
            self._settings,
            self._seen,
            deadline=time.monotonic() + self._settings.tool_timeout,
            call_id=request.tool_use_id,
        )
        return raw.answer(self._registry.run(request.tool_name, request.input, context), request.input)

    def _line(self, name: str, use_id: str, data: raw.Data) -> bytes:
        return backend_only.result(name, use_id, self._new_uuid(), data)


def serve_lines(
    lines: Iterable[bytes],
    write: Callable[[bytes], object],
    registry: Registry,
    workspace: Workspace,
    settings: Settings,
) -> int:
    """Answer every line with one call of `write`, which must flush; how many there were."""
    service = Service(workspace, registry, settings)
    count = 0
    for line in lines:
        write(service.answer(line) + b"\n")
        count += 1
    return count


def read_lines(stream: Lines, limit: int) -> Iterator[bytes]:
    """The lines of a stream without their ends. Of one beyond the limit only so much is kept that this shows."""
    while line := stream.readline(limit + 2):
        rest = line
        while not rest.endswith(b"\n") and (rest := stream.readline(limit + 2)):
            pass
        yield line.removesuffix(b"\n").removesuffix(b"\r")


def _whose(line: bytes) -> tuple[str, str]:
    """Tool and id of a line that is no request, where it names them; else empty."""
    try:
        message: Any = orjson.loads(line)
    except orjson.JSONDecodeError:
        return "", ""
    fields = message if isinstance(message, dict) else {}
    name, use_id = fields.get("tool_name"), fields.get("tool_use_id")
    return name if isinstance(name, str) else "", use_id if isinstance(use_id, str) else ""
