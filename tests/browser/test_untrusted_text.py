"""What agents, tools and files say is text, whatever it looks like."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import Open, Serve
from browser.looks import Looks
from browser.served import Served

EVIL = (
    "<script>window.pwned = 1</script> <img src=x onerror='window.pwned = 2'> <iframe srcdoc=x></iframe>\n\n"
    "[click](javascript:window.pwned=3) [data](data:text/html,x) ![pic](https://example.invalid/x.png)\n\n"
    '```html"><b>\n<b onclick=alert(1)>bold</b>\n```\n\n'
    '[fine](https://example.com/?a=<b>&c="d) <https://example.org>\n'
)
FORBIDDEN = (
    "script, img, iframe, b, object, embed, style, svg, [onerror], [onclick], a[href^='javascript'], a[href^='data']"
)
SAYS: list[dict[str, Any]] = [
    {
        "match": "tools",
        "steps": [
            {
                "call": [
                    {"tool": "read_file", "arguments": {"path": "evil.html"}},
                    {"tool": "read_file", "arguments": {"path": "<img src=x onerror='window.pwned = 4'>"}},
                    {"tool": "<b>no such tool</b>", "arguments": {}},
                ]
            },
            {"fail": "<img src=x onerror='window.pwned = 5'>"},
        ],
    },
    {"steps": [{"say": [EVIL[at : at + 7] for at in range(0, len(EVIL), 7)]}]},
]


@pytest.fixture(scope="module")
def gateway(serve: Serve) -> Served:
    return serve(SAYS)


def assert_harmless(page: Page) -> None:
    assert page.evaluate("window.pwned") is None
    expect(page.locator("#transcript").locator(FORBIDDEN)).to_have_count(0)


def test_html_in_an_answer_is_shown_as_text(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.ask("answer")
    page.expect_turn(0, "completed")
    prose = page.turn(0).locator(".prose")
    expect(prose).to_contain_text("<script>window.pwned = 1</script>")
    expect(prose.locator("pre")).to_have_text("<b onclick=alert(1)>bold</b>")
    assert_harmless(page.page)


def test_links_lead_to_web_pages_only_and_never_back_here(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.ask("answer")
    page.expect_turn(0, "completed")
    links = page.turn(0).locator(".prose a")
    hrefs = [link.get_attribute("href") or "" for link in links.all()]
    assert hrefs == [
        "https://example.invalid/x.png",
        "https://example.com/?a=%3Cb%3E&c=%22d",
        "https://example.org/",
    ]
    assert {link.get_attribute("rel") for link in links.all()} == {"noopener noreferrer"}


def test_html_in_tools_arguments_results_and_errors_is_shown_as_text(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.ask("tools")
    page.expect_turn(0, "failed")
    expect(page.calls(0)).to_have_count(3)
    for card in page.calls(0).all():
        card.locator("summary").click()
    expect(page.calls(0).nth(0).locator(".call-outcome pre")).to_contain_text("<script>window.pwned = 1</script>")
    expect(page.calls(0).nth(2).locator(".call-tool")).to_have_text("<b>no such tool</b>")
    expect(page.turn(0).locator(".problem")).to_contain_text("<img src=x")
    assert_harmless(page.page)


def test_html_in_a_question_is_shown_as_text_everywhere(gateway: Served, open_page: Open) -> None:
    page: Looks = open_page(gateway.url)
    question = "<img src=x onerror='window.pwned = 6'> <b>why</b>?"
    page.ask(question)
    page.expect_turn(0, "completed")
    expect(page.page.locator("#title")).to_have_text(question)
    expect(page.page.locator("#sessions a[aria-current]")).to_contain_text("<b>why</b>")
    assert page.page.evaluate("window.pwned") is None


def test_even_an_injected_script_would_not_run(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.pwned = 7";
          document.body.append(script);
        }"""
    )
    page.page.wait_for_function("window.policyViolations.length === 1")
    assert page.page.evaluate("window.pwned") is None
    page.forgive()
