"""Tool results are read whoever wrote them, and nothing a tool returns can upset the reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.workspace_tools import tools_on
from support.patience import bounded
from toolwire.agents.local.results import (
    Hit,
    read_entries,
    read_excerpt,
    read_hits,
    read_path,
    read_sites,
)
from toolwire.tools.base import Language

FORMS: list[Language | None] = [None, "zh", "en"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "app.py").write_text('"""An app."""\n\nclass App:\n    def run(self):\n        pass\n')
    (root / "other.py").write_text("from src.app import App\n")
    return root


@pytest.mark.parametrize("form", FORMS)
def test_our_own_search_results_are_read_in_every_form(project: Path, tmp_path: Path, form: Language | None) -> None:
    run = tools_on(project, state=tmp_path / "state", markdown=form)
    found = read_hits(run("grep_file", {"pattern": "App", "case_sensitive": True}))
    assert found.hits == (Hit("other.py", 1, "from src.app import App"), Hit("src/app.py", 3, "class App:"))
    assert (found.files, found.truncated) == (2, False)
    cut = read_hits(run("grep_file", {"pattern": "App", "case_sensitive": True, "limit": 1}))
    assert (len(cut.hits), cut.files, cut.truncated) == (1, 2, True)
    inside = read_hits(run("grep_file", {"pattern": "run", "relativePath": "src/app.py", "context_lines": 2}))
    assert inside.hits == (Hit("src/app.py", 4, "    def run(self):"),)
    assert read_hits(run("grep_file", {"pattern": "nowhere to be found"})).hits == ()


@pytest.mark.parametrize("form", FORMS)
def test_our_own_file_contents_are_read_in_every_form(project: Path, tmp_path: Path, form: Language | None) -> None:
    run = tools_on(project, state=tmp_path / "state", markdown=form)
    excerpt = read_excerpt(run("read_file", {"path": "src/app.py", "start_line": 3, "end_line": 4}), "src/app.py", 3)
    assert (excerpt.start, excerpt.lines) == (3, ("class App:", "    def run(self):"))


@pytest.mark.parametrize("form", FORMS)
def test_our_own_listings_are_read_in_every_form(project: Path, tmp_path: Path, form: Language | None) -> None:
    run = tools_on(project, state=tmp_path / "state", markdown=form)
    assert read_entries(run("list_dir", {"path": "."})) == ["src/", "other.py"]


@pytest.mark.parametrize(
    "text",
    [
        "src/a.py:12:    def run(self):",
        "src/a.py:12:5: def run(self):",
        "Found 1:\n- `src/a.py:12` def run(self):",
        "## src/a.py\n12: def run(self):",
        "### `src/a.py`\n\n```\n> 12 | def run(self):\n  13 |     pass\n```",
        "## 搜索结果: a.py\n\n- **路径**: `src/a.py`\n- 第 12 行: def run(self):",
        "**文件**: src/a.py\n  L12: def run(self):",
        "src/a.py#L12 def run(self):",
        "src/a.py (line 12): def run(self):",
        '{"results": [{"filePath": "src/a.py", "lineNumber": 12, "lineContent": "def run(self):"}]}',
        '[{"file": "src/a.py", "matches": [{"line": 12, "text": "def run(self):"}]}]',
    ],
)
def test_results_of_other_plugins_are_read_as_well_as_possible(text: str) -> None:
    (hit,) = read_hits(text).hits
    assert (hit.path, hit.line, hit.text.strip()) == ("src/a.py", 12, "def run(self):")


def test_windows_paths_and_file_addresses_become_plain_paths() -> None:
    hits = read_hits(
        [{"uri": "file:///p/a.py", "line": 1}, {"path": "src\\a.py", "line": 2}, {"path": "./b.py", "line": 3}]
    )
    assert [hit.path for hit in hits.hits] == ["/p/a.py", "src/a.py", "b.py"]


def test_plain_text_is_the_content_of_a_file() -> None:
    assert read_excerpt("line one\nline two\n", "a.txt", 5).lines == ("line one", "line two")
    assert read_excerpt({"content": "x\r\ny\r\n"}, "a.txt", 5).lines == ("x", "y")
    assert read_excerpt("## a.py\n\n```python\nprint(1)\n```\n", "a.py", 1).lines == ("print(1)",)


def test_the_file_of_a_class_is_found_in_document_2s_words() -> None:
    assert read_path("## FileFilter.java\n\n- **类名**: `FileFilter`\n- **路径**: `core/src/FileFilter.java`\n") == (
        "core/src/FileFilter.java"
    )


def test_call_sites_are_read_from_a_chain() -> None:
    chain = {"roots": [{"symbol": {"path": "a.py", "line": 3}, "steps": [{"sites": ["b.py:10", "b.py:12"]}]}]}
    assert read_sites(chain) == [("b.py", 10), ("b.py", 12)]
    assert read_sites("- `b.py:10` call()") == [("b.py", 10)]


@pytest.mark.parametrize(
    "text", ["a" * 1_000_000, "a." * 300_000, " " * 1_000_000, "- " * 400_000, "1:" * 400_000, "#" * 999_999]
)
def test_endless_lines_are_read_quickly(text: str) -> None:
    with bounded():
        read_hits(text)
        read_entries(text)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["path", "line", "text", "matches", "content", "files", "entries", "x"]), inner
        )
    ),
    max_leaves=15,
)


@given(anything | st.text(alphabet="#`*: |>12L第行/.ab\n-路径", max_size=300))
def test_any_result_can_be_read(result: Any) -> None:
    for hit in read_hits(result).hits:
        assert hit.path
        assert hit.line >= 0
    read_excerpt(result, "a.py", 1)
    read_entries(result)
    read_path(result)
    read_sites(result)
