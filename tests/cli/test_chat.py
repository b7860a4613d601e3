from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from cli.processes import ANSWER, Here, Place, started


@pytest.mark.parametrize("dialect", ["gateway", "agent_chat", "analyze"])
def test_one_question_prints_the_answer_and_leaves(shared: tuple[Place, str], here: Here, dialect: str) -> None:
    _, url = shared
    done = here("chat", "-m", "open it", "--url", url, "--dialect", dialect)
    assert (done.returncode, done.stdout) == (0, ANSWER)
    notes = done.stderr.splitlines()
    assert '→ read_file path="main.py"' in notes
    assert "✓ read_file" in notes
    assert any(line.startswith("✗ read_file: ") and "nope.py" in line for line in notes)


def test_with_json_every_message_is_a_line_as_it_came(shared: tuple[Place, str], here: Here) -> None:
    _, url = shared
    done = here("chat", "-m", "open it", "--url", url, "--json")
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    assert [message["type"] for message in messages] == [
        "user_message",
        "assistant_message",
        "assistant_message",
        "tool_call",
        "tool_result",
        "tool_call",
        "tool_result",
        "assistant_message",
        "assistant_message",
        "turn_ended",
    ]
    assert done.returncode == 0


@pytest.mark.parametrize("dialect", ["gateway", "agent_chat", "analyze"])
def test_a_turn_that_fails_says_why_and_is_not_a_success(shared: tuple[Place, str], here: Here, dialect: str) -> None:
    _, url = shared
    done = here("chat", "-m", "please fail", "--url", url, "--dialect", dialect)
    assert done.returncode == 1
    assert done.stderr.count("no luck") == 1
    assert "Traceback" not in done.stderr


def test_questions_come_from_stdin_a_line_each(shared: tuple[Place, str]) -> None:
    place, url = shared
    done = place.run("chat", "--url", url, stdin="please fail\n\nopen it\n")
    assert done.returncode == 0
    assert done.stdout == "trying\n\n" + ANSWER


@pytest.mark.parametrize("dialect", ["gateway", "agent_chat", "analyze"])
def test_local_tools_run_here_and_not_in_the_gateway(
    shared: tuple[Place, str], here: Here, tmp_path: Path, dialect: str
) -> None:
    place, url = shared
    folder = tmp_path / "local"
    folder.mkdir()
    done = here("chat", "-m", "write", "--url", url, "--dialect", dialect, "--local-tools", str(folder))
    assert (done.returncode, done.stdout) == (0, "written\n")
    assert (folder / "new.txt").read_text() == "made by the agent\n"
    assert not (place.project / "new.txt").exists()


@pytest.mark.parametrize("dialect", ["gateway", "agent_chat", "analyze"])
def test_ctrl_c_stops_the_turn_and_the_gateway_records_it(
    shared: tuple[Place, str], here: Here, dialect: str
) -> None:
    place, url = shared
    session = f"stopped-{dialect}"
    words = ("chat", "-m", "slow", "--url", url, "--dialect", dialect, "--session", session, "--json")
    with started(*words, state=place.folder) as chat:
        while '"slow"' not in (line := chat.line()):
            assert line
        chat.signal(signal.SIGINT)
        out, err = chat.rest()
        assert chat.process.returncode == 130, (out, err)
    told = here("replay", session, "--url", url, "--json").stdout.splitlines()
    ended = [json.loads(line) for line in told if '"turn_ended"' in line]
    assert [event["outcome"] for event in ended] == ["cancelled"]


def test_no_gateway_there_says_how_to_start_one(here: Here) -> None:
    done = here("chat", "-m", "hello", "--url", "ws://127.0.0.1:1")
    assert done.returncode == 1
    assert done.stderr.startswith("toolwire: no gateway at ws://127.0.0.1:1: connection refused\n")
    assert "toolwire up" in done.stderr


def test_a_project_the_gateway_does_not_have_is_refused_with_the_reason(
    shared: tuple[Place, str], here: Here
) -> None:
    _, url = shared
    done = here("chat", "-m", "hello", "--url", url, "--project", "nowhere")
    assert done.returncode == 1
    assert "nowhere" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_session_is_gone_on_with_without_showing_it_all_again(shared: tuple[Place, str], here: Here) -> None:
    _, url = shared
    first = here("chat", "-m", "please fail", "--url", url, "--session", "goes-on")
    assert first.stdout == "trying\n"
    second = here("chat", "-m", "open it", "--url", url, "--session", "goes-on")
    assert second.stdout == ANSWER


def test_a_token_is_asked_for_and_taken_from_its_file(place: Place, here: Here) -> None:
    tokens = place.folder / "tokens"
    tokens.write_text("# for tests\n0123456789abcdef0123456789abcdef\n")
    with place.gateway("--token-file", str(tokens)) as (_, url):
        without = here("chat", "-m", "hello", "--url", url)
        assert without.returncode == 1
        assert "--token-file" in without.stderr
        done = here("chat", "-m", "open it", "--url", url, "--token-file", str(tokens))
        assert (done.returncode, done.stdout) == (0, ANSWER)
