"""Text search over a file or folder of the workspace, in the order of paths, at the speed of rg.

Sorted output would cost rg its threads. So it first only names the files that match, on all cores; those names are
sorted, and the first of them are opened through the workspace and searched again, as descriptors, for their lines.
What a caller gets to read has therefore always been opened by the workspace.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from toolwire.errors import ToolError
from toolwire.tools import rg
from toolwire.tools.base import Context
from toolwire.tools.ignore import rules_above
from toolwire.tools.matches import FileMatches, Match
from toolwire.tools.pattern import Pattern
from toolwire.tools.rg_events import Begin, End, events

BATCH = 32
"""Files searched for lines by one process; each costs a descriptor."""
_NEVER_WALKED = (".git", ".hg", ".svn", ".bzr", ".jj", "CVS", ".toolwire-*.tmp")


@dataclass(frozen=True, slots=True)
class Query:
    pattern: Pattern
    path: str = "."
    """Normalised."""
    globs: tuple[str, ...] = ()
    """File names to look in, when `path` is a folder; empty for all."""
    limit: int = 20
    context_lines: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    matches: tuple[Match, ...]
    files: int
    """Files with matches, shown or not."""
    truncated: bool


def search(context: Context, query: Query) -> Found:
    query.pattern.check(context.settings)
    kind = context.workspace.kind(query.path)
    if kind is None:
        raise ToolError("file_not_found", path=query.path)
    try:
        names, complete = ([query.path], True) if kind == "file" else _matching_files(context, query)
        matches, files, cut = _matching_lines(context, query, names)
    except ToolError as error:
        if error.kind == "search_failed" and _about_pattern(str(error.facts["reason"])):
            raise query.pattern.explained(str(error.facts["reason"])) from None
        raise
    return Found(tuple(matches), files, cut or not complete)


def _about_pattern(complaint: str) -> bool:
    return complaint.startswith(("regex", "compiled regex", "the literal", "error parsing", "line terminator"))


def _matching_files(context: Context, query: Query) -> tuple[list[str], bool]:
    """Paths of files with a match, sorted as a tree is listed; and whether they are all."""
    try:
        return _walked(context, query)
    except rg.OutOfMemory:
        lean = ["--max-filesize", str(context.settings.grep_lean_bytes)]
        return _walked(context, query, lean)[0], False


def _walked(context: Context, query: Query, more: Sequence[str] = ()) -> tuple[list[str], bool]:
    folder = context.workspace.open_folder(query.path)
    try:
        with _rules_file(rules_above(context.workspace, query.path)) as rules:
            arguments = [*_walk_arguments(query), *more, *query.pattern.arguments(context.settings)]
            if rules is not None:
                arguments += ["--ignore-file", rg.named(rules)]
            unnamed = () if rules is None else (rules,)
            with rg.Run(context, [*arguments, "--", "./"], folder=folder, unnamed=unnamed) as run:
                names = b"".join(run).split(b"\0")[:-1]
    finally:
        os.close(folder)
    prefix = "" if query.path == "." else query.path + "/"
    found = (prefix + name.removeprefix(b"./").decode("utf-8", "replace") for name in names)
    return sorted(found, key=lambda path: path.split("/")), not run.overflowed


def _walk_arguments(query: Query) -> list[str]:
    arguments = ["--files-with-matches", "--null", "--hidden", "--no-require-git"]
    arguments += ["--no-ignore-parent", "--no-ignore-global", "--no-ignore-exclude"]
    for name in _NEVER_WALKED:
        arguments += ["--glob", f"!{name}"]
    for glob in query.globs:
        arguments += ["--type-add", f"asked:{glob}"]
    # A --glob would bring ignored files back; a type does not.
    return [*arguments, "--type", "asked"] if query.globs else arguments


@contextlib.contextmanager
def _rules_file(rules: list[str]) -> Iterator[int | None]:
    """The rules in a file without a name, which the search program can open though nothing else outside."""
    if not rules:
        yield None
        return
    data = "\n".join([*rules, ""]).encode("utf-8", "surrogateescape")
    descriptor = os.memfd_create("rules") if hasattr(os, "memfd_create") else _unnamed_file()
    try:
        os.write(descriptor, data)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


def _unnamed_file() -> int:
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _matching_lines(context: Context, query: Query, names: list[str]) -> tuple[list[Match], int, bool]:
    """The first matches in the order of names, the number of files that match, and whether there are more."""
    matches: list[Match] = []
    waiting = iter(names)
    files = len(names)
    while len(matches) <= query.limit:
        wanted = query.limit + 1 - len(matches)
        batch = list(islice(waiting, min(BATCH, wanted)))
        if not batch:
            break
        found, without = _search_names(context, query, batch, wanted)
        matches += found
        files -= without
    more = len(matches) > query.limit or next(waiting, None) is not None
    return matches[: query.limit], files, more


def _search_names(context: Context, query: Query, names: list[str], wanted: int) -> tuple[list[Match], int]:
    """At least `wanted` matches of these files, if there are as many; and how many files turned out to have none."""
    try:
        return _search_batch(context, query, names, wanted)
    except rg.OutOfMemory:
        if names == [query.path]:
            raise
    matches: list[Match] = []
    without = 0
    for name in names:
        with contextlib.suppress(rg.OutOfMemory):
            found, none = _search_batch(context, query, [name], wanted)
            matches += found
            without += none
    return matches, without


def _search_batch(context: Context, query: Query, names: list[str], wanted: int) -> tuple[list[Match], int]:
    with contextlib.ExitStack() as stack:
        opened: dict[str, tuple[str, int]] = {}
        for name in names:
            descriptor = _opened(context, name, alone=names == [query.path])
            if descriptor is not None:
                stack.callback(os.close, descriptor)
                opened[rg.named(descriptor)] = name, descriptor
        if not opened:
            return [], len(names)
        matches: list[Match] = []
        files, last = 0, names[-1]
        searched = stack.enter_context(contextlib.closing(_files_searched(context, query, opened, wanted)))
        for found in searched:
            matches += found
            files += 1
            if len(matches) >= wanted:
                last = found[-1].path
                break
        return matches, names.index(last) + 1 - files


def _opened(context: Context, name: str, alone: bool) -> int | None:
    try:
        return context.workspace.open_file(name)
    except ToolError:
        if alone:
            raise
        return None  # it went away, or became a link, since it was found


def _files_searched(
    context: Context, query: Query, opened: dict[str, tuple[str, int]], most: int
) -> Generator[list[Match], None, None]:
    """The matches of each open file that has any, in order."""
    arguments = ["--json", "--threads", "1", "--max-count", str(most), *query.pattern.arguments(context.settings)]
    if query.context_lines:
        arguments += ["--context", str(query.context_lines)]
    descriptors = [descriptor for _, descriptor in opened.values()]
    with rg.Run(context, [*arguments, "--", *opened], files=descriptors) as run:
        current: FileMatches | None = None
        for event in events(run):
            if isinstance(event, Begin):
                name, descriptor = opened[event.path]
                current = FileMatches(name, descriptor, query.pattern, query.context_lines, context.settings)
            elif current is not None and isinstance(event, End):
                found = [] if event.binary else current.matches()
                current = None
                if found:
                    yield found
            elif current is not None and not isinstance(event, End):
                current.add(event)
