"""Confirmation on a real terminal: asked in the middle of an answer, taken back when it is answered elsewhere."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from cli.processes import Place
from cli.terminals import CTRL_C, CTRL_D, ENTER, Terminal, terminal

ASK = "allow it? (y)es (n)o (e)dit"
NEW = {"tool": "Replace", "arguments": {"path": "new.txt", "content": "раз\n二\n"}}
LONG = {"tool": "Replace", "arguments": {"path": "long.txt", "content": "".join(f"row {n}\n" for n in range(60))}}
EVIL = {"tool": "Replace", "arguments": {"path": "a\u202egpj.sh", "content": "\x1b[31mred\u200b"}}
SAYS: list[dict[str, Any]] = [
    {"match": "long", "steps": [{"call": [LONG]}, {"say": ["{{1}}"]}]},
    {"match": "evil", "steps": [{"call": [EVIL]}, {"say": ["over"]}]},
    {"match": "both", "steps": [{"call": [NEW, LONG]}, {"say": ["over"]}]},
    {"match": "then", "steps": [{"call": [NEW]}, {"say": ["working"]}, {"sleep_ms": 600_000}]},
    {"match": "late", "steps": [{"say": ["soon"]}, {"sleep_ms": 700}, {"call": [NEW]}, {"say": ["over"]}]},
    {"steps": [{"say": ["I write."]}, {"call": [NEW]}, {"say": ["So: {{1}}"]}]},
]


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Place, str]]:
    place = Place(tmp_path_factory.mktemp("asking"))
    place.script.write_text(json.dumps({"turns": SAYS}))
    with place.gateway("--approve", "writes") as (_, url):
        yield place, url


def waits(screen: Terminal, prompt: str = ASK) -> list[str]:
    """Until the last line is a question to the person."""
    return screen.show(lambda lines: bool(lines) and lines[-1].strip().startswith(prompt))


def done(screen: Terminal) -> list[str]:
    return screen.show(lambda lines: bool(lines) and lines[-1] == "›")


def ask(screen: Terminal, text: str) -> list[str]:
    screen.see("›")
    screen.type(text + ENTER)
    return waits(screen)


def elsewhere(url: str, session: str, word: dict[str, Any]) -> None:
    base = url.replace("ws://", "http://")
    with urllib.request.urlopen(f"{base}/api/approvals?session={session}") as answer:
        (request,) = json.load(answer)["approvals"]
    sent = urllib.request.Request(
        f"{base}/api/approvals/{request['id']}", json.dumps(word).encode(), {"Content-Type": "application/json"}
    )
    urllib.request.urlopen(sent).close()


def test_what_is_asked_is_shown_in_place_and_a_yes_does_it(asking: tuple[Place, str]) -> None:
    place, url = asking
    (place.project / "new.txt").unlink(missing_ok=True)
    with terminal(place, "chat", "--url", url) as screen:
        shown = ask(screen, "write")
        assert "I write." in shown
        assert "? Replace  medium risk, 10 min to answer" in shown
        assert shown[-4:-1] == ["  new.txt", "  + раз", "  + 二"]
        assert any("--approve writes" in line for line in shown)
        screen.type("y" + ENTER)
        assert "  approved" in done(screen)
    assert (place.project / "new.txt").read_text() == "раз\n二\n"


def test_one_question_on_the_command_line_is_asked_about_too(asking: tuple[Place, str]) -> None:
    place, url = asking
    with terminal(place, "chat", "-m", "write", "--url", url) as screen:
        waits(screen)
        screen.type("y" + ENTER)
        screen.see("So:")
        assert screen.left() == 0


def test_a_no_has_a_reason_in_any_script(asking: tuple[Place, str]) -> None:
    place, url = asking
    with terminal(place, "chat", "--url", url) as screen:
        ask(screen, "write")
        screen.type("n" + ENTER)
        waits(screen, "why not?")
        screen.type("не сегодня 不行" + ENTER)
        assert any("rejected by owner (не сегодня 不行)" in line for line in done(screen))


def test_arguments_are_changed_in_place_until_they_fit(asking: tuple[Place, str]) -> None:
    place, url = asking
    (place.project / "new.txt").unlink(missing_ok=True)
    with terminal(place, "chat", "--url", url, columns=160) as screen:
        ask(screen, "write")
        screen.type("e" + ENTER)
        shown = waits(screen, "arguments:")
        assert '{"path": "new.txt", "content": "раз\\n二\\n"}' in shown[-1]
        screen.type("x" + ENTER)
        screen.see("not JSON: Extra data")
        waits(screen, "arguments:")
        screen.type("\x15" + '{"path": "new.txt"}' + ENTER)
        screen.see("✗ VALIDATION_FAILED")
        waits(screen)
        screen.type("e" + ENTER)
        waits(screen, "arguments:")
        screen.type("\x15" + '{"path": "new.txt", "content": "other"}' + ENTER)
        assert "  edited" in done(screen)
    assert (place.project / "new.txt").read_text().strip() == "other"


def test_the_record_tells_who_was_asked_and_what_they_said(asking: tuple[Place, str]) -> None:
    place, url = asking
    with terminal(place, "chat", "--url", url, "--session", "told") as screen:
        ask(screen, "write")
        elsewhere(url, "told", {"decision": "reject", "reason": "by phone"})
        done(screen)
    told = place.run("sessions", "show", "told", "--url", url).stdout
    assert "? Replace (medium risk) waits for a person because it writes" in told
    assert "Replace rejected by owner: by phone" in told


def test_ctrl_c_at_the_question_stops_the_turn(asking: tuple[Place, str]) -> None:
    place, url = asking
    with terminal(place, "chat", "--url", url) as screen:
        ask(screen, "write")
        screen.type(CTRL_C)
        screen.see("stopping; Ctrl-C again leaves")
        screen.see("■ stopped")
        done(screen)
        screen.type("/quit" + ENTER)
        assert screen.left() == 0


def test_ctrl_c_after_an_answer_still_stops_the_turn(asking: tuple[Place, str]) -> None:
    place, url = asking
    with terminal(place, "chat", "--url", url) as screen:
        ask(screen, "then")
        screen.type("y" + ENTER)
        screen.see("working")
        screen.type(CTRL_C)
        screen.see("■ stopped")
        done(screen)


def test_ctrl_d_leaves_the_answer_to_somebody_else(asking: tuple[Place, str]) -> None:
    place, url = asking
    with terminal(place, "chat", "--url", url, "--session", "left-open") as screen:
        ask(screen, "write")
        screen.type(CTRL_D)
        screen.see("not answered here; it still waits:")
        screen.see("/#/approvals/approval-")
        elsewhere(url, "left-open", {"decision": "approve"})
        screen.see("So:")
        done(screen)


def test_an_answer_given_elsewhere_takes_the_question_back(asking: tuple[Place, str]) -> None:
    place, url = asking
    with terminal(place, "chat", "--url", url, "--session", "elsewhere") as screen:
        ask(screen, "write")
        screen.type("half a tho")
        elsewhere(url, "elsewhere", {"decision": "reject", "reason": "by phone"})
        shown = done(screen)
        assert "  rejected by owner, elsewhere: by phone" in shown
        screen.type("/quit" + ENTER)
        assert screen.left() == 0


def test_a_question_that_expires_is_taken_back(place: Place) -> None:
    place.script.write_text(json.dumps({"turns": SAYS}))
    with (
        place.gateway("--approve", "writes", "--set", "approval_timeout=2") as (_, url),
        terminal(place, "chat", "--url", url) as screen,
    ):
        screen.see("›")
        screen.type("write" + ENTER)
        screen.see("to answer")
        assert "  expired" in done(screen)


def test_several_are_asked_one_after_the_other(asking: tuple[Place, str]) -> None:
    place, url = asking
    with terminal(place, "chat", "--url", url) as screen:
        first = ask(screen, "both")
        screen.type("y" + ENTER)
        both = screen.show(lambda lines: lines.count("  approved") == 1 and lines[-1].strip().startswith(ASK))
        assert len([line for line in first if line.startswith("? ")]) == 1
        assert len([line for line in both if line.startswith("? ")]) == 2
        screen.type("y" + ENTER)
        screen.see("over")


def test_a_long_request_is_cut_and_shown_whole_when_asked(asking: tuple[Place, str]) -> None:
    place, url = asking
    with terminal(place, "chat", "--url", url) as screen:
        shown = ask(screen, "long")
        assert shown[-1].strip() == f"{ASK} (a)ll 61 lines:"
        assert "  + row 59" not in shown
        screen.type("a" + ENTER)
        screen.show(lambda lines: "  + row 59" in lines and lines[-1].strip().startswith(ASK))


def test_characters_that_cannot_be_seen_are_shown_by_number(asking: tuple[Place, str]) -> None:
    place, url = asking
    with terminal(place, "chat", "--url", url) as screen:
        shown = ask(screen, "evil")
        assert "  a<U+202E>gpj.sh" in shown
        assert "  + <U+001B>[31mred<U+200B>" in shown


def test_keys_pressed_before_anybody_was_asked_are_no_answer(asking: tuple[Place, str]) -> None:
    place, url = asking
    with terminal(place, "chat", "--url", url) as screen:
        screen.see("›")
        screen.type("late" + ENTER)
        screen.see("soon")
        screen.type("y" + ENTER)
        waits(screen)
        screen.type("n" + ENTER)
        waits(screen, "why not?")


def test_a_question_fits_a_narrow_terminal(asking: tuple[Place, str]) -> None:
    place, url = asking
    with terminal(place, "chat", "--url", url, columns=40) as screen:
        shown = ask(screen, "write")
        assert shown[-1] == f"  {ASK}:"
        assert "  because it writes, and this gateway" in shown
        assert "  asks before an agent writes (--approve" in shown
