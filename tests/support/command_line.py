"""A WebSocket client of the command line: lines in, lines out."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from support.patience import PATIENCE


class CommandLine:
    """A running client."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._in, self._out = process.stdin, process.stdout

    async def type(self, message: dict[str, Any]) -> None:
        self._in.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        await self._in.drain()

    async def shows(self) -> dict[str, Any]:
        """The next message it prints."""
        async with asyncio.timeout(PATIENCE):
            while True:
                line = (await self._out.readline()).decode()
                assert line, "the client has ended"
                start = line.find('{"type":"')
                if start >= 0:
                    message: dict[str, Any] = json.loads(line[start : line.rindex("}") + 1])
                    return message


@asynccontextmanager
async def command_line(*command: str) -> AsyncIterator[CommandLine]:
    """Run a client; by default that of `websockets`, if only a URL is given."""
    words = command if len(command) > 1 else (sys.executable, "-m", "websockets", *command)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.STDOUT)
    try:
        yield CommandLine(process)
    finally:
        process.kill()
        await process.wait()
