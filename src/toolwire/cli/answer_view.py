"""Shows an answer while it streams: Markdown by blocks on a terminal, the pieces as they are anywhere else.

On a terminal a finished block (a paragraph, a list, a fenced piece of code) is printed for good and only the
unfinished one is drawn again as it grows, so a long answer neither flickers nor repeats itself. Elsewhere the answer
alone goes to stdout and the notes about calls go to stderr, so that it can be piped.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Final, Protocol

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.live import Live
from rich.markdown import Markdown
from rich.padding import Padding
from rich.text import Text

from toolwire.cli.screen import clean, console, short

FENCES = ("```", "~~~")
FRAMES: Final = 12
"""Times a second an unfinished block is drawn: each drawing costs as much as the block is long."""


class AnswerView(Protocol):
    def piece(self, text: str) -> None:
        """A piece of the answer."""

    def end_run(self) -> None:
        """A run of text is over."""

    def note(self, line: RenderableType, style: str = "") -> None:
        """A line about what happens meanwhile."""

    def progress(self, text: str) -> None:
        """What is being done now; the next progress takes its place."""

    def asking(self) -> AbstractContextManager[None]:
        """While somebody is asked something, nothing but whole lines may be written."""


class PlainView:
    """Not a terminal. `together`: the notes are part of what is asked for, so they go to stdout too."""

    def __init__(self, *, together: bool = False) -> None:
        self._notes = console(notes=not together)
        self._in_run = False
        self._runs = 0
        self._line_open = False

    def piece(self, text: str) -> None:
        if not text:
            return
        if not self._in_run:
            # Runs of text are a blank line apart, as they are where a document gives the whole text at once.
            sys.stdout.write("\n" if self._runs else "")
            self._in_run = True
            self._runs += 1
        sys.stdout.write(text)
        sys.stdout.flush()
        self._line_open = not text.endswith("\n")

    def end_run(self) -> None:
        if self._line_open:
            sys.stdout.write("\n")
            sys.stdout.flush()
        self._in_run = self._line_open = False

    def note(self, line: RenderableType, style: str = "") -> None:
        self._notes.print(clean(line) if isinstance(line, str) else line, style=style)

    def progress(self, text: str) -> None:
        pass

    def asking(self) -> AbstractContextManager[None]:
        return contextlib.nullcontext()


class MarkdownView:
    """A terminal."""

    def __init__(self, screen: Console | None = None) -> None:
        self._screen = screen or console()
        self._blocks = Blocks()
        self._live: Live | None = None
        self._asking = False

    def piece(self, text: str) -> None:
        for block in self._blocks.feed(clean(text)):
            self._settle()
            self._screen.print(Markdown(block), soft_wrap=False)
            self._screen.print()
        if self._blocks.begun:
            self._show(Drawn(self._unfinished))

    def end_run(self) -> None:
        self._settle()
        if rest := self._blocks.finish():
            self._screen.print(Markdown(rest), soft_wrap=False)
            self._screen.print()

    def note(self, line: RenderableType, style: str = "") -> None:
        self._settle()
        if isinstance(line, str):
            line = Text(clean(line))
        if not isinstance(line, Text):
            self._screen.print(line, style=style)
        elif line.no_wrap:
            self._screen.print(line, style=style, soft_wrap=False, no_wrap=True, overflow=line.overflow)
        else:
            self._screen.print(hanging(line), style=style, soft_wrap=False)

    @contextlib.contextmanager
    def asking(self) -> Iterator[None]:
        self._settle()
        self._asking = True
        try:
            yield
        finally:
            self._asking = False

    def progress(self, text: str) -> None:
        if not self._blocks.begun:
            self._show(Text(f"… {short(text)}", style="dim", no_wrap=True, overflow="ellipsis"))

    def _unfinished(self) -> Markdown:
        """Its end: more than fits on the screen would be drawn for nobody."""
        return Markdown(self._blocks.end(self._screen.height))

    def _show(self, view: RenderableType) -> None:
        if self._asking:
            return
        if self._live is None:
            self._live = Live(console=self._screen, transient=True, refresh_per_second=FRAMES)
            self._live.start()
        self._live.update(view)

    def _settle(self) -> None:
        """Take the unfinished block off the screen."""
        if self._live is not None:
            self._live.stop()
            self._live = None


def hanging(line: Text) -> RenderableType:
    """A line that is wrapped goes on below where its text began."""
    indent = len(line.plain) - len(line.plain.lstrip(" "))
    return Padding(line[indent:], (0, 0, 0, indent), expand=False) if 0 < indent < len(line.plain) else line


class Drawn:
    """Made anew each time it is drawn, and only then."""

    def __init__(self, make: Callable[[], RenderableType]) -> None:
        self._make = make

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self._make()


class Blocks:
    """Cuts growing Markdown at blank lines, but never inside fenced code. Each line is looked at once."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._tail = ""
        self._fence = ""
        """The mark that the block's code is fenced with; empty outside of code."""

    @property
    def rest(self) -> str:
        """The block that is not finished."""
        return "\n".join([*self._lines, self._tail])

    @property
    def begun(self) -> bool:
        """Whether anything of it can be seen."""
        return bool(self._lines or self._tail.strip())

    def end(self, lines: int) -> str:
        """Of the unfinished block no more than about so many lines, still fenced if they are code."""
        if len(self._lines) <= lines:
            return self.rest
        last = [*self._lines[-lines:], self._tail]
        return "\n".join([self._fence, *last] if self._fence else last)

    def feed(self, text: str) -> list[str]:
        """Blocks that are finished now."""
        *lines, self._tail = (self._tail + text).split("\n")
        return [block for line in lines if (block := self._take(line))]

    def _take(self, line: str) -> str:
        mark = line.lstrip()[:3]
        if self._fence:
            self._fence = "" if mark == self._fence else self._fence
        elif mark in FENCES:
            self._fence = mark
        if line.strip() or self._fence:
            self._lines.append(line)
            return ""
        block, self._lines = "\n".join(self._lines), []
        return block

    def finish(self) -> str:
        rest = self.rest.strip("\n")
        self._lines, self._tail, self._fence = [], "", ""
        return rest if rest.strip() else ""


def view(*, together: bool = False) -> AnswerView:
    return MarkdownView() if sys.stdout.isatty() else PlainView(together=together)
