from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cli.processes import Here, Place
from toolwire.agents.script import parse_script
from toolwire.cli import main
from toolwire.cli.replay import pause
from toolwire.cli.script_of import script_of
from toolwire.core.events import (
    CallRequested,
    CallSettled,
    Said,
    Thought,
    TurnAsked,
    TurnEnded,
    TurnStarted,
)
from toolwire.settings import Settings
from toolwire.store import open_store
from toolwire.store.sqlite_reading import reading


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A store with two sessions in it, its gateway gone."""
    place = Place(tmp_path_factory.mktemp("recorded"))
    with place.gateway() as (_, url):
        for session, question in (("first", "open it"), ("second", "please fail")):
            main(["chat", "-m", question, "--url", url, "--session", session])
    return place


def test_sessions_are_listed_the_latest_first(recorded: Place, here: Here) -> None:
    done = here("sessions", "--store", recorded.store)
    assert done.returncode == 0
    header, *lines = done.stdout.splitlines()
    assert header.split() == ["session", "used", "turns", "open", "last", "prompt"]
    assert [line.split()[0] for line in lines] == ["second", "first"]
    assert lines[0].rstrip().endswith("please fail")


def test_with_json_a_session_is_a_line(recorded: Place, here: Here) -> None:
    lines = [json.loads(line) for line in here("sessions", "--store", recorded.store, "--json").stdout.splitlines()]
    assert [(line["name"], line["turns"], line["open"]) for line in lines] == [("second", 1, 0), ("first", 1, 0)]


@pytest.mark.parametrize("order", ["before", "after"])
def test_show_tells_the_story(recorded: Place, here: Here, order: str) -> None:
    store = ("--store", recorded.store)
    words = ("sessions", *store, "show", "first") if order == "before" else ("sessions", "show", "first", *store)
    shown = here(*words).stdout
    assert shown.startswith("› open it\nOpening main.py...\n→ read_file path=")
    assert "It says: print('hi')" in shown
    assert "■ answered in" in shown


def test_replay_tells_the_same_in_its_own_time(recorded: Place, here: Here) -> None:
    shown = here("sessions", "show", "first", "--store", recorded.store).stdout
    assert here("replay", "first", "--store", recorded.store, "--speed", "0").stdout == shown
    assert here("replay", "first", "--store", recorded.store, "--speed", "50").stdout == shown


def test_replay_with_json_gives_the_events_of_the_log(recorded: Place, here: Here) -> None:
    events = [
        json.loads(line) for line in here("replay", "first", "--store", recorded.store, "--json").stdout.splitlines()
    ]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[0]["kind"] == "turn_asked"
    assert events[-1]["kind"] == "turn_ended"


def test_a_session_that_does_not_exist_is_told(recorded: Place, here: Here) -> None:
    for words in (("replay", "third"), ("sessions", "show", "third"), ("sessions", "export", "third")):
        done = here(*words, "--store", recorded.store)
        assert done.returncode == 1
        assert "no session 'third'" in done.stderr


def test_a_gateway_is_asked_instead_of_its_store(recorded: Place, here: Here) -> None:
    with recorded.gateway() as (_, url):
        for words in (("sessions", "--json"), ("replay", "first", "--json"), ("sessions", "show", "second")):
            assert here(*words, "--url", url).stdout == here(*words, "--store", recorded.store).stdout
        unknown = here("replay", "third", "--url", url)
        assert unknown.returncode == 1
        assert "no session 'third'" in unknown.stderr


def test_an_exported_session_answers_as_it_was_answered(recorded: Place, here: Here, tmp_path: Path) -> None:
    script = tmp_path / "again.json"
    assert here("sessions", "export", "first", "-o", str(script), "--store", recorded.store).returncode == 0
    assert json.loads(script.read_text())["turns"][0]["once"] is True
    place = Place(tmp_path)
    with place.gateway("--agent", f"script:{script}") as (_, url):
        again = here("chat", "-m", "open it", "--url", url, "--session", "first", "--json")
        assert again.returncode == 0
        used_up = here("chat", "-m", "open it", "--url", url)
        assert used_up.returncode == 1
    told = _kinds(here("replay", "first", "--store", place.store, "--json").stdout)
    assert told == _kinds(here("replay", "first", "--store", recorded.store, "--json").stdout)


def _kinds(lines: str) -> list[tuple[str, str]]:
    events = [json.loads(line) for line in lines.splitlines()]
    return [(event["kind"], event.get("text", "") or json.dumps(event.get("arguments"))) for event in events]


def test_a_script_keeps_runs_batches_and_failures_apart() -> None:
    asked = TurnAsked(1, 0, "t", "t", "why (not)?", "c")
    script = script_of(
        [
            asked,
            TurnStarted(2, 0, "t", "t"),
            Said(3, 0, "t", "t", "a", 0),
            Said(4, 0, "t", "t", "", 1, final=True),
            Said(5, 0, "t", "t", "b", 2, final=True),
            CallRequested(6, 0, "t", "t", "c1", "grep_file", {"pattern": "x"}),
            CallRequested(7, 0, "t", "t", "c2", "read_file", {"path": "y"}),
            CallSettled(8, 0, "t", "t", "c1", "grep_file", "ok"),
            CallSettled(9, 0, "t", "t", "c2", "read_file", "ok"),
            CallRequested(10, 0, "t", "t", "c3", "read_file", {"path": "z"}),
            CallSettled(11, 0, "t", "t", "c3", "read_file", "failed", error="no"),
            Thought(12, 0, "t", "t", "hm", "planning", 2, 40),
            TurnEnded(13, 0, "t", "t", "c", "failed", "why (not)?", message="broken"),
            TurnAsked(14, 0, "u", "u", "never ran", "c"),
            TurnEnded(15, 0, "u", "u", "c", "cancelled", "never ran"),
        ]
    )
    assert script == {
        "turns": [
            {
                "match": r"^why\ \(not\)\?$",
                "once": True,
                "steps": [
                    {"say": ["a", ""]},
                    {"say": ["b"]},
                    {
                        "call": [
                            {"tool": "grep_file", "arguments": {"pattern": "x"}},
                            {"tool": "read_file", "arguments": {"path": "y"}},
                        ]
                    },
                    {"call": [{"tool": "read_file", "arguments": {"path": "z"}}]},
                    {"think": "hm", "stage": "planning", "percent": 40},
                    {"fail": "broken"},
                ],
            }
        ]
    }
    assert parse_script(json.dumps(script), "export").turns[0].once


@pytest.mark.parametrize(
    ("gap_ms", "speed", "seconds"), [(100, 1, 0.1), (100, 2, 0.05), (60_000, 1, 2.0), (60_000, 4, 0.5), (-5, 1, 0.0)]
)
def test_pauses_are_those_of_the_log_but_never_long(gap_ms: int, speed: float, seconds: float) -> None:
    assert pause(gap_ms, speed) == seconds


@pytest.mark.parametrize("words", [("sessions",), ("replay", "first"), ("sessions", "show", "first")])
def test_looking_at_a_store_changes_nothing_in_it(recorded: Place, here: Here, words: tuple[str, ...]) -> None:
    file = recorded.folder / "toolwire.db"
    before = file.read_bytes(), file.stat().st_mtime_ns
    assert here(*words, "--store", recorded.store).returncode == 0
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before


async def test_a_store_beside_which_nothing_can_be_made_is_read(tmp_path: Path) -> None:
    file = tmp_path / "toolwire.db"
    store = open_store(f"sqlite:///{file}")
    await store.start()
    await store.open_session("default", "first", epoch="e", now=1)
    await store.close()
    for name in ("shm", "wal"):
        file.with_name(f"toolwire.db-{name}").unlink(missing_ok=True)
    file.with_name("toolwire.db-shm").mkdir()  # as in a folder that can't be written, also for root
    with reading(file, Settings()) as reader:
        assert [line.name for line in reader.sessions(10)] == ["first"]


def test_a_store_of_an_older_layout_is_not_brought_up_to_date_by_looking(tmp_path: Path, here: Here) -> None:
    file = tmp_path / "old.db"
    with closing(sqlite3.connect(file)) as old:
        old.execute("CREATE TABLE meta (version INTEGER NOT NULL)")
        old.execute("INSERT INTO meta VALUES (1)")
        old.commit()
    before = file.read_bytes()
    done = here("sessions", "--store", f"sqlite:///{file}")
    assert done.returncode == 1
    assert "layout version 1" in done.stderr
    assert "start its gateway once" in done.stderr
    assert file.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"not a database at all, but a text that is long enough" * 10])
def test_a_file_that_is_no_store_is_told_as_such(tmp_path: Path, here: Here, content: bytes) -> None:
    file = tmp_path / "other.db"
    file.write_bytes(content)
    done = here("replay", "first", "--store", f"sqlite:///{file}")
    assert done.returncode == 1
    assert "not a" in done.stderr
    assert file.read_bytes() == content


def test_a_missing_store_is_not_made(tmp_path: Path, here: Here) -> None:
    done = here("replay", "first", "--store", f"sqlite:///{tmp_path}/none.db")
    assert done.returncode == 2
    assert "nothing is recorded yet" in done.stderr
    assert list(tmp_path.iterdir()) == []
