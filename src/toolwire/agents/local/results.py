"""Reading tool results, whoever made them: objects with typed fields (document 5, and our own tools), or Markdown
and plain text (documents 1 and 2, ours and other plugins'), out of which paths, line numbers and lines are pulled.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

from toolwire.agents.local.texts import LONGEST_LINE, read_text

PATH_KEYS = ("path", "file", "filePath", "file_path", "relativePath", "relative_path", "fileName", "filename", "uri")
LINE_KEYS = ("line", "lineNumber", "line_number", "start_line", "startLine", "lineno", "row")
TEXT_KEYS = ("text", "content", "lineContent", "line_content", "snippet", "signature", "preview", "match", "name")
COUNT_KEYS = ("files", "fileCount", "file_count", "filesMatched")
DEEPEST = 40
MOST_HITS = 5000
_SITE = re.compile(r"([^\n:]{1,400}):(\d{1,7})(?::\d+)?")


@dataclass(frozen=True, slots=True)
class Hit:
    """A line somewhere."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """What a search gave."""

    hits: tuple[Hit, ...]
    files: int
    """Files with matches, as far as the answer tells."""
    truncated: bool


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a file."""

    path: str
    start: int
    lines: tuple[str, ...]


def read_hits(result: Any) -> Found:
    """Places in a search result, in a list of symbols, in a call chain."""
    result = _parsed(result)
    if isinstance(result, str):
        text = read_text(result)
        hits = tuple(Hit(_clean(path), line, content) for path, line, content in text.places)
        return Found(hits, text.files or len({hit.path for hit in hits}), text.truncated)
    hits = tuple(dict.fromkeys(islice(_walk(result, "", 0), MOST_HITS)))
    if not hits and isinstance(result, Mapping) and isinstance(result.get("content"), str):
        return read_hits(result["content"])
    files = len({hit.path for hit in hits})
    truncated = False
    if isinstance(result, Mapping):
        truncated = result.get("truncated") is True
        told = next((result[key] for key in COUNT_KEYS if type(result.get(key)) is int), 0)
        files = max(files, told)
    return Found(hits, files, truncated)


def read_sites(result: Any) -> list[tuple[str, int]]:
    """The places of calls in a call chain: its `path:line` texts, or all places if there are none."""
    parsed = _parsed(result)
    sites = list(_sites(parsed, 0)) if not isinstance(parsed, str) else []
    return sites or [(hit.path, hit.line) for hit in read_hits(result).hits]


def _sites(value: Any, depth: int) -> Iterator[tuple[str, int]]:
    if isinstance(value, str):
        if found := _SITE.fullmatch(value):
            yield _clean(found[1]), int(found[2])
    elif isinstance(value, list | Mapping) and depth <= DEEPEST:
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _sites(inner, depth + 1)


def read_excerpt(result: Any, path: str, start: int) -> Excerpt:
    """Lines of a file that was read from `start` on, in case the answer does not say so itself."""
    result = _parsed(result)
    if isinstance(result, Mapping):
        content = next((result[key] for key in TEXT_KEYS if isinstance(result.get(key), str)), "")
        first = next((result[key] for key in ("start_line", "startLine") if type(result.get(key)) is int), start)
        return Excerpt(path, first, _lines(content))
    if not isinstance(result, str):
        return Excerpt(path, start, ())
    numbered = [(line, text) for _, line, text in read_text(result, path).places]
    if numbered and all(later[0] == number[0] + 1 for number, later in pairwise(numbered)):
        return Excerpt(path, numbered[0][0], tuple(text for _, text in numbered))
    block = read_text(result).block
    return Excerpt(path, start, _lines(result if block is None else block))


def read_path(result: Any) -> str:
    """The file a result is about, if it says so."""
    result = _parsed(result)
    if isinstance(result, Mapping):
        return next((_clean(result[key]) for key in PATH_KEYS if isinstance(result.get(key), str)), "")
    return _clean(read_text(result).path) if isinstance(result, str) else ""


def read_entries(result: Any) -> list[str]:
    """Names in a listing of a folder; a folder ends with a slash."""
    result = _parsed(result)
    if isinstance(result, Mapping):
        rows = next((value for value in result.values() if isinstance(value, list)), None)
        if rows is None:
            return read_entries(result.get("content")) if isinstance(result.get("content"), str) else []
        return [name for row in rows if (name := _entry(row))]
    if isinstance(result, list):
        return [name for row in result if (name := _entry(row))]
    return read_text(result).names if isinstance(result, str) else []


def _entry(row: Any) -> str:
    if isinstance(row, str):
        return row
    if not isinstance(row, Mapping):
        return ""
    name = next((row[key] for key in ("path", "name", *PATH_KEYS) if isinstance(row.get(key), str)), "")
    folder = row.get("kind", row.get("type")) in ("folder", "dir", "directory") or row.get("isDirectory") is True
    return name.rstrip("/") + "/" if folder and name else name


def _walk(value: Any, path: str, depth: int) -> Iterator[Hit]:
    """Every object with a line number, under its own path or that of an object around it."""
    if depth > DEEPEST:
        return
    if isinstance(value, list):
        for item in value:
            yield from _walk(item, path, depth + 1)
    elif isinstance(value, Mapping):
        path = next((value[key] for key in PATH_KEYS if isinstance(value.get(key), str)), path)
        line = next((value[key] for key in LINE_KEYS if type(value.get(key)) is int), 0)
        if path and line > 0:
            text = next((value[key] for key in TEXT_KEYS if isinstance(value.get(key), str)), "")
            yield Hit(_clean(path), line, text[:LONGEST_LINE].split("\n")[0])
        for key, inner in value.items():
            if isinstance(inner, list | Mapping) and key not in ("before", "after"):
                yield from _walk(inner, path, depth + 1)


def _parsed(result: Any) -> Any:
    """Document 1 allows a JSON text as the result."""
    if isinstance(result, str) and result[:1] in ("{", "["):
        try:
            value = json.loads(result)
        except (ValueError, RecursionError):
            return result
        return value if isinstance(value, Mapping | list) else result
    return result


def _lines(content: str) -> tuple[str, ...]:
    lines = content.split("\n")
    if lines[-1] == "":
        lines.pop()
    return tuple(line.rstrip("\r") for line in lines)


_SCHEME = re.compile(r"^file://(?:localhost)?")


def _clean(path: str) -> str:
    return _SCHEME.sub("", path).replace("\\", "/").removeprefix("./")
