"""What the symbol tools share: symbols and index state as they go out, and the source text of a definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from toolwire.tools import markdown as md
from toolwire.tools.base import Context, Language, ToolOutput
from toolwire.tools.textfile import content_hash, decode

if TYPE_CHECKING:
    from toolwire.codemap.views import Symbol

Certainty = Literal["exact", "likely", "name only"]
CERTAINTY_ZH: dict[str, str] = {"exact": "确定", "likely": "可能", "name only": "仅同名"}


class IndexState(ToolOutput):
    """How much of the project the answer was drawn from; absent when it was all of it."""

    state: Literal["missing", "building", "ready"]
    done: int
    total: int


class SymbolOut(ToolOutput):
    kind: str
    name: str
    container: str
    """The definitions around it, dotted."""
    qualified: str
    path: str
    line: int
    end_line: int
    signature: str
    language: str


def symbol_out(symbol: Symbol) -> SymbolOut:
    return SymbolOut(
        kind=symbol.kind,
        name=symbol.name,
        container=symbol.container,
        qualified=symbol.qualified,
        path=symbol.path,
        line=symbol.line,
        end_line=symbol.end_line,
        signature=symbol.signature,
        language=symbol.language,
    )


def index_state(context: Context) -> IndexState | None:
    """None when the index is whole."""
    progress = context.codemap.progress()
    if progress.state == "ready":
        return None
    return IndexState(state=progress.state, done=progress.done, total=progress.total)


def index_note(index: IndexState | None, language: Language) -> list[str]:
    if index is None:
        return []
    return [
        md.pick(
            language,
            f"> 索引正在构建（{index.done}/{index.total}），结果可能不完整。",
            f"> The index is being built ({index.done} of {index.total} files): there may be more.",
        )
    ]


class Sources:
    """Lines of the files an answer shows, each file read once; what is shown counts as read in the session."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._lines: dict[str, list[str]] = {}

    def lines(self, path: str) -> list[str]:
        if path not in self._lines:
            self._context.check()
            data = self._context.workspace.read_bytes(path)
            text = decode(data, path).text
            self._context.seen.note(path, content_hash(data), data)
            self._lines[path] = text.replace("\r\n", "\n").split("\n")
        return self._lines[path]

    def span(self, symbol: Symbol) -> tuple[int, int]:
        """First and last line of a definition with the comments and annotations that stand directly over it."""
        from toolwire.codemap.languages import BY_NAME

        lines = self.lines(symbol.path)
        first, last = min(symbol.line, len(lines)), min(symbol.end_line, len(lines))
        leads = BY_NAME[symbol.language].leads
        while first > 1 and lines[first - 2].strip().startswith(leads):
            first -= 1
        return first, last

    def text(self, symbol: Symbol) -> tuple[int, str]:
        """The first line's number and the source of a definition."""
        first, last = self.span(symbol)
        return first, "\n".join(self.lines(symbol.path)[first - 1 : last])


def place(path: str, line: int, end_line: int | None = None) -> str:
    return f"{path}:{line}" if end_line is None or end_line == line else f"{path}:{line}-{end_line}"


def bullets(rows: Sequence[str], empty: str) -> str:
    return "\n".join(f"- {row}" for row in rows) if rows else empty
