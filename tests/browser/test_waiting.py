"""What waits for a person's word in any session, seen and answered without opening it."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from browser.conftest import Open, Serve
from browser.looks import Looks
from browser.served import Served
from toolwire.server import tokens
from toolwire.server.tokens import Token

TOOLS = """
[[tool]]
id = "shop.deploy"
confirm = true
input = {type = "object", properties = {to = {type = "string"}}, required = ["to"]}
command = ["echo", "deployed to {to}"]
"""
NOTE = {"tool": "Replace", "arguments": {"file_path": "note.txt", "content": "x\n"}}
SAYS: list[dict[str, Any]] = [{"steps": [{"call": [NOTE]}, {"say": "It went so: {{1}}"}]}]
AT_ONCE = ("approval_wait=0.1",)
PHONE = {"width": 380, "height": 740}


@pytest.fixture(scope="module")
def factory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("factory")
    (root / "toolwire.toml").write_text(TOOLS)
    return root


@pytest.fixture
def gateway(serve: Serve, factory: Path) -> Served:
    return serve(SAYS, projects={"factory": factory}, approve="writes", overrides=AT_ONCE)


def deploy(gateway: Served, to: str, session: str = "release", token: str = "") -> dict[str, Any]:
    """A program's call, which does not wait long: it is told the number of the request."""
    call = {
        "trace_id": "tr_1",
        "idempotency_key": f"deploy-{to[:20]}",
        "session_id": session,
        "tool_id": "shop.deploy",
        "arguments": {"to": to},
    }
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    request = urllib.request.Request(
        f"{gateway.url}/agent/flash/tools/call", data=json.dumps(call).encode(), headers=headers
    )
    try:
        with urllib.request.urlopen(request) as answer:
            answered: dict[str, Any] = json.load(answer)
    except urllib.error.HTTPError as error:
        answered = json.load(error)
    return answered


def cards(page: Looks) -> Locator:
    return page.page.locator("#waiting-cards .approval")


def approve(card: Locator) -> None:
    card.get_by_role("button", name="Approve", exact=True).click()


def test_calls_of_other_sessions_are_listed_and_can_be_answered(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    expect(page.page.locator("#waiting-part")).to_be_hidden()
    assert deploy(gateway, "live")["error"]["reason_code"] == "APPROVAL_PENDING"
    deploy(gateway, "test", session="other")
    lines = page.page.locator("#waiting li")
    expect(lines).to_have_count(2)
    expect(page.page).to_have_title("(2) New session · Toolwire")
    lines.nth(1).get_by_role("link").click()
    expect(page.page.get_by_role("heading", name="Waiting for approval").last).to_be_visible()
    expect(cards(page).nth(1).locator("summary").first).to_be_focused()
    expect(cards(page).nth(1)).to_contain_text("registered to ask before every call")
    expect(cards(page).nth(1).locator(".values")).to_have_text("totest")
    approve(cards(page).nth(1))
    expect(cards(page).nth(1)).to_have_attribute("data-state", "approved")
    expect(lines).to_have_count(1)
    assert deploy(gateway, "test", session="other")["data"]["output"] == "deployed to test\n"


def test_an_empty_list_says_what_it_is_for(gateway: Served, open_page: Open) -> None:
    page = open_page(f"{gateway.url}/#/approvals")
    expect(page.page.locator("#none-waiting")).to_contain_text("--approve")
    deploy(gateway, "live")
    expect(cards(page)).to_have_count(1)
    expect(page.page.locator("#none-waiting")).to_be_hidden()


def test_what_is_answered_elsewhere_shows_in_the_list(gateway: Served, open_page: Open) -> None:
    number = deploy(gateway, "live")["error"]["approval_id"]
    page = open_page(f"{gateway.url}/#/approvals/{number}")
    expect(cards(page)).to_have_attribute("data-state", "pending")
    word = json.dumps({"decision": "reject", "reason": "no"}).encode()
    headers = {"Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(f"{gateway.url}/api/approvals/{number}", word, headers)).close()
    expect(cards(page)).to_have_attribute("data-state", "rejected")
    expect(page.page.locator("#waiting-part")).to_be_hidden()


def test_what_somebody_writes_is_not_lost_when_the_list_is_read_again(gateway: Served, open_page: Open) -> None:
    deploy(gateway, "live")
    page = open_page(f"{gateway.url}/#/approvals")
    cards(page).get_by_role("button", name="Reject…").click()
    page.page.get_by_label("Why not?").fill("because")
    deploy(gateway, "test")
    expect(cards(page)).to_have_count(2)
    expect(page.page.get_by_label("Why not?")).to_have_value("because")
    expect(page.page.get_by_label("Why not?")).to_be_focused()


def test_a_program_s_call_waits_through_a_crash_of_the_gateway(gateway: Served, open_page: Open) -> None:
    deploy(gateway, "live")
    page = open_page(f"{gateway.url}/#/s/release")
    card = page.page.locator("#transcript .approval")
    expect(card).to_have_attribute("data-state", "pending")
    page.expect_connection("Connected")
    gateway.kill()
    page.expect_connection("Reconnecting…")
    approve(card)
    expect(card.locator(".problem")).to_contain_text("The gateway does not answer")
    gateway.start()
    page.expect_connection("Connected")
    approve(card)
    expect(card).to_have_attribute("data-state", "approved")
    assert deploy(gateway, "live")["data"]["output"] == "deployed to live\n"
    expect(page.calls(-1)).to_have_attribute("data-state", "ok")


def test_a_question_asked_while_a_program_waits_is_answered(gateway: Served, open_page: Open) -> None:
    deploy(gateway, "live")
    page = open_page(f"{gateway.url}/#/s/release")
    waits = page.page.locator("#transcript .approval").first
    expect(waits).to_have_attribute("data-state", "pending")
    page.ask("write it")
    approve(page.turn(-1).locator(".approval"))
    page.expect_turn(-1, "completed")
    expect(waits).to_have_attribute("data-state", "pending")


def test_a_turn_that_a_crash_has_ended_waits_for_nothing(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.ask("write it")
    card = page.page.locator("#transcript .approval")
    expect(card).to_have_attribute("data-state", "pending")
    gateway.kill()
    gateway.start()
    expect(card).to_have_attribute("data-state", "withdrawn")
    expect(card.locator("summary .call-status").first).to_have_text("withdrawn")
    page.expect_turn(0, "failed")


def test_who_may_not_answer_is_told_so_on_the_card(
    serve: Serve, open_page: Open, factory: Path, tmp_path: Path
) -> None:
    file, viewer, editor = tmp_path / "tokens", tokens.fresh(), tokens.fresh()
    tokens.add(file, Token(tokens.hash_of(viewer), "vera", role="viewer"))
    tokens.add(file, Token(tokens.hash_of(editor), "ed", role="editor"))
    gateway = serve(SAYS, projects={"factory": factory}, token_file=file, overrides=AT_ONCE, approve="writes")
    deploy(gateway, "live", token=editor)
    page = open_page(f"{gateway.url}/#/approvals")
    page.let_in(viewer)
    approve(cards(page))
    expect(cards(page).locator(".problem")).to_contain_text(
        "PERMISSION_DENIED: only editor and above may answer this"
    )
    expect(cards(page)).to_have_attribute("data-state", "pending")


def test_a_phone_shows_what_waits_and_nothing_is_too_wide(gateway: Served, open_page: Open) -> None:
    deploy(gateway, "x" * 300)
    page = open_page(gateway.url, viewport=PHONE)
    page.page.get_by_role("link", name="1 call waiting for approval").click()
    expect(cards(page)).to_be_visible()
    assert page.page.evaluate("document.querySelector('#approvals').scrollWidth") <= PHONE["width"]
    cards(page).get_by_role("button", name="Edit arguments…").click()
    expect(page.page.get_by_label("Arguments of shop.deploy, as JSON")).to_be_in_viewport()
    assert page.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
