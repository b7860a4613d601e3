"""The page, asked real questions over a real gateway."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from browser.conftest import Open, Serve
from browser.looks import Looks
from browser.served import Served


def call(path: str) -> dict[str, Any]:
    return {"tool": "read_file", "arguments": {"path": path}}


SAYS: list[dict[str, Any]] = [
    {"match": "hold", "steps": [{"say": "Holding. "}, {"sleep_ms": 600_000}, {"say": "never said"}]},
    {"match": "break", "steps": [{"say": "Trying. "}, {"fail": "the model went away"}]},
    {
        "match": "missing",
        "steps": [{"call": [call("none.py")]}, {"say": "It is not there."}],
    },
    {"match": "often", "steps": [{"call": [call(name) for name in ("main.py", "cart.py") * 3 + ("none.py",)]}]},
    {"match": "long", "steps": [{"say": [f"line {number}\n\n" for number in range(200)]}]},
    {"match": "pieces", "steps": [{"say": [f"piece{number} " for number in range(5000)]}]},
    {
        "match": "slowly",
        "steps": [
            {"say": [f"line {number}\n\n" for number in range(100)]},
            {"sleep_ms": 700},
            {"say": ["late\n\n"] * 50},
        ],
    },
    {
        "steps": [
            {"say": ["Reading ", "**main**."]},
            {"call": [call("main.py")]},
            {"say": ["It starts in ", "`main.py:4`", "."]},
        ]
    },
]


@pytest.fixture(scope="module")
def gateway(serve: Serve, shop: Path, cellar: Path) -> Served:
    return serve(SAYS, projects={"shop": shop, "cellar": cellar})


def ready(page: Looks) -> None:
    expect(page.page.locator("#rail dl.facts dd").first).not_to_be_empty()


def test_the_page_says_what_is_running(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    facts = page.page.locator("#rail dl.facts")
    expect(facts).to_contain_text("0.1.0")
    expect(facts).to_contain_text("shop")
    expect(page.page.locator("#welcome")).to_be_visible()
    page.expect_connection("Ready")


def test_nothing_is_stored_before_something_is_asked(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    count = "fetch('/api/sessions').then((answer) => answer.json()).then((list) => list.sessions.length)"
    before = page.page.evaluate(count)
    page.page.reload()
    ready(page)
    assert page.page.evaluate(count) == before


def test_a_question_gets_an_answer_and_shows_its_tool_call(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.ask("Where does it start?")
    page.expect_turn(0, "completed")
    turn = page.turn(0)
    expect(turn.get_by_role("heading", name="Where does it start?")).to_be_visible()
    expect(turn.locator(".prose strong")).to_have_text("main")
    expect(turn.locator(".prose").last).to_have_text("It starts in main.py:4.")
    expect(turn.locator(".turn-foot")).to_contain_text("1 tool call")
    call = page.calls(0)
    expect(call).to_have_attribute("data-state", "ok")
    expect(call.locator("summary")).to_contain_text("read_file")
    call.locator("summary").click()
    expect(call.locator(".call-outcome pre")).to_contain_text("from cart import Cart")


def test_text_is_shown_while_the_answer_is_still_being_written(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.ask("hold on")
    expect(page.turn(0).locator(".prose")).to_have_text("Holding.")
    page.expect_turn(0, "running")
    expect(page.page.get_by_role("button", name="Stop")).to_be_visible()


def test_escape_and_the_button_stop_a_turn(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.ask("hold on")
    expect(page.turn(0).locator(".prose")).to_be_visible()
    page.question.press("Escape")
    page.expect_turn(0, "cancelled")
    page.ask("hold on again")
    expect(page.turn(1).locator(".prose")).to_be_visible()
    page.page.get_by_role("button", name="Stop").click()
    page.expect_turn(1, "cancelled")
    expect(page.page.locator(".problem:visible")).to_have_count(0)
    expect(page.page.get_by_role("button", name="Stop")).to_be_hidden()


def test_questions_asked_during_a_turn_wait_for_it(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.ask("hold on")
    page.expect_turn(0, "running")
    page.ask("Where does it start?")
    page.expect_turn(1, "asked")
    page.question.press("Escape")
    page.expect_turn(0, "cancelled")
    page.expect_turn(1, "cancelled")


def test_a_failure_is_shown_where_it_happened(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.ask("break")
    page.expect_turn(0, "failed")
    expect(page.turn(0).locator(".problem")).to_contain_text("the model went away")
    page.ask("missing")
    page.expect_turn(1, "completed")
    expect(page.calls(1)).to_have_attribute("data-state", "failed")
    page.calls(1).locator("summary").click()
    expect(page.calls(1).locator(".call-outcome pre")).to_contain_text("none.py")


def test_a_reload_shows_the_history(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.ask("Where does it start?")
    page.ask("break")
    page.expect_turn(1, "failed")
    before = [page.turn(number).locator(".answer").inner_text() for number in (0, 1)]
    page.page.reload()
    page.expect_turn(0, "completed")
    page.expect_turn(1, "failed")
    after = [page.turn(number).locator(".answer").inner_text() for number in (0, 1)]
    assert [_without_times(text) for text in after] == [_without_times(text) for text in before]
    expect(page.page.locator("article.turn")).to_have_count(2)


def test_an_earlier_session_can_be_gone_back_to(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.ask("the first one")
    page.expect_turn(0, "completed")
    page.page.get_by_role("button", name="New session").click()
    expect(page.page.locator("article.turn")).to_have_count(0)
    page.ask("the second one")
    page.expect_turn(0, "completed")
    page.page.locator("#sessions a", has_text="the first one").click()
    expect(page.page.get_by_role("heading", name="the first one")).to_be_visible()
    expect(page.page.locator("article.turn")).to_have_count(1)
    expect(page.page.locator("#sessions a[aria-current]")).to_contain_text("the first one")


def test_a_project_can_be_picked(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.page.get_by_label("Project").select_option("cellar")
    page.ask("Where does it start?")
    page.expect_turn(0, "completed")
    page.calls(0).locator("summary").click()
    expect(page.calls(0).locator(".call-outcome pre")).to_contain_text("BARRELS")
    page.page.reload()
    page.expect_turn(0, "completed")
    expect(page.page.get_by_label("Project")).to_have_value("cellar")


def test_the_local_agent_answers_from_the_files(serve: Serve, open_page: Open) -> None:
    page = open_page(serve().url)
    page.ask("Where is the class Cart?")
    page.expect_turn(0, "completed")
    expect(page.turn(0).locator(".prose").last).to_contain_text("cart.py")
    expect(page.calls(0).first).to_have_attribute("data-state", "ok")


def test_shift_enter_makes_a_new_line(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    ready(page)
    page.question.fill("one")
    page.question.press("Shift+Enter")
    page.question.press_sequentially("two")
    expect(page.question).to_have_value("one\ntwo")
    expect(page.page.locator("article.turn")).to_have_count(0)


def test_thousands_of_pieces_are_drawn_in_few_steps(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    ready(page)
    page.page.evaluate(
        """() => {
          window.steps = 0;
          new MutationObserver(() => (window.steps += 1))
            .observe(document.getElementById("transcript"), { childList: true, subtree: true, characterData: true });
        }"""
    )
    page.ask("pieces")
    page.expect_turn(0, "completed")
    text = page.turn(0).locator(".prose").inner_text()
    assert text.split() == [f"piece{number}" for number in range(5000)]
    assert page.page.evaluate("window.steps") < 500


def test_a_long_answer_scrolls_until_its_question_is_at_the_top(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.ask("Where does it start?")
    page.expect_turn(0, "completed")
    page.ask("long")
    page.expect_turn(1, "completed")
    expect(page.turn(1).get_by_role("heading", name="long")).to_be_in_viewport()
    expect(page.turn(0).get_by_role("heading", name="Where does it start?")).not_to_be_in_viewport()
    expect(page.turn(1).locator(".turn-foot")).not_to_be_in_viewport()


def test_a_reader_at_the_end_is_kept_there(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.ask("slowly")
    expect(page.turn(0).locator(".prose p")).to_have_count(100)
    page.page.get_by_role("button", name="Newest").click()
    page.expect_turn(0, "completed")
    expect(page.turn(0).locator(".turn-foot")).to_be_in_viewport()
    expect(page.page.get_by_role("button", name="Newest")).to_be_hidden()


def test_a_reader_somewhere_else_is_left_alone(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.ask("slowly")
    expect(page.turn(0).locator(".prose p")).to_have_count(100)
    position = "document.getElementById('scroller').scrollTop"
    page.page.evaluate(f"{position} = 700")
    page.expect_turn(0, "completed")
    assert page.page.evaluate(position) == 700


def test_many_calls_fold_into_one_line(gateway: Served, open_page: Open) -> None:
    page = open_page(gateway.url)
    page.ask("often")
    page.expect_turn(0, "completed")
    expect(page.calls(0)).to_have_count(7)
    expect(page.calls(0).first).to_be_hidden()
    line = page.turn(0).locator("details.calls > summary")
    expect(line).to_contain_text("7 tool calls")
    expect(line).to_contain_text("1 failed")
    line.click()
    expect(page.calls(0).first).to_be_visible()


def _without_times(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.endswith((" ms", " s", "done")))
