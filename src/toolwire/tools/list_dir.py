"""`list_dir`: what is in a folder: folders first, then files with their sizes; deeper levels if asked."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from toolwire.errors import ToolError
from toolwire.tools import markdown as md
from toolwire.tools.base import Context, Language, Tool, ToolInput, ToolOutput, path_field
from toolwire.tools.listing import EntryKind

_NOT_ENTERED = frozenset((".git", ".hg", ".svn", ".bzr", ".jj", "CVS", "node_modules", "__pycache__", ".venv"))
"""Listed, but not gone into when several levels are asked for."""


class Input(ToolInput):
    path: str = path_field(".", "Folder, relative to the project root; default: the root")
    depth: int = Field(1, ge=1, le=10, description="Levels to go down")
    limit: int | None = Field(None, ge=1, description="Most entries given")
    offset: int = Field(0, ge=0, description="Entries to leave out first, to go on where an answer was cut")


class Item(ToolOutput):
    path: str
    """Relative to the project root."""
    name: str
    kind: EntryKind
    size: int | None = None
    depth: int


class Output(ToolOutput):
    path: str
    entries: list[Item]
    count: int
    total: int
    """Entries there are on the levels looked at."""
    truncated: bool
    next_offset: int | None = None
    """Where to go on, if the answer was cut."""


def run(context: Context, input: Input) -> Output:
    path = context.workspace.normalise(input.path)
    most = min(input.limit or context.settings.list_limit, context.settings.list_limit)
    walk = _Walk(context, input.offset + most)
    entries = list(walk.below(path, 1, input.depth))[input.offset :]
    return Output(
        path=path,
        entries=entries,
        count=len(entries),
        total=walk.total,
        truncated=walk.cut,
        next_offset=input.offset + len(entries) if walk.cut else None,
    )


class _Walk:
    def __init__(self, context: Context, most: int) -> None:
        self._context = context
        self._room = most
        self.total = 0
        self.cut = False

    def below(self, path: str, level: int, depth: int) -> Iterator[Item]:
        self._context.check()
        found = self._context.workspace.list(path, self._room)
        self.total += found.total
        for entry in found.entries:
            if self._room <= 0:
                break
            self._room -= 1
            place = entry.name if path == "." else f"{path}/{entry.name}"
            yield Item(path=place, name=entry.name, kind=entry.kind, size=entry.size, depth=level)
            if entry.kind == "folder" and level < depth and entry.name not in _NOT_ENTERED:
                yield from self._deeper(place, level + 1, depth)
        if self._room <= 0 and self.total > len(found.entries):
            self.cut = True
        self.cut = self.cut or found.total > len(found.entries)

    def _deeper(self, path: str, level: int, depth: int) -> Iterator[Item]:
        try:
            yield from self.below(path, level, depth)
        except ToolError as error:
            if error.kind in ("timeout", "stopped"):
                raise
            # A folder that went away, or that we may not read, is still listed by name.


def markdown(output: Output, language: Language) -> str:
    name = output.path.rpartition("/")[2] if output.path != "." else "/"
    parts = [
        md.heading(language, "目录内容", "Folder content", name),
        md.facts(
            (
                (md.pick(language, "路径", "Path"), md.code(output.path)),
                (md.pick(language, "条目数量", "Entries"), output.count),
            )
        ),
    ]
    if output.entries:
        parts.append("\n".join(_row(item) for item in output.entries))
    else:
        parts.append(md.pick(language, "（空目录）", "(empty folder)"))
    if output.truncated:
        parts.append(
            md.pick(
                language,
                f"…（只显示 {output.count} 项；用 offset={output.next_offset} 继续，或列出子目录）",
                f"… (only {output.count} entries; go on with offset={output.next_offset}, or list a subfolder)",
            )
        )
    return "\n\n".join(parts)


def _row(item: Item) -> str:
    mark = {"folder": "/", "link": "@", "file": "", "other": "?"}[item.kind]
    size = f" ({md.size(item.size)})" if item.size is not None else ""
    return f"{'  ' * (item.depth - 1)}- {md.code(item.name + mark)}{size}"


TOOL = Tool(
    name="list_dir",
    input=Input,
    output=Output,
    run=run,
    markdown=markdown,
    title_zh="列出目录",
    title_en="List a folder",
    intent="list",
    object="folder",
    reads=True,
    description="Lists a folder of the project: folders first, then files with their sizes. Links are not followed.",
)
