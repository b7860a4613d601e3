"""The page when the gateway goes away, comes back, or asks who is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from websockets.sync.client import connect

from browser.conftest import Open, Serve
from browser.looks import Looks
from browser.served import Served

SAYS: list[dict[str, Any]] = [
    {"match": "hold", "steps": [{"say": "Holding. "}, {"sleep_ms": 600_000}]},
    {"steps": [{"say": ["Read ", "it."]}, {"call": [{"tool": "read_file", "arguments": {"path": "main.py"}}]}]},
]
TOKEN = "correct-horse-battery-staple"


@pytest.fixture(scope="module")
def gateway(serve: Serve) -> Served:
    return serve(SAYS)


@pytest.fixture
def doomed(serve: Serve) -> Served:
    """A gateway to be killed."""
    return serve(SAYS)


@pytest.fixture(scope="module")
def guarded(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Served:
    file: Path = tmp_path_factory.mktemp("secret") / "token.txt"
    file.write_text(TOKEN + "\n")
    return serve(SAYS, token_file=file)


def expect_questions(page: Looks, *questions: str) -> None:
    expect(page.page.locator("article.turn > h2")).to_have_text(list(questions))


def test_after_a_crash_the_page_goes_on_where_it_was(doomed: Served, open_page: Open) -> None:
    page = open_page(doomed.url)
    page.ask("first")
    page.expect_turn(0, "completed")
    page.ask("hold on")
    expect(page.turn(1).locator(".prose")).to_have_text("Holding.")
    doomed.kill()
    page.expect_connection("Reconnecting…")
    expect(page.page.locator("#reconnect")).to_contain_text("Reconnecting")
    page.ask("asked while it was down")
    page.expect_turn(2, "unsent")
    doomed.start()
    page.expect_connection("Connected")
    page.expect_turn(1, "failed")
    page.expect_turn(2, "completed")
    expect(page.page.locator("#reconnect")).to_be_hidden()
    expect_questions(page, "first", "hold on", "asked while it was down")
    expect(page.calls(2)).to_have_count(1)
    page.page.reload()
    page.expect_turn(2, "completed")
    expect_questions(page, "first", "hold on", "asked while it was down")


def test_a_gateway_with_another_log_is_read_from_its_start(doomed: Served, serve: Serve, open_page: Open) -> None:
    page = open_page(doomed.url)
    page.ask("first")
    page.expect_turn(0, "completed")
    doomed.kill()
    page.expect_connection("Reconnecting…")
    serve(SAYS, port=doomed.port)  # the same address, a new store
    page.expect_connection("Connected")
    page.ask("second")
    page.expect_turn(-1, "completed")
    expect_questions(page, "second")


def test_a_question_asked_at_once_is_not_lost(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.page.route("**/api/about", lambda route: None)  # never answers
    page.page.reload()
    page.ask("early")
    page.expect_turn(0, "completed")


def test_a_question_the_gateway_refuses_says_why(serve: Serve, open_page: Open) -> None:
    page = open_page(serve(SAYS, overrides=("queue_limit=1",)).url)
    page.ask("hold on")
    page.expect_turn(0, "running")
    page.ask("this one waits")
    page.expect_turn(1, "asked")
    page.ask("one too many")
    page.expect_turn(2, "failed")
    expect(page.turn(2).locator(".problem")).to_contain_text("QUEUE_FULL")


def test_a_call_by_another_client_of_the_session_is_shown(gateway: Served, open_page: Open) -> None:
    page = open_page(f"{gateway.url}/#/s/shared")
    page.expect_connection("Connected")
    address = f"ws://127.0.0.1:{gateway.port}/ws/agent/chat?sessionId=shared&projectKey=shop"
    with connect(address) as plugin:
        plugin.send(
            '{"type":"TOOL_CALL","toolCallId":"c-1","toolName":"read_file","params":{"relativePath":"main.py"}}'
        )
        page.expect_turn(0, "completed")
    expect(page.calls(0)).to_have_attribute("data-state", "ok")
    expect(page.page.get_by_role("button", name="Stop")).to_be_hidden()


def test_a_page_whose_gateway_never_answers_says_so(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.page.route("**/api/about", lambda route: route.abort())
    page.page.reload()
    expect(page.page.get_by_role("alert").filter(has_text="Is it running?")).to_be_visible()


def test_a_token_is_asked_for_until_it_is_right(guarded: Served, open_page: Open) -> None:
    page = open_page(guarded.url)
    expect(page.page.get_by_role("dialog")).to_be_visible()
    page.give_token("not-the-right-token")
    expect(page.page.locator("#token-problem")).to_contain_text("not known here")
    page.page.keyboard.press("Escape")
    expect(page.page.get_by_role("dialog")).to_be_visible()
    page.let_in(TOKEN)
    page.ask("Where does it start?")
    page.expect_turn(0, "completed")
    assert TOKEN not in page.page.url
    page.page.reload()
    page.expect_turn(0, "completed")
    expect(page.page.get_by_role("dialog")).to_be_hidden()


def test_a_token_that_is_no_longer_valid_is_asked_for_again(guarded: Served, open_page: Open) -> None:
    page = open_page(guarded.url)
    page.let_in(TOKEN)
    page.ask("first")
    page.expect_turn(0, "completed")
    page.page.evaluate("sessionStorage.setItem('toolwire.token', 'withdrawn-in-the-meantime')")
    page.page.reload()
    expect(page.page.locator("#token-problem")).to_contain_text("not known here")
    page.let_in(TOKEN)
    page.expect_turn(0, "completed")
    page.ask("second")
    page.expect_turn(1, "completed")


def test_a_token_a_browser_cannot_send_is_explained(guarded: Served, open_page: Open) -> None:
    page = open_page(guarded.url)
    page.give_token("with a space in it")
    expect(page.page.locator("#token-problem")).to_contain_text("letters, digits")
