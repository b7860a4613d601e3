"""The page on screens of all sizes, in both colour schemes, and for people who don't see it."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from browser.conftest import Open, Serve
from browser.served import Served

PHONE = {"width": 360, "height": 740}
LONG = "x" * 400
SAYS: list[dict[str, Any]] = [
    {
        "steps": [
            {
                "say": f"{LONG}\n\n```\n{LONG}\n```\n\n| {LONG} | b |\n|---|---|\n| 1 | 2 |\n\nhttps://example.com/{LONG}"
            },
            {"call": [{"tool": "grep_file", "arguments": {"pattern": LONG}}]},
            {"say": "مرحبا بالعالم"},
        ]
    }
]
CONTRASTS = """() => {
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const luminance = (name) => {
    probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name);
    probe.fillRect(0, 0, 1, 1);
    const parts = [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => {
      const value = part / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const pairs = [];
  for (const ink of ["--ink", "--soft", "--copper", "--bad", "--ok"]) {
    for (const paper of ["--paper", "--rail", "--code"]) pairs.push([ink, paper]);
  }
  pairs.push(["--bad", "--bad-paper"], ["--on-copper", "--copper"]);
  return pairs.map(([ink, paper]) => {
    const [a, b] = [luminance(ink), luminance(paper)].sort((x, y) => y - x);
    return [`${ink} on ${paper}`, (a + 0.05) / (b + 0.05)];
  });
}"""
NAMELESS = """() => [...document.querySelectorAll("button, a, select, textarea, input")].filter((node) => {
  const label = node.labels?.[0]?.textContent ?? "";
  return !(node.textContent.trim() || label.trim() || node.getAttribute("aria-label"));
}).map((node) => node.outerHTML)"""


@pytest.fixture(scope="module")
def gateway(serve: Serve) -> Served:
    return serve(SAYS)


def test_nothing_is_wider_than_a_phone(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url, viewport=PHONE)
    page.ask(LONG)
    page.expect_turn(0, "completed")
    page.calls(0).locator("summary").click()
    width = "document.querySelector('#scroller').scrollWidth"
    assert page.page.evaluate(width) <= PHONE["width"]
    assert page.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.page.goto(f"{gateway.url}/#/connect")
    expect(page.page.get_by_role("heading", name="Connect a client")).to_be_visible()
    assert page.page.evaluate("document.querySelector('#connect').scrollWidth") <= PHONE["width"]


def test_the_menu_of_a_phone_opens_and_closes(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url, viewport=PHONE)
    new_session = page.page.get_by_role("button", name="New session")
    expect(new_session).to_be_hidden()
    page.page.get_by_role("button", name="Menu").click()
    expect(new_session).to_be_visible()
    page.page.keyboard.press("Escape")
    expect(new_session).to_be_hidden()


def test_text_from_right_to_left_runs_that_way(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.ask("hello")
    page.expect_turn(0, "completed")
    direction = page.turn(0).locator(".prose p").last.evaluate("(node) => getComputedStyle(node).direction")
    assert direction == "rtl"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_colour_schemes(gateway: Served, open_page: Open, scheme: str) -> None:
    page = open_page(gateway.url, color_scheme=scheme)
    weak = {name: ratio for name, ratio in page.page.evaluate(CONTRASTS) if ratio < 4.5}
    assert weak == {}


def test_everything_that_can_be_used_has_a_name(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.ask("hello")
    page.expect_turn(0, "completed")
    assert page.page.evaluate(NAMELESS) == []


def test_the_end_of_an_answer_is_announced(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.ask("hello")
    expect(page.page.locator("#announcer")).to_contain_text("Answer:")


def test_every_kind_of_client_finds_its_address(gateway: Served, open_page: Open) -> None:
    page = open_page(f"{gateway.url}/#/connect")
    address = f"ws://127.0.0.1:{gateway.port}"
    connect = page.page.locator("#connect")
    for text in (
        f"{address}/ws/my-session?projectKey=shop",
        f"{address}/ws/analyze?sessionId=my-session&projectKey=shop&projectPath=/path/to/it",
        f"{address}/ws/agent/chat?sessionId=my-session&projectKey=shop",
        f"toolwire ide . --url {address} --dialect agent_chat --session my-session",
    ):
        expect(connect.get_by_text(text, exact=True)).to_be_visible()


def test_a_command_can_be_copied(gateway: Served, open_page: Open) -> None:
    page = open_page(f"{gateway.url}/#/connect", permissions=["clipboard-read", "clipboard-write"])
    page.page.locator("#connect .copy").first.click()
    expect(page.page.locator("#connect .copy").first).to_have_text("Copied")
    assert page.page.evaluate("navigator.clipboard.readText()").startswith("ws://127.0.0.1:")


def test_the_way_back_from_the_clients_leads_to_the_same_session(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.ask("hello")
    page.expect_turn(0, "completed")
    page.page.locator("#connect-link").click()
    expect(page.page.get_by_role("heading", name="Connect a client")).to_be_visible()
    page.page.get_by_role("link", name="Back to the chat").click()
    expect(page.turn(0).get_by_role("heading", name="hello")).to_be_visible()
