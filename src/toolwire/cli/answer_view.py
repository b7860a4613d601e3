"""Shows an answer while it streams: Markdown by blocks on a terminal, the pieces as they are anywhere else.

On a terminal a finished block (a paragraph, a list, a fenced piece of code) is printed for good and only the
unfinished one is drawn again as it grows, so a long answer neither flickers nor repeats itself. Elsewhere the answer
alone goes to stdout and the notes about calls go to stderr, so that it can be piped.
"""

from __future__ import annotations

import sys
from typing import Protocol

from rich.console import Console, RenderableType
from rich.live import Live
from rich.markdown import Markdown
from rich.text import Text

from toolwire.cli.screen import clean, console, short

FENCES = ("```", "~~~")


class AnswerView(Protocol):
    def piece(self, text: str) -> None:
        """A piece of the answer."""

    def end_run(self) -> None:
        """A run of text is over."""

    def note(self, line: RenderableType, style: str = "") -> None:
        """A line about what happens meanwhile."""

    def progress(self, text: str) -> None:
        """What is being done now; the next progress takes its place."""


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


class MarkdownView:
    """A terminal."""

    def __init__(self, screen: Console | None = None) -> None:
        self._screen = screen or console()
        self._blocks = Blocks()
        self._live: Live | None = None

    def piece(self, text: str) -> None:
        for block in self._blocks.feed(clean(text)):
            self._settle()
            self._screen.print(Markdown(block), soft_wrap=False)
            self._screen.print()
        if self._blocks.rest.strip():
            self._show(Markdown(self._blocks.rest))

    def end_run(self) -> None:
        self._settle()
        if rest := self._blocks.finish():
            self._screen.print(Markdown(rest), soft_wrap=False)
            self._screen.print()

    def note(self, line: RenderableType, style: str = "") -> None:
        self._settle()
        self._screen.print(clean(line) if isinstance(line, str) else line, style=style)

    def progress(self, text: str) -> None:
        if not self._blocks.rest.strip():
            self._show(Text(f"… {short(text)}", style="dim", no_wrap=True, overflow="ellipsis"))

    def _show(self, view: RenderableType) -> None:
        if self._live is None:
            self._live = Live(console=self._screen, transient=True, auto_refresh=False)
            self._live.start()
        self._live.update(view, refresh=True)

    def _settle(self) -> None:
        """Take the unfinished block off the screen."""
        if self._live is not None:
            self._live.stop()
            self._live = None


class Blocks:
    """Cuts growing Markdown at blank lines, but never inside fenced code."""

    def __init__(self) -> None:
        self.rest = ""

    def feed(self, text: str) -> list[str]:
        """Blocks that are finished now."""
        self.rest += text
        *lines, tail = self.rest.split("\n")
        finished: list[str] = []
        block: list[str] = []
        fence = ""
        for line in lines:
            mark = line.lstrip()[:3]
            if fence:
                fence = "" if mark == fence else fence
            elif mark in FENCES:
                fence = mark
            if line.strip() or fence:
                block.append(line)
            elif block:
                finished.append("\n".join(block))
                block = []
        self.rest = "\n".join([*block, tail])
        return finished

    def finish(self) -> str:
        rest, self.rest = self.rest.strip("\n"), ""
        return rest if rest.strip() else ""


def view(*, together: bool = False) -> AnswerView:
    return MarkdownView() if sys.stdout.isatty() else PlainView(together=together)
