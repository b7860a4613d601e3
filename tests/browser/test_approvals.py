"""Confirmation on the page: asked in place, answered once, from here or from elsewhere."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from browser.conftest import Open, Serve
from browser.looks import Looks
from browser.served import Served

NOTE = {"tool": "Replace", "arguments": {"file_path": "note.txt", "content": "first\nsecond\n"}}
EDIT = {"tool": "Edit", "arguments": {"file_path": "none.py", "old_string": "a\nb\nc", "new_string": "a\nx\nc"}}
EVIL = {
    "tool": "Replace",
    "arguments": {"file_path": "a\u202egpj.sh", "content": "<img src=x onerror='window.pwned = 1'>\u200b"},
}
SAYS: list[dict[str, Any]] = [
    {"match": "three", "steps": [{"call": [NOTE, EDIT, NOTE]}, {"say": "all answered"}]},
    {"match": "edit", "steps": [{"call": [EDIT]}, {"say": "{{1}}"}]},
    {"match": "evil", "steps": [{"call": [EVIL]}, {"say": "done"}]},
    {"steps": [{"say": "I write a note."}, {"call": [NOTE]}, {"say": "It went so: {{1}}"}]},
]


@pytest.fixture(scope="module")
def gateway(serve: Serve) -> Served:
    return serve(SAYS, approve="writes")


def card(page: Looks, number: int = 0) -> Locator:
    return page.page.locator("#transcript .approval").nth(number)


def button(where: Locator, name: str) -> Locator:
    return where.get_by_role("button", name=name, exact=True)


def head(where: Locator) -> Locator:
    """The line that stays when the card is folded."""
    return where.locator("summary").first


def outcome(where: Locator) -> Locator:
    return head(where).locator(".call-status")


def fetched(gateway: Served, path: str, word: dict[str, Any] | None = None) -> Any:
    data = None if word is None else json.dumps(word).encode()
    request = urllib.request.Request(gateway.url + path, data=data, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def number_of(where: Locator) -> str:
    number = where.get_attribute("data-approval")
    assert number is not None
    return number


@pytest.fixture(autouse=True)
def no_note(shop: Path) -> None:
    """A file that is there can only be replaced by who has read it."""
    (shop / "note.txt").unlink(missing_ok=True)


def asked(gateway: Served, open_page: Open, question: str = "note", **context: Any) -> Looks:
    page = open_page(gateway.url, **context)
    page.ask(question)
    expect(card(page)).to_have_attribute("data-state", "pending")
    return page


def test_a_person_is_asked_where_it_happens_and_sees_what_and_why(gateway: Served, open_page: Open) -> None:
    page = asked(gateway, open_page)
    expect(page.turn(0).locator(".prose + .approval")).to_be_visible()
    shown = card(page)
    expect(head(shown)).to_contain_text("Replace")
    expect(head(shown)).to_contain_text("medium risk")
    expect(outcome(shown)).to_contain_text("min left")
    expect(shown).to_contain_text("Asked because it writes")
    expect(shown.locator(".asked-path code")).to_have_text("note.txt")
    expect(shown.locator("ins").first).to_have_text("+ first")
    expect(page.turn(0).locator(".turn-foot")).to_have_text("Waiting for approval…")
    expect(page.page.locator("#announcer")).to_have_text("Approval needed: Replace, medium risk.")


def test_a_yes_runs_the_call(gateway: Served, open_page: Open, shop: Path) -> None:
    page = asked(gateway, open_page)
    button(card(page), "Approve").click()
    page.expect_turn(0, "completed")
    expect(outcome(card(page))).to_have_text("approved by owner")
    expect(page.calls(0)).to_have_attribute("data-state", "ok")
    assert (shop / "note.txt").read_text() == "first\nsecond\n"


def test_an_edit_is_shown_as_a_diff(gateway: Served, open_page: Open) -> None:
    page = asked(gateway, open_page, "edit")
    expect(card(page).locator("del")).to_have_text("- b")
    expect(card(page).locator("ins")).to_have_text("+ x")
    expect(card(page).locator(".diff > span")).to_have_count(2)


def test_a_no_has_a_reason_and_the_agent_hears_it(gateway: Served, open_page: Open) -> None:
    page = asked(gateway, open_page)
    button(card(page), "Reject…").click()
    page.page.get_by_label("Why not?").fill("not on a Friday")
    page.page.keyboard.press("Enter")
    page.expect_turn(0, "completed")
    expect(page.turn(0).locator(".prose").last).to_contain_text("not on a Friday")
    head(card(page)).click()
    expect(card(page).locator(".outcome")).to_have_text("Rejected by owner: not on a Friday")


def test_changed_arguments_are_checked_here_and_by_the_gateway(gateway: Served, open_page: Open, shop: Path) -> None:
    page = asked(gateway, open_page)
    button(card(page), "Edit arguments…").click()
    field = page.page.get_by_label("Arguments of Replace, as JSON")
    fault = card(page).locator(".fault")
    field.fill('{"file_path": "note.txt",\n "content" 3}')
    expect(fault).to_contain_text("line 2 column 12")
    expect(field).to_have_attribute("aria-invalid", "true")
    field.fill("[1]")
    expect(fault).to_contain_text("JSON object")
    field.fill('{"file_path": "note.txt", "content": 12345678901234567890}')
    expect(fault).to_contain_text("arguments.content")
    field.fill('{"file_path": "note.txt"}')
    expect(fault).to_be_hidden()
    field.press("Control+Enter")
    expect(fault).to_contain_text("arguments.content: ")
    field.fill('{"file_path": "note.txt", "content": "другое 内容\\n"}')
    button(card(page), "Approve with these arguments").click()
    page.expect_turn(0, "completed")
    expect(outcome(card(page))).to_have_text("approved with other arguments by owner")
    assert (shop / "note.txt").read_text() == "другое 内容\n"


def test_it_can_be_answered_with_keys_alone_and_escape_leads_back(gateway: Served, open_page: Open) -> None:
    page = asked(gateway, open_page)
    head(card(page)).focus()
    for _ in range(3):  # the diff, the exact arguments, Approve
        page.page.keyboard.press("Tab")
    expect(button(card(page), "Approve")).to_be_focused()
    button(card(page), "Reject…").press("Enter")
    expect(page.page.get_by_label("Why not?")).to_be_focused()
    page.page.keyboard.press("Escape")
    expect(button(card(page), "Reject…")).to_be_focused()
    page.expect_turn(0, "running")
    button(card(page), "Approve").press("Enter")
    expect(card(page)).to_have_attribute("data-state", "approved")
    expect(head(card(page))).to_be_focused()


def test_an_answer_given_elsewhere_is_shown(gateway: Served, open_page: Open) -> None:
    page = asked(gateway, open_page)
    fetched(gateway, f"/api/approvals/{number_of(card(page))}", {"decision": "reject", "reason": "by phone"})
    expect(outcome(card(page))).to_have_text("rejected by owner")
    expect(card(page)).not_to_have_attribute("open", "")
    expect(page.page.locator("#announcer")).to_contain_text("by phone")


def test_a_second_answer_is_refused_by_name_and_the_first_one_shown(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url, viewport={"width": 900, "height": 700})
    page.page.route_web_socket("**/ws/**", lambda socket: _deaf_to_results(socket.connect_to_server(), socket))
    page.ask("note")
    expect(card(page)).to_have_attribute("data-state", "pending")
    fetched(gateway, f"/api/approvals/{number_of(card(page))}", {"decision": "reject", "reason": "first"})
    button(card(page), "Approve").click()
    expect(card(page).locator(".problem")).to_contain_text("APPROVAL_STALE: approval-")
    expect(card(page).locator(".outcome")).to_have_text("Rejected by owner: first")


def _deaf_to_results(server: Any, page: Any) -> None:
    server.on_message(lambda message: None if '"approval_result"' in str(message) else page.send(message))
    page.on_message(server.send)


def test_several_wait_at_once_and_are_answered_in_any_order(gateway: Served, open_page: Open) -> None:
    page = asked(gateway, open_page, "three")
    expect(page.page.locator("#transcript .approval")).to_have_count(3)
    for number in (2, 0, 1):
        button(card(page, number), "Approve").click()
        expect(card(page, number)).to_have_attribute("data-state", "approved")
    page.expect_turn(0, "completed")


def test_what_waits_is_there_after_a_reload(gateway: Served, open_page: Open) -> None:
    page = asked(gateway, open_page)
    page.page.reload()
    expect(card(page)).to_have_attribute("data-state", "pending")
    button(card(page), "Approve").click()
    page.expect_turn(0, "completed")
    page.page.reload()
    expect(card(page)).to_have_attribute("data-state", "approved")
    expect(card(page).get_by_role("button", name="Approve")).to_have_count(0)


def test_stopping_the_turn_withdraws_the_question(gateway: Served, open_page: Open) -> None:
    page = asked(gateway, open_page)
    page.question.press("Escape")
    page.expect_turn(0, "cancelled")
    expect(card(page)).to_have_attribute("data-state", "withdrawn")


def test_text_of_a_peer_stays_text_and_unseen_characters_are_shown(gateway: Served, open_page: Open) -> None:
    page = asked(gateway, open_page, "evil")
    expect(card(page).locator(".asked-path code")).to_have_text("aU+202Egpj.sh")
    expect(card(page).locator("ins")).to_have_text("+ <img src=x onerror='window.pwned = 1'>U+200B")
    assert page.page.evaluate("window.pwned ?? null") is None
    assert page.page.locator("#transcript img").count() == 0


DIFFS = """async () => {
  const { lineDiff } = await import("/console/linediff.js");
  let state = 7;
  const random = (below) => (state = (state * 48271) % 2147483647) % below;
  const text = () => Array.from({ length: random(12) }, () => "abc"[random(3)].repeat(random(2))).join("\\n");
  const side = (diff, mark) => diff.filter(([m]) => m === " " || m === mark).map(([, line]) => line).join("\\n");
  const wrong = [];
  for (let round = 0; round < 2000; round += 1) {
    const [before, after] = [text(), text()];
    const diff = lineDiff(before, after);
    if (side(diff, "-") !== before || side(diff, "+") !== after) wrong.push([before, after, diff]);
  }
  const long = Array.from({ length: 20000 }, (_, number) => String(number * 7919 % 20011)).join("\\n");
  const turned = long.split("\\n").reverse().join("\\n");
  const diff = lineDiff(long, turned);
  if (side(diff, "-") !== long || side(diff, "+") !== turned) wrong.push("long");
  return wrong;
}"""


def test_both_sides_of_a_diff_can_be_read_from_it(gateway: Served, open_page: Open) -> None:
    assert open_page(gateway.url).page.evaluate(DIFFS) == []


def test_a_call_that_nobody_answers_expires_on_the_page(serve: Serve, open_page: Open) -> None:
    gateway = serve(SAYS, approve="writes", overrides=("approval_timeout=2",))
    page = open_page(gateway.url)
    page.ask("note")
    expect(card(page)).to_have_attribute("data-state", "expired")
    expect(outcome(card(page))).to_have_text("expired")
    page.expect_turn(0, "completed")
