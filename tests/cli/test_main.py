from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import toolwire
from support.patience import PATIENCE
from toolwire.cli import COMMANDS, main

HEAVY = ("typer", "click", "rich", "pydantic", "asyncio", "msgspec", "fastapi", "websockets")


def test_help_lists_every_command_and_shows_how_to_begin(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown for name in COMMANDS)
    assert "toolwire up ." in shown


def test_no_command_at_all_shows_the_help_and_is_not_a_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "Commands:" in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"Usage: toolwire {command}")
    assert "Examples:\n" in shown
    assert f"  toolwire {command}" in shown


def test_help_as_a_word_explains_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "undo"]) == 0
    assert "Usage: toolwire undo" in capsys.readouterr().out


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"toolwire {toolwire.__version__}\n"


@pytest.mark.parametrize(("typed", "meant"), [("chta", "toolwire chat"), ("xyzzy", "toolwire --help")])
def test_an_unknown_command_is_an_error_with_a_hint(
    typed: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([typed]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"toolwire: no such command: {typed}\n")
    assert meant in told.err


def test_a_wrong_option_is_told_in_one_line_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "--colour"]) == 2
    told = capsys.readouterr().err
    assert "No such option: --colour" in told
    assert "Traceback" not in told


def test_a_defect_is_one_line_unless_the_traceback_is_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("toolwire.cli.options.settings_of", broken)
    assert main(["undo", "x"]) == 1
    assert "this should not have happened: ZeroDivisionError: division by zero" in capsys.readouterr().err
    monkeypatch.setenv("TOOLWIRE_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        main(["undo", "x"])


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["chta"]])
def test_what_needs_no_command_imports_nothing_heavy(words: list[str]) -> None:
    check = (
        f"import sys\nfrom toolwire.cli import main\nmain({words})\nprint([m for m in {HEAVY} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_output_that_nobody_reads_any_more_is_no_traceback(tmp_path: Path) -> None:
    command = f"{sys.executable} -m toolwire tools --json | head -c 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
