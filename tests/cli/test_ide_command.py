from __future__ import annotations

import json
import signal

import pytest

from cli.processes import ANSWER, Command, Here, Place, started


def ask(place: Place, url: str, session: str, question: str, dialect: str = "gateway") -> tuple[str, ...]:
    return ("chat", "-m", question, "--url", url, "--session", session, "--tools", "client", "--dialect", dialect)


@pytest.mark.parametrize("dialect", ["gateway", "agent_chat", "analyze"])
def test_it_runs_the_tools_of_a_session_over_any_dialect(shared: tuple[Place, str], here: Here, dialect: str) -> None:
    place, url = shared
    session = f"ide-{dialect}"
    words = ("ide", str(place.project), "--url", url, "--session", session, "--dialect", dialect, "--json")
    with started(*words, state=place.folder) as ide:
        ide.event("connected")
        done = here(*ask(place, url, session, "open it"))
        assert done.returncode == 0
        assert "print('hi')" in done.stdout
        assert [ide.event("result")["ok"] for _ in range(2)] == [True, False]
        ide.signal(signal.SIGINT)
        out, errors = ide.rest()
        assert (ide.process.returncode, errors) == (0, "")
        assert json.loads(out.splitlines()[-1]) == {"event": "closed"}


def test_people_read_what_it_does(shared: tuple[Place, str], here: Here) -> None:
    place, url = shared
    with started("ide", str(place.project), "--url", url, "--session", "readable", state=place.folder) as ide:
        assert ide.line() == f"● connected to {url}/ws/readable (session readable, gateway)\n"
        assert here(*ask(place, url, "readable", "open it")).stdout == ANSWER
        assert ide.line() == '→ read_file path="main.py"\n'
        assert ide.line().startswith("✓ read_file ")
        assert ide.line() == '→ read_file path="nope.py"\n'
        assert ide.line().startswith("✗ read_file ")


def test_a_write_lost_with_the_process_is_done_once_by_the_next_one(place: Place) -> None:
    """Killed after the call reached it and before it was begun: the ledger says so, and the call is sent again."""
    with place.gateway() as (_, url):
        words = ("ide", str(place.project), "--url", url, "--session", "crash", "--json")
        with started(*words, state=place.folder) as first:
            first.event("connected")
            first.signal(signal.SIGSTOP)
            with started(*ask(place, url, "crash", "write"), "--json", state=place.folder) as chat:
                _until(chat, "tool_call")
                first.process.kill()
                with started(*words, state=place.folder) as second:
                    assert second.event("result")["ok"] is True
                    out, _ = chat.rest()
                assert chat.process.returncode == 0, out
    assert (place.project / "new.txt").read_text() == "made by the agent\n"


def test_it_goes_on_after_the_gateway_was_killed_and_started_again(place: Place, here: Here) -> None:
    with place.gateway() as (gateway, url):
        words = ("ide", str(place.project), "--url", url, "--session", "again", "--json")
        with started(*words, "--set", "reconnect_most=0.2", state=place.folder) as ide:
            ide.event("connected")
            gateway.process.kill()
            gateway.process.wait()
            ide.event("disconnected")
            with place.gateway(port=int(url.rpartition(":")[2])):
                ide.event("connected")
                assert here(*ask(place, url, "again", "open it")).stdout == ANSWER


def test_a_gateway_that_will_not_have_it_ends_it_with_the_reason(place: Place, here: Here) -> None:
    tokens = place.folder / "tokens"
    tokens.write_text("0123456789abcdef0123456789abcdef\n")
    with place.gateway("--token-file", str(tokens)) as (_, url):
        done = here("ide", str(place.project), "--url", url)
        assert done.returncode == 1
        assert "--token-file" in done.stderr


def _until(command: Command, kind: str) -> None:
    while f'"{kind}"' not in (line := command.line()):
        assert line
