"""Where questions come from: a prompt with history on a terminal, lines of stdin otherwise."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

LEAVE = ("/quit", "/exit")
HELP = "Ask anything. /quit or Ctrl-D leaves; Ctrl-C stops the answer, twice leaves."
BACKLOG = 64
"""Lines of stdin that are read ahead."""


async def from_terminal(stopped: Callable[[], bool]) -> AsyncIterator[str]:
    """Until the user leaves. An empty line is no question; after a turn that Ctrl-C has stopped, a second one leaves,
    however quick the first one was."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import FileHistory
    from prompt_toolkit.patch_stdout import patch_stdout

    session: PromptSession[str] = PromptSession(history=FileHistory(str(_history_file())))
    interrupted = False
    while True:
        try:
            with patch_stdout(raw=True):
                line = (await session.prompt_async("› ")).strip()
        except EOFError:
            return
        except KeyboardInterrupt:
            if interrupted:
                return
            interrupted = True
            sys.stdout.write("Ctrl-C again, or Ctrl-D, leaves.\n")
            continue
        interrupted = False
        if line in LEAVE:
            return
        if line == "/help":
            sys.stdout.write(HELP + "\n")
        elif line:
            yield line
            interrupted = stopped()


class Interrupted(Exception):
    """Ctrl-C in the middle of a line."""


async def line(prompt: str, default: str = "", *, fresh: bool = False) -> str | None:
    """One line from the terminal, in the middle of an answer; None: it is left unsaid (Ctrl-D). Raises Interrupted.

    `fresh`: keys that were pressed before anybody was asked are no answer.
    """
    from prompt_toolkit import PromptSession
    from prompt_toolkit.patch_stdout import patch_stdout

    session: PromptSession[str] = PromptSession()
    if fresh:
        _forget_keys(session)
    try:
        with patch_stdout(raw=True):
            # Its own handling of SIGINT would put an end to ours, which the rest of the turn needs.
            return await session.prompt_async(prompt, default=default, handle_sigint=False)
    except EOFError:
        return None
    except KeyboardInterrupt:
        raise Interrupted from None


def _forget_keys(session: PromptSession[str]) -> None:
    import termios

    from prompt_toolkit.input.typeahead import clear_typeahead

    clear_typeahead(session.input)
    termios.tcflush(sys.stdin, termios.TCIFLUSH)


async def one(message: str) -> AsyncIterator[str]:
    yield message


async def from_stdin() -> AsyncIterator[str]:
    """A question a line. Read in a thread of its own, which nothing waits for at the end."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str] = asyncio.Queue(BACKLOG)

    def read() -> None:
        for line in sys.stdin:
            asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()
        asyncio.run_coroutine_threadsafe(lines.put(""), loop).result()

    threading.Thread(target=read, name="stdin", daemon=True).start()
    while line := await lines.get():
        if question := line.strip():
            yield question


def _history_file() -> Path:
    """Questions may be private: nobody else can read them."""
    from platformdirs import user_state_path

    file = user_state_path("toolwire", appauthor=False) / "chat_history"
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.touch(mode=0o600)
    return file
