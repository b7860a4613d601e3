"""Whatever goes wrong, a command says what it was and what to do next, and shows no traceback."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from cli.processes import Here, Place

QUIET = ("--no-browser", "--port", "0", "--store", "memory:")
ELSEWHERE = "ws://127.0.0.1:1"


@pytest.fixture
def files(here: Here, tmp_path: Path) -> Here:
    """Commands run in a folder with these files in it."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "badtok").write_text("{bad\n")
    (tmp_path / "short").write_text("short\n")
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "odd.json").write_text('{"turns": [{"steps": [{"shout": "x"}]}]}')
    (tmp_path / "notoml").mkdir()
    (tmp_path / "notoml" / "toolwire.toml").write_text("[[tool\n")
    (tmp_path / "badtool").mkdir()
    (tmp_path / "badtool" / "toolwire.toml").write_text("[[tool]]\nid = 3\n")
    (tmp_path / "tokens").write_text("")
    return here


@pytest.mark.parametrize(
    "words",
    [
        ("up", "nowhere"),
        ("up", "shop", "--store", "sqlite:////proc/none/x.db", "--no-browser", "--port", "0"),
        ("up", "shop", "--store", "sqlite:///relative.db"),
        ("up", "shop", "--store", "mysql://x"),
        ("up", "shop", *QUIET, "--token-file", "none"),
        ("up", "shop", *QUIET, "--token-file", "badtok"),
        ("up", "shop", *QUIET, "--token-file", "short"),
        ("up", "shop", *QUIET, "--agent", "nosuch"),
        ("up", "shop", *QUIET, "--agent", "script:none.json"),
        ("up", "shop", *QUIET, "--agent", "script:bad.json"),
        ("up", "shop", *QUIET, "--agent", "script:odd.json"),
        ("up", "shop", *QUIET, "--config", "none.toml"),
        ("up", "notoml", *QUIET),
        ("up", "badtool", *QUIET),
        ("up", "shop", *QUIET, "--set", "turn_timout=1"),
        ("up", "shop", *QUIET, "--set", "turn_timeout"),
        ("up", "shop", *QUIET, "--set", "turn_timeout=soon"),
        ("up", "shop", *QUIET, "--set", "turn_timeout=0"),
        ("serve", "--host", "0.0.0.0", "--port", "0", "--store", "memory:"),
        ("serve", "--bus", "nats://x"),
        ("serve", "--port", "0", "--store", "memory:", "--cert", "none", "--key", "none"),
        ("serve", "--port", "0", "--store", "memory:", "--cert", "badtok", "--key", "badtok"),
        ("serve", "--project", "a=shop", "--project", "a=notoml"),
        ("serve", "--project", "a=nowhere"),
        ("chat", "-m", "hi", "--url", ELSEWHERE),
        ("chat", "-m", "hi", "--url", "nonsense"),
        ("chat", "-m", "hi", "--url", ELSEWHERE, "--token-file", "none"),
        ("chat", "-m", "hi", "--url", ELSEWHERE, "--local-tools", "nowhere"),
        ("ide", "nowhere"),
        ("ide", "shop", "--url", ELSEWHERE, "--attempts", "1"),
        ("call", "nosuch"),
        ("call", "grep_file"),
        ("call", "grep_file", "pattern"),
        ("call", "grep_file", "pattern=x", "patern=y"),
        ("call", "read_file", "path=a", "--url", ELSEWHERE),
        ("tools", "nosuch"),
        ("service", "--path", "nowhere"),
        ("sessions", "--url", ELSEWHERE),
        ("sessions", "show", "nosuch", "--store", "sqlite:////tmp/none/x.db"),
        ("replay", "nosuch", "--url", ELSEWHERE),
        ("audit", "verify", "none"),
        ("audit", "verify", "--store", "sqlite:////tmp/none/x.db"),
        ("token", "list", "--file", "none"),
        ("token", "revoke", "bob", "--file", "none"),
        ("token", "revoke", "bob", "--file", "tokens"),
        ("nosuch",),
        ("upp",),
    ],
    ids=" ".join,
)
def test_an_error_says_what_was_wrong_and_what_to_do(files: Here, words: tuple[str, ...]) -> None:
    done = files(*words)
    assert done.returncode in (1, 2)
    told = [line for line in done.stderr.splitlines() if not line.startswith("○")]
    assert told[0].startswith("toolwire: ")
    assert told[-1].startswith("  ")
    for unwanted in ("Traceback", "Errno", "should not have happened"):
        assert unwanted not in done.stderr


def test_a_port_that_is_taken_names_the_next_one(files: Here) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = files("up", "shop", "--no-browser", "--store", "memory:", "--port", str(port))
    assert f"port {port} on 127.0.0.1 is taken" in done.stderr
    assert f"--port {port + 1}" in done.stderr


def test_a_setting_that_is_misspelt_is_guessed(files: Here) -> None:
    done = files("up", "shop", *QUIET, "--set", "turn_timout=1")
    assert "did you mean turn_timeout" in done.stderr


def test_an_argument_that_is_misspelt_is_guessed(files: Here) -> None:
    done = files("call", "grep_file", "pattern=x", "file_typ=py")
    assert "did you mean file_type?" in done.stderr


def test_what_a_gateway_refuses_is_explained_too(shared: tuple[Place, str], here: Here) -> None:
    _, url = shared
    project = here("chat", "-m", "hi", "--url", url, "--project", "nope")
    assert "name one of its projects with --project" in project.stderr
    for words in (("sessions", "show", "nosuch"), ("replay", "nosuch")):
        assert "`toolwire sessions` lists them" in here(*words, "--url", url).stderr
