from __future__ import annotations

import signal
import socket
from pathlib import Path

import pytest

from cli.processes import Place, started
from toolwire.cli import main
from toolwire.cli.options import project_key
from toolwire.cli.serve import projects_of
from toolwire.errors import ConfigError


def test_up_says_where_it_is_and_how_each_client_connects(place: Place) -> None:
    words = ("up", str(place.project), "--port", "0", "--no-browser", "--store", "memory:")
    with started(*words, state=place.folder) as up:
        lines = [up.line() for _ in range(15)]
        shown = "".join(lines)
        assert lines[0].startswith("Toolwire is ready: http://127.0.0.1:")
        assert f"project   shop = {place.project}" in shown
        for way in ("toolwire chat", "/ws/SESSION", "/ws/analyze?sessionId=", "/ws/agent/chat?", "toolwire ide PATH"):
            assert way in shown
        up.signal(signal.SIGINT)
        _, errors = up.rest()
        assert up.process.returncode == 0
        assert "Traceback" not in errors


def test_a_port_that_is_taken_is_told_with_what_to_do(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = place.run("up", str(place.project), "--port", str(port), "--no-browser", "--store", "memory:")
    assert done.returncode == 2
    assert f"port {port} on 127.0.0.1 is taken" in done.stderr
    assert "--port" in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["up", "/no/such/folder"], "/no/such/folder does not exist"),
        (["up", __file__], "is not a folder"),
        (["up", "--set", "no_such=1"], "no such setting"),
        (["up", "--agent", "magic"], "no agent called 'magic'"),
        (["serve", "--bus", "nats://x"], "no such bus"),
        (["serve", "--store", "nothing:"], "no such kind of store"),
        (["serve", "--host", "0.0.0.0"], "a token is required"),
        (["serve", "--cert", "x"], "TLS needs both"),
        (["serve", "--project", "a=/no/such/folder"], "is not a folder"),
        (["serve", "--project", "a=/tmp", "--project", "a=/var"], "two projects are called a"),
        (["ide", "--url", "telnet://x"], "is not a URL of a gateway"),
        (["ide", "--token-file", "/no/such/file"], "can't read the token file"),
        (["ide", "--ca", "/no/such/file"], "can't use /no/such/file"),
        (["sessions", "--store", "memory:"], "can't be read from here"),
        (["sessions", "--store", "sqlite:////no/such/file"], "nothing is recorded yet"),
        (["sessions", "--store", "sqlite:////x", "--url", "ws://x"], "two places"),
        (["tools", "make_coffee"], "no tool called make_coffee"),
        (["call", "make_coffee"], "no tool called make_coffee"),
        (["call", "read_file", "path"], "is not KEY=VALUE"),
    ],
)
def test_a_mistake_is_one_readable_line_and_exit_code_2(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert main(words) == 2
    shown = capsys.readouterr()
    assert told in shown.err
    assert shown.err.startswith("toolwire: ")
    assert len(shown.err.splitlines()) <= 2
    assert shown.out == ""


def test_projects_keep_their_order_and_bare_folders_are_named_after_themselves(tmp_path: Path) -> None:
    (tmp_path / "my shop").mkdir()
    found = projects_of([f"b={tmp_path}", str(tmp_path / "my shop")])
    assert list(found.items()) == [("b", tmp_path), ("my-shop", tmp_path / "my shop")]
    assert project_key(Path("/")) == "project"
    with pytest.raises(ConfigError):
        projects_of(["x=/a", "x=/b"])
