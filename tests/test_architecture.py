"""The house stays as it was drawn: imports point downwards, and the pure parts stay pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "toolwire"
LONGEST_FILE = 450

BELOW: dict[str, set[str]] = {
    "errors": set(),
    "settings": {"errors"},
    "core": {"errors"},
    "dialects": {"core", "errors"},
    "seal": {"errors", "settings"},
    "codemap": {"core", "errors", "settings", "tools"},
    "tools": {"core", "errors", "seal", "settings", "codemap"},
    "store": {"core", "errors", "seal", "settings"},
    "audit": {"core", "errors", "seal", "settings", "store", "tools"},
    "bus": {"core", "errors", "settings"},
    "agents": {"core", "errors", "settings", "tools"},
    "server": {"agents", "bus", "codemap", "core", "dialects", "errors", "settings", "store", "tools", "console"},
    "ide": {"codemap", "core", "dialects", "errors", "settings", "tools"},
    "bridges": {"agents", "core", "dialects", "errors", "ide", "server", "settings", "store", "tools"},
    "console": set(),
}
"""What each part may import, beside itself. `cli` may import everything."""

PURE = ("core", "dialects")
IMPURE = {
    *("asyncio", "threading", "multiprocessing", "concurrent", "subprocess", "signal", "selectors", "queue"),
    *("socket", "ssl", "http", "urllib", "picows", "websockets", "uvicorn", "fastapi", "starlette", "uvloop"),
    *("os", "io", "pathlib", "shutil", "tempfile", "sqlite3", "glob", "fcntl", "mmap"),
    *("time", "datetime", "random", "secrets", "uuid", "logging", "structlog", "sys"),
}
"""Sockets, disk, clock, randomness, concurrency: arguments of the pure parts, never imports."""
IMPURE_CALLS = {"open", "input", "print", "exec", "eval", "__import__"}


def modules(part: str = "") -> list[Path]:
    if (SOURCE / f"{part}.py").exists():
        return [SOURCE / f"{part}.py"]
    return sorted((SOURCE / part).rglob("*.py"))


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Every module a file imports, wherever in it, and the line."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            module = node.module or ""
            if module == "toolwire":
                for alias in node.names:
                    yield f"toolwire.{alias.name}", node.lineno
            else:
                yield module, node.lineno


def parts() -> set[str]:
    found = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    return found | {path.stem for path in SOURCE.glob("*.py") if not path.stem.startswith("__")}


def test_every_part_of_the_house_has_a_rule() -> None:
    assert parts() <= set(BELOW) | {"cli"}


@pytest.mark.parametrize("part", sorted(BELOW))
def test_imports_point_downwards(part: str) -> None:
    allowed = BELOW[part] | {part, "__version__"}
    astray = [
        f"{path.relative_to(SOURCE)}:{line} imports {name}"
        for path in modules(part)
        for name, line in imports(path)
        if name.split(".")[0] == "toolwire" and (name.split(".")[1:2] or ["__version__"])[0] not in allowed
    ]
    assert not astray


@pytest.mark.parametrize("part", PURE)
def test_the_pure_parts_import_no_socket_disk_clock_or_randomness(part: str) -> None:
    assert modules(part)
    astray = [
        f"{path.relative_to(SOURCE)}:{line} imports {name}"
        for path in modules(part)
        for name, line in imports(path)
        if name.split(".")[0] in IMPURE
    ]
    assert not astray


@pytest.mark.parametrize("part", PURE)
def test_the_pure_parts_do_not_reach_out_by_a_builtin(part: str) -> None:
    astray = [
        f"{path.relative_to(SOURCE)}:{node.lineno} calls {node.func.id}"
        for path in modules(part)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPURE_CALLS
    ]
    assert not astray


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        str(path.relative_to(SOURCE))
        for path in modules()
        if path.read_text("utf-8").strip() and ast.get_docstring(ast.parse(path.read_text("utf-8"))) is None
    ]
    assert not silent


def test_no_file_outgrows_its_reader() -> None:
    long = {
        str(path.relative_to(SOURCE)): lines
        for path in modules()
        if (lines := len(path.read_text("utf-8").splitlines())) > LONGEST_FILE
    }
    assert not long
