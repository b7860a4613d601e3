"""What the page says where there is nothing yet, or something is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from browser.conftest import Open, Serve

READ = {"tool": "read_file", "arguments": {"path": "main.py"}}
SAYS: list[dict[str, Any]] = [
    {"match": "break", "once": True, "steps": [{"fail": "the model went away"}]},
    {"match": "break", "steps": [{"say": "Back again."}]},
    {"steps": [{"call": [READ]}, {"say": "Read it."}]},
]


def test_a_session_nobody_has_spoken_in_says_so(serve: Serve, open_page: Open) -> None:
    page = open_page(f"{serve(SAYS).url}/#/s/nothing-yet")
    expect(page.page.locator("#empty-session")).to_contain_text("nothing-yet")
    page.ask("hello")
    page.expect_turn(0, "completed")
    expect(page.page.locator("#empty-session")).to_be_hidden()


def test_a_gateway_without_projects_says_how_to_get_one_and_can_still_be_watched(
    serve: Serve, open_page: Open
) -> None:
    page = open_page(serve(SAYS, projects={}).url)
    expect(page.page.locator("#projectless")).to_contain_text("toolwire serve --project")
    expect(page.page.locator("#welcome")).to_be_hidden()
    page.ask("break")
    page.expect_turn(0, "failed")
    page.expect_connection("Connected")


def test_a_session_of_a_project_that_is_gone_says_what_is_asked_about_now(
    serve: Serve, open_page: Open, shop: Path, cellar: Path
) -> None:
    gateway = serve(SAYS, projects={"shop": shop})
    page = open_page(gateway.url)
    page.ask("hello")
    page.expect_turn(0, "completed")
    address = page.page.url
    gateway.stop()
    gateway.projects = {"cellar": cellar}
    gateway.start()
    page.page.goto("about:blank")
    page.go(address)
    expect(page.page.locator("#transcript > .problem")).to_contain_text("began in the project shop")
    page.expect_turn(0, "completed")


def test_a_question_that_failed_can_be_asked_again(serve: Serve, open_page: Open) -> None:
    page = open_page(serve(SAYS).url)
    page.ask("break")
    page.expect_turn(0, "failed")
    page.turn(0).get_by_role("button", name="Ask again").click()
    page.expect_turn(1, "completed")
    expect(page.turn(1).locator(".prose")).to_have_text("Back again.")
