"""Runs the tools of a toolwire.toml: a command in the project's folder, or an HTTP request; never through a shell."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import urllib.error
import urllib.request
from email.message import Message
from http.client import HTTPException
from typing import IO, Any, Final
from urllib.parse import quote, urlencode, urlsplit

from toolwire.errors import FlashError
from toolwire.server.catalogue import CallContext, Entry, ServiceResult
from toolwire.server.tools_file import PLACEHOLDER, FileTool, Http, ToolsFile
from toolwire.server.workspace_tools import CALL_API

_PASSED_ON: Final = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ")
"""What of the gateway's environment a command sees: no tokens, no keys."""
_SHOWN: Final = 2000
"""Characters of a failed tool's own words that are passed on."""


def entries(file: ToolsFile) -> list[Entry]:
    return [_entry(tool, trusted=file.trusted) for tool in file.tools]


def _entry(tool: FileTool, *, trusted: bool) -> Entry:
    async def run(context: CallContext, arguments: dict[str, Any]) -> ServiceResult:
        if tool.http is not None:
            return await _request(context, tool, tool.http, arguments)
        return await _command(context, tool, arguments)

    return Entry(
        tool_id=tool.id,
        name_zh=tool.name_zh or tool.name_en or tool.id,
        name_en=tool.name_en or tool.id,
        intent=tool.intent,
        object=tool.object,
        risk=tool.risk if trusted else "high",
        reads=tool.reads,
        role=tool.role if trusted or tool.role != "viewer" else "editor",
        input_schema=tool.input,
        output_schema=tool.output,
        placement="service",
        api=CALL_API,
        confirm=tool.confirm,
        run=run,
        timeout=tool.timeout,
    )


# Commands --------------------------------------------------------------------------------------------------


async def _command(context: CallContext, tool: FileTool, arguments: dict[str, Any]) -> ServiceResult:
    """Arguments stand in the words where the file puts them, and all of them on stdin as JSON."""
    assert tool.command is not None
    words = [PLACEHOLDER.sub(lambda match: _text(arguments[match[1]]), word) for word in tool.command]
    limit = context.hub.settings.project_tool_output
    process = await _start(context, words)
    try:
        out, err = await _talk(process, json.dumps(arguments).encode(), limit)
        code = await process.wait()
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    if code != 0:
        said = (err or out).decode("utf-8", "replace").strip()[-_SHOWN:]
        raise FlashError("UPSTREAM_ERROR", f"{tool.id} 退出码 {code}: {said}", began=True, reason="COMMAND_FAILED")
    return ServiceResult(_data(out, {"exit_code": code}))


async def _start(context: CallContext, words: list[str]) -> asyncio.subprocess.Process:
    roots = context.hub.projects.roots
    own = {"TOOLWIRE_TRACE_ID": context.trace_id, "TOOLWIRE_CALL_ID": context.call_id}
    own["TOOLWIRE_CALLER"] = context.caller.name
    try:
        return await asyncio.create_subprocess_exec(
            *words,
            cwd=next(iter(roots.values())),
            env={name: os.environ[name] for name in _PASSED_ON if name in os.environ} | own,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise FlashError("UPSTREAM_ERROR", f"无法启动 {words[0]!r}: {error}", reason="COMMAND_FAILED") from error


async def _talk(process: asyncio.subprocess.Process, given: bytes, limit: int) -> tuple[bytes, bytes]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None

    async def give(stdin: asyncio.StreamWriter) -> None:
        # Who does not want to be told may be gone already: a closed pipe is theirs to choose.
        with contextlib.suppress(ConnectionError, RuntimeError):
            stdin.write(given)
            await stdin.drain()
            stdin.close()

    reading = (_take(process.stdout, limit), _take(process.stderr, limit))
    _, out, err = await asyncio.gather(give(process.stdin), *reading)
    return out, err


async def _take(stream: asyncio.StreamReader, limit: int) -> bytes:
    taken = bytearray()
    while piece := await stream.read(65536):
        taken += piece
        if len(taken) > limit:
            raise FlashError("UPSTREAM_ERROR", f"输出超过 {limit} 字节", began=True, reason="OUTPUT_TOO_LARGE")
    return bytes(taken)


# HTTP ------------------------------------------------------------------------------------------------------


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The address is the file's: another server must not choose where a request goes."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        return None


async def _request(context: CallContext, tool: FileTool, http: Http, arguments: dict[str, Any]) -> ServiceResult:
    in_url = set(PLACEHOLDER.findall(http.url))
    url = PLACEHOLDER.sub(lambda match: quote(_text(arguments[match[1]]), safe=""), http.url)
    rest = {name: value for name, value in arguments.items() if name not in in_url}
    headers = {"Accept": "application/json", "X-Trace-Id": quote(context.trace_id), **http.headers}
    body = None
    if http.method == "GET":
        if rest:
            query = urlencode({name: _text(value) for name, value in rest.items()})
            url += ("&" if urlsplit(url).query else "?") + query
    else:
        headers |= {"Content-Type": "application/json", "Idempotency-Key": quote(context.call_id)}
        body = json.dumps(rest).encode()
    request = urllib.request.Request(url, data=body, headers=headers, method=http.method)
    seconds = tool.timeout or context.hub.settings.call_timeout
    status, answer = await asyncio.to_thread(_ask, request, seconds, context.hub.settings.project_tool_output)
    if not 200 <= status < 300:
        said = answer.decode("utf-8", "replace").strip()[:_SHOWN]
        raise FlashError("UPSTREAM_ERROR", f"{tool.id} 返回 {status}: {said}", began=True, reason=f"HTTP_{status}")
    return ServiceResult(_data(answer, {"status": status}))


def _ask(request: urllib.request.Request, seconds: float, limit: int) -> tuple[int, bytes]:
    """In a thread."""
    opener = urllib.request.build_opener(_NoRedirects)
    try:
        with opener.open(request, timeout=seconds) as answer:
            return answer.status, _bounded(answer, limit)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(_SHOWN * 4)
    except TimeoutError as error:
        raise FlashError("TIMEOUT", f"上游在 {seconds:g} 秒内未响应", began=True) from error
    except (OSError, HTTPException, ValueError) as error:
        refused = isinstance(getattr(error, "reason", None), ConnectionRefusedError)
        raise FlashError("UPSTREAM_ERROR", f"上游不可达: {error}", began=not refused) from error


def _bounded(answer: IO[bytes], limit: int) -> bytes:
    taken = answer.read(limit + 1)
    if len(taken) > limit:
        raise FlashError("UPSTREAM_ERROR", f"响应超过 {limit} 字节", began=True, reason="OUTPUT_TOO_LARGE")
    return taken


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _data(output: bytes, more: dict[str, Any]) -> dict[str, Any]:
    """A JSON object as it is; anything else as text."""
    text = output.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"output": text, **more}
