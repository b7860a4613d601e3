"""rg itself as the judge of `grep_file`: the same lines of a large tree, in the order rg gives when told to sort."""

from __future__ import annotations

import json
import subprocess
import sysconfig
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.room import Room
from toolwire.settings import Settings
from toolwire.tools import rg
from toolwire.tools.base import Context
from toolwire.tools.registry import default_registry
from toolwire.tools.seen import Seen
from toolwire.tools.workspace import Workspace

LIBRARY = Path(sysconfig.get_path("stdlib"))
ALL = 1_000_000
SKIPPED = (".git", ".hg", ".svn", ".bzr", ".jj", "CVS")


def by_rg(folder: Path, pattern: str, *options: str, path: str = "./") -> list[tuple[str, int]]:
    """(path, line) of each match; files in which rg met a NUL are left out, as binaries."""
    command = [rg.program(), "--no-config", "--json", "--hidden", "--no-require-git", "--sort", "path", *options]
    for name in SKIPPED:
        command += ["--glob", f"!{name}"]
    ended = subprocess.run([*command, "-e", pattern, path], cwd=folder, capture_output=True, check=False, timeout=120)
    found: list[tuple[str, int]] = []
    lines: list[tuple[str, int]] = []
    for event in map(json.loads, ended.stdout.splitlines()):
        data: dict[str, Any] = event["data"]
        if event["type"] == "match":
            lines.append((data["path"]["text"].removeprefix("./"), data["line_number"]))
        elif event["type"] == "end":
            found += lines if data["binary_offset"] is None else []
            lines = []
    return found


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return Workspace(LIBRARY, tmp_path_factory.mktemp("state"), Settings(grep_max_limit=ALL))


def by_us(workspace: Workspace, pattern: str, **arguments: Any) -> list[tuple[str, int]]:
    context = Context(workspace, workspace.settings, Seen(), deadline=time.monotonic() + 120)
    asked = {"pattern": pattern, "limit": ALL, **arguments}
    outcome = default_registry().run("grep_file", asked, context)
    assert outcome.error is None, outcome.error
    found = outcome.output
    assert found is not None
    return [(hit["path"], hit["line"]) for hit in found.model_dump()["matches"]]


@pytest.mark.parametrize(
    ("pattern", "arguments", "options"),
    [
        ("zipfile", {"path": "test"}, ["-i", "-F"]),
        ("self.assertRaises(", {"path": "test"}, ["-i", "-F"]),
        ("OrderedDict(", {"case_sensitive": True, "path": "collections"}, ["-F"]),
        (r"class \w+Error\b", {"regex": True, "case_sensitive": True, "file_type": "py", "path": "email"}, ["-tpy"]),
        (r"^\s+def _\w+\(self, \w+=None", {"regex": True, "path": "asyncio"}, ["-i"]),
        ("é", {"path": "test"}, ["-i", "-F"]),
        (r"[^\x00-\x7F]{3}", {"regex": True, "path": "encodings"}, ["-i"]),
    ],
)
def test_the_same_lines_of_the_standard_library(
    library: Workspace, pattern: str, arguments: dict[str, Any], options: list[str]
) -> None:
    path = arguments["path"] if (LIBRARY / arguments["path"]).is_dir() else "json"  # some leave `test` out
    arguments = {**arguments, "path": path}
    expected = by_rg(LIBRARY, pattern, *options, "--no-ignore-parent", path=path)
    found = by_us(library, pattern, **arguments)
    if pattern.isascii():
        assert found == expected
    else:  # bytes of other encodings are matched as well, which rg can't
        assert set(found) >= set(expected)


def test_a_limit_gives_the_beginning_of_the_whole_answer(library: Workspace) -> None:
    whole = by_us(library, "raise", path="email")
    assert len(whole) > 50
    for limit in (1, 2, 19, 20, 33, len(whole) - 1, len(whole), len(whole) + 1):
        assert by_us(library, "raise", path="email", limit=limit) == whole[:limit]


NAMES = st.sampled_from(["a", "b", "c", "a.log", "b.txt", "x[1]", "build"])
TREES = st.lists(st.lists(NAMES, min_size=1, max_size=4), min_size=1, max_size=12)
RULES = st.lists(
    st.sampled_from(
        ["a", "/a", "a/", "*.log", "/a/b", "a/b", "**/c", "a/**", "a/**/c", "!b.txt", "*.txt", "/*/b", "!a/b",
         "build/", "# b", "", "b/*", "/a/*/c", r"x\[1\]", "?", "[ab]", "**/b/c", "/**/a.log", "!/a/a.log"]
    ),
    max_size=4,
)  # fmt: skip


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tree=TREES, above=RULES, here=RULES)
def test_ignore_rules_above_a_named_folder_hold_as_rg_holds_them(
    tmp_path_factory: pytest.TempPathFactory, tree: list[list[str]], above: list[str], here: list[str]
) -> None:
    room = Room(tmp_path_factory.mktemp("room"))
    for parts in tree:
        place = room.root.joinpath("a", "b", *parts)
        if not any(parent.is_file() for parent in place.parents) and not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("needle\n")
    (room.root / "a" / "b").mkdir(parents=True, exist_ok=True)
    room.put(".gitignore", "\n".join(above))
    room.put("a/.gitignore", "\n".join(here))
    expected = by_rg(room.root / "a" / "b", "needle", "--no-ignore-global")
    found = by_us(room.workspace, "needle", path="a/b", limit=1000)
    assert [(f"a/b/{path}", line) for path, line in expected] == found
    room.workspace.close()
