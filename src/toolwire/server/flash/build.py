"""flash.build.run: the configured command in the controlled folder, its output streamed to the session as it comes.

The command is a setting of the gateway (`flash_build_command`); a caller chooses nothing but when. It runs without a
shell, in a process group of its own, which is gone when the call is over, whichever way it ends.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import shlex
import signal
import time
from collections import deque
from typing import IO, TYPE_CHECKING

from toolwire.errors import ConfigError, FlashError
from toolwire.server.catalogue import CallContext, ServiceResult
from toolwire.server.clock import now_ms
from toolwire.server.flash import logs

if TYPE_CHECKING:
    from toolwire.server.live import LiveSession

TOOL = "flash.build.run"
SESSION = "calls"
"""Whose log shows the output of a build that names no session."""
CHUNK = 16 * 1024
KILL_PATIENCE = 2.0
"""Seconds between asking a build to end and ending it."""
_PASSED_ON = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "SHELL")
"""What of the gateway's environment a build sees: no tokens, no keys."""


def words_of(command: str) -> list[str]:
    """The words of a configured command; raises ConfigError if it has a quote too few."""
    try:
        return shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"flash_build_command: {error}: {command!r}", field="flash_build_command") from None


async def run(context: CallContext, words: list[str]) -> ServiceResult:
    if not words:
        raise FlashError(
            "VALIDATION_FAILED",
            "未配置构建命令",
            reason="BUILD_NOT_CONFIGURED",
            hint="start the gateway with --set 'flash_build_command=npm run build'",
        )
    hub, tenant = context.hub, context.caller.tenant
    workspace = await asyncio.to_thread(hub.controlled.of, tenant)
    if tenant in hub.controlled.building:
        raise FlashError("CONFLICT", "已有构建正在运行", reason="BUILD_RUNNING")
    hub.controlled.building.add(tenant)
    try:
        async with hub.visit(tenant, context.session_id or SESSION) as live:
            result = await _recorded(context, words, str(workspace.root), live)
        await logs.note(context, TOOL, "completed" if result.data["success"] else "failed", {}, result.data)
        return result
    finally:
        hub.controlled.building.discard(tenant)


async def _recorded(context: CallContext, words: list[str], folder: str, live: LiveSession) -> ServiceResult:
    """A build that has no result leaves a line in the execution log as well."""
    try:
        return await _build(context, words, folder, live)
    except FlashError as error:
        await logs.note(context, TOOL, "failed", {}, {"code": error.code}, error.message)
        raise


async def _build(context: CallContext, words: list[str], folder: str, live: LiveSession) -> ServiceResult:
    settings, started = context.hub.settings, time.monotonic()
    output = _Output(context, live, settings.flash_build_output, settings.flash_build_streamed)
    process, pipe = await _start(words, folder)
    try:
        async with asyncio.timeout(settings.flash_build_timeout):
            code = await _followed(process, pipe, output)
    except TimeoutError:
        raise FlashError(
            "TIMEOUT",
            f"构建超过 {settings.flash_build_timeout:g} 秒, 已终止",
            began=True,
            output=output.kept,
        ) from None
    finally:
        await _end(process)
    data = {
        "exitCode": code,
        "success": code == 0,
        "output": output.kept,
        "truncated": output.truncated,
        "elapsedMs": int((time.monotonic() - started) * 1000),
    }
    return ServiceResult(data, "构建成功" if code == 0 else f"构建失败, 退出码 {code}")


async def _followed(process: asyncio.subprocess.Process, pipe: IO[bytes], output: _Output) -> int:
    """Read until the command has ended. What it leaves behind may hold its output open, and is not waited for."""
    stream = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), pipe)
    reading = asyncio.create_task(output.read(stream))
    try:
        code = await process.wait()
        _signal(process, signal.SIGKILL)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(KILL_PATIENCE):
                await asyncio.shield(reading)
        return code
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        transport.close()


async def _start(words: list[str], folder: str) -> tuple[asyncio.subprocess.Process, IO[bytes]]:
    """The process, and the end of the pipe it writes to. (asyncio's own pipes would keep `wait` from returning.)"""
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    ours, its = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            cwd=folder,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=its,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        return process, os.fdopen(ours, "rb", 0)
    except OSError as error:
        os.close(ours)
        raise FlashError("UPSTREAM_ERROR", f"无法启动构建命令 {words[0]!r}: {error.strerror}") from error
    finally:
        os.close(its)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Ask a build that still runs to end; then whatever is left of its process group has to."""
    if process.returncode is None:
        _signal(process, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(KILL_PATIENCE):
                await process.wait()
    _signal(process, signal.SIGKILL)
    await process.wait()


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


class _Output:
    """What a build writes: streamed while it is not too much, and its end kept."""

    def __init__(self, context: CallContext, live: LiveSession, keep: int, stream: int) -> None:
        self._context = context
        self._live = live
        self._keep = keep
        self._stream = stream
        self._pieces: deque[str] = deque()
        self._size = 0
        self.truncated = False

    @property
    def kept(self) -> str:
        return "".join(self._pieces)[-self._keep :]

    async def read(self, stream: asyncio.StreamReader) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while piece := await stream.read(CHUNK):
            await self._take(decoder.decode(piece))
        await self._take(decoder.decode(b"", True))

    async def _take(self, text: str) -> None:
        if not text:
            return
        self._pieces.append(text)
        self._size += len(text)
        while self._size - len(self._pieces[0]) > self._keep:
            self._size -= len(self._pieces.popleft())
            self.truncated = True
        self.truncated |= self._size > self._keep
        live = self._live
        if self._stream <= 0 or live.broken:
            return
        self._stream -= len(text)
        live.submit(live.core.output(self._context.call_id, TOOL, text, now_ms()))
        if live.congested:
            await live.relieved()
