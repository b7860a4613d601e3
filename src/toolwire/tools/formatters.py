"""Which formatter a language has, where it is installed, and how it is asked for some lines of a file.

A program is taken from PATH or from beside this Python, never from the project: what an agent can write must not be
run. Nor does a program look for the project's settings itself, since they can name other files and code: the
workspace reads them, and plain values are handed on. Without settings the program is told the style the file has
already, so that a formatted line looks like its neighbours.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolwire.errors import ToolError
from toolwire.tools.indentation import unit
from toolwire.tools.workspace import Workspace

SHORT_LINE, LONG_LINE = 88, 120
"""A file without settings is wrapped at its longest line, within these."""
SETTINGS_BYTES = 256 * 1024
"""A larger file of settings is none."""


@dataclass(frozen=True, slots=True)
class Job:
    """Lines `first` to `last` (from 1, inclusive) of a text with plain `\\n` line ends."""

    workspace: Workspace
    path: str
    text: str
    first: int
    last: int
    scratch: Path
    """A folder of its own, outside the project, that goes away afterwards."""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def step(self) -> str | None:
        return unit(self.text.split("\n"))

    @property
    def width(self) -> int:
        longest = max((len(line) for line in self.text.split("\n")), default=0)
        return min(max(longest, SHORT_LINE), LONG_LINE)

    def settings(self, *names: str) -> tuple[str, str] | None:
        """Name and text of the nearest of these files, from the file's folder up to the root."""
        folder = self.path
        while folder:
            folder = folder.rpartition("/")[0]
            for name in names:
                text = self._read(f"{folder}/{name}" if folder else name)
                if text is not None:
                    return name, text
        return None

    def _read(self, path: str) -> str | None:
        try:
            return self.workspace.read_bytes(path, SETTINGS_BYTES).decode("utf-8", "replace")
        except ToolError as error:
            if error.kind == "file_not_found":
                return None
            raise Declined(f"{path} can't be read") from error


class Declined(Exception):
    """This file is not for this formatter; the reason is for people."""


@dataclass(frozen=True, slots=True)
class Formatter:
    name: str
    extensions: frozenset[str]
    arguments: Callable[[Job], Iterable[str]]

    def program(self, project: Path) -> str | None:
        found = shutil.which(self.name)
        if found and not Path(found).absolute().is_relative_to(project):
            return found
        beside = Path(sys.executable).with_name(self.name)
        return str(beside) if beside.is_file() else None


def for_path(path: str, allowed: Iterable[str]) -> Formatter | None:
    extension = path.rpartition("/")[2].rpartition(".")[2].lower()
    for formatter in FORMATTERS:
        if extension in formatter.extensions and formatter.name in allowed:
            return formatter
    return None


_RUFF_OPTIONS = {
    "line-length", "indent-width", "target-version", "format.quote-style", "format.indent-style",
    "format.skip-magic-trailing-comma", "format.docstring-code-format", "format.docstring-code-line-length",
}  # fmt: skip


def _ruff(job: Job) -> Iterable[str]:
    yield from ("format", "--isolated", "--no-cache", "--quiet", f"--range={job.first}-{job.last + 1}")
    for name, value in _ruff_options(job).items():
        yield from ("--config", f"{name}={json.dumps(value)}")
    yield from ("--stdin-filename", job.name, "-")


def _ruff_options(job: Job) -> dict[str, Any]:
    found = job.settings("ruff.toml", ".ruff.toml", "pyproject.toml")
    try:
        settings = tomllib.loads(found[1]) if found else {}
    except tomllib.TOMLDecodeError:
        raise Declined("the project's ruff settings are not TOML") from None
    if found and found[0] == "pyproject.toml":
        settings = _table(settings, "tool", "ruff")
    if settings:
        flat = {**settings, **{f"format.{name}": value for name, value in _table(settings, "format").items()}}
        return {name: flat[name] for name in sorted(_RUFF_OPTIONS & flat.keys()) if _is_plain(flat[name])}
    style: dict[str, Any] = {"format.quote-style": "preserve", "line-length": job.width}
    if job.step:
        style |= {"format.indent-style": "tab" if job.step == "\t" else "space", "indent-width": _width(job.step)}
    return style


def _table(settings: dict[str, Any], *names: str) -> dict[str, Any]:
    for name in names:
        inner = settings.get(name)
        settings = inner if isinstance(inner, dict) else {}
    return settings


def _is_plain(value: object) -> bool:
    """A word, a number or a switch: nothing that could name a file or hold an option of its own."""
    return isinstance(value, int | bool) or (
        isinstance(value, str) and re.fullmatch(r"[\w-]{1,40}", value) is not None
    )


def _clang_format(job: Job) -> Iterable[str]:
    yield f"--lines={job.first}:{job.last}"
    yield f"--assume-filename={job.name}"
    found = job.settings(".clang-format", "_clang-format")
    if found:
        place = job.scratch / "style.yaml"
        place.write_text(found[1])
        yield f"--style=file:{place}"
        return
    step = job.step or "    "
    style = {
        "BasedOnStyle": "Google" if job.path.lower().endswith(".java") else "LLVM",
        "IndentWidth": _width(step),
        "TabWidth": _width(step),
        "ContinuationIndentWidth": 2 * _width(step),
        "AccessModifierOffset": -_width(step),
        "UseTab": "ForIndentation" if step == "\t" else "Never",
        "ColumnLimit": 0,
        "AllowShortFunctionsOnASingleLine": "None",
        "AllowShortEnumsOnASingleLine": False,
        "SortIncludes": "Never",
    }
    yield f"--style={json.dumps(style)}"


_PRETTIER_DATA = (".prettierrc", ".prettierrc.json")
_PRETTIER_CODE = tuple(
    f"{stem}.{ending}"
    for stem in (".prettierrc", "prettier.config")
    for ending in ("js", "cjs", "mjs", "ts", "cts", "mts", "yaml", "yml", "json5", "toml")
)
_PRETTIER_OPTIONS = {
    "arrowParens", "bracketSameLine", "bracketSpacing", "htmlWhitespaceSensitivity", "jsxSingleQuote", "objectWrap",
    "printWidth", "proseWrap", "quoteProps", "semi", "singleAttributePerLine", "singleQuote", "tabWidth",
    "trailingComma", "useTabs", "vueIndentScriptAndStyle",
}  # fmt: skip
"""Options that are plain values; `plugins` and `parser` name code to run."""


def _prettier(job: Job) -> Iterable[str]:
    if job.settings(*_PRETTIER_CODE):
        raise Declined("the project's prettier settings are not plain JSON")
    lines = job.text.split("\n")
    start = sum(len(line) + 1 for line in lines[: job.first - 1])
    end = sum(len(line) + 1 for line in lines[: job.last])
    yield from ("--no-config", "--no-editorconfig", "--end-of-line=lf")
    yield from (f"--range-start={_utf16(job.text[:start])}", f"--range-end={_utf16(job.text[:end])}")
    for name, value in _prettier_options(job).items():
        flag = "".join(f"-{char.lower()}" if char.isupper() else char for char in name)
        yield f"--{flag}={json.dumps(value) if not isinstance(value, str) else value}"
    yield from ("--stdin-filepath", job.name)


def _prettier_options(job: Job) -> dict[str, Any]:
    found: Any = None
    own, package = job.settings(*_PRETTIER_DATA), job.settings("package.json")
    try:
        if own is not None:
            found = json.loads(own[1])
        elif package is not None:
            found = json.loads(package[1]).get("prettier")
    except (ValueError, AttributeError):
        raise Declined("the project's prettier settings are not plain JSON") from None
    if found is None:
        step = job.step or "  "
        single = job.text.count("'") > job.text.count('"')
        return {"useTabs": step == "\t", "tabWidth": _width(step), "singleQuote": single, "printWidth": job.width}
    if not isinstance(found, dict):
        raise Declined("the project's prettier settings are in a package")
    return {name: value for name, value in found.items() if name in _PRETTIER_OPTIONS and _is_plain(value)}


def _gofmt(_: Job) -> Iterable[str]:
    return ()


def _shfmt(job: Job) -> Iterable[str]:
    # With a style given on the command line it looks for no .editorconfig.
    step = job.step or "\t"
    yield from (f"-i={0 if step == chr(9) else len(step)}", "-filename", job.name, "-")


def _utf16(text: str) -> int:
    """JavaScript counts in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _width(step: str) -> int:
    return 4 if step == "\t" else len(step)


_C = "java c h cc cpp cxx hh hpp hxx"
_WEB = "js jsx mjs cjs ts tsx mts cts vue css scss less html json jsonc graphql"

FORMATTERS = (
    Formatter("ruff", frozenset(("py", "pyi")), _ruff),
    Formatter("clang-format", frozenset(_C.split()), _clang_format),
    Formatter("prettier", frozenset(_WEB.split()), _prettier),
    Formatter("gofmt", frozenset(("go",)), _gofmt),
    Formatter("shfmt", frozenset(("sh", "bash")), _shfmt),
)
