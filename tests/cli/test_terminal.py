"""The chat on a real terminal (a pseudo-terminal), keys and all."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from cli.processes import Place, environment
from cli.terminals import COLOUR, CTRL_C, CTRL_D, ENTER, terminal
from support.patience import PATIENCE

WORDS = "Привет, мир. 你好，世界。"
SAYS: list[dict[str, Any]] = [
    {"match": "hold", "steps": [{"say": ["one ", "moment"]}, {"sleep_ms": 600_000}]},
    {"match": "世界", "steps": [{"say": [*WORDS, "\n\n", "- пункт\n- 项目\n"]}]},
    {
        "match": "long",
        "steps": [{"say": ["```\n", *(f"line {number}\n" for number in range(3000)), "```\n\nthe end"]}],
    },
    {
        "match": "wide",
        "steps": [
            {"say": ["A paragraph that has to be wrapped at the width of the terminal, between two words."]},
            {"call": [{"tool": "grep_file", "arguments": {"pattern": "x" * 50, "path": "."}}]},
        ],
    },
    {
        "steps": [
            {"say": ["Opening **main.py**"]},
            {"call": [{"tool": "read_file", "arguments": {"path": "main.py"}}]},
            {"say": ["It says: `{{1.content}}`"]},
        ]
    },
]


@pytest.fixture(scope="module")
def talking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Place, str]]:
    place = Place(tmp_path_factory.mktemp("talking"))
    place.script.write_text(json.dumps({"turns": SAYS}))
    with place.gateway() as (_, url):
        yield place, url


def test_ask_watch_stop_and_leave(talking: tuple[Place, str]) -> None:
    place, url = talking
    with terminal(place, "chat", "--url", url) as screen:
        screen.see("›")
        screen.type("open it" + ENTER)
        screen.see('→ read_file path="main.py"')
        screen.see("✓ read_file")
        screen.see("It says: print('hi')")
        shown = screen.show(lambda lines: lines[-1] == "›")
        assert "Opening main.py" in shown
        screen.type("hold on" + ENTER)
        screen.see("one moment")
        screen.type(CTRL_C)
        screen.see("stopping; Ctrl-C again leaves")
        screen.see("■ stopped")
        screen.see("›")
        screen.type("/quit" + ENTER)
        assert screen.left() == 0


def test_text_is_seen_while_it_is_written_and_once_in_the_end(talking: tuple[Place, str]) -> None:
    place, url = talking
    with terminal(place, "chat", "--url", url) as screen:
        screen.see("›")
        screen.type("hold on" + ENTER)
        screen.show(lambda lines: "one moment" in lines)
        screen.type(CTRL_C)
        shown = screen.show(lambda lines: lines[-1] == "›")
        assert shown.count("one moment") == 1


def test_a_second_ctrl_c_leaves_whether_the_first_was_heard_of_or_not(talking: tuple[Place, str]) -> None:
    place, url = talking
    with terminal(place, "chat", "--url", url) as screen:
        screen.see("›")
        screen.type("hold on" + ENTER)
        screen.see("one moment")
        screen.type(CTRL_C)
        screen.see("■ stopped")
        screen.see("›")
        screen.type(CTRL_C)
        assert screen.left() == 0


def test_a_second_ctrl_c_leaves_a_gateway_that_does_not_answer(place: Place) -> None:
    place.script.write_text(json.dumps({"turns": SAYS}))
    with place.gateway() as (gateway, url), terminal(place, "chat", "--url", url) as screen:
        screen.see("›")
        screen.type("hold on" + ENTER)
        screen.see("one moment")
        gateway.signal(signal.SIGSTOP)
        screen.type(CTRL_C)
        screen.see("stopping")
        screen.type(CTRL_C)
        assert screen.left() == 130


def test_a_second_ctrl_c_at_the_prompt_leaves(talking: tuple[Place, str]) -> None:
    place, url = talking
    with terminal(place, "chat", "--url", url) as screen:
        screen.see("›")
        screen.type(CTRL_C)
        screen.see("Ctrl-C again")
        screen.see("›")
        screen.type(CTRL_C)
        assert screen.left() == 0


def test_ctrl_d_leaves(talking: tuple[Place, str]) -> None:
    place, url = talking
    with terminal(place, "chat", "--url", url) as screen:
        screen.see("›")
        screen.type(CTRL_D)
        assert screen.left() == 0


def test_text_in_any_script_is_shown_as_it_is(talking: tuple[Place, str]) -> None:
    place, url = talking
    with terminal(place, "chat", "--url", url) as screen:
        screen.see("›")
        screen.type("скажи 世界" + ENTER)
        shown = screen.show(lambda lines: lines[-1:] == ["›"] and len(lines) > 3)
        assert "› скажи 世界" in shown
        assert WORDS in shown
        assert " • пункт" in shown
        assert " • 项目" in shown


def test_a_narrow_terminal_wraps_between_words_and_cuts_long_calls(talking: tuple[Place, str]) -> None:
    place, url = talking
    with terminal(place, "chat", "--url", url, columns=40) as screen:
        screen.see("›")
        screen.type("wide" + ENTER)
        shown = screen.show(lambda lines: lines[-1:] == ["›"] and "✓ grep_file" in lines)
        assert shown[1:4] == [
            "A paragraph that has to be wrapped at",
            "the width of the terminal, between two",
            "words.",
        ]
        (call,) = [line for line in shown if line.startswith("→ grep_file")]
        assert len(call) == 40
        assert call.endswith("…")


def test_a_resized_terminal_wraps_at_its_new_width(talking: tuple[Place, str]) -> None:
    place, url = talking
    with terminal(place, "chat", "--url", url, columns=100) as screen:
        screen.see("›")
        screen.resize(40)
        screen.type("wide" + ENTER)
        shown = screen.show(lambda lines: lines[-1:] == ["›"] and "✓ grep_file" in lines)
        assert "the width of the terminal, between two" in shown


def test_a_long_answer_is_there_in_order_and_without_repetition(talking: tuple[Place, str]) -> None:
    place, url = talking
    with terminal(place, "chat", "--url", url) as screen:
        screen.see("›")
        screen.type("a long one" + ENTER)
        shown = screen.show(lambda lines: "the end" in lines and lines[-1] == "›")
        numbers = [int(line.split()[1]) for line in shown if line.startswith(" line ")]
        assert numbers == list(range(3000 - len(numbers), 3000))
        assert len(numbers) > 1000


@pytest.mark.parametrize("plain", [True, False])
def test_colours_follow_the_user_s_wish(talking: tuple[Place, str], plain: bool) -> None:
    place, url = talking
    with terminal(place, "chat", "-m", "open it", "--url", url, more={"NO_COLOR": "1"} if plain else {}) as screen:
        screen.see("It says")
        assert screen.left() == 0
    coloured = [
        found for found in COLOUR.findall(screen.raw) if any(3 <= int(n) // 10 <= 4 for n in numbers_of(found))
    ]
    assert bool(coloured) is not plain


def numbers_of(sequence: str) -> list[str]:
    return [number for number in sequence[2:-1].split(";") if number]


def test_output_that_is_piped_is_plain_even_with_somebody_at_the_keyboard(talking: tuple[Place, str]) -> None:
    place, url = talking
    end, inner = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "toolwire", "chat", "-m", "open it", "--url", url],
        stdin=inner,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        env={name: value for name, value in environment(place.folder).items() if name != "NO_COLOR"},
        check=False,
    )
    os.close(end)
    os.close(inner)
    assert done.stdout == "Opening **main.py**\n\nIt says: `print('hi')\n`\n"
    assert "\x1b" not in done.stderr
