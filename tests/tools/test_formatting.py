"""Formatters for apply_change: changed lines only, optional, never a failure of the edit itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import npm
from tools.desk import Desk
from toolwire.settings import Settings
from toolwire.tools.formatting import keep_changed


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_ruff_formats_the_changed_lines_of_python_and_no_others(desk: Desk) -> None:
    path = desk.put("a.py", "a=1\nb=2\nc=3\n")
    output = desk.done("apply_change", path="a.py", searchContent="b=2", replaceContent="b  = {  'k':2 }")
    assert path.read_text() == "a=1\nb = {'k': 2}\nc=3\n"
    assert output.formatted_by == "ruff"


def test_a_projects_own_settings_are_followed(desk: Desk) -> None:
    desk.put("pyproject.toml", "[tool.ruff.format]\nquote-style = 'double'\n")
    path = desk.put("sub/a.py", "b=2\n")
    desk.done("apply_change", path="sub/a.py", searchContent="b=2", replaceContent="b='x'")
    assert path.read_text() == 'b = "x"\n'


def test_settings_that_name_other_files_are_not_followed(desk: Desk) -> None:
    desk.put("ruff.toml", "extend = '/etc/hostname'\n[format]\nquote-style = 'double'\n")
    path = desk.put("a.py", "b=2\n")
    output = desk.done("apply_change", path="a.py", searchContent="b=2", replaceContent="b='x'")
    assert (path.read_text(), output.formatted_by) == ('b = "x"\n', "ruff")


def test_settings_outside_the_project_are_never_read(desk: Desk) -> None:
    outside = desk.root.parent / "secret"
    outside.write_text("the secret = [")
    (desk.root / "ruff.toml").symlink_to(outside)
    path = desk.put("a.py", "b=2\n")
    output = desk.done("apply_change", path="a.py", searchContent="b=2", replaceContent="b=3")
    assert path.read_text() == "b=3\n"
    assert output.format_trouble == "ruff: ruff.toml can't be read"


@pytest.mark.parametrize("indent", ["  ", "    ", "\t"])
def test_shfmt_formats_the_changed_lines_of_a_script_in_its_own_indentation(desk: Desk, indent: str) -> None:
    rest = f"fi\nrest() {{\n{indent}echo   untouched\n}}\n"
    path = desk.put("a.sh", f"#!/bin/sh\nif true; then\n{indent}echo a\n{rest}")
    path.chmod(0o755)
    change = {"searchContent": "echo a", "replaceContent": 'if  [ -n "$x" ];then\necho  b;fi'}
    output = desk.done("apply_change", path="a.sh", **change)
    formatted = f'{indent}if [ -n "$x" ]; then\n{indent * 2}echo b\n{indent}fi\n'
    assert path.read_text() == f"#!/bin/sh\nif true; then\n{formatted}{rest}"
    assert (output.formatted_by, path.stat().st_mode & 0o777) == ("shfmt", 0o755)


def test_a_script_that_shfmt_can_not_read_stays_as_it_was_given(desk: Desk) -> None:
    path = desk.put("a.sh", "echo a\n")
    output = desk.done("apply_change", path="a.sh", searchContent="echo a", replaceContent="if  (")
    assert path.read_text() == "if  (\n"
    assert output.format_trouble.startswith("shfmt: a.sh:1:")


def test_clang_format_follows_the_projects_style(desk: Desk) -> None:
    desk.put(".clang-format", "BasedOnStyle: LLVM\nIndentWidth: 3\nAllowShortFunctionsOnASingleLine: None\n")
    path = desk.put("src/a.c", "int f() {\nreturn 1;\n}\n")
    desk.done("apply_change", path="src/a.c", searchContent="return 1;", replaceContent="return 2 ;")
    assert path.read_text() == "int f() {\n   return 2;\n}\n"


def test_without_settings_the_files_own_indentation_is_kept(desk: Desk) -> None:
    path = desk.put("a.py", "def f():\n  return 1\n\ndef g():\n  return 2\n")
    desk.done("apply_change", path="a.py", searchContent="return 2", replaceContent="return  2+1")
    assert path.read_text() == "def f():\n  return 1\n\ndef g():\n  return 2 + 1\n"


def test_a_new_file_is_formatted_as_a_whole(desk: Desk) -> None:
    output = desk.done("apply_change", path="a.py", replaceContent="a=1\nb=2")
    assert (desk.root / "a.py").read_text() == "a = 1\nb = 2\n"
    assert output.formatted_by == "ruff"


def test_clang_format_formats_java(desk: Desk) -> None:
    path = desk.put("A.java", "class A {\n    int  a;\n\n    int f(){ return 1; }\n    int  b;\n}\n")
    output = desk.done("apply_change", path="A.java", searchContent="return 1;", replaceContent="return  2 ;")
    assert output.formatted_by == "clang-format"
    text = path.read_text()
    assert text.startswith("class A {\n    int  a;\n\n    int f() {\n        return 2;\n    }\n")
    assert text.endswith("    int  b;\n}\n")


def test_without_settings_lines_are_not_joined(desk: Desk) -> None:
    path = desk.put("a.c", "int f() {\n    return 1;\n}\n\nenum e {\n    A,\n    B\n};\n")
    desk.done("apply_change", path="a.c", searchContent="return 1;", replaceContent="return  2;")
    desk.done("apply_change", path="a.c", searchContent="    B", replaceContent="    C")
    assert path.read_text() == "int f() {\n    return 2;\n}\n\nenum e {\n    A,\n    C\n};\n"


def test_line_ends_survive_formatting(desk: Desk) -> None:
    path = desk.put("a.py", "a=1\r\nb=2\r\n")
    desk.done("apply_change", path="a.py", searchContent="b=2", replaceContent="b=3\nc=4")
    assert path.read_bytes() == b"a=1\r\nb = 3\r\nc = 4\r\n"


def test_code_that_can_not_be_formatted_is_written_as_it_is(desk: Desk) -> None:
    path = desk.put("a.py", "a = 1\n")
    output = desk.done("apply_change", path="a.py", searchContent="a = 1", replaceContent="a = (")
    assert path.read_text() == "a = (\n"
    assert output.formatted_by is None
    assert output.format_trouble.startswith("ruff: ")


def test_prettier_formats_web_languages(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    bin_folder = npm.installed("prettier", "3").parent / ".bin"
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    path = desk.put("a.ts", "const  a = 'é𝄞';\nconst b = 1;\nconst  c = 3;\n")
    output = desk.done("apply_change", path="a.ts", searchContent="const b = 1;", replaceContent="const b  = {x:1}")
    assert output.formatted_by == "prettier"
    assert path.read_text() == "const  a = 'é𝄞';\nconst b = { x: 1 };\nconst  c = 3;\n"
    desk.put(".prettierrc", '{"semi": false, "bracketSpacing": false, "plugins": ["./evil.js"]}')
    desk.done("apply_change", path="a.ts", searchContent="const b = { x: 1 };", replaceContent="const b = { x: 2 };")
    assert path.read_text() == "const  a = 'é𝄞';\nconst b = {x: 2}\nconst  c = 3;\n"


def test_prettier_settings_that_are_code_are_never_run(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.put("prettier.config.js", "throw 1")
    _program(desk, monkeypatch, "prettier", "cat")
    output = desk.done("apply_change", path="a.js", replaceContent="a\n")
    assert output.format_trouble == "prettier: the project's prettier settings are not plain JSON"


def _program(desk: Desk, monkeypatch: pytest.MonkeyPatch, name: str, script: str) -> Path:
    """A formatter of our own, first on PATH."""
    folder = desk.root.parent / "bin"
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return program


def test_of_a_formatter_that_only_knows_whole_files_the_changed_lines_are_kept(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    _program(desk, monkeypatch, "gofmt", "sed 's/  */ /g'")
    path = desk.put("a.go", "a  a\nb  b\nc  c\nd  d\n")
    output = desk.done("apply_change", path="a.go", searchContent="c  c", replaceContent="x  x")
    assert path.read_text() == "a  a\nb  b\nx x\nd  d\n"
    assert output.formatted_by == "gofmt"


@pytest.mark.parametrize(
    ("script", "trouble"),
    [
        ("echo broken >&2; exit 3", "gofmt: broken"),
        ("exit 3", "gofmt: exit code 3"),
        ("printf '\\377'", "gofmt: "),
        ("exec sleep 20", "gofmt: took longer than 0.2 s"),
    ],
)
def test_a_formatters_failure_is_told_and_the_edit_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, trouble: str
) -> None:
    desk = Desk(tmp_path, Settings(formatter_timeout=0.2))
    _program(desk, monkeypatch, "gofmt", script)
    path = desk.put("a.go", "a\n")
    output = desk.done("apply_change", path="a.go", searchContent="a", replaceContent="b")
    assert path.read_text() == "b\n"
    assert output.formatted_by is None
    assert output.format_trouble.startswith(trouble)


def test_a_program_from_inside_the_project_is_never_run(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    program = desk.put("bin/gofmt", "#!/bin/sh\necho evil\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    output = desk.done("apply_change", path="a.go", replaceContent="a\n")
    assert output.formatted_by is None
    assert (desk.root / "a.go").read_text() == "a\n"


def test_a_partly_taken_formatting_the_formatter_can_not_read_is_dropped(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Adds a bracket before and one after; with only one of them it refuses to read the file.
    _program(
        desk, monkeypatch, "gofmt", "f=$(cat); case $f in *open*) exit 1;; esac; printf 'open\\n%s\\nclose\\n' \"$f\""
    )
    path = desk.put("a.go", "a\nb\nc\n")
    output = desk.done("apply_change", path="a.go", searchContent="a", replaceContent="x")
    assert path.read_text() == "x\nb\nc\n"
    assert output.formatted_by is None


LINES = st.lists(st.sampled_from(["a", " a", "b", "  b", "c", ""]), max_size=12)


@given(LINES, LINES, st.integers(1, 12), st.integers(0, 4))
def test_nothing_is_kept_of_changes_apart_from_the_lines(
    old: list[str], new: list[str], first: int, more: int
) -> None:
    before = "".join(line + "\n" for line in old)
    after = "".join(line + "\n" for line in new)
    whole, left_out = keep_changed(before, after, 1, len(old))
    assert not left_out
    assert whole == after
    kept, left_out = keep_changed(before, after, first, first + more)
    assert kept == after or left_out
    assert keep_changed(before, before, first, first + more) == (before, False)
